/* SPDX-License-Identifier: MIT */
/* The contents of pictures in reports: the score of a plan or of a run's plan, and the curves of a
 * run. */
#pragma once

#include "engine/report/format.h"
#include <ligature/draw.h>
#include <ligature/recorded-times.h>

typedef struct {
  LigTimedPlan timed;         /* without a plan no score is drawn */
  LigPlan *unfused;           /* the same plan without fusions; NULL: unknown */
  LigRecordedTimes *recorded; /* (nullable): of a profile; `timed` points to them */
  char *title;                /* (nullable) */
  char *note;                 /* (nullable): a sentence on the origin of the plan */
  const LigReportRun *run;    /* NULL for a plan */
  const LigReportPair *pair;  /* NULL unless two plans are compared */
} LigPicture;

void lig_picture_init_plan (LigPicture *self, LigPlan *plan);
void lig_picture_init_run (LigPicture *self, const LigReportRun *run);
void lig_picture_init_pair (LigPicture *self, const LigReportPair *pair);
void lig_picture_clear (LigPicture *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigPicture, lig_picture_clear)

/**
 * lig_report_rebuild:
 * @note: (out) (transfer full): a sentence about the device (the run's or a similar one) and about
 *   whether the run recorded groups; without a plan, the reason
 *
 * Recompiles the plan of a run from the data in the store, with the recorded groups, independently
 * of its policy. Nothing is measured.
 *
 * Returns: (transfer full) (nullable): the plan
 */
LigPlan *lig_report_rebuild (const LigReportRun *run, char **note);

/* Returns (transfer full) what the times of a sequence depend on: its text without name and
 * training settings, with the types and the recipe of the plan. */
char *lig_report_describe_sequence (LigSequence *sequence, LigPlan *plan);

/* Returns whether a run has the sequence of a plan, whose description is @text. */
gboolean lig_report_is_sequence (const LigRunRow *row, LigPlan *plan, const char *text);

/* Returns the recorded times as those of the plan; (transfer full). Returns NULL if the run is not
 * a profile of this plan. */
LigRecordedTimes *lig_report_read_times (const LigReportRun *run, LigPlan *plan);

/* Return the number of charts of a run, and draw one. */
guint lig_picture_count_charts (const LigReportRun *run);
void lig_picture_draw_chart (const LigReportRun *run,
                             guint n,
                             LigCanvas *canvas,
                             const LigColours *colours,
                             double width,
                             double height);

/* Appends everything as one picture in the format `svg`, `pdf` or `png`. */
gboolean
lig_picture_write (const LigPicture *self, const char *format, GString *to, GError **error);

/* Defines the functions of a format that is one picture: write_plan(), write_run(), write_pair().
 */
#define LIG_PICTURE_WRITER(what, type, format, ...) \
  static gboolean write_##what (GString *to, type what, ##__VA_ARGS__, GError **error) \
  { \
    g_auto (LigPicture) picture; \
    lig_picture_init_##what (&picture, what); \
    return lig_picture_write (&picture, format, to, error); \
  }
#define LIG_PICTURE_WRITERS(format) \
  LIG_PICTURE_WRITER (plan, LigPlan *, format, const char *command) \
  LIG_PICTURE_WRITER (run, const LigReportRun *, format) \
  LIG_PICTURE_WRITER (pair, const LigReportPair *, format)
