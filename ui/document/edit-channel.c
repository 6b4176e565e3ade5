/* SPDX-License-Identifier: MIT */
/* Edits of channels: connections from an extra output to an extra input. */
#include "ui/document/edit.h"
#include "ui/document/ends.h"

#include <glib/gi18n.h>
#include <string.h>

static guint
count_ports (const char *ports)
{
  g_auto (GStrv) names = ports ? g_strsplit (ports, " ", -1) : NULL;
  return names ? g_strv_length (names) : 0;
}

static gboolean
is_taken (LigDocument *doc, const char *name)
{
  guint count;
  const LigRow *rows = lig_document_get_rows (doc, &count);
  for (guint i = 0; i < count; i++) {
    const LigOpInfo *info = lig_op_get_info (rows[i].op);
    for (guint k = 0; k < count_ports (info->extra_outputs); k++)
      if (g_strcmp0 (lig_op_get_extra_output_channel (rows[i].op, (int) k), name) == 0)
        return TRUE;
  }
  return FALSE;
}

static char *
invent_name (LigDocument *doc)
{
  for (guint i = 1;; i++) {
    g_autofree char *name = i == 1 ? g_strdup ("residual") : g_strdup_printf ("residual-%u", i);
    if (!is_taken (doc, name))
      return g_steal_pointer (&name);
  }
}

/* --- Copies -------------------------------------------------------------------------------- */

static gboolean
starts (LigOp *op, const char *channel)
{
  for (guint k = 0; k < count_ports (lig_op_get_info (op)->extra_outputs); k++)
    if (g_strcmp0 (lig_op_get_extra_output_channel (op, (int) k), channel) == 0)
      return TRUE;
  return FALSE;
}

/* Returns whether another op of the sequence starts a channel of that name. */
static gboolean
clashes (LigSequence *parent, LigOp *op, const char *channel)
{
  for (guint i = 0; i < lig_sequence_get_length (parent); i++) {
    LigOp *other = lig_sequence_get (parent, (int) i, NULL);
    if (other != op && starts (other, channel))
      return TRUE;
  }
  return FALSE;
}

/* Renames what an op, or the ops of a block, reads. */
static void
rename_inputs (LigOp *op, const char *channel, const char *name)
{
  LigSequence *body = lig_op_get_body (op);
  for (guint k = 0; k < count_ports (lig_op_get_info (op)->extra_inputs); k++)
    if (g_strcmp0 (lig_op_get_extra_input_channel (op, (int) k), channel) == 0)
      lig_op_set_extra_input_channel (op, (int) k, name, NULL);
  g_autofree char *outer = g_strconcat ("../", channel, NULL);
  g_autofree char *outer_name = g_strconcat ("../", name, NULL);
  for (guint i = 0; body && i < lig_sequence_get_length (body); i++)
    rename_inputs (lig_sequence_get (body, (int) i, NULL), outer, outer_name);
}

static void
separate (LigSequence *parent, GPtrArray *copies, guint number, int output)
{
  LigOp *op = copies->pdata[number];
  g_autofree char *old = g_strdup (lig_op_get_extra_output_channel (op, output));
  g_autofree char *name = NULL;
  if (!old || !clashes (parent, op, old))
    return;
  /* `r` and `r-2` both lead to `r-3`. */
  const char *end = strrchr (old, '-');
  gboolean counted =
    end && end > old && end[1] && strspn (end + 1, "0123456789") == strlen (end + 1);
  int length = (int) (counted ? (gsize) (end - old) : strlen (old));
  for (guint i = 2; !name || clashes (parent, op, name); i++) {
    g_free (name);
    name = g_strdup_printf ("%.*s-%u", length, old, i);
  }
  lig_op_set_extra_output_channel (op, output, name, lig_op_get_extra_output_to_caller (op, output),
                                   NULL);
  for (guint i = number + 1; i < copies->len && !starts (copies->pdata[i], old); i++)
    rename_inputs (copies->pdata[i], old, name);
}

void
lig_edit_separate_channels (LigSequence *parent, GPtrArray *copies)
{
  for (guint i = 0; i < copies->len; i++)
    for (guint k = 0; k < count_ports (lig_op_get_info (copies->pdata[i])->extra_outputs); k++)
      separate (parent, copies, i, (int) k);
}

/* --- Connecting ---------------------------------------------------------------------------- */

static int
count_points (const char *path)
{
  int count = 0;
  for (; *path; path++)
    count += *path == '.';
  return count;
}

/* Returns the number of blocks that contain the sink but not the source, one `../` for each; -1 if
 * the source is in a block that does not contain the sink. */
static int
count_levels (const LigRow *source, const LigRow *sink)
{
  const char *end = strrchr (source->path, '.');
  gsize length = end ? (gsize) (end - source->path) + 1 : 0;
  return strncmp (source->path, sink->path, length) == 0
           ? (count_points (sink->path) - count_points (source->path)) / 2
           : -1;
}

/* Names of repeated ops are scoped to their block, so a channel may lead into it, but not out of
 * it. */
static gboolean
check_ends (LigDocument *doc, LigOp *from, LigOp *to, GError **error)
{
  const LigRow *source = lig_document_find_row (doc, from), *sink = lig_document_find_row (doc, to);
  if (count_ports (lig_op_get_info (from)->extra_outputs) == 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL, _ ("%s does not start a branch"),
                 lig_op_get_name (from));
  else if (count_ports (lig_op_get_info (to)->extra_inputs) == 0 || !lig_ends_can_read (to))
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL, _ ("%s cannot read a branch"),
                 lig_op_get_name (to));
  else if (!source || !sink || count_levels (source, sink) < 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("a branch may lead into a block, but not out of it"));
  else if (source >= sink)
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("a branch leads downward: %s is not above %s"), source->path, sink->path);
  else
    return TRUE;
  return FALSE;
}

gboolean
lig_edit_can_connect (LigDocument *doc, LigOp *from, LigOp *to)
{
  return check_ends (doc, from, to, NULL);
}

/* Returns the first unconnected extra input, else the first one. */
static int
find_input (LigOp *op)
{
  for (guint i = 0; i < count_ports (lig_op_get_info (op)->extra_inputs); i++)
    if (!lig_op_get_extra_input_channel (op, (int) i))
      return (int) i;
  return 0;
}

gboolean
lig_edit_connect (LigDocument *doc, LigOp *from, LigOp *to, GError **error)
{
  if (!check_ends (doc, from, to, error))
    return FALSE;
  const char *present = lig_op_get_extra_output_channel (from, 0);
  g_autofree char *name = present ? g_strdup (present) : invent_name (doc);
  g_autoptr (GString) channel = g_string_new (NULL);
  int levels = count_levels (lig_document_find_row (doc, from), lig_document_find_row (doc, to));
  for (int i = 0; i < levels; i++)
    g_string_append (channel, "../");
  g_string_append (channel, name);
  if (!present && !lig_op_set_extra_output_channel (from, 0, name, FALSE, error))
    return FALSE;
  if (!lig_op_set_extra_input_channel (to, find_input (to), channel->str, error))
    return FALSE;
  g_autofree char *label = g_strdup_printf (_ ("Connect “%s”"), name);
  lig_document_commit (doc, label, NULL);
  return TRUE;
}

void
lig_edit_disconnect (LigDocument *doc, LigOp *op)
{
  const LigOpInfo *info = lig_op_get_info (op);
  for (guint i = 0; i < count_ports (info->extra_outputs); i++)
    lig_op_set_extra_output_channel (op, (int) i, NULL, FALSE, NULL);
  for (guint i = 0; i < count_ports (info->extra_inputs); i++)
    lig_op_set_extra_input_channel (op, (int) i, NULL, NULL);
  lig_document_commit (doc, _ ("Disconnect"), NULL);
}

void
lig_edit_disconnect_channel (LigDocument *doc, LigOp *from, LigOp *to, const char *channel)
{
  const char *name = lig_ends_local_name (channel);
  g_autofree char *label = g_strdup_printf (_ ("Disconnect “%s”"), name);
  g_autofree char *own = g_strdup (name);
  for (guint i = 0; i < count_ports (lig_op_get_info (to)->extra_inputs); i++)
    if (g_strcmp0 (lig_op_get_extra_input_channel (to, (int) i), channel) == 0)
      lig_op_set_extra_input_channel (to, (int) i, NULL, NULL);
  /* A branch without readers is removed. */
  for (guint i = 0; i < count_ports (lig_op_get_info (from)->extra_outputs); i++)
    if (g_strcmp0 (lig_op_get_extra_output_channel (from, (int) i), own) == 0 &&
        !lig_ends_is_read (doc, from, (int) i))
      lig_op_set_extra_output_channel (from, (int) i, NULL, FALSE, NULL);
  lig_document_commit (doc, label, NULL);
}

/* A channel's name must be unique among the ops of its sequence. */
static gboolean
check_name (LigDocument *doc, LigOp *from, const char *name, GError **error)
{
  const LigRow *row = lig_document_find_row (doc, from);
  if (!*name || strchr (name, '/')) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("'%s' is not a valid branch name; use one without a slash"), name);
    return FALSE;
  }
  for (guint i = 0; row && i < lig_sequence_get_length (row->parent); i++) {
    LigOp *op = lig_sequence_get (row->parent, (int) i, NULL);
    if (starts (op, name)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                   _ ("another branch is called '%s'; use a different name"), name);
      return FALSE;
    }
  }
  return row != NULL;
}

gboolean
lig_edit_rename_channel (
  LigDocument *doc, LigOp *from, const char *channel, const char *name, GError **error)
{
  const char *old = lig_ends_local_name (channel);
  if (g_str_equal (old, name))
    return TRUE;
  if (!check_name (doc, from, name, error))
    return FALSE;
  g_autofree char *label = g_strdup_printf (_ ("Rename “%s” to “%s”"), old, name);
  g_autoptr (LigProblemFix) rename = lig_problem_fix_new (
    LIG_PROBLEM_FIX_RENAME, lig_document_find_row (doc, from)->path, old, name);
  if (!lig_problem_fix_apply (rename, lig_document_get_sequence (doc), error))
    return FALSE;
  lig_document_commit (doc, label, NULL);
  return TRUE;
}

static gboolean
has_free_end (LigDocument *doc, LigOp *op, gboolean output)
{
  const LigOpInfo *info = lig_op_get_info (op);
  int input = output ? 0 : find_input (op);
  if (!output)
    return lig_ends_can_read (op) && !lig_op_info_is_optional (info, input) &&
           !lig_op_get_extra_input_channel (op, input);
  return info->extra_outputs && !lig_op_info_is_optional_output (info, 0) &&
         (!lig_op_get_extra_output_channel (op, 0) ||
          (!lig_op_get_extra_output_to_caller (op, 0) && !lig_ends_is_read (doc, op, 0)));
}

/* Returns the op of the next row below a start, or above a reader, with an open end; or null. */
static LigOp *
find_partner (LigDocument *doc, LigOp *op)
{
  guint count;
  const LigRow *rows = lig_document_get_rows (doc, &count), *row = lig_document_find_row (doc, op);
  gboolean source = lig_ends_can_start (op);
  guint i = (guint) (row - rows);
  while (source ? ++i < count : i-- > 0)
    if (has_free_end (doc, rows[i].op, !source) &&
        lig_edit_can_connect (doc, source ? op : rows[i].op, source ? rows[i].op : op))
      return rows[i].op;
  return NULL;
}

LigOp *
lig_edit_find_partner (LigDocument *doc, LigOp *op)
{
  return has_free_end (doc, op, lig_ends_can_start (op)) ? find_partner (doc, op) : NULL;
}

static gboolean
connect_op (LigDocument *doc, LigOp *op, GError **error)
{
  LigOp *partner = find_partner (doc, op);
  gboolean source = lig_ends_can_start (op);
  if (partner)
    return source ? lig_edit_connect (doc, op, partner, error)
                  : lig_edit_connect (doc, partner, op, error);
  g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL, "%s",
               source ? _ ("no operation below has an unconnected branch input; add one, like Add "
                           "branch")
                      : _ ("no operation above starts an unconnected branch; add Make "
                           "branch where it starts"));
  return FALSE;
}

gboolean
lig_edit_connect_selection (LigDocument *doc, LigOp *op, GError **error)
{
  g_autoptr (GPtrArray) rows = lig_document_get_selection (doc);
  if (rows->len == 2)
    return lig_edit_connect (doc, ((const LigRow *) rows->pdata[0])->op,
                             ((const LigRow *) rows->pdata[1])->op, error);
  const LigOpInfo *info = op ? lig_op_get_info (op) : NULL;
  if (info && (info->extra_outputs || info->extra_inputs))
    return connect_op (doc, op, error);
  g_set_error_literal (
    error, LIG_ERROR, LIG_ERROR_CHANNEL,
    _ ("select an operation that starts or reads a branch, or two operations to connect"));
  return FALSE;
}
