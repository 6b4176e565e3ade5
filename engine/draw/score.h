/* SPDX-License-Identifier: MIT */
/* How a score is laid out before it is drawn: rows for ops as written, places for their parts,
 * frames around blocks. */
#pragma once

#include "engine/draw/canvas.h"
#include "engine/plan/plan-private.h"

enum { LIG_LAYOUT_MARGIN = 16, LIG_LAYOUT_GAP = 12, LIG_LAYOUT_CARD = 54, LIG_LAYOUT_PART = 26 };

/* An op as written; a macro's parts are lines of its card. */
typedef struct {
  int first, count; /* parts */
  int depth;        /* blocks around it */
  double y, height;
} LigLayoutRow;

/* A block: its first repetition stands for all. */
typedef struct {
  char *path;
  int first, last; /* parts shown in it */
  int depth, count, n_parts;
  gboolean alike; /* whether all repetitions are fused alike */
  double y, height;
  double seconds[2]; /* of all repetitions, by pass */
} LigLayoutBlock;

/* Where a part is: height 0 for one of a repetition that is not shown. */
typedef struct {
  double y, height;
  int row, like; /* the part that stands for it */
} LigLayoutPlace;

typedef struct {
  LigPlan *plan;
  const double *times; /* seconds of each step, or null */
  GArray *rows, *blocks;
  LigLayoutPlace *places;
  int n_parts;
  double top, height;
} LigScoreLayout;

LigScoreLayout *lig_score_layout_new (LigPlan *plan, const double *times);
void lig_score_layout_free (LigScoreLayout *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigScoreLayout, lig_score_layout_free)

/* Seconds that a group took, where its steps were timed; else 0. */
double lig_score_measured (const LigScoreLayout *self, const LigPlanGroup *group);

/* What is measured, else what is predicted. */
double lig_score_seconds (const LigScoreLayout *self, const LigPlanGroup *group);

/* The group's extent among the parts that are shown, and the first of these; -1: none is. What
 * reaches into a repetition that is not shown ends where the shown one ends. */
int
lig_score_extent (const LigScoreLayout *self, const LigPlanGroup *group, double *y, double *height);

/* A picture with its columns. */
typedef struct {
  LigCanvas *canvas;
  const LigInks *inks;
  const LigScoreLayout *layout;
  LigPlan *unfused; /* null: not known */
  double width;
  double rail;           /* of each of the two */
  double ops, ops_width; /* the column between them */
  int lanes;
} LigScoreDrawing;

/* As lig_draw_score(); against @unfused, the same with every op alone, it tells the bytes saved. */
void lig_draw_score_against (LigCanvas *canvas,
                             const LigInks *inks,
                             const LigTimedPlan *timed,
                             LigPlan *unfused,
                             double width);

/* Channels: how many lanes they need side by side, and the arcs in them. */
int lig_score_count_lanes (const LigScoreLayout *layout);
void lig_score_draw_channels (const LigScoreDrawing *self);

/* Both rails, and the ops between them. */
void lig_score_draw_rail (const LigScoreDrawing *self, LigPass pass);
void lig_score_draw_ops (const LigScoreDrawing *self);

/* --- Texts: (transfer full) ----------------------------------------------------------------- */

/* `linear + bias + activation`; of an op alone, its title. */
char *lig_layout_group_name (const LigScoreLayout *layout, const LigPlanGroup *group);

/* `2 × matmul, bias_add`; or that there is none. */
char *lig_layout_kernels (LigPlan *plan, const LigPlanGroup *group);

/* All of it, for who points at it or cannot see it. */
char *lig_score_group_text (const LigScoreLayout *layout, const LigPlanGroup *group);
char *lig_score_row_text (const LigScoreLayout *layout, const LigLayoutRow *row);

/* (transfer none): of the op as written. */
const char *lig_score_title (const LigPlanOp *op);

/* `4096 → 28672 · init-std 0.02`. */
char *lig_layout_params (const LigScoreLayout *layout, const LigLayoutRow *row);

/* `16384 × 4096 bf16`. */
char *lig_draw_tensor (const LigShape *shape, LigDtype dtype);
