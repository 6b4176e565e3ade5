/* SPDX-License-Identifier: MIT */
/* Texts of progress: a line that is composed of parts and fits a width, and the rate at which a log
 * file gets lines. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Parts up to this rank are abbreviated before they are left out. */
enum { LIG_CLI_LAST_ESSENTIAL = 4 };

/* Returns an empty line: an array of parts in the order in which they are shown. */
GArray *lig_cli_line_new (void);

/* Adds a part, whose texts are taken: `text`, a shorter form of it (nullable), and the rank of its
 * importance: 0 for the part that is shown in any case. */
void lig_cli_line_add (GArray *line, int rank, char *text, char *brief);

/* Returns those parts that fit into the columns, with ` · ` between them: the greater ranks are
 * left out first; (transfer full). 0 columns: all parts. */
char *lig_cli_line_lay_out (GArray *line, int columns);

/* The last line of a log file: its time and the share of the work that was done. */
typedef struct {
  gboolean begun;
  gint64 time;
  double share;
} LigCliCadence;

/* Returns whether it is time for a line: for the first one, and then after ten seconds and a tenth
 * of the work. `share` is the share of the work that is done, NaN if that is unknown; `now` is a
 * monotonic time in microseconds. */
gboolean lig_cli_cadence_due (LigCliCadence *self, double share, gint64 now);

G_END_DECLS
