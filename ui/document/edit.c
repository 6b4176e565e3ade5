/* SPDX-License-Identifier: MIT */
/* Edits of the list of ops: insert, delete, duplicate, move, copy, paste. */
#include "ui/document/edit.h"
#include <ligature/plan.h>

#include <glib/gi18n.h>

/* --- Defaults of an inserted op ------------------------------------------------------------ */

/* Returns the shape of the value at a gap, if the last plan contains it. */
static void
find_shape (LigDocument *doc, LigSequence *parent, int index, LigShape *shape)
{
  LigDtype dtype;
  guint n_rows, count = 0;
  lig_sequence_get_input (lig_document_get_sequence (doc), shape, &dtype);
  const LigRow *rows = lig_document_get_rows (doc, &n_rows);
  for (guint i = 0; i < n_rows; i++)
    if (rows[i].parent == parent && rows[i].index == index - 1) {
      const LigPlanOp *parts = lig_document_find_parts (doc, rows[i].path, &count);
      if (count > 0)
        *shape = parts[count - 1].y;
    }
}

/* Fills in required parameters that are missing: a matmul keeps the number of features, a scale is
 * 1, a reshape keeps the last axis. The row is valid at once, and the user can change the
 * number. */
static void
fill_required (LigOp *op, const LigShape *shape)
{
  g_autoptr (GError) missing = NULL;
  const LigParam *param = lig_op_get_info (op)->params;
  gint64 last = shape->n_axes > 0 ? shape->axes[shape->n_axes - 1] : 1;
  if (lig_op_check (op, &missing))
    return;
  for (; param && param->name; param++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (!(param->flags & LIG_PARAM_REQUIRED))
      continue;
    if (param->kind == LIG_PARAM_SHAPE) {
      LigShape whole = {.n_axes = 2, .axes = {-1, last}};
      g_value_init (&value, LIG_TYPE_SHAPE);
      g_value_set_boxed (&value, &whole);
    } else {
      g_value_init (&value, G_TYPE_INT64);
      g_value_set_int64 (&value, param->kind == LIG_PARAM_INT ? MAX (last, 1) : 1);
    }
    lig_op_set_value (op, param->name, &value, NULL);
  }
}

/* --- Insert -------------------------------------------------------------------------------- */

/* Returns whether the sequence is the body of the op or of a block within it. */
static gboolean
holds (LigOp *op, LigSequence *sequence)
{
  LigSequence *body = lig_op_get_body (op);
  if (!body || body == sequence)
    return body != NULL;
  for (guint i = 0; i < lig_sequence_get_length (body); i++)
    if (holds (lig_sequence_get (body, (int) i, NULL), sequence))
      return TRUE;
  return FALSE;
}

static void
select_all_of (LigDocument *doc, GPtrArray *ops)
{
  lig_document_select (doc, NULL, LIG_SELECT_ONLY);
  for (guint i = 0; i < ops->len; i++)
    lig_document_select (doc, ops->pdata[i], LIG_SELECT_TOGGLE);
}

static char *
label_ops (const char *one, const char *many, GPtrArray *ops)
{
  if (ops->len != 1)
    return g_strdup_printf (many, ops->len);
  return g_strdup_printf (one, _ (lig_op_get_info (ops->pdata[0])->title));
}

/* Returns the row of the block whose body the sequence is; null for the document's sequence. */
static const LigRow *
find_owner (LigDocument *doc, LigSequence *body)
{
  guint count;
  const LigRow *rows = lig_document_get_rows (doc, &count);
  for (guint i = 0; i < count; i++)
    if (lig_op_get_body (rows[i].op) == body)
      return &rows[i];
  return NULL;
}

/* Opens the block around an inserted op. */
static void
open_owner (LigDocument *doc, LigSequence *body)
{
  const LigRow *owner = find_owner (doc, body);
  if (owner)
    lig_document_set_open (doc, owner->op, TRUE);
}

gboolean
lig_edit_insert (LigDocument *doc, LigSequence *parent, int index, LigSequence *ops, GError **error)
{
  g_autoptr (GPtrArray) added = g_ptr_array_new ();
  guint count = lig_sequence_get_length (ops);
  LigShape shape;
  find_shape (doc, parent, index, &shape);
  for (guint i = 0; i < count; i++) {
    g_autoptr (LigOp) copy = lig_op_copy (lig_sequence_get (ops, (int) i, NULL));
    fill_required (copy, &shape);
    if (!lig_sequence_insert (parent, index + (int) i, copy, error))
      return FALSE;
    g_ptr_array_add (added, copy);
  }
  lig_edit_separate_channels (parent, added);
  g_autofree char *label =
    label_ops (_ ("Add %s"), ngettext ("Add %u operation", "Add %u operations", added->len), added);
  lig_document_commit (doc, label, NULL);
  open_owner (doc, parent);
  select_all_of (doc, added);
  return TRUE;
}

gboolean
lig_edit_insert_op (
  LigDocument *doc, LigSequence *parent, int index, const char *op, GError **error)
{
  g_autoptr (LigOp) one = lig_op_new (op, error);
  if (!one)
    return FALSE;
  g_autoptr (LigSequence) ops = lig_sequence_new ();
  return lig_sequence_append (ops, one, error) && lig_edit_insert (doc, parent, index, ops, error);
}

/* Finds the gap after the cursor, or inside an empty block at the cursor; without a cursor, the
 * end. */
static LigSequence *
find_gap (LigDocument *doc, int *index)
{
  LigOp *cursor = lig_document_get_cursor (doc);
  const LigRow *row = cursor ? lig_document_find_row (doc, cursor) : NULL;
  LigSequence *sequence = lig_document_get_sequence (doc);
  LigSequence *body = row ? lig_op_get_body (row->op) : NULL;
  if (body && lig_sequence_get_length (body) == 0) {
    *index = 0;
    return body;
  }
  *index = row ? row->index + 1 : (int) lig_sequence_get_length (sequence);
  return row ? row->parent : sequence;
}

gboolean
lig_edit_add (LigDocument *doc, const char *op, GError **error)
{
  int index;
  LigSequence *parent = find_gap (doc, &index);
  return lig_edit_insert_op (doc, parent, index, op, error);
}

/* --- Delete and duplicate ------------------------------------------------------------------ */

/* Returns references to the selected ops that are not within a selected block. */
static GPtrArray *
get_chosen (LigDocument *doc)
{
  GPtrArray *ops = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GPtrArray) rows = lig_document_get_selection (doc);
  for (guint i = 0; i < rows->len; i++) {
    const LigRow *row = rows->pdata[i];
    gboolean inside = FALSE;
    for (guint k = 0; k < ops->len && !inside; k++)
      inside = holds (ops->pdata[k], row->parent);
    if (!inside)
      g_ptr_array_add (ops, g_object_ref (row->op));
  }
  return ops;
}

/* Finds an op's current position; the rows may be outdated. */
static int
find_index (LigSequence *parent, LigOp *op)
{
  for (guint i = 0; i < lig_sequence_get_length (parent); i++)
    if (lig_sequence_get (parent, (int) i, NULL) == op)
      return (int) i;
  return -1;
}

/* Returns the row that gets the cursor when the selection is deleted: the one after it, else the
 * one before. */
static LigOp *
find_heir (LigDocument *doc)
{
  guint count;
  LigOp *before = NULL, *after = NULL;
  gboolean seen = FALSE;
  const LigRow *rows = lig_document_get_rows (doc, &count);
  for (guint i = 0; i < count && !after; i++) {
    gboolean chosen = lig_document_is_selected (doc, rows[i].op);
    seen |= chosen;
    if (!chosen && seen)
      after = rows[i].op;
    else if (!chosen)
      before = rows[i].op;
  }
  return after ? after : before;
}

guint
lig_edit_delete (LigDocument *doc)
{
  g_autoptr (GPtrArray) ops = get_chosen (doc);
  if (ops->len == 0)
    return 0;
  LigOp *heir = find_heir (doc);
  for (guint i = 0; i < ops->len; i++) {
    LigSequence *parent = lig_document_find_row (doc, ops->pdata[i])->parent;
    lig_sequence_remove (parent, find_index (parent, ops->pdata[i]), NULL);
  }
  g_autofree char *label = label_ops (
    _ ("Delete %s"), ngettext ("Delete %u operation", "Delete %u operations", ops->len), ops);
  lig_document_commit (doc, label, NULL);
  lig_document_select (doc, heir, LIG_SELECT_ONLY);
  return ops->len;
}

guint
lig_edit_duplicate (LigDocument *doc)
{
  g_autoptr (GPtrArray) ops = get_chosen (doc);
  g_autoptr (GPtrArray) copies = g_ptr_array_new ();
  if (ops->len == 0)
    return 0;
  LigOp *last = ops->pdata[ops->len - 1];
  LigSequence *parent = lig_document_find_row (doc, last)->parent;
  int index = find_index (parent, last) + 1;
  for (guint i = 0; i < ops->len; i++) {
    g_autoptr (LigOp) copy = lig_op_copy (ops->pdata[i]);
    lig_sequence_insert (parent, index + (int) i, copy, NULL);
    g_ptr_array_add (copies, copy);
  }
  lig_edit_separate_channels (parent, copies);
  g_autofree char *label =
    label_ops (_ ("Duplicate %s"),
               ngettext ("Duplicate %u operation", "Duplicate %u operations", ops->len), ops);
  lig_document_commit (doc, label, NULL);
  select_all_of (doc, copies);
  return ops->len;
}

/* --- Move ---------------------------------------------------------------------------------- */

static gboolean
reject_inside (GPtrArray *ops, LigSequence *parent, GError **error)
{
  for (guint i = 0; i < ops->len; i++)
    if (holds (ops->pdata[i], parent)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, _ ("a block cannot be moved into itself"));
      return TRUE;
    }
  return FALSE;
}

gboolean
lig_edit_move (LigDocument *doc, LigSequence *parent, int index, GError **error)
{
  g_autoptr (GPtrArray) ops = get_chosen (doc);
  if (ops->len == 0 || reject_inside (ops, parent, error))
    return ops->len == 0;
  LigOp *cursor = lig_document_get_cursor (doc);
  for (guint i = 0; i < ops->len; i++) {
    LigSequence *from = lig_document_find_row (doc, ops->pdata[i])->parent;
    int at = find_index (from, ops->pdata[i]);
    index -= from == parent && at < index;
    lig_sequence_remove (from, at, NULL);
  }
  for (guint i = 0; i < ops->len; i++)
    lig_sequence_insert (parent, index + (int) i, ops->pdata[i], NULL);
  g_autofree char *label =
    label_ops (_ ("Move %s"), ngettext ("Move %u operation", "Move %u operations", ops->len), ops);
  lig_document_commit (doc, label, NULL);
  open_owner (doc, parent);
  select_all_of (doc, ops);
  if (cursor && lig_document_is_selected (doc, cursor)) {
    lig_document_select (doc, cursor, LIG_SELECT_TOGGLE);
    lig_document_select (doc, cursor, LIG_SELECT_TOGGLE);
  }
  return TRUE;
}

void
lig_edit_move_by (LigDocument *doc, int rows)
{
  g_autoptr (GPtrArray) ops = get_chosen (doc);
  if (ops->len == 0)
    return;
  LigOp *edge = rows < 0 ? ops->pdata[0] : ops->pdata[ops->len - 1];
  LigSequence *parent = lig_document_find_row (doc, edge)->parent;
  int index = find_index (parent, edge) + (rows < 0 ? -1 : 1);
  const LigRow *owner = find_owner (doc, parent);
  if (index >= 0 && index < (int) lig_sequence_get_length (parent)) {
    const LigRow *next = lig_document_find_row (doc, lig_sequence_get (parent, index, NULL));
    LigSequence *body = next->open ? lig_op_get_body (next->op) : NULL;
    index = body && rows < 0 ? (int) lig_sequence_get_length (body) : index + (rows > 0);
    lig_edit_move (doc, body ? body : parent, body && rows > 0 ? 0 : index, NULL);
  } else if (owner)
    lig_edit_move (doc, owner->parent, owner->index + (rows > 0), NULL);
}

/* --- Copy and paste ------------------------------------------------------------------------ */

char *
lig_edit_copy (LigDocument *doc)
{
  g_autoptr (GPtrArray) ops = get_chosen (doc);
  g_autoptr (LigSequence) part = lig_sequence_new ();
  for (guint i = 0; i < ops->len; i++) {
    g_autoptr (LigOp) copy = lig_op_copy (ops->pdata[i]);
    lig_sequence_append (part, copy, NULL);
  }
  return ops->len > 0 ? lig_sequence_to_json (part) : NULL;
}

gboolean
lig_edit_paste (LigDocument *doc, const char *text, GError **error)
{
  g_autofree char *stripped = g_strstrip (g_strdup (text));
  g_autoptr (LigSequence) part = *stripped == '{'
                                   ? lig_sequence_from_json (stripped, -1, NULL, error)
                                   : lig_sequence_from_expression (stripped, error);
  if (!part)
    return FALSE;
  int index;
  LigSequence *parent = find_gap (doc, &index);
  return lig_edit_insert (doc, parent, index, part, error);
}
