/* SPDX-License-Identifier: MIT */
/* What reports have to draw: the score of a plan or of the plan that a run was made with, and the
 * curves of a run. */
#pragma once

#include "engine/report/format.h"
#include <ligature/draw.h>

typedef struct {
  LigTimedPlan timed;      /* no plan: there is no score */
  LigPlan *unfused;        /* the same with every op alone; null: not known */
  double *steps;           /* seconds, what `timed` points to */
  char *title;             /* (nullable) */
  char *note;              /* (nullable): a sentence on where the plan comes from */
  const LigReportRun *run; /* null: of a plan */
} LigPicture;

void lig_picture_init_plan (LigPicture *self, LigPlan *plan);
void lig_picture_init_run (LigPicture *self, const LigReportRun *run);
void lig_picture_clear (LigPicture *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigPicture, lig_picture_clear)

/**
 * lig_report_rebuild:
 * @note: (out) (transfer full): a sentence on what it is: the device of the run or one like it, and
 *   whether the run recorded groups
 *
 * Compiles the plan of a run anew from what the store has of it: its groups are those that were
 * recorded, whatever its policy. Nothing is measured.
 *
 * Returns: (transfer full) (nullable): the plan; null: @note says why there is none
 */
LigPlan *lig_report_rebuild (const LigReportRun *run, char **note);

/* (transfer full) (nullable): the recorded seconds of each step of the plan: those of a group in
 * the proportions of its steps' predictions; null where the run is no profile of this plan. */
double *lig_report_step_times (const LigReportRun *run, LigPlan *plan);

/* Charts of a run: one after the other. A width of 0 draws nothing. */
guint lig_picture_count_charts (const LigReportRun *run);
void lig_picture_draw_chart (const LigReportRun *run,
                             guint n,
                             LigCanvas *canvas,
                             const LigColours *colours,
                             double width,
                             double height);

/* The whole as one picture, `svg`, `pdf` or `png`, is appended. */
gboolean
lig_picture_write (const LigPicture *self, const char *format, GString *to, GError **error);
