/* SPDX-License-Identifier: MIT */
/* The sizes of the score: designed for the line height of a usual font, and scaled to that of the
 * actual font. */
#include "ui/score/map.h"
#include "ui/score/text.h"

#include <math.h>

/* The line height of Cantarell 11 at 96 dpi. */
#define DESIGNED_LINE 17.6

int
lig_score_metrics_scale (const LigScoreMetrics *self, double length)
{
  return (int) lround (length * self->unit);
}

void
lig_score_metrics_init (LigScoreMetrics *self, double line, gboolean compact)
{
  const double unit = line / DESIGNED_LINE;
  *self = (LigScoreMetrics){.unit = unit, .compact = compact};
  self->line = (int) ceil (line);
  self->small = (int) ceil (line * LIG_SCORE_SMALL);
  self->pad = lig_score_metrics_scale (self, 12);
  self->top = lig_score_metrics_scale (self, 4);
  self->base = lig_score_metrics_scale (self, compact ? 28 : 46);
  self->first = compact ? self->base / 2 : lig_score_metrics_scale (self, 16);
  self->second = compact ? self->first : lig_score_metrics_scale (self, 33);
  self->part = lig_score_metrics_scale (self, 24);
  self->tail = compact ? 0 : lig_score_metrics_scale (self, 4);
  self->space = lig_score_metrics_scale (self, compact ? 6 : 10);
  self->gap = lig_score_metrics_scale (self, compact ? 16 : 18);
  self->frame = lig_score_metrics_scale (self, 10);
  self->lane = lig_score_metrics_scale (self, 18);
  self->end = lig_score_metrics_scale (self, compact ? 24 : 54);
}
