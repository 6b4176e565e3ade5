/* SPDX-License-Identifier: MIT */
/* `--metrics FILE|-`: the values of a training as JSON lines while it goes on. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Opens the file, or standard output for `-`, of the next training. An existing file must contain
 * metrics: a resumed training continues it, any other replaces it. Returns FALSE with an error set.
 */
gboolean lig_cli_metrics_open (const char *path, gboolean resumed, GError **error);

/* Lets a function append lines of its own after those of the metrics, about twenty times a second
 * and once after the end. It is called on the thread that writes. */
typedef void (*LigCliMetricsAppender) (GString *to, LigRun *run);
void lig_cli_metrics_add (LigCliMetricsAppender appender);

/* Begins to write the values of a run that has just started, if a file was opened. A thread of its
 * own writes, so that the training never waits for a reader: one that is slower than the training
 * misses its oldest steps. */
void lig_cli_metrics_follow (LigRun *run);

/* Writes the last values of a run that has ended and closes the file. Returns FALSE if something
 * could not be written, which was said before. */
gboolean lig_cli_metrics_end (void);

/* Lets nothing more be written by a process that is about to end, from any thread. Returns FALSE if
 * a line is half written, as the reader does not read. */
gboolean lig_cli_metrics_stop (void);

G_END_DECLS
