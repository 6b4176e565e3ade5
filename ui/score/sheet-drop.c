/* SPDX-License-Identifier: MIT */
/* Gaps of the score's sheet as drop targets, and markers that follow the pointer. */
#include "ui/document/edit.h"
#include "ui/document/ends.h"
#include "ui/score/sheet-private.h"
#include "ui/widgets/css-class.h"

void
lig_score_sheet_get_drop (LigScoreSheet *self, guint gap, LigScoreDrop *drop)
{
  guint count;
  const LigRow *rows = lig_document_get_rows (self->document, &count);
  LigSequence *sequence = lig_document_get_sequence (self->document);
  *drop =
    (LigScoreDrop){sequence, (int) lig_sequence_get_length (sequence), MIN (gap, count), FALSE};
  if (gap < count) {
    drop->parent = rows[gap].parent;
    drop->index = rows[gap].index;
  }
}

void
lig_score_sheet_find_drop (LigScoreSheet *self, double y, LigScoreDrop *drop)
{
  guint count, gap = lig_score_map_find_gap (self->map, y);
  const LigRow *rows = lig_document_get_rows (self->document, &count);
  lig_score_sheet_get_drop (self, gap, drop);
  if (gap == 0 || gap > count)
    return;
  const LigRow *above = &rows[gap - 1];
  const LigScoreSlot *slot = lig_score_map_get_slot (self->map, gap - 1);
  LigSequence *body = lig_op_get_body (above->op);
  if (body && !above->open && lig_sequence_get_length (body) > 0)
    body = NULL;
  gboolean near = y < slot->y + slot->height + self->map->metrics.frame;
  if (body && lig_sequence_get_length (body) == 0 && near) {
    drop->parent = body;
    drop->index = 0;
    drop->inside = TRUE;
  } else if (above->parent != drop->parent && above->depth > 0 && !body && near) {
    drop->parent = above->parent;
    drop->index = above->index + 1;
    drop->inside = TRUE;
  }
}

void
lig_score_sheet_show_drop (LigScoreSheet *self, const LigScoreDrop *drop)
{
  int caret = drop ? (int) drop->gap : -1;
  gboolean inside = drop && drop->inside;
  if (self->picture.caret == caret && self->picture.inside == inside)
    return;
  self->picture.caret = caret;
  self->picture.inside = inside;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

gboolean
lig_score_sheet_accepts (LigScoreSheet *self, guint row, guint target)
{
  LigOp *one = lig_score_map_get_slot (self->map, row)->op;
  LigOp *other = lig_score_map_get_slot (self->map, target)->op;
  return lig_ends_can_start (one) ? lig_edit_can_connect (self->document, one, other)
                                  : lig_edit_can_connect (self->document, other, one);
}

/* Highlights the rows that a channel from or to a row can connect to. */
static void
light_targets (LigScoreSheet *self, int row)
{
  lig_css_class_set (GTK_WIDGET (self), "wiring", row >= 0);
  for (guint i = 0; i < self->map->slots->len; i++)
    lig_css_class_set (self->rows->pdata[i], "target",
                       row >= 0 && lig_score_sheet_accepts (self, (guint) row, i));
}

/* Marks the target under the pointer. */
static void
mark_target (LigScoreSheet *self, int row, double y)
{
  for (guint i = 0; i < self->map->slots->len; i++) {
    const LigScoreSlot *slot = lig_score_map_get_slot (self->map, i);
    lig_css_class_set (self->rows->pdata[i], "here",
                       row >= 0 && y >= slot->y && y < slot->y + slot->height);
  }
}

void
lig_score_sheet_show_thread (LigScoreSheet *self, int row, double x, double y)
{
  if (row >= (int) self->map->slots->len)
    row = -1;
  if (row != self->picture.thread)
    light_targets (self, row);
  mark_target (self, row, y);
  self->picture.thread = row;
  self->picture.thread_x = x;
  self->picture.thread_y = y;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
lig_score_sheet_show_fence (LigScoreSheet *self, int gap)
{
  if (self->picture.fence == gap)
    return;
  self->picture.fence = gap;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
