/* SPDX-License-Identifier: MIT */
/* The sizes of the score: designed for a line of 18 pixels, and scaled to the line of the font. */
#include "ui/score/map.h"

#include <math.h>

enum { DESIGNED_LINE = 18 };

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
  self->small = (int) ceil (line * 0.86);
  self->pad = lig_score_metrics_scale (self, 12);
  self->top = lig_score_metrics_scale (self, 6);
  self->base = lig_score_metrics_scale (self, 54);
  self->part = lig_score_metrics_scale (self, 24);
  self->space = lig_score_metrics_scale (self, 18);
  self->gap = self->space;
  self->indent = lig_score_metrics_scale (self, 18);
  self->lane = lig_score_metrics_scale (self, 18);
  self->end = lig_score_metrics_scale (self, 72);
}
