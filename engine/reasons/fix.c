/* SPDX-License-Identifier: MIT */
/* Fixes: their texts, and their edits of a sequence. */
#include <ligature/fix.h>

#include <glib/gi18n-lib.h>
#include <string.h>

const char *
lig_fix_kind_name (LigFixKind kind)
{
  static const char *const names[] = {
    "remove-fence", "unforbid",   "force",   "make-private",  "set-dtype", "insert-op",
    "remove-op",    "replace-op", "unforce", "choose-policy", "set",
  };
  return names[kind];
}

char *
lig_fix_describe (const LigFix *self)
{
  switch (self->kind) {
  case LIG_FIX_REMOVE_FENCE:
    return g_strdup_printf (_ ("remove the fence before %s"), self->path);
  case LIG_FIX_UNFORBID:
    if (!self->path)
      return g_strdup_printf (_ ("allow %s everywhere"), self->fusion);
    return g_strdup_printf (_ ("allow %s at %s"), self->fusion, self->path);
  case LIG_FIX_FORCE:
    if (self->value)
      return g_strdup_printf (_ ("force %s@%s instead of %s"), self->fusion, self->path,
                              self->value);
    return g_strdup_printf (_ ("force %s at %s"), self->fusion, self->path);
  case LIG_FIX_MAKE_PRIVATE:
    return g_strdup_printf (_ ("make the branch at %s private"), self->path);
  case LIG_FIX_SET_DTYPE:
    return g_strdup_printf (_ ("compute in %s"), self->value);
  case LIG_FIX_INSERT_OP:
    return g_strdup_printf (_ ("insert %s before %s"), self->value, self->path);
  case LIG_FIX_REMOVE_OP:
    return g_strdup_printf (_ ("remove %s at %s"), self->value, self->path);
  case LIG_FIX_UNFORCE:
    return g_strdup_printf (_ ("do not force %s at %s"), self->value, self->path);
  case LIG_FIX_CHOOSE_POLICY:
    return g_strdup_printf (_ ("use policy %s"), self->value);
  case LIG_FIX_SET:
    return g_strdup_printf (_ ("set %s at %s"), self->value, self->path);
  default:
    return g_strdup_printf (_ ("replace the op at %s with %s"), self->path, self->value);
  }
}

static GStrv
change_names (const char *const *names, const char *name, gboolean with)
{
  g_autoptr (GStrvBuilder) changed = g_strv_builder_new ();
  for (; names && *names; names++)
    if (!g_str_equal (*names, name))
      g_strv_builder_add (changed, *names);
  if (with)
    g_strv_builder_add (changed, name);
  return g_strv_builder_end (changed);
}

/* Also allows the fusion everywhere, because it would otherwise stay forbidden. @op: (nullable) */
static void
unforbid (LigSequence *sequence, LigOp *op, const char *fusion)
{
  g_auto (GStrv) everywhere = change_names (lig_sequence_get_forbidden (sequence), fusion, FALSE);
  lig_sequence_set_forbidden (sequence, (const char *const *) everywhere);
  if (!op)
    return;
  g_auto (GStrv) here = change_names (lig_op_get_forbidden (op), fusion, FALSE);
  lig_op_set_forbidden (op, (const char *const *) here);
}

static void
set_forced (LigOp *op, const char *fusion, gboolean forced)
{
  g_auto (GStrv) names = change_names (lig_op_get_forced (op), fusion, forced);
  lig_op_set_forced (op, (const char *const *) names);
}

static guint
count_ports (const char *ports)
{
  g_auto (GStrv) names = ports ? g_strsplit (ports, " ", -1) : NULL;
  return names ? g_strv_length (names) : 0;
}

/* Disconnects the readers of the branch in its sequence, and in blocks within, which refer to it
 * with `../`: their extra input then comes from the caller. */
static void
disconnect (LigSequence *sequence, const char *channel)
{
  g_autofree char *outside = g_strconcat ("../", channel, NULL);
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    for (guint k = 0; k < count_ports (lig_op_get_info (op)->extra_inputs); k++)
      if (g_strcmp0 (lig_op_get_extra_input_channel (op, (int) k), channel) == 0)
        lig_op_set_extra_input_channel (op, (int) k, NULL, NULL);
    if (lig_op_get_body (op))
      disconnect (lig_op_get_body (op), outside);
  }
}

static gboolean
is_used (LigSequence *sequence, const char *channel)
{
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    for (guint k = 0; k < count_ports (lig_op_get_info (op)->extra_outputs); k++)
      if (g_strcmp0 (lig_op_get_extra_output_channel (op, (int) k), channel) == 0)
        return TRUE;
  }
  return FALSE;
}

/* Makes the outputs private. An output without a channel goes to the caller, so it gets a channel
 * without a reader. */
static gboolean
make_private (LigSequence *parent, LigOp *op, GError **error)
{
  for (guint k = 0; k < count_ports (lig_op_get_info (op)->extra_outputs); k++) {
    g_autofree char *channel = g_strdup (lig_op_get_extra_output_channel (op, (int) k));
    if (channel)
      disconnect (parent, channel);
    for (guint i = 1; !channel; i++) {
      channel = i == 1 ? g_strdup ("private") : g_strdup_printf ("private-%u", i);
      if (is_used (parent, channel))
        g_clear_pointer (&channel, g_free);
    }
    if (!lig_op_set_extra_output_channel (op, (int) k, channel, FALSE, error))
      return FALSE;
  }
  return TRUE;
}

/* Returns the sequence that contains the op of the path: `2` of `3.0.2` is in the body of `3`. */
static LigSequence *
find_parent (LigSequence *sequence, const char *path, int *index)
{
  const char *last = strrchr (path, '.');
  *index = (int) g_ascii_strtoull (last ? last + 1 : path, NULL, 10);
  if (!last)
    return sequence;
  g_autofree char *repetition = g_strndup (path, (gsize) (last - path));
  *strrchr (repetition, '.') = '\0';
  return lig_op_get_body (lig_sequence_find (sequence, repetition, NULL));
}

static gboolean
put_op (LigSequence *parent, int index, LigOp *old, const char *name, GError **error)
{
  g_autoptr (LigOp) op = lig_op_new (name, error);
  if (!op)
    return FALSE;
  if (!old)
    return lig_sequence_insert (parent, index, op, error);
  lig_op_set_fence (op, lig_op_get_fence (old));
  lig_op_set_forbidden (op, lig_op_get_forbidden (old));
  lig_op_set_forced (op, lig_op_get_forced (old));
  return lig_sequence_replace (parent, index, op, error);
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

/* Removes a forced fusion, `FUSION@PATH`. */
static gboolean
drop_force (LigSequence *sequence, const char *replaced, GError **error)
{
  const char *at = strchr (replaced, '@');
  g_autofree char *fusion = at ? g_strndup (replaced, (gsize) (at - replaced)) : NULL;
  LigOp *op = at ? lig_sequence_find (sequence, at + 1, error) : NULL;
  if (op)
    set_forced (op, fusion, FALSE);
  else if (!at)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION, _ ("'%s' is not FUSION@PATH"), replaced);
  return op != NULL;
}

/* Sets a parameter, `PARAMETER=NUMBER`. */
static gboolean
set_param (LigOp *op, const char *text, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, "=", 2);
  g_auto (GValue) value = G_VALUE_INIT;
  gint64 number;
  if (!words[0] || !words[1] ||
      !g_ascii_string_to_signed (words[1], 10, G_MININT64, G_MAXINT64, &number, NULL)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("'%s' is not PARAMETER=NUMBER"), text);
    return FALSE;
  }
  g_value_init (&value, G_TYPE_INT64);
  g_value_set_int64 (&value, number);
  return lig_op_set_value (op, words[0], &value, error);
}

/* Makes an edit that changes the op in place. */
static gboolean
change_op (const LigFix *self, LigSequence *sequence, LigOp *op)
{
  switch (self->kind) {
  case LIG_FIX_REMOVE_FENCE:
    lig_op_set_fence (op, FALSE);
    return TRUE;
  case LIG_FIX_UNFORBID:
    unforbid (sequence, op, self->fusion);
    return TRUE;
  case LIG_FIX_FORCE:
    set_forced (op, self->fusion, TRUE);
    return TRUE;
  case LIG_FIX_UNFORCE:
    set_forced (op, self->value, FALSE);
    return TRUE;
  default:
    return FALSE;
  }
}

gboolean
lig_fix_is_edit (const LigFix *self)
{
  return self->kind != LIG_FIX_CHOOSE_POLICY;
}

gboolean
lig_fix_apply (const LigFix *self, LigSequence *sequence, GError **error)
{
  int index;
  if (!lig_fix_is_edit (self)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION,
                 _ ("the policy is an option, not a part of the sequence; compile with policy "
                    "%s"),
                 self->value);
    return FALSE;
  }
  if (self->kind == LIG_FIX_SET_DTYPE)
    return set_dtype (sequence, self->value, error);
  LigOp *op = self->path ? lig_sequence_find (sequence, self->path, error) : NULL;
  if (!op && (self->path || self->kind != LIG_FIX_UNFORBID))
    return FALSE;
  if (self->kind == LIG_FIX_FORCE && self->value && !drop_force (sequence, self->value, error))
    return FALSE;
  if (self->kind == LIG_FIX_SET)
    return set_param (op, self->value, error);
  if (change_op (self, sequence, op))
    return TRUE;
  LigSequence *parent = find_parent (sequence, self->path, &index);
  if (self->kind == LIG_FIX_MAKE_PRIVATE)
    return make_private (parent, op, error);
  if (self->kind == LIG_FIX_REMOVE_OP)
    return lig_sequence_remove (parent, index, error);
  return put_op (parent, index, self->kind == LIG_FIX_REPLACE_OP ? op : NULL, self->value, error);
}
