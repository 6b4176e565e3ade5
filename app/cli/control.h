/* SPDX-License-Identifier: MIT */
/* `--control`: another program, such as the window, controls a training run. It writes commands to
 * standard input, one per line, and reads lines of JSON from standard output. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Prints every document as one line from now on; called before anything is printed. */
void lig_cli_control_begin (void);

/* Prints the description of the run, and opens standard output for its values and progress. Returns
 * FALSE with an error set. */
gboolean lig_cli_control_open (GError **error);

/* Start and stop reading commands while the main loop runs. At the end of the input the run saves a
 * checkpoint and ends. Without lig_cli_control_open() both do nothing. */
void lig_cli_control_follow (LigRun *run);
void lig_cli_control_end (void);

G_END_DECLS
