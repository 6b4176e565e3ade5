/* SPDX-License-Identifier: MIT */
/* A task: work that may take seconds. From the first second on the live line names it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Begins a task, `measuring cpu`, instead of the current one. */
void lig_cli_task_begin (const char *what);

/* Names the current part of the task, `measuring linear`; a remark (nullable) is shown if there is
 * room. */
void lig_cli_task_detail (const char *detail, const char *remark);

/* Sets the share of the task that is done, for the estimate of the remaining time; a smaller share
 * than before begins another part. Prints a line now and then if stderr is not a terminal. */
void lig_cli_task_advance (double share, const char *detail, const char *remark);

/* Ends the task and removes its line. */
void lig_cli_task_end (void);

/* A LigTuningMonitor that shows on stderr that autotuning is running. */
void lig_cli_measuring (const char *what, double seconds, double share);

G_END_DECLS
