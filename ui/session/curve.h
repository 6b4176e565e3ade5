/* SPDX-License-Identifier: MIT */
/* A curve of any length in bounded memory: when it is full, adjacent points are merged. A point has
 * the minimum, maximum and mean of its values. */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/* The maximum number of points of a curve. */
#define LIG_CURVE_POINTS 4096

typedef struct {
  double x; /* of the last value */
  double min, max, mean;
  guint64 count;
} LigCurvePoint;

typedef struct _LigCurve LigCurve;

LigCurve *lig_curve_new (void);
LigCurve *lig_curve_ref (LigCurve *self);

/* Releases one reference. All references belong to one thread. */
void lig_curve_free (LigCurve *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigCurve, lig_curve_free)

/* Appends a value. @x never decreases. A @y that is not finite is a gap. */
void lig_curve_append (LigCurve *self, double x, double y);
const LigCurvePoint *lig_curve_get_points (LigCurve *self, guint *count);
guint64 lig_curve_get_length (LigCurve *self);
double lig_curve_get_last (LigCurve *self);

G_END_DECLS
