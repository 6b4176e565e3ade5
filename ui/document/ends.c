/* SPDX-License-Identifier: MIT */
/* The ends of channels at an op. */
#include "ui/document/ends.h"
#include <ligature/plan.h>

#include <glib/gi18n.h>
#include <string.h>

static guint
count_ports (const char *ports)
{
  g_auto (GStrv) names = ports && *ports ? g_strsplit (ports, " ", -1) : NULL;
  return names ? g_strv_length (names) : 0;
}

const char *
lig_ends_local_name (const char *channel)
{
  while (g_str_has_prefix (channel, "../"))
    channel += 3;
  return channel;
}

gboolean
lig_ends_can_read (LigOp *op)
{
  for (const LigParam *at = lig_op_get_info (op)->params; at && at->name; at++)
    if (at->kind == LIG_PARAM_INPUT)
      return TRUE;
  return FALSE;
}

gboolean
lig_ends_can_start (LigOp *op)
{
  const LigOpInfo *info = lig_op_get_info (op);
  return info->extra_outputs &&
         (lig_op_get_extra_output_to_caller (op, 0) || lig_op_get_extra_output_channel (op, 0) ||
          !lig_ends_can_read (op));
}

static gboolean
starts (LigOp *op, const char *channel)
{
  for (guint i = 0; i < count_ports (lig_op_get_info (op)->extra_outputs); i++)
    if (g_strcmp0 (lig_op_get_extra_output_channel (op, (int) i), channel) == 0)
      return TRUE;
  return FALSE;
}

/* Counts the readers below an op, up to `max`, stopping where another op starts a channel of that
 * name. */
static guint
count_readers (LigSequence *sequence, guint from, const char *channel, guint max)
{
  guint count = 0;
  g_autofree char *outer = g_strconcat ("../", channel, NULL);
  for (guint i = from; i < lig_sequence_get_length (sequence) && count < max; i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    for (guint k = 0; k < count_ports (lig_op_get_info (op)->extra_inputs); k++)
      count += g_strcmp0 (lig_op_get_extra_input_channel (op, (int) k), channel) == 0;
    if (lig_op_get_body (op))
      count += count_readers (lig_op_get_body (op), 0, outer, max - MIN (count, max));
    if (starts (op, channel))
      break;
  }
  return count;
}

gboolean
lig_ends_is_read (LigDocument *doc, LigOp *op, int output)
{
  const LigRow *row = lig_document_find_row (doc, op);
  const char *channel = lig_op_get_extra_output_channel (op, output);
  return row && channel && count_readers (row->parent, (guint) row->index + 1, channel, 1) > 0;
}

LigOp *
lig_ends_find_producer (LigDocument *doc, LigOp *op, int input)
{
  const char *channel = lig_op_get_extra_input_channel (op, input);
  const LigRow *row = lig_document_find_row (doc, op);
  for (; channel && row && g_str_has_prefix (channel, "../"); channel += 3) {
    /* The enclosing block: `3` for `3.0.2`. */
    g_autofree char *path = g_strdup (row->path);
    for (int i = 0; i < 2; i++) {
      char *point = strrchr (path, '.');
      *(point ? point : path) = '\0';
    }
    row = *path ? lig_document_find_path (doc, path) : NULL;
  }
  for (int i = row && channel ? row->index - 1 : -1; i >= 0; i--) {
    LigOp *other = lig_sequence_get (row->parent, i, NULL);
    if (starts (other, channel))
      return other;
  }
  return NULL;
}

gboolean
lig_ends_in_loss (LigSequence *sequence)
{
  LigOp *last = lig_sequence_get (sequence, -1, NULL);
  LigSequence *body = last ? lig_op_get_body (last) : NULL;
  if (body)
    return lig_ends_in_loss (body);
  return last && (lig_op_get_info (last)->flags & LIG_OP_LOSS);
}

static LigEnd
judge_input (LigDocument *doc, LigOp *op, int input)
{
  const char *channel = lig_op_get_extra_input_channel (op, input);
  if (channel)
    return g_str_equal (lig_ends_local_name (channel), "caller") ? LIG_END_CALLER
           : lig_ends_find_producer (doc, op, input) == NULL     ? LIG_END_MISSING
                                                                 : LIG_END_FINE;
  return lig_op_info_is_optional (lig_op_get_info (op), input) ? LIG_END_FINE
         : lig_ends_in_loss (lig_document_get_sequence (doc))  ? LIG_END_OPEN
                                                               : LIG_END_CALLER;
}

LigOp *
lig_ends_find_open (LigDocument *doc)
{
  guint count;
  const LigRow *rows = lig_document_get_rows (doc, &count);
  for (guint i = 0; i < count; i++)
    for (guint k = 0; lig_ends_can_read (rows[i].op) &&
                      k < count_ports (lig_op_get_info (rows[i].op)->extra_inputs);
         k++)
      if (judge_input (doc, rows[i].op, (int) k) == LIG_END_OPEN)
        return rows[i].op;
  return NULL;
}

LigEnd
lig_ends_find (LigDocument *doc, LigOp *op, char **text)
{
  LigEnd worst = LIG_END_FINE;
  const LigOpInfo *info = lig_op_get_info (op);
  g_autofree char *told = NULL;
  for (guint i = 0; i < count_ports (info->extra_outputs); i++) {
    const char *channel = lig_op_get_extra_output_channel (op, (int) i);
    gboolean caller = lig_op_get_extra_output_to_caller (op, (int) i);
    LigEnd end = caller ? LIG_END_CALLER : channel ? LIG_END_UNREAD : LIG_END_FINE;
    if (channel && lig_ends_is_read (doc, op, (int) i))
      continue;
    if (end > worst) {
      worst = end;
      g_free (told);
      told = end == LIG_END_UNREAD ? g_strdup_printf (_ ("nothing reads “%s”"), channel)
                                   : g_strdup (_ ("to the caller"));
    }
  }
  for (guint i = 0; lig_ends_can_read (op) && i < count_ports (info->extra_inputs); i++) {
    const char *channel = lig_op_get_extra_input_channel (op, (int) i);
    LigEnd end = judge_input (doc, op, (int) i);
    if (end > worst) {
      worst = end;
      g_free (told);
      told = end == LIG_END_MISSING ? g_strdup_printf (_ ("nothing above writes “%s”"), channel)
             : end == LIG_END_OPEN  ? g_strdup (_ ("no branch"))
                                    : g_strdup (_ ("from the caller"));
    }
  }
  if (text)
    *text = g_steal_pointer (&told);
  return worst;
}
