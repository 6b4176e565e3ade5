/* SPDX-License-Identifier: MIT */
/* Converts the tensors of another program to parameters, and back. */
#include "engine/tensor/names-layout.h"
#include "engine/tensor/safetensors.h"
#include <ligature/weights.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* The maximum number of differences in a message. */
#define MAX_SHOWN 6

void
lig_differences_add (LigDifferences *self, const char *format, ...)
{
  va_list arguments;
  if (!self->text)
    self->text = g_string_new (NULL);
  if (self->count++ >= MAX_SHOWN)
    return;
  if (self->text->len > 0)
    g_string_append (self->text, "; ");
  va_start (arguments, format);
  g_string_append_vprintf (self->text, format, arguments);
  va_end (arguments);
}

gboolean
lig_differences_end (LigDifferences *self, const char *problem, GError **error)
{
  guint count = self->count;
  g_autofree char *text = self->text ? g_string_free (self->text, FALSE) : NULL;
  *self = (LigDifferences){0};
  if (count == 0)
    return TRUE;
  if (count > MAX_SHOWN)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("%s: %s; and %u more, %u in all"), problem,
                 text, count - MAX_SHOWN, count);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, "%s: %s", problem, text);
  return FALSE;
}

/* --- Pieces -------------------------------------------------------------------------------- */

/* Returns the shape of the part of a parameter that the tensors of a rule's names make up: the
 * parameter's or, if each expert has such tensors, that of one expert. */
static LigShape
part_shape (const LigRole *role, const LigNameRule *rule)
{
  LigShape shape = role->shape;
  if (!rule->by_expert || shape.n_axes < 1)
    return shape;
  shape.n_axes--;
  for (int axis = 0; axis < shape.n_axes; axis++)
    shape.axes[axis] = role->shape.axes[axis + 1];
  return shape;
}

/* Returns the number of tensors of a parameter; those of an expert are next to each other. */
static gint64
count_pieces (const LigRole *role, const LigNameRule *rule)
{
  gint64 names = (gint64) g_strv_length (rule->names);
  return rule->by_expert && role->shape.n_axes > 0 ? role->shape.axes[0] * names : names;
}

/* Returns the number of rows of the nth tensor of a parameter. */
static gint64
piece_rows (const GArray *roles, const LigRole *role, const LigNameRule *rule, gint64 n)
{
  const LigShape part = part_shape (role, rule);
  gint64 rows = part.n_axes > 0 ? part.axes[0] : 1, count = (gint64) g_strv_length (rule->names);
  const LigRole *first = rule->first ? lig_roles_find (roles, rule->first, role->depth) : NULL;
  if (!first || first->shape.n_axes == 0 || count < 2)
    return rows / count;
  gint64 columns = MIN (first->shape.axes[first->shape.n_axes - 1], rows);
  return n % count == 0 ? columns : (rows - columns) / (count - 1);
}

/* Returns whether the tensors of a rule together have the rows of the parameter, each at least one:
 * the first matmul of an ungated MLP does not match a rule with a gate and an up projection. */
static gboolean
can_divide (const GArray *roles, const LigRole *role, const LigNameRule *rule)
{
  const LigShape part = part_shape (role, rule);
  gint64 rows = 0;
  /* Experts have matrices only. */
  int min = rule->by_expert ? 2 : 1, max = rule->merged ? 3 : 2;
  if (part.n_axes < min || part.n_axes > max || lig_shape_size (&role->shape) == 0)
    return FALSE;
  for (guint n = 0; rule->names[n]; n++) {
    gint64 some = piece_rows (roles, role, rule, n);
    if (some < 1)
      return FALSE;
    rows += some;
  }
  return rows == part.axes[0] && lig_layout_fits (rule, &part);
}

/* Returns the shape in the other program's file of a tensor with this many rows. */
static LigShape
piece_shape (const LigRole *role, const LigNameRule *rule, gint64 rows)
{
  LigShape shape = part_shape (role, rule);
  shape.axes[0] = rows;
  return lig_layout_turn (rule, &shape);
}

/* Returns a name of a rule, with the layer index, that of an expert, and the prefix. */
static char *
fill_name (const LigRole *role,
           const LigNameRule *rule,
           const char *pattern,
           gint64 number,
           const char *prefix)
{
  g_autofree char *depth = g_strdup_printf ("%d", role->depth);
  g_autofree char *expert = g_strdup_printf ("%" PRId64, number);
  GString *name = g_string_new (rule->prefixed ? prefix : "");
  g_string_append (name, pattern);
  g_string_replace (name, "{layer}", depth, 0);
  g_string_replace (name, "{expert}", expert, 0);
  return g_string_free (name, FALSE);
}

/* Returns the name of the nth tensor. */
static char *
piece_name (const LigRole *role, const LigNameRule *rule, gint64 n, const char *prefix)
{
  gint64 count = (gint64) g_strv_length (rule->names);
  return fill_name (role, rule, rule->names[n % count], n / count, prefix);
}

static void
reject_to_shard (const LigRole *role, const LigNameRule *rule, LigDifferences *differences)
{
  g_autofree char *shape = lig_shape_to_string (&role->shape);
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint n = 0; rule->names[n]; n++) {
    g_autofree char *name = piece_name (role, rule, n, "");
    g_string_append_printf (names, "%s%s", n > 0 ? ", " : "", name);
  }
  lig_differences_add (differences, _ ("%s is %s, which cannot be split into %s"), role->path,
                       shape, names->str);
}

/* --- Checking ------------------------------------------------------------------------------ */

void
lig_import_free (LigImport *self)
{
  if (!self)
    return;
  lig_tensor_file_free (self->file);
  lig_names_free (self->names);
  g_clear_pointer (&self->roles, g_array_unref);
  if (self->notes)
    g_string_free (self->notes, TRUE);
  g_free (self);
}

void
lig_import_note (LigImport *self, const char *format, ...)
{
  va_list arguments;
  if (self->notes->len > 0)
    g_string_append (self->notes, "; ");
  va_start (arguments, format);
  g_string_append_vprintf (self->notes, format, arguments);
  va_end (arguments);
}

static gboolean
has_tensor (const LigImport *self, const LigRole *role, const LigNameRule *rule)
{
  g_autofree char *name = piece_name (role, rule, 0, self->prefix);
  return lig_tensor_file_has (self->file, name);
}

/* Returns the rule for a parameter: an alternative, or that of the tied role, if the parameter's
 * own tensor is missing in the file, which may contain either of the two. */
static const LigNameRule *
find_rule (const LigImport *self, const LigRole *role)
{
  const LigNameRule *rule = role->role ? lig_names_rule (self->names, role->role) : NULL;
  for (const LigNameRule *one = rule; one; one = one->alternative)
    if (has_tensor (self, role, one))
      return one;
  if (!rule)
    return NULL;
  if (rule->tied)
    return lig_names_rule (self->names, rule->tied);
  for (guint i = 0; i < self->names->rules->len; i++) {
    const LigNameRule *other = g_ptr_array_index (self->names->rules, i);
    if (g_strcmp0 (other->tied, rule->role) == 0 && has_tensor (self, role, other))
      return other;
  }
  return rule;
}

/* Notes that a parameter is read from the tensor to which it is tied. */
static void
note_tied (LigImport *self, const LigRole *role, const LigNameRule *rule)
{
  g_autofree char *name = piece_name (role, rule, 0, self->prefix);
  if (lig_names_rule (self->names, role->role)->tied)
    lig_import_note (self, _ ("%s begins as a copy of the embedding"), role->path);
  else
    lig_import_note (self, _ ("%s is read from %s, because the file has only the latter"),
                     role->path, name);
}

/* Checks that all experts of a parameter have the nth of the rule's tensors, and no others. Of
 * several missing or surplus ones, only the first is a difference. */
static void
check_experts (LigImport *self,
               const LigRole *role,
               const LigNameRule *rule,
               guint n,
               GHashTable *used,
               LigDifferences *differences)
{
  gint64 expected = role->shape.axes[0], found = 0, missing = -1;
  guint count = g_strv_length (rule->names);
  for (gint64 expert = 0;; expert++) {
    char *name = piece_name (role, rule, expert * count + n, self->prefix);
    gboolean has = lig_tensor_file_has (self->file, name);
    g_hash_table_add (used, name);
    found += has;
    if (!has && expert < expected && missing < 0)
      missing = expert;
    if (!has && expert >= expected)
      break;
  }
  g_autofree char *name =
    piece_name (role, rule, (missing < 0 ? expected : missing) * count + n, self->prefix);
  if (missing >= 0)
    lig_differences_add (differences,
                         _ ("%s (for %s) is missing, the file has %" PRId64 " of %" PRId64), name,
                         role->path, found, expected);
  else if (found > expected)
    lig_differences_add (
      differences, _ ("%s is surplus, the file has %" PRId64 ", expected %" PRId64 " (for %s)"),
      name, found, expected, role->path);
}

/* Checks one of the two tensors of a parameter in MXFP4. */
static void
check_quantized (LigImport *self,
                 const LigRole *role,
                 const LigNameRule *rule,
                 gboolean scales,
                 GHashTable *used,
                 LigDifferences *differences)
{
  const LigShape expected = lig_mxfp4_shape (&role->shape, scales);
  LigShape observed;
  LigDtype dtype;
  char *name = fill_name (role, rule, scales ? rule->scales : rule->names[0], 0, self->prefix);
  g_hash_table_add (used, name);
  g_autofree char *want = lig_shape_to_string (&expected);
  if (!lig_tensor_file_get_shape (self->file, name, &observed, &dtype)) {
    lig_differences_add (differences, _ ("%s (for %s) is missing"), name, role->path);
    return;
  }
  g_autofree char *have = lig_shape_to_string (&observed);
  if (dtype != LIG_UINT8)
    lig_differences_add (differences, _ ("%s is %s, expected %s (for %s)"), name,
                         lig_dtype_name (dtype), lig_dtype_name (LIG_UINT8), role->path);
  else if (!lig_shape_equal (&observed, &expected))
    lig_differences_add (differences, _ ("%s is %s, expected %s (for %s)"), name, have, want,
                         role->path);
}

/* Checks one tensor of a parameter. */
static void
check_piece (LigImport *self,
             const LigRole *role,
             const LigNameRule *rule,
             gint64 n,
             GHashTable *used,
             LigDifferences *differences)
{
  LigShape observed, expected;
  LigDtype dtype;
  gint64 rows = piece_rows (self->roles, role, rule, n);
  char *name = piece_name (role, rule, n, self->prefix);
  g_hash_table_add (used, name);
  expected = piece_shape (role, rule, rows);
  if (!lig_tensor_file_get_shape (self->file, name, &observed, &dtype)) {
    if (!rule->by_expert)
      lig_differences_add (differences, _ ("%s (for %s) is missing"), name, role->path);
    return;
  }
  if (!lig_dtype_is_floating (dtype))
    lig_differences_add (differences, _ ("%s is %s, expected %s (for %s)"), name,
                         lig_dtype_name (dtype), _ ("a floating type"), role->path);
  gboolean shorter = rule->padded && observed.n_axes == expected.n_axes && observed.axes[0] > 0 &&
                     observed.axes[0] < expected.axes[0];
  if (shorter) {
    lig_import_note (self, _ ("rows %" PRId64 " to %" PRId64 " of %s are zeros, %s has %" PRId64),
                     observed.axes[0], expected.axes[0] - 1, role->path, name, observed.axes[0]);
    expected.axes[0] = observed.axes[0];
  }
  if (lig_shape_equal (&observed, &expected))
    return;
  g_autofree char *have = lig_shape_to_string (&observed);
  g_autofree char *want = lig_shape_to_string (&expected);
  lig_differences_add (differences, _ ("%s is %s, expected %s (for %s)"), name, have, want,
                       role->path);
}

static void
check_role (LigImport *self, const LigRole *role, GHashTable *used, LigDifferences *differences)
{
  const LigNameRule *rule = find_rule (self, role);
  if (!rule) {
    lig_differences_add (differences, _ ("%s has no counterpart in the names of %s"), role->path,
                         self->names->name);
    return;
  }
  if (!can_divide (self->roles, role, rule)) {
    reject_to_shard (role, rule, differences);
    for (gint64 n = 0; n < count_pieces (role, rule); n++)
      g_hash_table_add (used, piece_name (role, rule, n, self->prefix));
    return;
  }
  if (!g_str_equal (rule->role, role->role))
    note_tied (self, role, rule);
  for (guint n = 0; rule->by_expert && rule->names[n]; n++)
    check_experts (self, role, rule, n, used, differences);
  for (gint64 n = 0; n < count_pieces (role, rule) && !rule->scales; n++)
    check_piece (self, role, rule, n, used, differences);
  for (int n = 0; n < 2 && rule->scales; n++)
    check_quantized (self, role, rule, n > 0, used, differences);
}

static gboolean
is_ignored (const LigImport *self, const char *name)
{
  const char *bare = g_str_has_prefix (name, self->prefix) ? name + strlen (self->prefix) : name;
  if (!lig_names_is_parameter (name))
    return TRUE;
  for (char **pattern = self->names->ignored; *pattern; pattern++)
    if (g_pattern_match_simple (*pattern, bare))
      return TRUE;
  return FALSE;
}

/* Returns whether two tensors have the same bits. */
static gboolean
are_equal (LigTensorFile *file, const char *a, const char *b)
{
  LigShape first, second;
  LigDtype type, other;
  if (!lig_tensor_file_get_shape (file, a, &first, &type) ||
      !lig_tensor_file_get_shape (file, b, &second, &other) || type != other ||
      !lig_shape_equal (&first, &second))
    return FALSE;
  g_autoptr (LigTensor) x = lig_tensor_file_get (file, a, NULL);
  g_autoptr (LigTensor) y = lig_tensor_file_get (file, b, NULL);
  return x && y && memcmp (x->data, y->data, lig_tensor_bytes (x)) == 0;
}

/* Returns whether an unused tensor is a copy of one to which a parameter is tied: files of tied
 * models may contain the head nevertheless. */
static gboolean
is_copy (const LigImport *self, const char *name, LigDifferences *differences)
{
  static const LigRole outside = {.depth = -1};
  for (guint i = 0; i < self->names->rules->len; i++) {
    const LigNameRule *rule = g_ptr_array_index (self->names->rules, i);
    g_autofree char *own = rule->tied ? piece_name (&outside, rule, 0, self->prefix) : NULL;
    if (!own || !g_str_equal (own, name))
      continue;
    g_autofree char *other =
      piece_name (&outside, lig_names_rule (self->names, rule->tied), 0, self->prefix);
    if (are_equal (self->file, own, other))
      return TRUE;
    lig_differences_add (
      differences, _ ("%s differs from %s, the sequence has one parameter for both"), own, other);
    return TRUE;
  }
  return FALSE;
}

static gboolean
check (LigImport *self, GError **error)
{
  LigDifferences differences = {0};
  g_autoptr (GHashTable) used = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < self->roles->len; i++)
    check_role (self, &g_array_index (self->roles, LigRole, i), used, &differences);
  for (const char *const *name = lig_tensor_file_get_names (self->file); *name; name++)
    if (!g_hash_table_contains (used, *name) && !is_ignored (self, *name) &&
        !is_copy (self, *name, &differences))
      lig_differences_add (&differences, _ ("%s is surplus"), *name);
  return lig_differences_end (&differences, _ ("the weights do not fit the sequence"), error);
}

gboolean
lig_import_new (LigTensorFile *file,
                const char *const *paths,
                const LigShape *shapes,
                LigImport **import,
                GError **error)
{
  LigNames *names;
  const char *prefix;
  *import = NULL;
  if (!lig_names_detect (file, &names, &prefix, error))
    return FALSE;
  if (!names)
    return TRUE;
  g_autoptr (LigImport) self = g_new0 (LigImport, 1);
  self->file = g_boxed_copy (LIG_TYPE_TENSOR_FILE, file);
  self->names = names;
  self->prefix = prefix;
  self->notes = g_string_new (NULL);
  self->roles = lig_roles_new (paths, shapes);
  lig_import_note (self, _ ("names of %s"), names->title);
  if (!check (self, error))
    return FALSE;
  *import = g_steal_pointer (&self);
  return TRUE;
}

gint64
lig_import_rows (const LigImport *self, const LigRole *role)
{
  const LigNameRule *rule = find_rule (self, role);
  gint64 rows = 0;
  LigShape shape;
  for (guint n = 0; rule && rule->names[n]; n++) {
    g_autofree char *name = piece_name (role, rule, n, self->prefix);
    if (lig_tensor_file_get_shape (self->file, name, &shape, NULL) && shape.n_axes > 0)
      rows += lig_layout_turn (rule, &shape).axes[0];
  }
  return rows;
}

gint64
lig_import_vocabulary (const LigImport *self)
{
  for (guint i = 0; i < self->roles->len; i++) {
    const LigRole *role = &g_array_index (self->roles, LigRole, i);
    const LigNameRule *rule = find_rule (self, role);
    gint64 rows = rule && rule->padded ? lig_import_rows (self, role) : role->shape.axes[0];
    if (rows < role->shape.axes[0])
      return rows;
  }
  return 0;
}

/* --- Reading ------------------------------------------------------------------------------- */

/* Returns a tensor in the order of the file; one in MXFP4 in bf16. */
static LigTensor *
read_file (LigImport *self, const LigRole *role, const LigNameRule *rule, gint64 n, GError **error)
{
  g_autofree char *name = piece_name (role, rule, n, self->prefix);
  g_autofree char *other =
    rule->scales ? fill_name (role, rule, rule->scales, 0, self->prefix) : NULL;
  g_autoptr (LigTensor) tensor = lig_tensor_file_get (self->file, name, error);
  if (!tensor || !other)
    return g_steal_pointer (&tensor);
  g_autoptr (LigTensor) scales = lig_tensor_file_get (self->file, other, error);
  return scales ? lig_mxfp4_read (tensor, scales, error) : NULL;
}

/* Returns the tensor in the layout of the parameter. */
static LigTensor *
read_piece (LigImport *self, const LigRole *role, const LigNameRule *rule, gint64 n, GError **error)
{
  g_autoptr (LigTensor) tensor = read_file (self, role, rule, n, error);
  if (!tensor || !lig_layout_differs (rule))
    return g_steal_pointer (&tensor);
  const LigShape shape = lig_layout_turn (rule, &tensor->shape);
  g_autoptr (LigTensor) own = lig_tensor_new (tensor->dtype, &shape, error);
  if (own)
    lig_layout_copy (rule, &shape, lig_dtype_size (tensor->dtype), FALSE, tensor->data, own->data);
  return g_steal_pointer (&own);
}

/* Stacks the pieces, those of each expert after the previous one's; remaining rows stay zero. */
static LigTensor *
join (LigImport *self, const LigRole *role, const LigNameRule *rule, GError **error)
{
  g_autoptr (LigTensor) whole = NULL;
  gsize at = 0;
  for (gint64 n = 0; n < count_pieces (role, rule); n++) {
    g_autoptr (LigTensor) piece = read_piece (self, role, rule, n, error);
    if (!piece)
      return NULL;
    if (!whole && !(whole = lig_tensor_new (piece->dtype, &role->shape, error)))
      return NULL;
    /* Pieces of different types are unusual; the first one's type is used. */
    g_autoptr (LigTensor) same = lig_tensor_convert (piece, whole->dtype, error);
    if (!same)
      return NULL;
    memcpy ((char *) whole->data + at, same->data, lig_tensor_bytes (same));
    at += lig_tensor_bytes (same);
  }
  return g_steal_pointer (&whole);
}

LigTensor *
lig_import_read (LigImport *self, const char *path, GError **error)
{
  for (guint i = 0; i < self->roles->len; i++) {
    const LigRole *role = &g_array_index (self->roles, LigRole, i);
    if (g_str_equal (role->path, path))
      return join (self, role, find_rule (self, role), error);
  }
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, _ ("parameter '%s' is unknown"), path);
  return NULL;
}

/* --- Writing ------------------------------------------------------------------------------- */

const char *
lig_weights_names_nth (guint n)
{
  return lig_names_nth (n);
}

/* Returns rows of a tensor, each of `columns` elements, in the other program's layout. */
static LigTensor *
cut (const LigTensor *from,
     gint64 begin,
     gint64 columns,
     const LigShape *shape,
     const LigNameRule *rule,
     GError **error)
{
  g_autoptr (LigTensor) tensor = lig_tensor_new (from->dtype, shape, error);
  if (!tensor)
    return NULL;
  gsize size = lig_dtype_size (from->dtype);
  const char *source = (const char *) from->data + (gsize) (begin * columns) * size;
  const LigShape own = lig_layout_turn (rule, shape);
  if (lig_layout_differs (rule))
    lig_layout_copy (rule, &own, size, TRUE, source, tensor->data);
  else
    memcpy (tensor->data, source, lig_tensor_bytes (tensor));
  return g_steal_pointer (&tensor);
}

static gboolean
add (LigTensorFile *to, const char *name, LigTensor *tensor, int dtype, GError **error)
{
  g_autoptr (LigTensor) converted =
    lig_tensor_convert (tensor, dtype < 0 ? tensor->dtype : (LigDtype) dtype, error);
  if (converted)
    lig_tensor_file_add (to, name, converted);
  return converted != NULL;
}

/* Adds the tensors of which a parameter consists in the other program. */
static gboolean
write_role (LigTensorFile *to,
            const GArray *roles,
            const LigRole *role,
            const LigNames *names,
            LigTensor *tensor,
            gint64 vocabulary,
            int dtype,
            GError **error)
{
  const LigNameRule *rule = lig_names_rule (names, role->role);
  const LigShape part = part_shape (role, rule);
  gint64 begin = 0, columns = lig_shape_size (&part) / part.axes[0];
  for (gint64 n = 0; n < count_pieces (role, rule); n++) {
    gint64 rows = piece_rows (roles, role, rule, n), written = rows;
    if (rule->padded && vocabulary > 0)
      written = vocabulary;
    LigShape shape = piece_shape (role, rule, written);
    g_autofree char *name = piece_name (role, rule, n, names->prefixes[0]);
    if (written > rows) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("the vocabulary is %" PRId64 ", more than the rows of %s, %" PRId64),
                   vocabulary, name, rows);
      return lig_error_set_setting (error, "vocabulary");
    }
    g_autoptr (LigTensor) piece = cut (tensor, begin, columns, &shape, rule, error);
    if (!piece || !add (to, name, piece, dtype, error))
      return FALSE;
    begin += rows;
  }
  return TRUE;
}

GArray *
lig_roles_of_file (LigTensorFile *file)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (LigShape));
  for (const char *const *name = lig_tensor_file_get_names (file); *name; name++) {
    LigShape shape;
    if (!lig_names_is_parameter (*name) || !lig_tensor_file_get_shape (file, *name, &shape, NULL))
      continue;
    g_ptr_array_add (paths, (gpointer) *name);
    g_array_append_val (shapes, shape);
  }
  g_ptr_array_add (paths, NULL);
  return lig_roles_new ((const char *const *) paths->pdata,
                        (const LigShape *) (gpointer) shapes->data);
}

/* Returns whether every layer of the model must have the tensors of a rule: required ones, and
 * those that another layer has. */
static gboolean
is_needed (const GArray *roles, const LigNameRule *rule)
{
  gboolean found = FALSE;
  for (guint i = 0; i < roles->len && !found && g_str_has_prefix (rule->role, "layer."); i++)
    found = g_strcmp0 (g_array_index (roles, LigRole, i).role, rule->role) == 0;
  return found || rule->needed;
}

/* Lists the tensors that the other program requires and that no parameter provides. */
static void
check_needed (const GArray *roles, const LigNames *names, LigDifferences *differences)
{
  int depths = 0;
  for (guint i = 0; i < roles->len; i++)
    depths = MAX (depths, g_array_index (roles, LigRole, i).depth + 1);
  for (guint i = 0; i < names->rules->len; i++) {
    const LigNameRule *rule = g_ptr_array_index (names->rules, i);
    gboolean inside = strstr (rule->names[0], "{layer}") != NULL;
    gboolean needed = is_needed (roles, rule);
    for (int depth = inside ? 0 : -1; needed && depth < (inside ? depths : 0); depth++) {
      LigRole role = {.depth = depth};
      g_autofree char *name = piece_name (&role, rule, 0, names->prefixes[0]);
      if (!lig_roles_find (roles, rule->role, depth) &&
          !(rule->unless && lig_roles_find (roles, rule->unless, depth)))
        lig_differences_add (differences, _ ("%s has no counterpart"), name);
    }
  }
}

static gboolean
check_export (const GArray *roles, const LigNames *names, GError **error)
{
  LigDifferences differences = {0};
  for (guint i = 0; i < roles->len; i++) {
    const LigRole *role = &g_array_index (roles, LigRole, i);
    const LigNameRule *rule = role->role ? lig_names_rule (names, role->role) : NULL;
    if (!rule)
      lig_differences_add (&differences, _ ("%s has no counterpart"), role->path);
    else if (!can_divide (roles, role, rule))
      reject_to_shard (role, rule, &differences);
  }
  check_needed (roles, names, &differences);
  g_autofree char *problem =
    g_strdup_printf (_ ("the parameters do not fit the names of %s"), names->name);
  return lig_differences_end (&differences, problem, error);
}

LigTensorFile *
lig_weights_export (
  LigTensorFile *file, const char *names, gint64 vocabulary, int dtype, GError **error)
{
  g_return_val_if_fail (file, NULL);
  g_autoptr (LigNames) table = names ? lig_names_find (names, error) : NULL;
  g_autoptr (LigTensorFile) to = lig_tensor_file_new ();
  g_autoptr (GArray) roles = lig_roles_of_file (file);
  if (names && (!table || !check_export (roles, table, error)))
    return NULL;
  for (guint i = 0; i < roles->len; i++) {
    const LigRole *role = &g_array_index (roles, LigRole, i);
    g_autoptr (LigTensor) tensor = lig_tensor_file_get (file, role->path, error);
    if (!tensor)
      return NULL;
    if (table ? !write_role (to, roles, role, table, tensor, vocabulary, dtype, error)
              : !add (to, role->path, tensor, dtype, error))
      return NULL;
  }
  const char *data = lig_tensor_file_get_metadata (file, LIG_WEIGHTS_TABLE);
  if (data)
    lig_tensor_file_set_metadata (to, LIG_WEIGHTS_TABLE, data);
  /* Hugging Face's library rejects files that do not name a framework. */
  if (table)
    lig_tensor_file_set_metadata (to, "format", "pt");
  return g_steal_pointer (&to);
}
