/* SPDX-License-Identifier: MIT */
/* Progress texts: a line that is composed of parts and fits a width, and the rate of lines in a log
 * file. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Parts up to this rank are abbreviated before they are omitted. */
enum { LIG_CLI_LAST_ESSENTIAL = 4 };

/* Returns an empty line: an array of parts in the order in which they are shown. */
GArray *lig_cli_line_new (void);

/* Adds a part, taking its texts: `text`, a shorter form of it (nullable), and the rank of its
 * importance, 0 for the part that is always shown. */
void lig_cli_line_add (GArray *line, int rank, char *text, char *brief);

/* Returns the parts that fit in the columns, with ` · ` between them: the greatest ranks are
 * omitted first; (transfer full). 0 columns: all parts. */
char *lig_cli_line_lay_out (GArray *line, int columns);

/* The time of the last line in a log file, and the share of the work that was done. */
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
