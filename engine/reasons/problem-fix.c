/* SPDX-License-Identifier: MIT */
/* Fixes of problems: their texts, and their edits of a sequence. */
#include "engine/sequence/op-private.h"
#include "engine/sequence/ports.h"
#include <ligature/problem-fix.h>

#include <glib/gi18n-lib.h>
#include <string.h>

LigProblemFix *
lig_problem_fix_new (LigProblemFixKind kind, const char *path, const char *name, const char *value)
{
  LigProblemFix *self = g_new0 (LigProblemFix, 1);
  self->kind = kind;
  self->path = g_strdup (path);
  self->name = g_strdup (name);
  self->value = g_strdup (value);
  return self;
}

LigProblemFix *
lig_problem_fix_copy (const LigProblemFix *self)
{
  return lig_problem_fix_new (self->kind, self->path, self->name, self->value);
}

void
lig_problem_fix_free (LigProblemFix *self)
{
  g_free (self->path);
  g_free (self->name);
  g_free (self->value);
  g_free (self);
}

const char *
lig_problem_fix_kind_name (LigProblemFixKind kind)
{
  static const char *const names[] = {
    "set",     "set-input",  "set-dtype", "remove-fence", "unforce",   "unforbid",
    "connect", "disconnect", "rename",    "remove-op",    "insert-op",
  };
  return names[kind];
}

char *
lig_problem_fix_describe (const LigProblemFix *self)
{
  const char *path = self->path, *name = self->name, *value = self->value;
  switch (self->kind) {
  case LIG_PROBLEM_FIX_SET:
    return value ? g_strdup_printf (_ ("set %s to %s at %s"), name, value, path)
                 : g_strdup_printf (_ ("omit %s at %s"), name, path);
  case LIG_PROBLEM_FIX_SET_INPUT:
    return g_strdup_printf (_ ("set the input to %s"), value);
  case LIG_PROBLEM_FIX_SET_DTYPE:
    return g_strdup_printf (_ ("compute in %s"), value);
  case LIG_PROBLEM_FIX_REMOVE_FENCE:
    return g_strdup_printf (_ ("remove the fence before %s"), path);
  case LIG_PROBLEM_FIX_UNFORCE:
    return g_strdup_printf (_ ("do not force %s at %s"), name, path);
  case LIG_PROBLEM_FIX_UNFORBID:
    return path ? g_strdup_printf (_ ("allow %s at %s"), name, path)
                : g_strdup_printf (_ ("allow %s everywhere"), name);
  case LIG_PROBLEM_FIX_CONNECT:
    return g_strdup_printf (_ ("connect %s with %s"), path, value);
  case LIG_PROBLEM_FIX_DISCONNECT:
    return g_strdup_printf (_ ("disconnect %s from '%s'"), path, name);
  case LIG_PROBLEM_FIX_RENAME:
    return g_strdup_printf (_ ("rename '%s' from %s on to '%s'"), name, path, value);
  case LIG_PROBLEM_FIX_REMOVE_OP:
    return g_strdup_printf (_ ("remove %s at %s"), name, path);
  default:
    return g_strdup_printf (_ ("insert %s before %s"), value, path);
  }
}

/* --- Parameters ---------------------------------------------------------------------------- */

static const LigParam *
find_param (LigOp *op, const char *name, GError **error)
{
  const LigParam *param = lig_op_get_info (op)->params;
  while (param && param->name && !g_str_equal (param->name, name))
    param++;
  if (param && param->name)
    return param;
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s has no parameter %s"), lig_op_get_name (op),
               name);
  return NULL;
}

/* Reads `[-1, 768]`. */
static void
read_shape (const char *text, GValue *value)
{
  LigShape shape = {0};
  while (*text && shape.n_axes < LIG_MAX_AXES) {
    char *end;
    gint64 axis = g_ascii_strtoll (text, &end, 10);
    if (end == text)
      text++;
    else {
      shape.axes[shape.n_axes++] = axis;
      text = end;
    }
  }
  g_value_init (value, LIG_TYPE_SHAPE);
  g_value_set_boxed (value, &shape);
}

static gboolean
set (LigOp *op, const char *name, const char *text, GError **error)
{
  g_auto (GValue) value = G_VALUE_INIT;
  const LigParam *param = find_param (op, name, error);
  if (!param)
    return FALSE;
  if (!text) {
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (op), name);
    g_value_init (&value, spec->value_type);
    g_param_value_set_default (spec, &value);
    g_object_set_property (G_OBJECT (op), name, &value);
    return TRUE;
  }
  if (param->kind == LIG_PARAM_SHAPE)
    read_shape (text, &value);
  else if (param->kind == LIG_PARAM_INT) {
    g_value_init (&value, G_TYPE_INT64);
    g_value_set_int64 (&value, g_ascii_strtoll (text, NULL, 10));
  } else if (param->kind == LIG_PARAM_CHOICE) {
    g_value_init (&value, G_TYPE_STRING);
    g_value_set_string (&value, text);
  } else {
    g_value_init (&value, G_TYPE_DOUBLE);
    g_value_set_double (&value, g_ascii_strtod (text, NULL));
  }
  return lig_op_set_value (op, name, &value, error);
}

static gboolean
set_input (LigSequence *sequence, const char *text, GError **error)
{
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  if (!lig_shape_parse (text, &shape, &dtype, error))
    return FALSE;
  lig_sequence_set_input (sequence, &shape, dtype);
  return TRUE;
}

static gboolean
set_dtype (LigSequence *sequence, const char *name, GError **error)
{
  LigDtype dtype;
  if (!lig_dtype_from_name (name, &dtype)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE, _ ("element type '%s' is unknown"), name);
    return FALSE;
  }
  lig_sequence_set_types (sequence, (int) dtype, lig_sequence_get_parameters (sequence));
  return TRUE;
}

/* --- Forced and forbidden fusions
 * -------------------------------------------------------------------------------- */

static GStrv
without (const char *const *names, const char *name)
{
  g_autoptr (GStrvBuilder) rest = g_strv_builder_new ();
  for (; names && *names; names++)
    if (!g_str_equal (*names, name))
      g_strv_builder_add (rest, *names);
  return g_strv_builder_end (rest);
}

static void
unforce (LigOp *op, const char *fusion)
{
  g_auto (GStrv) rest = without (lig_op_get_forced (op), fusion);
  lig_op_set_forced (op, (const char *const *) rest);
}

/* Also allows the fusion everywhere, because it would otherwise stay forbidden. */
static void
unforbid (LigSequence *sequence, LigOp *op, const char *fusion)
{
  g_auto (GStrv) everywhere = without (lig_sequence_get_forbidden (sequence), fusion);
  g_auto (GStrv) here = op ? without (lig_op_get_forbidden (op), fusion) : NULL;
  lig_sequence_set_forbidden (sequence, (const char *const *) everywhere);
  if (op)
    lig_op_set_forbidden (op, (const char *const *) here);
}

/* --- Channels ------------------------------------------------------------------------------ */

static int
count_inputs (LigOp *op)
{
  return lig_ports_parse (lig_op_get_info (op)->extra_inputs)->count;
}

static int
count_outputs (LigOp *op)
{
  return lig_ports_parse (lig_op_get_info (op)->extra_outputs)->count;
}

static void
disconnect (LigOp *op, const char *channel)
{
  for (int i = 0; i < count_inputs (op); i++)
    if (g_strcmp0 (lig_op_get_extra_input_channel (op, i), channel) == 0)
      lig_op_set_extra_input_channel (op, i, NULL, NULL);
  for (int i = 0; i < count_outputs (op); i++)
    if (g_strcmp0 (lig_op_get_extra_output_channel (op, i), channel) == 0)
      lig_op_set_extra_output_channel (op, i, NULL, FALSE, NULL);
}

static int
count_points (const char *path)
{
  int count = 0;
  for (; *path; path++)
    count += *path == '.';
  return count;
}

/* Connects to an op of the same sequence or an enclosing one. An output without a channel gets the
 * reader's name. */
static gboolean
connect (LigOp *reader, const LigProblemFix *self, LigOp *producer, GError **error)
{
  const LigParam *param = find_param (reader, self->name, error);
  if (param && (param->kind != LIG_PARAM_INPUT || count_outputs (producer) == 0)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL, _ ("%s at %s cannot read from %s at %s"),
                 lig_op_get_name (reader), self->path, lig_op_get_name (producer), self->value);
    return FALSE;
  }
  if (!param)
    return FALSE;
  int slot = (int) param->offset;
  const char *present = lig_op_get_extra_input_channel (reader, slot);
  g_autofree char *channel = g_strdup (lig_op_get_extra_output_channel (producer, 0));
  for (; present && g_str_has_prefix (present, "../"); present += 3)
    ;
  if (!channel) {
    channel = g_strdup (present && *present ? present : "residual");
    if (!lig_op_set_extra_output_channel (producer, 0, channel, FALSE, error))
      return FALSE;
  }
  g_autoptr (GString) name = g_string_new (NULL);
  for (int i = count_points (self->value); i < count_points (self->path); i += 2)
    g_string_append (name, "../");
  g_string_append (name, channel);
  return lig_op_set_extra_input_channel (reader, slot, name->str, error);
}

static gboolean
produces (LigOp *op, const char *channel)
{
  for (int i = 0; i < count_outputs (op); i++)
    if (g_strcmp0 (lig_op_get_extra_output_channel (op, i), channel) == 0)
      return TRUE;
  return FALSE;
}

/* Renames the readers of a channel from an op onwards, until another op starts a channel of that
 * name; in blocks they refer to it with `../`. */
static void
rename_readers (LigSequence *sequence, guint from, const char *channel, const char *name)
{
  g_autofree char *outer = g_strconcat ("../", channel, NULL);
  g_autofree char *outer_name = g_strconcat ("../", name, NULL);
  for (guint i = from; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    for (int k = 0; k < count_inputs (op); k++)
      if (g_strcmp0 (lig_op_get_extra_input_channel (op, k), channel) == 0)
        lig_op_set_extra_input_channel (op, k, name, NULL);
    if (lig_op_get_body (op))
      rename_readers (lig_op_get_body (op), 0, outer, outer_name);
    if (produces (op, channel))
      return;
  }
}

static int
find_index (LigSequence *parent, LigOp *op)
{
  for (guint i = 0; i < lig_sequence_get_length (parent); i++)
    if (lig_sequence_get (parent, (int) i, NULL) == op)
      return (int) i;
  return -1;
}

static gboolean
rename_channel (LigOp *op, const char *channel, const char *name, GError **error)
{
  LigSequence *parent = lig_op_get_owner (op);
  for (int i = 0; i < count_outputs (op); i++)
    if (g_strcmp0 (lig_op_get_extra_output_channel (op, i), channel) == 0 &&
        !lig_op_set_extra_output_channel (op, i, name, lig_op_get_extra_output_to_caller (op, i),
                                          error))
      return FALSE;
  rename_readers (parent, (guint) find_index (parent, op) + 1, channel, name);
  return TRUE;
}

/* --- The edit ------------------------------------------------------------------------------ */

static gboolean
insert (LigSequence *parent, int index, const char *expression, GError **error)
{
  g_autoptr (LigSequence) ops = lig_sequence_from_expression (expression, error);
  for (guint i = 0; ops && i < lig_sequence_get_length (ops); i++) {
    g_autoptr (LigOp) op = lig_op_copy (lig_sequence_get (ops, (int) i, NULL));
    if (!lig_sequence_insert (parent, index + (int) i, op, error))
      return FALSE;
  }
  return ops != NULL;
}

static gboolean
edit_op (const LigProblemFix *self, LigSequence *sequence, LigOp *op, GError **error)
{
  LigSequence *parent = lig_op_get_owner (op);
  switch (self->kind) {
  case LIG_PROBLEM_FIX_SET:
    return set (op, self->name, self->value, error);
  case LIG_PROBLEM_FIX_REMOVE_FENCE:
    lig_op_set_fence (op, FALSE);
    return TRUE;
  case LIG_PROBLEM_FIX_UNFORCE:
    unforce (op, self->name);
    return TRUE;
  case LIG_PROBLEM_FIX_UNFORBID:
    unforbid (sequence, op, self->name);
    return TRUE;
  case LIG_PROBLEM_FIX_DISCONNECT:
    disconnect (op, self->name);
    return TRUE;
  case LIG_PROBLEM_FIX_RENAME:
    return rename_channel (op, self->name, self->value, error);
  case LIG_PROBLEM_FIX_REMOVE_OP:
    return lig_sequence_remove (parent, find_index (parent, op), error);
  default:
    return insert (parent, find_index (parent, op), self->value, error);
  }
}

gboolean
lig_problem_fix_apply (const LigProblemFix *self, LigSequence *sequence, GError **error)
{
  if (self->kind == LIG_PROBLEM_FIX_SET_INPUT)
    return set_input (sequence, self->value, error);
  if (self->kind == LIG_PROBLEM_FIX_SET_DTYPE)
    return set_dtype (sequence, self->value, error);
  if (!self->path) {
    unforbid (sequence, NULL, self->name);
    return TRUE;
  }
  LigOp *op = lig_sequence_find (sequence, self->path, error);
  if (!op || self->kind != LIG_PROBLEM_FIX_CONNECT)
    return op && edit_op (self, sequence, op, error);
  LigOp *producer = lig_sequence_find (sequence, self->value, error);
  return producer && connect (op, self, producer, error);
}
