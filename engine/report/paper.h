/* SPDX-License-Identifier: MIT */
/* LigPaper: the text of a report, written as Markdown or as HTML. HTML also has pictures. */
#pragma once

#include "engine/report/picture.h"

/* The pictures of reports. */
typedef enum {
  LIG_FIGURE_SCORE,
  LIG_FIGURE_METRICS,
  LIG_FIGURE_TIMES,
  LIG_FIGURE_MEMORY,
  LIG_FIGURE_COMPARISON,
  LIG_FIGURE_ERRORS,
  LIG_FIGURE_HISTOGRAMS,
  LIG_FIGURE_LOADS
} LigFigure;

typedef struct {
  GString *text;
  gboolean html;
  const LigPicture *picture; /* NULL: no pictures */
  GStrv columns;             /* column titles of the open table */
} LigPaper;

/* The maximum number of rows of a table, and of ops of a plan whose pictures and document are part
 * of its report: more would not be read, and each op on a page takes kilobytes. */
#define LIG_PAPER_MAX_ROWS 2000

/* Returns whether a report of the plan has neither pictures nor a document. */
gboolean lig_paper_is_long (LigPlan *plan);

/* Returns how many of the `count` rows of a table are written. */
guint lig_paper_rows (guint count);

/* Says after the table how many of the `count` rows are not written, if any. */
void lig_paper_say_rest (LigPaper *to, guint count);

/* Ends an open table and frees the columns. */
void lig_paper_clear (LigPaper *self);

/* Writes a title like `Plan: byte-model`. */
void lig_paper_title (LigPaper *to, const char *kind, const char *text);

/* Writes a heading of the second level. */
void lig_paper_heading (LigPaper *to, const char *text);

/* Writes a paragraph. */
void lig_paper_say (LigPaper *to, const char *text);

/* Writes a block of code; the language may be empty. */
void lig_paper_block (LigPaper *to, const char *language, const char *text);

/* Begins a table: column titles separated by `|`; those that begin with `>` are right-aligned. */
void lig_paper_head (LigPaper *to, const char *columns);

/* Writes a row of plain texts, NULL after the last. */
void lig_paper_row (LigPaper *to, ...) G_GNUC_NULL_TERMINATED;

/* Writes a row of the texts of an array, NULL after the last. */
void lig_paper_cells (LigPaper *to, const char *const *cells);

/* Writes a row with a name and its value, unless the value is NULL or empty. */
void lig_paper_fact (LigPaper *to, const char *name, const char *value);

/* Writes a picture. Returns FALSE if the markup or the report has none of this kind. */
gboolean lig_paper_figure (LigPaper *to, LigFigure figure);

/* Write the whole report of a plan or a run. */
void lig_paper_plan (LigPaper *to, LigPlan *plan, const char *command);
void lig_paper_run (LigPaper *to, const LigReportRun *run);

/* Writes the whole report of a comparison. */
void lig_paper_pair (LigPaper *to, const LigReportPair *pair);

/* Writes the measured times of a run with their quartiles, if it has any. */
void lig_paper_spreads (LigPaper *to, const LigReportRun *run);

/* Writes the errors of the recipes that were compared with a run, if any: in HTML as a map,
 * otherwise as a table of ops. */
void lig_paper_errors (LigPaper *to, const LigReportRun *run);

/* Writes the histograms of a run's weights and gradients, if it has any: in HTML as maps, otherwise
 * as a table of the last step. */
void lig_paper_histograms (LigPaper *to, const LigReportRun *run);

/* Writes the load of a run's experts, if it has any: a table, in HTML after a map. */
void lig_paper_loads (LigPaper *to, const LigReportRun *run);

/* Writes the plan's device, peak rates, types, input and output. */
void lig_paper_plan_facts (LigPaper *to, LigPlan *plan);

/* Returns the command line that reproduces the run; (transfer full) (nullable). */
char *lig_report_run_command (const LigReportRun *run);
