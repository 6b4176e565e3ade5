/* SPDX-License-Identifier: MIT */
/* Sequences: an ordered list of ops with its input, types and the user's fences and lists of
 * forbidden and forced fusions. */
#include "engine/sequence/sequence-private.h"
#include <ligature/recipe.h>

#include "engine/sequence/literal.h"
#include "engine/sequence/op-private.h"
#include "engine/sequence/tie.h"

#include <glib/gi18n-lib.h>
#include <string.h>

struct _LigSequence {
  GObject parent_instance;
  GPtrArray *ops;
  guint64 serial, version;
  char *name;
  gboolean has_input;
  LigShape input;
  LigDtype input_dtype;
  int compute, parameters; /* LigDtype or -1 */
  char *train, *recipe, *unknown;
  GStrv forbidden;
  LigOp *block; /* unowned: the block whose body this is */
  int n_ties;   /* of its ops and those of its blocks */
};

enum { PROP_NAME = 1, PROP_VERSION, N_PROPS };
static GParamSpec *props[N_PROPS];

static GType
get_item_type (GListModel *model)
{
  return LIG_TYPE_OP;
}

static guint
get_n_items (GListModel *model)
{
  return LIG_SEQUENCE (model)->ops->len;
}

static gpointer
get_item (GListModel *model, guint position)
{
  LigSequence *self = LIG_SEQUENCE (model);
  return position < self->ops->len ? g_object_ref (self->ops->pdata[position]) : NULL;
}

static void
list_model_init (GListModelInterface *interface)
{
  interface->get_item_type = get_item_type;
  interface->get_n_items = get_n_items;
  interface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (LigSequence,
                               lig_sequence,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

void
lig_sequence_touch (LigSequence *self)
{
  g_autoptr (LigSequence) alive = g_object_ref (self);
  self->version++;
  g_object_notify_by_pspec (G_OBJECT (alive), props[PROP_VERSION]);
  if (self->block)
    lig_op_touch (self->block);
}

void
lig_sequence_set_block (LigSequence *self, LigOp *block)
{
  self->block = block;
}

LigOp *
lig_sequence_get_block (LigSequence *self)
{
  return self->block;
}

int
lig_sequence_get_n_ties (LigSequence *self)
{
  return self->n_ties;
}

void
lig_sequence_count_ties (LigSequence *self, int change)
{
  for (; self; self = self->block ? lig_op_get_owner (self->block) : NULL)
    self->n_ties += change;
}

static void
edited (LigSequence *self, guint position, guint removed, guint added)
{
  g_list_model_items_changed (G_LIST_MODEL (self), position, removed, added);
  lig_sequence_touch (self);
}

/* An op is in at most one place, so that its edits are no longer announced once it is removed, and
 * a block does not contain itself, so that expansion ends. */
static gboolean
check_free (LigSequence *self, LigOp *op, GError **error)
{
  LigSequence *owner = lig_op_get_owner (op);
  guint at = 0;
  if (owner) {
    g_ptr_array_find (owner->ops, op, &at);
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s: it is already op %u of %s sequence; remove it there, or add a copy of "
                    "it"),
                 lig_op_get_name (op), at, owner == self ? _ ("this") : _ ("another"));
    return FALSE;
  }
  for (LigSequence *outer = self; outer && outer->block; outer = lig_op_get_owner (outer->block))
    if (outer->block == op) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                   _ ("%s: it cannot be among the ops that it repeats; add a copy of it"),
                   lig_op_get_name (op));
      return FALSE;
    }
  return TRUE;
}

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  if (id == PROP_NAME)
    lig_sequence_set_name (LIG_SEQUENCE (object), g_value_get_string (value));
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  LigSequence *self = LIG_SEQUENCE (object);
  if (id == PROP_NAME)
    g_value_set_string (value, self->name);
  else
    g_value_set_uint64 (value, self->version);
}

static void
lig_sequence_finalize (GObject *object)
{
  LigSequence *self = LIG_SEQUENCE (object);
  for (guint i = 0; i < self->ops->len; i++)
    lig_op_set_owner (self->ops->pdata[i], NULL);
  g_ptr_array_unref (self->ops);
  g_free (self->name);
  g_free (self->train);
  g_free (self->recipe);
  g_free (self->unknown);
  g_strfreev (self->forbidden);
  G_OBJECT_CLASS (lig_sequence_parent_class)->finalize (object);
}

static void
lig_sequence_class_init (LigSequenceClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  object_class->finalize = lig_sequence_finalize;
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  props[PROP_NAME] = g_param_spec_string ("name", "Name", "The user's name for the sequence", NULL,
                                          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  props[PROP_VERSION] =
    g_param_spec_uint64 ("version", "Version", "Grows with every edit", 0, G_MAXUINT64, 0,
                         G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
lig_sequence_init (LigSequence *self)
{
  self->ops = g_ptr_array_new_with_free_func (g_object_unref);
  static gsize last;
  self->compute = self->parameters = -1;
  self->serial = (guint64) g_atomic_pointer_add (&last, 1) + 1;
}

LigSequence *
lig_sequence_new (void)
{
  return g_object_new (LIG_TYPE_SEQUENCE, NULL);
}

static void
copy_description (LigSequence *to, LigSequence *from)
{
  to->name = g_strdup (from->name);
  to->has_input = from->has_input;
  to->input = from->input;
  to->input_dtype = from->input_dtype;
  to->compute = from->compute;
  to->parameters = from->parameters;
  to->train = g_strdup (from->train);
  to->recipe = g_strdup (from->recipe);
  to->unknown = g_strdup (from->unknown);
  to->forbidden = g_strdupv (from->forbidden);
}

LigSequence *
lig_sequence_copy (LigSequence *self)
{
  LigSequence *copy = lig_sequence_slice (self, 0, (int) self->ops->len);
  copy_description (copy, self);
  return copy;
}

const char *
lig_sequence_get_name (LigSequence *self)
{
  return self->name;
}

void
lig_sequence_set_name (LigSequence *self, const char *name)
{
  gboolean long_name = name && g_utf8_strlen (name, -1) > LIG_SEQUENCE_LONGEST_NAME;
  char *copy = long_name ? g_utf8_substring (name, 0, LIG_SEQUENCE_LONGEST_NAME) : g_strdup (name);
  g_free (self->name);
  self->name = copy;
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_NAME]);
  lig_sequence_touch (self);
}

guint64
lig_sequence_get_version (LigSequence *self)
{
  return self->version;
}

guint64
lig_sequence_get_serial (LigSequence *self)
{
  return self->serial;
}

gboolean
lig_sequence_has_input (LigSequence *self)
{
  return self->has_input;
}

/* Returns the op at the end if it is a loss with a number of classes; else null. */
static LigOp *
find_classes (LigSequence *self)
{
  LigOp *last = self->ops->len > 0 ? g_ptr_array_index (self->ops, self->ops->len - 1) : NULL;
  return last && g_object_class_find_property (G_OBJECT_GET_CLASS (last), "classes") ? last : NULL;
}

gint64
lig_sequence_get_classes (LigSequence *self)
{
  LigOp *loss = find_classes (self);
  gint64 classes = 0;
  if (loss)
    g_object_get (loss, "classes", &classes, NULL);
  return classes;
}

gboolean
lig_sequence_set_classes (LigSequence *self, gint64 classes)
{
  LigOp *loss = find_classes (self);
  if (!loss || lig_sequence_get_classes (self) > 0)
    return FALSE;
  g_object_set (loss, "classes", classes, NULL);
  return TRUE;
}

void
lig_sequence_get_input (LigSequence *self, LigShape *shape, LigDtype *dtype)
{
  *shape = self->input;
  *dtype = self->input_dtype;
}

void
lig_sequence_set_input (LigSequence *self, const LigShape *shape, LigDtype dtype)
{
  self->has_input = shape != NULL;
  self->input = shape ? *shape : (LigShape){0};
  self->input_dtype = dtype;
  lig_sequence_touch (self);
}

void
lig_sequence_set_batch (LigSequence *self, gint64 batch)
{
  if (!self->has_input || self->input.n_axes == 0)
    return;
  self->input.axes[0] = batch;
  lig_sequence_touch (self);
}

gboolean
lig_sequence_check_input (const LigShape *shape, LigDtype dtype, GError **error)
{
  return lig_shape_check (shape, dtype, error) && lig_literal_check_shape (shape, 0, error);
}

int
lig_sequence_get_compute (LigSequence *self)
{
  return self->compute;
}

gboolean
lig_parameters_from_name (const char *name, int *parameters)
{
  LigDtype dtype = LIG_FP8_E4M3;
  if (!g_str_equal (name, LIG_FP8_PARAMETERS) &&
      !(lig_dtype_from_name (name, &dtype) && lig_dtype_is_floating (dtype)))
    return FALSE;
  *parameters = (int) dtype;
  return TRUE;
}

const char *
lig_parameters_name (int parameters)
{
  return parameters == LIG_FP8_E4M3 ? LIG_FP8_PARAMETERS : lig_dtype_name ((LigDtype) parameters);
}

int
lig_sequence_get_parameters (LigSequence *self)
{
  return self->parameters;
}

void
lig_sequence_set_types (LigSequence *self, int compute, int parameters)
{
  self->compute = compute;
  self->parameters = parameters;
  lig_sequence_touch (self);
}

const char *
lig_sequence_get_train (LigSequence *self)
{
  return self->train;
}

void
lig_sequence_set_train (LigSequence *self, const char *json)
{
  char *copy = g_strdup (json);
  g_free (self->train);
  self->train = copy;
  lig_sequence_touch (self);
}

const char *
lig_sequence_get_recipe (LigSequence *self)
{
  return self->recipe;
}

gboolean
lig_sequence_set_recipe (LigSequence *self, const char *text, GError **error)
{
  LigRecipe recipe = {NULL};
  if (text && !lig_recipe_parse (&recipe, text, error))
    return FALSE;
  g_free (self->recipe);
  self->recipe = recipe.info ? lig_recipe_format (&recipe) : NULL;
  lig_sequence_touch (self);
  return TRUE;
}

const char *
lig_sequence_get_unknown (LigSequence *self)
{
  return self->unknown;
}

void
lig_sequence_set_unknown (LigSequence *self, const char *json)
{
  char *copy = g_strdup (json);
  g_free (self->unknown);
  self->unknown = copy;
}

const char *const *
lig_sequence_get_forbidden (LigSequence *self)
{
  static const char *const none[] = {NULL};
  return self->forbidden ? (const char *const *) self->forbidden : none;
}

void
lig_sequence_set_forbidden (LigSequence *self, const char *const *fusions)
{
  GStrv copy = g_strdupv ((GStrv) fusions);
  g_strfreev (self->forbidden);
  self->forbidden = copy;
  lig_sequence_touch (self);
}

guint
lig_sequence_get_length (LigSequence *self)
{
  return self->ops->len;
}

/* Turns an index that may be negative into a position below `length`. */
static gboolean
locate (LigSequence *self, int index, guint length, guint *position, GError **error)
{
  gint64 at = index < 0 ? (gint64) self->ops->len + index : index;
  *position = (guint) at;
  if (at >= 0 && at < (gint64) length)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
               _ ("attempted to access index %d, but there %s %u %s"), index,
               self->ops->len == 1 ? _ ("is") : _ ("are"), self->ops->len,
               self->ops->len == 1 ? _ ("entry") : _ ("entries"));
  return FALSE;
}

LigOp *
lig_sequence_get (LigSequence *self, int index, GError **error)
{
  guint position;
  return locate (self, index, self->ops->len, &position, error) ? self->ops->pdata[position] : NULL;
}

/* Takes a reference on the op, which check_free() has accepted. */
static void
insert (LigSequence *self, guint position, LigOp *op)
{
  g_ptr_array_insert (self->ops, (int) position, g_object_ref (op));
  lig_op_set_owner (op, self);
  lig_sequence_count_ties (self, lig_op_get_n_ties (op));
}

/* Returns the op, which is no longer in the sequence. */
static LigOp *
take (LigSequence *self, guint position)
{
  LigOp *op = g_ptr_array_steal_index (self->ops, position);
  lig_op_set_owner (op, NULL);
  lig_sequence_count_ties (self, -lig_op_get_n_ties (op));
  return op;
}

gboolean
lig_sequence_append (LigSequence *self, LigOp *op, GError **error)
{
  return lig_sequence_insert (self, (int) self->ops->len, op, error);
}

void
lig_sequence_extend (LigSequence *self, LigSequence *other)
{
  g_autoptr (GPtrArray) copies = g_ptr_array_new_with_free_func (g_object_unref);
  guint first = self->ops->len;
  /* All ops are copied before any is added: the other sequence may be this one, or contain it in a
     block. */
  for (guint i = 0; i < other->ops->len; i++)
    g_ptr_array_add (copies, lig_op_copy (other->ops->pdata[i]));
  for (guint i = 0; i < copies->len; i++) {
    if (first > 0)
      lig_ties_shift (copies->pdata[i], 0, (int) copies->len, (int) first);
    insert (self, first + i, copies->pdata[i]);
  }
  if (copies->len > 0)
    edited (self, first, 0, copies->len);
}

gboolean
lig_sequence_insert (LigSequence *self, int index, LigOp *op, GError **error)
{
  guint position;
  if (!locate (self, index, self->ops->len + 1, &position, error) || !check_free (self, op, error))
    return FALSE;
  /* Appending an op that was never in a sequence shifts no paths, and nothing is tied to it. */
  gboolean shifts = position < self->ops->len || lig_op_was_moved (op);
  if (shifts)
    lig_ties_find (self, op);
  insert (self, position, op);
  if (shifts)
    lig_ties_renew (self);
  edited (self, position, 0, 1);
  return TRUE;
}

LigOp *
lig_sequence_pop (LigSequence *self, int index, GError **error)
{
  guint position;
  if (!locate (self, index, self->ops->len, &position, error))
    return NULL;
  lig_ties_find (self, NULL);
  LigOp *op = take (self, position);
  lig_ties_renew (self);
  edited (self, position, 1, 0);
  return op;
}

gboolean
lig_sequence_remove (LigSequence *self, int index, GError **error)
{
  g_autoptr (LigOp) op = lig_sequence_pop (self, index, error);
  return op != NULL;
}

gboolean
lig_sequence_move (LigSequence *self, int from, int to, GError **error)
{
  guint source, target;
  if (!locate (self, from, self->ops->len, &source, error) ||
      !locate (self, to, self->ops->len, &target, error))
    return FALSE;
  if (source == target)
    return TRUE;
  lig_ties_find (self, NULL);
  LigOp *op = g_ptr_array_steal_index (self->ops, source);
  g_ptr_array_insert (self->ops, (int) target, op);
  lig_ties_renew (self);
  guint first = MIN (source, target), count = MAX (source, target) - first + 1;
  edited (self, first, count, count);
  return TRUE;
}

gboolean
lig_sequence_replace (LigSequence *self, int index, LigOp *op, GError **error)
{
  guint position;
  if (!locate (self, index, self->ops->len, &position, error) || !check_free (self, op, error))
    return FALSE;
  /* Ties name the position, where the new op is now. */
  g_autoptr (LigOp) old = take (self, position);
  insert (self, position, op);
  lig_ties_forget (self, old);
  edited (self, position, 1, 1);
  return TRUE;
}

LigSequence *
lig_sequence_slice (LigSequence *self, int start, int end)
{
  LigSequence *slice = lig_sequence_new ();
  int length = (int) self->ops->len;
  start = CLAMP (start < 0 ? start + length : start, 0, length);
  end = CLAMP (end < 0 ? end + length : end, 0, length);
  for (int i = start; i < end; i++) {
    g_autoptr (LigOp) op = lig_op_copy (self->ops->pdata[i]);
    if (end - start < length)
      lig_ties_shift (op, start, end, -start);
    insert (slice, slice->ops->len, op);
  }
  return slice;
}

static LigOp *
no_such_path (const char *path, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, _ ("no op has the path '%s'"), path);
  return NULL;
}

LigOp *
lig_sequence_find (LigSequence *self, const char *path, GError **error)
{
  LigSequence *sequence = self;
  const char *at = path;
  for (;;) {
    char *end;
    guint64 position = g_ascii_strtoull (at, &end, 10);
    if (!g_ascii_isdigit (*at) || end - at > 9 || position >= sequence->ops->len)
      return no_such_path (path, error);
    LigOp *op = sequence->ops->pdata[position];
    if (*end == '\0')
      return op;
    LigSequence *body = lig_op_get_body (op);
    gint64 repeat = 0;
    if (body)
      g_object_get (op, "repeat", &repeat, NULL);
    at = end + 1;
    guint64 repetition = g_ascii_strtoull (at, &end, 10);
    if (end - at > 9 || !body || *end != '.' || !g_ascii_isdigit (*at) ||
        repetition >= (guint64) repeat)
      return no_such_path (path, error);
    at = end + 1;
    sequence = body;
  }
}

/* Returns the first op that computes something, in blocks, too; null if there is none. */
static LigOp *
find_first (LigSequence *self)
{
  LigOp *first = lig_sequence_get_length (self) > 0 ? lig_sequence_get (self, 0, NULL) : NULL;
  return first && lig_op_get_body (first) ? find_first (lig_op_get_body (first)) : first;
}

/* The example of an op shows its input. For common kinds of ops the lengths are typical ones. */
char *
lig_sequence_suggest_input (LigSequence *self)
{
  LigShape shape = {0};
  LigDtype dtype = LIG_FP32;
  LigOp *first = find_first (self);
  const char *example = first ? lig_op_get_info (first)->example : NULL;
  const char *sign = example ? strstr (example, " @ ") : NULL;
  if (sign)
    lig_shape_parse (sign + strlen (" @ "), &shape, &dtype, NULL);
  if (dtype == LIG_INT32)
    return g_strdup ("32x128:int32");
  return shape.n_axes < 3 ? g_strdup ("64x256") : lig_shape_to_string (&shape);
}
