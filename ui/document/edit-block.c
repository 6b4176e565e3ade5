/* SPDX-License-Identifier: MIT */
/* Edits that group ops into a block, ungroup them, and expand a macro into its parts.
 */
#include "ui/document/edit.h"
#include <ligature/expand-macro.h>
#include <ligature/plan.h>

#include <glib/gi18n.h>

/* The selected rows, if they follow one another in one sequence. */
static GPtrArray *
get_run_of_rows (LigDocument *doc, GError **error)
{
  g_autoptr (GPtrArray) rows = lig_document_get_selection (doc);
  gboolean fine = rows->len > 0;
  for (guint i = 1; i < rows->len; i++) {
    const LigRow *row = rows->pdata[i], *before = rows->pdata[i - 1];
    fine &= row->parent == before->parent && row->index == before->index + 1;
  }
  if (fine)
    return g_steal_pointer (&rows);
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
               _ ("a block needs adjacent operations; the selection has gaps"));
  return NULL;
}

gboolean
lig_edit_group (LigDocument *doc, int repeat, GError **error)
{
  g_autoptr (GPtrArray) rows = get_run_of_rows (doc, error);
  g_autoptr (LigOp) block = rows ? lig_op_new (lig_op_info_with (LIG_OP_BLOCK)->name, error) : NULL;
  if (!block)
    return FALSE;
  g_auto (GValue) value = G_VALUE_INIT;
  g_value_init (&value, G_TYPE_INT64);
  g_value_set_int64 (&value, repeat);
  if (!lig_op_set_value (block, "repeat", &value, error))
    return FALSE;
  const LigRow *first = rows->pdata[0];
  LigSequence *parent = first->parent, *body = lig_op_get_body (block);
  int index = first->index;
  for (guint i = 0; i < rows->len; i++) {
    g_autoptr (LigOp) op = lig_sequence_pop (parent, index, NULL);
    lig_sequence_append (body, op, NULL);
  }
  lig_sequence_insert (parent, index, block, NULL);
  lig_document_commit (doc, _ ("Make a block"), NULL);
  lig_document_select (doc, block, LIG_SELECT_ONLY);
  lig_document_set_open (doc, block, TRUE);
  lig_document_want_parameter (doc, "repeat");
  return TRUE;
}

static void
select_from (LigDocument *doc, LigSequence *parent, int index, guint count)
{
  lig_document_select (doc, NULL, LIG_SELECT_ONLY);
  for (guint i = 0; i < count; i++)
    lig_document_select (doc, lig_sequence_get (parent, index + (int) i, NULL), LIG_SELECT_TOGGLE);
}

static gboolean
take_macro_apart (LigDocument *doc, const LigRow *row, GError **error)
{
  LigSequence *parent = row->parent;
  int index = row->index;
  g_autoptr (LigOp) macro = g_object_ref (row->op);
  guint before = lig_sequence_get_length (parent), planned = 0;
  const LigPlanOp *parts = lig_document_find_parts (doc, row->path, &planned);
  gboolean known = parts && g_str_equal (parts->title, lig_op_get_name (macro));
  gint64 features = known ? lig_shape_columns (&parts->x) : 0;
  if (!lig_sequence_expand_macro (parent, index, features, error))
    return FALSE;
  /* Translators: %s is the title of an operation. */
  g_autofree char *label = g_strdup_printf (_ ("Expand %s"), _ (lig_op_get_info (macro)->title));
  lig_document_commit (doc, label, NULL);
  select_from (doc, parent, index, lig_sequence_get_length (parent) + 1 - before);
  return TRUE;
}

/* The ops of a frozen block are frozen, and those without a recipe of their own inherit the
 * block's. */
static void
carry_settings (LigOp *block, LigOp *op)
{
  g_autofree char *around = NULL, *own = NULL;
  if (!lig_op_get_trained (block))
    lig_op_set_trained (op, FALSE);
  if (!g_object_class_find_property (G_OBJECT_GET_CLASS (op), "recipe") || lig_op_get_body (op))
    return;
  g_object_get (block, "recipe", &around, NULL);
  g_object_get (op, "recipe", &own, NULL);
  if (around && !g_str_equal (around, "inherit") && own && g_str_equal (own, "inherit"))
    g_object_set (op, "recipe", around, NULL);
}

/* Replaces a block that is not repeated with its ops. Returns their number. */
static guint
put_ops (LigSequence *parent, int index)
{
  g_autoptr (LigOp) block = lig_sequence_pop (parent, index, NULL);
  LigSequence *body = lig_op_get_body (block);
  guint count = lig_sequence_get_length (body);
  for (guint i = 0; i < count; i++) {
    g_autoptr (LigOp) op = lig_sequence_pop (body, 0, NULL);
    if (i == 0 && lig_op_get_fence (block))
      lig_op_set_fence (op, TRUE);
    carry_settings (block, op);
    lig_sequence_insert (parent, index + (int) i, op, NULL);
  }
  return count;
}

/* A repeated block becomes that many separate blocks, each with its own channels, which can be
 * edited and expanded. */
static void
take_block_apart (LigDocument *doc, const LigRow *row)
{
  LigSequence *parent = row->parent;
  int index = row->index;
  gint64 repeat = 1;
  g_object_get (row->op, "repeat", &repeat, NULL);
  guint count = (guint) repeat;
  if (repeat > 1)
    g_object_set (row->op, "repeat", (gint64) 1, NULL);
  for (gint64 i = 1; i < repeat; i++) {
    g_autoptr (LigOp) copy = lig_op_copy (row->op);
    lig_op_set_fence (copy, FALSE);
    lig_sequence_insert (parent, index + (int) i, copy, NULL);
  }
  if (repeat == 1)
    count = put_ops (parent, index);
  lig_document_commit (doc, _ ("Expand the block"), NULL);
  select_from (doc, parent, index, count);
}

gboolean
lig_edit_can_ungroup (LigOp *op)
{
  return lig_op_get_body (op) || lig_op_get_info (op)->expand;
}

gboolean
lig_edit_ungroup (LigDocument *doc, GError **error)
{
  LigOp *op = lig_document_get_cursor (doc);
  const LigRow *row = op ? lig_document_find_row (doc, op) : NULL;
  if (!row || !lig_edit_can_ungroup (op)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, _ ("only a block or a macro can be expanded"));
    return FALSE;
  }
  if (!lig_op_get_body (op))
    return take_macro_apart (doc, row, error);
  take_block_apart (doc, row);
  return TRUE;
}
