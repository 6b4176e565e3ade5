/* SPDX-License-Identifier: MIT */
/* `--metrics FILE|-`: the values of a training run as JSON lines, while it runs. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Opens the file, or standard output for `-`, of the next run. An existing file must contain
 * metrics: a resumed run continues it, any other replaces it. Returns FALSE with an error set. */
gboolean lig_cli_metrics_open (const char *path, gboolean resumed, GError **error);

/* Sets a function that appends other lines after those of the metrics, about twenty times a second
 * and once after the end. It is called on the writing thread. */
typedef void (*LigCliMetricsAppender) (GString *to, LigRun *run);
void lig_cli_metrics_add (LigCliMetricsAppender appender);

/* Begins to write the values of a run that has just started, if a file was opened. A separate
 * thread writes, so that the run never waits for a reader: a slow reader misses the oldest
 * steps. */
void lig_cli_metrics_follow (LigRun *run);

/* Writes the last values of a run that has ended and closes the file. Returns FALSE if something
 * could not be written, which was reported before. */
gboolean lig_cli_metrics_end (void);

/* Stops all writing, from any thread, because the process is about to end. Returns FALSE if a line
 * is half written because the reader does not read. */
gboolean lig_cli_metrics_stop (void);

G_END_DECLS
