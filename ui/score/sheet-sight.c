/* SPDX-License-Identifier: MIT */
/* The visible part of the score's sheet, and scrolling. */
#include "ui/score/sheet-private.h"

#include <math.h>

void
lig_score_sheet_find_sight (LigScoreSheet *self, double *top, double *bottom)
{
  *top = 0;
  *bottom = gtk_widget_get_height (GTK_WIDGET (self));
  if (self->adjustment) {
    *top = gtk_adjustment_get_value (self->adjustment);
    *bottom = *top + gtk_adjustment_get_page_size (self->adjustment);
  }
}

void
lig_score_sheet_scroll_to (LigScoreSheet *self, guint row)
{
  if (!self->adjustment || row >= self->map->slots->len)
    return;
  const LigScoreSlot *slot = lig_score_map_get_slot (self->map, row);
  const int space = self->map->metrics.space;
  double top = slot->y - space, bottom = slot->y + slot->height + space;
  /* The scrolled window adopts a new height only when it is laid out. */
  if (bottom > gtk_adjustment_get_upper (self->adjustment))
    gtk_adjustment_set_upper (self->adjustment, self->map->height);
  gtk_adjustment_clamp_page (self->adjustment, top, bottom);
}

/* --- Keeping the place --------------------------------------------------------------------- */

static double
clamp_to_page (double y, double page)
{
  return isnan (y) ? page / 2 : CLAMP (y, 0, page);
}

/* Returns the last row that starts above a y position. */
static guint
find_row (const LigScoreMap *map, double y)
{
  guint low = 0, high = map->slots->len;
  while (low + 1 < high) {
    guint middle = (low + high) / 2;
    if (lig_score_map_get_slot (map, middle)->y <= y)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static const LigScoreSlot *
find_op (const LigScoreMap *map, const LigOp *op)
{
  for (guint i = 0; i < map->slots->len; i++)
    if (lig_score_map_get_slot (map, i)->op == op)
      return lig_score_map_get_slot (map, i);
  return NULL;
}

void
lig_score_sheet_keep_place (LigScoreSheet *self, const LigScoreMap *old)
{
  GtkAdjustment *adjustment = self->adjustment;
  if (!adjustment || old->slots->len == 0 || self->map->slots->len == 0)
    return;
  double page = gtk_adjustment_get_page_size (adjustment);
  double value = gtk_adjustment_get_value (adjustment), at = clamp_to_page (self->kept_y, page);
  gboolean top = isnan (self->kept_y) && value <= 0;
  self->kept_y = NAN;
  if (top)
    return;
  const LigScoreSlot *before = lig_score_map_get_slot (old, find_row (old, value + at));
  const LigScoreSlot *after = find_op (self->map, before->op);
  if (!after || (value <= 0 && at > before->y + before->height + old->metrics.space))
    return;
  double share = (value + at - before->y) / (before->height + old->metrics.space);
  double now = after->y + share * (after->height + self->map->metrics.space);
  /* The scrolled window adopts the new height only when it is laid out. */
  gtk_adjustment_configure (adjustment, CLAMP (now - at, 0, MAX (self->map->height - page, 0)), 0,
                            MAX (self->map->height, page),
                            gtk_adjustment_get_step_increment (adjustment),
                            gtk_adjustment_get_page_increment (adjustment), page);
}
