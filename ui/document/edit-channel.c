/* SPDX-License-Identifier: MIT */
/* Edits of channels: which extra output feeds which extra input. */
#include "ui/document/edit.h"

#include <glib/gi18n.h>

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

/* Names of repeated ops are scoped to their block; a channel between two sequences is not. */
static gboolean
check_ends (LigDocument *doc, LigOp *from, LigOp *to, GError **error)
{
  const LigRow *source = lig_document_find_row (doc, from), *sink = lig_document_find_row (doc, to);
  if (count_ports (lig_op_get_info (from)->extra_outputs) == 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL, "%s has no extra output",
                 lig_op_get_name (from));
  else if (count_ports (lig_op_get_info (to)->extra_inputs) == 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL, "%s has no extra input",
                 lig_op_get_name (to));
  else if (!source || !sink || source->parent != sink->parent)
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 "a channel joins two operations of one sequence, not of a block and its outside");
  else if (source->index >= sink->index)
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 "a channel leads downward: %s is not above %s", source->path, sink->path);
  else
    return TRUE;
  return FALSE;
}

gboolean
lig_edit_connect (LigDocument *doc, LigOp *from, LigOp *to, GError **error)
{
  if (!check_ends (doc, from, to, error))
    return FALSE;
  const char *present = lig_op_get_extra_output_channel (from, 0);
  g_autofree char *name = present ? g_strdup (present) : invent_name (doc);
  if (!present && !lig_op_set_extra_output_channel (from, 0, name, FALSE, error))
    return FALSE;
  if (!lig_op_set_extra_input_channel (to, 0, name, error))
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

static gboolean
has_free_end (LigOp *op, gboolean output)
{
  const LigOpInfo *info = lig_op_get_info (op);
  return output ? info->extra_outputs && !lig_op_get_extra_output_channel (op, 0)
                : info->extra_inputs && !lig_op_get_extra_input_channel (op, 0);
}

/* Returns the row of a free output above, or of a free input below. */
static gboolean
connect_op (LigDocument *doc, LigOp *op, GError **error)
{
  guint count;
  const LigRow *rows = lig_document_get_rows (doc, &count), *row = lig_document_find_row (doc, op);
  gboolean source = lig_op_get_info (op)->extra_outputs != NULL;
  guint i = (guint) (row - rows);
  while (source ? ++i < count : i-- > 0)
    if (rows[i].parent == row->parent && has_free_end (rows[i].op, !source))
      return source ? lig_edit_connect (doc, op, rows[i].op, error)
                    : lig_edit_connect (doc, rows[i].op, op, error);
  g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL, "%s",
               source ? _ ("there is no free extra input below")
                      : _ ("there is no free extra output above"));
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
  g_set_error_literal (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                       _ ("select an operation with an extra input or output, or two to connect"));
  return FALSE;
}
