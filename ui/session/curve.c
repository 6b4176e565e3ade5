/* SPDX-License-Identifier: MIT */
/* A full curve merges adjacent points: each then represents twice as many values. */
#include "ui/session/curve.h"

#include <math.h>

struct _LigCurve {
  guint references;
  LigCurvePoint points[LIG_CURVE_POINTS];
  guint count;
  guint64 length;           /* the total number of values */
  guint64 values_per_point; /* of a full point */
  double last;
};

LigCurve *
lig_curve_new (void)
{
  LigCurve *self = g_new0 (LigCurve, 1);
  self->references = 1;
  self->values_per_point = 1;
  self->last = NAN;
  return self;
}

LigCurve *
lig_curve_ref (LigCurve *self)
{
  self->references++;
  return self;
}

void
lig_curve_free (LigCurve *self)
{
  if (--self->references == 0)
    g_free (self);
}

/* A point that consists only of gaps has NaN as its min, mean and max. */
static LigCurvePoint
merge (const LigCurvePoint *a, const LigCurvePoint *b)
{
  LigCurvePoint both = {.x = b->x, .count = a->count + b->count};
  both.min = fmin (a->min, b->min);
  both.max = fmax (a->max, b->max);
  if (isnan (a->mean) || isnan (b->mean))
    both.mean = isnan (a->mean) ? b->mean : a->mean;
  else
    both.mean =
      a->mean + (b->mean - a->mean) * ((double) b->count / (double) (a->count + b->count));
  return both;
}

static void
halve (LigCurve *self)
{
  for (guint i = 0; i < LIG_CURVE_POINTS / 2; i++)
    self->points[i] = merge (&self->points[2 * i], &self->points[2 * i + 1]);
  self->count = LIG_CURVE_POINTS / 2;
  self->values_per_point *= 2;
}

void
lig_curve_append (LigCurve *self, double x, double y)
{
  double value = isfinite (y) ? y : NAN;
  const LigCurvePoint point = {x, value, value, value, 1};
  LigCurvePoint *last = self->count > 0 ? &self->points[self->count - 1] : NULL;
  self->length++;
  self->last = y;
  if (last && last->count < self->values_per_point) {
    *last = merge (last, &point);
    return;
  }
  if (self->count == LIG_CURVE_POINTS)
    halve (self);
  self->points[self->count++] = point;
}

const LigCurvePoint *
lig_curve_get_points (LigCurve *self, guint *count)
{
  *count = self->count;
  return self->points;
}

guint64
lig_curve_get_length (LigCurve *self)
{
  return self->length;
}

double
lig_curve_get_last (LigCurve *self)
{
  return self->last;
}
