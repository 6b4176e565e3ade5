/* SPDX-License-Identifier: MIT */
/* Paper: what reports for people are written on, the same words as Markdown and as HTML; the latter
 * has pictures, too. */
#pragma once

#include "engine/report/picture.h"

/* Where pictures may stand. */
typedef enum {
  LIG_FIGURE_SCORE,
  LIG_FIGURE_METRICS,
  LIG_FIGURE_TIMES,
  LIG_FIGURE_MEMORY
} LigFigure;

typedef struct {
  GString *text;
  gboolean html;
  const LigPicture *picture; /* null: without pictures */
  GStrv columns;             /* of the table that is being written */
} LigPaper;

/* Ends what is open. */
void lig_paper_clear (LigPaper *self);

/* `Plan: byte-model` */
void lig_paper_title (LigPaper *to, const char *kind, const char *text);

/* A heading of the second rank. */
void lig_paper_heading (LigPaper *to, const char *text);

/* A sentence of our own. */
void lig_paper_say (LigPaper *to, const char *text);

/* A block of code; the language may be empty. */
void lig_paper_block (LigPaper *to, const char *language, const char *text);

/* The head of a table: columns between `|`, to the right where they begin with `>`. */
void lig_paper_head (LigPaper *to, const char *columns);

/* A row of plain texts, ended by null. */
void lig_paper_row (LigPaper *to, ...) G_GNUC_NULL_TERMINATED;

/* A row of a name and its value, unless this is null or empty. */
void lig_paper_fact (LigPaper *to, const char *name, const char *value);

/* FALSE: this paper, or this report, has no such picture. */
gboolean lig_paper_figure (LigPaper *to, LigFigure figure);

/* All that people want to know of a plan or a run. */
void lig_paper_plan (LigPaper *to, LigPlan *plan, const char *command);
void lig_paper_run (LigPaper *to, const LigReportRun *run);

/* What a plan is for: device, ceilings, types, input, output. */
void lig_paper_plan_facts (LigPaper *to, LigPlan *plan);

/* (transfer full) (nullable): the command line that makes the run again. */
char *lig_report_run_command (const LigReportRun *run);

/* --- Texts: (transfer full) ----------------------------------------------------------------- */

/* Valid UTF-8 on one line. */
char *lig_report_line (const char *text);

/* `1.2 GB`; `60 T`; `12.3`, or `-` for NaN; `3 to 5`; `2048x768 fp32`. */
char *lig_report_number (double value);
char *lig_report_indexes (int first, int count);
char *lig_report_tensor (const LigShape *shape, LigDtype dtype);

/* `5 ops, 1 step`. */
char *lig_report_size (guint ops, guint steps);

/* A title of at most 80 characters. */
char *lig_report_shorten (const char *text);
