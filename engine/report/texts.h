/* SPDX-License-Identifier: MIT */
/* The texts of facts in reports; all are (transfer full). */
#pragma once

#include <ligature/plan.h>

/* Returns the text as valid UTF-8 on one line. */
char *lig_report_line (const char *text);

/* Return `12.3` or `-` for NaN; `2048x768 fp32`. */
char *lig_report_number (double value);
char *lig_report_tensor (const LigShape *shape, LigDtype dtype);

/* Returns the paths of a range of ops: `2 to 3`, or `2`; without a plan that has them `ops 4 to
 * 6`. */
char *lig_report_paths (LigPlan *plan, int first, int count);

/* Returns `5 ops, 1 step`. */
char *lig_report_size (guint ops, guint steps);

/* Returns the text, shortened to at most 80 characters. */
char *lig_report_shorten (const char *text);

/* Returns a title for the sequence: its name, otherwise its shortened expression. */
char *lig_report_name_sequence (LigSequence *sequence);
