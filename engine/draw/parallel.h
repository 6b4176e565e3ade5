/* SPDX-License-Identifier: MIT */
/* Shared by the two pictures of a sweep: the scale of a setting, and the order of the runs. */
#pragma once

#include "engine/draw/chart.h"
#include <ligature/draw-sweep.h>

/* The positions of a setting's values: numbers on a linear or logarithmic axis, words evenly
 * spaced. */
typedef struct {
  LigAxis axis;
  GPtrArray *values; /* the distinct texts, in order; not owned */
  gboolean numeric;
} LigSweepScale;

typedef struct {
  LigCanvas *canvas;
  const LigColours *colours;
  LigSweep *sweep;
  const LigSweepAxis *axes;
  const LigSweepPoint *points;
  guint n_axes, n_points;
  double width, height;
  int chosen;
  LigAxis losses;
  GArray *order; /* guint: the points, the worst first, the best and the emphasized ones last */
  guint *ranks;  /* of each point: the place of its settings, 0 for the best */
  guint n_ranks; /* the number of settings with a result */
  GPtrArray *summaries; /* LigSweepSummary by rank */
  gboolean validation;
} LigSweepDrawing;

/* Fills in the scale of an axis between two pixels. */
void lig_sweep_scale_init (LigSweepScale *self, const LigSweepAxis *axis, double start, double end);
void lig_sweep_scale_clear (LigSweepScale *self);

/* Returns the pixel of a value. */
double lig_sweep_scale_place (const LigSweepScale *self, const char *value);

/* Returns the loss that ranks a point; NaN if it has no result. */
double lig_sweep_drawing_loss (const LigSweepDrawing *self, guint point);

/* Returns the colour and the width of a point's line: blue for all runs with the best settings,
 * pale for the worst. */
LigColour lig_sweep_drawing_colour (const LigSweepDrawing *self, guint rank, double *width);

/* Begins the mark of a point around a pixel; ends with lig_canvas_end_mark(). */
void lig_sweep_drawing_mark (const LigSweepDrawing *self, guint point, double x, double y);

void lig_sweep_draw_scatter (LigSweepDrawing *self, guint axis);
