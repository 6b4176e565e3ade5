/* SPDX-License-Identifier: MIT */
/* The layout of a score before it is drawn: rows for written ops, places for their parts, frames
 * around blocks. */
#pragma once

#include "engine/draw/canvas.h"
#include <ligature/figures.h>
#include <ligature/plan.h>

enum { LIG_LAYOUT_MARGIN = 16, LIG_LAYOUT_GAP = 12, LIG_LAYOUT_CARD = 54, LIG_LAYOUT_PART = 26 };

/* An op as the user wrote it; the parts of a macro are lines of its card. */
typedef struct {
  int first, count; /* parts */
  int depth;        /* the number of blocks around it */
  gboolean folded;  /* a macro with many parts, which have no separate lines */
  double y, height;
} LigLayoutRow;

/* A block: only its first repetition is shown. */
typedef struct {
  char *path;
  int first, last; /* visible parts */
  int depth, count, n_parts;
  gboolean alike; /* whether all repetitions are fused in the same way */
  double y, height;
  LigFigures figures[2]; /* the time of all repetitions, by pass */
} LigLayoutBlock;

/* The place of a part. Its height is 0 if it belongs to a repetition that is not shown, or to a
 * folded row, whose middle is then y. */
typedef struct {
  double y, height;
  int row, like; /* like: the same part of the first repetition, which represents it */
} LigLayoutPlace;

typedef struct {
  LigPlan *plan;
  const double *times;  /* seconds of each step, or NULL */
  const double *passes; /* seconds of each pass as a whole, or NULL */
  GArray *rows, *blocks;
  LigLayoutPlace *places;
  guint8 *forbidden; /* for each part: bit P: a forbidden fusion would begin there in pass P */
  int n_parts;
  double top, height;
} LigScoreLayout;

LigScoreLayout *lig_score_layout_new (LigPlan *plan, const double *times);
void lig_score_layout_free (LigScoreLayout *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigScoreLayout, lig_score_layout_free)

/* Sets the extent of a group's visible parts and returns the first of them, -1 if none is visible.
 * A group that reaches into a hidden repetition ends where the visible one ends. */
int
lig_score_extent (const LigScoreLayout *self, const LigPlanGroup *group, double *y, double *height);

/* A drawing of a score with the extents of its columns. */
typedef struct {
  LigCanvas *canvas;
  const LigColours *colours;
  const LigScoreLayout *layout;
  LigPlan *unfused; /* NULL if unknown */
  GPtrArray *loads; /* of LigLoadSeries, those of the plan's routers; NULL if unknown */
  double width;
  double rail;           /* the width of each rail */
  double ops, ops_width; /* the column between them */
  int lanes;
} LigScoreDrawing;

/* Draws like lig_draw_score(), and shows the bytes saved compared with @unfused, the plan of the
 * same sequence without fusions, and the last load of the experts of each router. @loads:
 * (nullable) (element-type LigLoadSeries): those of a run */
void lig_draw_score_against (LigCanvas *canvas,
                             const LigColours *colours,
                             const LigTimedPlan *timed,
                             LigPlan *unfused,
                             GPtrArray *loads,
                             double width);

/* Return the number of lanes that the channels need, and draw the channels as arcs in them. */
int lig_score_count_lanes (const LigScoreLayout *layout);
void lig_score_draw_channels (const LigScoreDrawing *self);

/* Draw one of the rails, and the ops between them. */
void lig_score_draw_rail (const LigScoreDrawing *self, LigPass pass);
void lig_score_draw_ops (const LigScoreDrawing *self);

/* Draws the signs of a group's forced and forbidden fusions from @x to the right, centred at @y,
 * and returns their width, 0 if there are none. */
double lig_score_draw_signs (
  const LigScoreDrawing *self, const LigPlanGroup *group, double x, double y, LigColour ink);

/* The same, only for quantized copies of 8 or 4 bits; nothing for 0. */
double
lig_score_draw_bits (const LigScoreDrawing *self, int bits, double x, double y, LigColour ink);

/* --- Texts: (transfer full) ----------------------------------------------------------------- */

/* Returns `2 × matmul, bias_add`, or a note that the group has no kernel. */
char *lig_layout_kernels (LigPlan *plan, const LigPlanGroup *group);

/* Returns `3 fused · 2 unfused`. */
char *lig_score_sum_text (const LigFigures *figures);

/* Return the full description, for tooltips and screen readers. */
char *lig_score_group_text (const LigScoreLayout *layout,
                            const LigPlanGroup *group,
                            const LigFigures *figures);
char *lig_score_row_text (const LigScoreLayout *layout, const LigLayoutRow *row);

/* Returns (transfer none) the title of the written op. */
const char *lig_score_title (const LigPlanOp *op);

/* Returns `4096 → 28672 · init-std 0.02`. */
char *lig_layout_params (const LigScoreLayout *layout, const LigLayoutRow *row);

/* Returns `16384 × 4096 bf16`. */
char *lig_draw_tensor (const LigShape *shape, LigDtype dtype);
