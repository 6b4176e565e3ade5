/* SPDX-License-Identifier: MIT */
/* Columns, rows and gaps of the score's map. */
#include "ui/score/map.h"

/* --- Columns ------------------------------------------------------------------------------- */

/* Returns the width of a rail in percent. If space is scarce, op names need a larger share than the
 * figures next to them. */
static double
find_share (double inner)
{
  const double wide = 600, small = 380, max = 30, min = 28;
  return min + (max - min) * (CLAMP (inner, small, wide) - small) / (wide - small);
}

void
lig_score_columns (LigScoreColumns *self, const LigScoreMap *map, int width)
{
  enum { WIDEST = 1480, NARROW = 720 };
  const gboolean narrow = width < NARROW;
  const int connector = narrow ? 22 : 36, margin = narrow ? 10 : 18;
  const int lanes = map ? (int) map->lanes * map->metrics.lane : 0;
  const double unit = map ? MAX (map->metrics.unit, 1) : 1;
  int left = connector + lanes;
  int whole = MIN (width, (int) (WIDEST * unit) + lanes);
  int inner = MAX (whole - 2 * margin - left - connector, 300);
  self->rail = (int) (inner * find_share (inner / unit) / 100);
  self->ops_width = inner - 2 * self->rail;
  self->forward = margin + MAX (width - whole, 0) / 2;
  self->ops = self->forward + self->rail + left;
  self->backward = self->ops + self->ops_width + connector;
}

void
lig_score_map_get_extent (
  const LigScoreMap *self, const LigScoreColumns *columns, int depth, int *x, int *width)
{
  int inset = MIN (depth * self->metrics.frame, columns->ops_width / 5);
  *x = columns->ops + inset;
  *width = columns->ops_width - 2 * inset;
}

/* --- Rows ---------------------------------------------------------------------------------- */

gboolean
lig_score_slot_is_folded (const LigScoreSlot *self)
{
  return self->folds && !self->open;
}

void
lig_score_sum_ops (const LigPlanOp *ops, int count, LigScoreSum *sum)
{
  *sum = (LigScoreSum){0};
  for (int i = 0; i < count; i++) {
    sum->parameters += ops[i].parameters;
    sum->saved_bytes += ops[i].saved_bytes;
  }
}

/* --- Gaps ---------------------------------------------------------------------------------- */

gboolean
lig_score_map_get_gap_ops (const LigScoreMap *self, guint gap, int *before, int *after)
{
  const LigScoreSlot *above = gap > 0 ? lig_score_map_get_slot (self, gap - 1) : NULL;
  const LigScoreSlot *below = gap < self->slots->len ? lig_score_map_get_slot (self, gap) : NULL;
  if (!above || above->first < 0)
    return FALSE;
  /* Returns the first row of an unfolded block's ops. */
  *before = above->block && above->open ? above->first - 1 : above->first + above->count - 1;
  *after = *before + 1;
  if (below && below->first < 0)
    return FALSE;
  return *before >= 0;
}

guint
lig_score_map_find_gap (const LigScoreMap *self, double y)
{
  for (guint i = 0; i < self->slots->len; i++) {
    const LigScoreSlot *slot = lig_score_map_get_slot (self, i);
    if (y < slot->y + slot->height / 2)
      return i;
  }
  return self->slots->len;
}

/* --- The whole ----------------------------------------------------------------------------- */

const LigScoreSlot *
lig_score_map_get_slot (const LigScoreMap *self, guint n)
{
  return &g_array_index (self->slots, LigScoreSlot, n);
}

void
lig_score_map_free (LigScoreMap *self)
{
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_clear_pointer (&self->loads, g_ptr_array_unref);
  g_array_unref (self->slots);
  g_array_unref (self->arcs);
  for (guint i = 0; i < 2; i++)
    g_array_unref (self->brackets[i]);
  g_free (self->tops);
  g_free (self->bottoms);
  g_free (self);
}
