/* SPDX-License-Identifier: MIT */
/* A curve that grows for ever in bounded memory: when it is full, neighbouring points are merged,
 * each keeping the least, the greatest and the mean of what it stands for. */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/* The most points that a curve holds. */
#define LIG_CURVE_POINTS 4096

typedef struct {
  double x; /* of the last value */
  double least, greatest, mean;
  guint64 count;
} LigCurvePoint;

typedef struct _LigCurve LigCurve;

LigCurve *lig_curve_new (void);
LigCurve *lig_curve_ref (LigCurve *self);

/* Gives one reference back. Of one thread. */
void lig_curve_free (LigCurve *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigCurve, lig_curve_free)

/* @x does not fall. A value that is not finite is a gap. */
void lig_curve_append (LigCurve *self, double x, double y);
const LigCurvePoint *lig_curve_get_points (LigCurve *self, guint *count);
guint64 lig_curve_get_length (LigCurve *self);
double lig_curve_get_last (LigCurve *self);

G_END_DECLS
