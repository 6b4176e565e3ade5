/* SPDX-License-Identifier: MIT */
/* Finds the roles of parameters in a language model. The op of a layer's attention has a part
 * `qkv`; every such op begins a layer, and the ops with a part `fc1` that follow belong to it. Ops
 * before the first layer are embeddings, those after the last one the final norm and the head. */
#include "engine/tensor/names.h"

#include <string.h>

/* A path, `2.0.0.qkv.weight`, split into its parts. */
typedef struct {
  char *op;   /* 2.0.0 */
  char *part; /* (nullable): qkv */
  char *name; /* weight */
} Path;

static void
clear_path (gpointer data)
{
  Path *path = data;
  g_free (path->op);
  g_free (path->part);
  g_free (path->name);
}

static gboolean
is_number (const char *word)
{
  return *word && strspn (word, "0123456789") == strlen (word);
}

static Path
split (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, ".", -1);
  guint count = g_strv_length (words), numbers = 0;
  while (numbers + 1 < count && is_number (words[numbers]))
    numbers++;
  Path path = {.name = g_strdup (count > 0 ? words[count - 1] : "")};
  if (numbers + 1 < count) {
    g_autofree char *last = words[count - 1];
    words[count - 1] = NULL;
    path.part = g_strjoinv (".", words + numbers);
  }
  g_clear_pointer (&words[numbers], g_free);
  for (guint i = numbers + 1; i < count; i++)
    g_clear_pointer (&words[i], g_free);
  path.op = g_strjoinv (".", words);
  return path;
}

/* Compares paths by the numbers in them; parameters of one op keep their order. */
static int
compare_ops (const char *a, const char *b)
{
  for (;;) {
    char *after_a, *after_b;
    guint64 x = g_ascii_strtoull (a, &after_a, 10), y = g_ascii_strtoull (b, &after_b, 10);
    gboolean end_a = after_a == a, end_b = after_b == b;
    if (end_a || end_b)
      return end_b - end_a;
    if (x != y)
      return x < y ? -1 : 1;
    a = after_a + (*after_a == '.');
    b = after_b + (*after_b == '.');
  }
}

static int
compare_roles (gconstpointer a, gconstpointer b)
{
  return compare_ops (((const LigRole *) a)->path, ((const LigRole *) b)->path);
}

static void
clear_role (gpointer data)
{
  LigRole *role = data;
  g_free (role->path);
  g_free (role->role);
}

/* Returns whether one of the op's parameters belongs to the part. */
static gboolean
has_part (const GArray *paths, const char *op, const char *part)
{
  for (guint i = 0; i < paths->len; i++) {
    const Path *path = &g_array_index (paths, Path, i);
    if (path->part && g_str_equal (path->op, op) && g_str_equal (path->part, part))
      return TRUE;
  }
  return FALSE;
}

/* Returns whether the op's weight is a matrix. */
static gboolean
is_matrix (const GArray *paths, const GArray *roles, const char *op)
{
  for (guint i = 0; i < paths->len; i++) {
    const Path *path = &g_array_index (paths, Path, i);
    if (g_str_equal (path->op, op) && g_str_equal (path->name, "weight"))
      return g_array_index (roles, LigRole, i).shape.n_axes == 2;
  }
  return FALSE;
}

typedef enum { ATTENTION, MLP, HEAD, PLAIN } Kind;

static Kind
find_kind (const GArray *paths, const char *op)
{
  return has_part (paths, op, "qkv") || has_part (paths, op, "query")         ? ATTENTION
         : has_part (paths, op, "fc1") || has_part (paths, op, "experts-fc1") ? MLP
         : has_part (paths, op, "linear")                                     ? HEAD
                                                                              : PLAIN;
}

/* Returns the role of a parameter of a macro. */
static char *
name_part (const Path *path, Kind kind)
{
  gboolean norm = g_str_equal (path->part, "norm");
  if (kind == HEAD)
    return g_strdup_printf ("%s.%s", norm ? "final-norm" : "head", path->name);
  const char *part = !norm ? path->part : kind == ATTENTION ? "attention-norm" : "mlp-norm";
  return g_strdup_printf ("layer.%s.%s", part, path->name);
}

/* Returns the role of a parameter of an op outside of layers, null if it has none. `embeddings` is
 * the number of matrices before it. */
static char *
name_plain (const Path *path, gboolean matrix, gboolean before, gboolean after, guint embeddings)
{
  const char *what = before && matrix && embeddings < 2
                       ? (embeddings == 0 ? "embedding" : "position")
                     : after ? (matrix ? "head" : "final-norm")
                             : NULL;
  return what ? g_strdup_printf ("%s.%s", what, path->name) : NULL;
}

/* Returns whether an earlier parameter has the role. */
static gboolean
is_taken (const GArray *roles, guint index)
{
  const LigRole *role = &g_array_index (roles, LigRole, index);
  for (guint i = 0; i < index; i++) {
    const LigRole *other = &g_array_index (roles, LigRole, i);
    if (other->depth == role->depth && g_strcmp0 (other->role, role->role) == 0)
      return TRUE;
  }
  return FALSE;
}

static void
name_all (GArray *roles, const GArray *paths)
{
  const char *last_op = NULL;
  guint last = 0, embeddings = 0;
  int depth = -1;
  for (guint i = 0; i < paths->len; i++) {
    Kind kind = find_kind (paths, g_array_index (paths, Path, i).op);
    if (kind == ATTENTION || kind == MLP)
      last = i;
  }
  for (guint i = 0; i < paths->len; i++) {
    const Path *path = &g_array_index (paths, Path, i);
    LigRole *role = &g_array_index (roles, LigRole, i);
    Kind kind = find_kind (paths, path->op);
    gboolean begins = !last_op || !g_str_equal (last_op, path->op);
    gboolean matrix = is_matrix (paths, roles, path->op);
    depth += begins && kind == ATTENTION;
    role->depth = kind == ATTENTION || kind == MLP ? depth : -1;
    if (path->part)
      role->role = name_part (path, kind);
    else
      role->role = name_plain (path, matrix, depth < 0, depth >= 0 && i > last, embeddings);
    /* Models with roles have only one final norm and one head. */
    if (role->role && is_taken (roles, i))
      g_clear_pointer (&role->role, g_free);
    embeddings += depth < 0 && matrix;
    last_op = path->op;
  }
}

GArray *
lig_roles_new (const char *const *paths, const LigShape *shapes)
{
  GArray *roles = g_array_new (FALSE, TRUE, sizeof (LigRole));
  g_autoptr (GArray) divided = g_array_new (FALSE, TRUE, sizeof (Path));
  g_array_set_clear_func (roles, clear_role);
  g_array_set_clear_func (divided, clear_path);
  for (guint i = 0; paths[i]; i++) {
    LigRole role = {.path = g_strdup (paths[i]), .shape = shapes[i], .depth = -1};
    g_array_append_val (roles, role);
  }
  g_array_sort (roles, compare_roles);
  for (guint i = 0; i < roles->len; i++) {
    Path path = split (g_array_index (roles, LigRole, i).path);
    g_array_append_val (divided, path);
  }
  name_all (roles, divided);
  return roles;
}

const LigRole *
lig_roles_find (const GArray *roles, const char *role, int depth)
{
  for (guint i = 0; i < roles->len; i++) {
    const LigRole *one = &g_array_index (roles, LigRole, i);
    if (one->role && g_str_equal (one->role, role) &&
        (one->depth == depth || !g_str_has_prefix (role, "layer.")))
      return one;
  }
  return NULL;
}

const LigRole *
lig_roles_find_first (const GArray *roles, const char *role)
{
  for (guint i = 0; i < roles->len; i++) {
    const LigRole *one = &g_array_index (roles, LigRole, i);
    if (g_strcmp0 (one->role, role) == 0)
      return one;
  }
  return NULL;
}
