/* SPDX-License-Identifier: MIT */
/* Progress texts: a line that is composed of parts and fits a width, and the rate of lines in a log
 * file. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Parts with a priority number up to this one are abbreviated before they are omitted. */
enum { LIG_CLI_LAST_ESSENTIAL_PRIORITY = 4 };

/* Returns an empty line: an array of parts in the order in which they are shown. */
GArray *lig_cli_line_new (void);

/* Adds a part. Takes ownership of `text` and of its shorter form `brief` (nullable). Priority 0 is
 * always shown; greater numbers are less important. */
void lig_cli_line_add (GArray *line, int priority, char *text, char *brief);

/* Returns the parts that fit in the columns, with ` · ` between them: those with the greatest
 * priority numbers are omitted first; (transfer full). 0 columns: all parts. */
char *lig_cli_line_lay_out (GArray *line, int columns);

/* When the last line of a log file was written, and the share of the work that was done by then. */
typedef struct {
  gboolean begun;
  gint64 time;
  double share;
} LigCliCadence;

/* Returns whether it is time for a line: for the first one, and then after ten seconds and a tenth
 * of the work. `share` is the share of the work that is done, NaN if unknown; `now` is a monotonic
 * time in microseconds. */
gboolean lig_cli_cadence_due (LigCliCadence *self, double share, gint64 now);

G_END_DECLS
