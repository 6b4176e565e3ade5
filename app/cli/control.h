/* SPDX-License-Identifier: MIT */
/* `--control`: another program, such as the window, controls a training. It writes commands to
 * standard input, one on a line, and reads lines of JSON from standard output. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Makes all documents lines, before anything is printed. */
void lig_cli_control_begin (void);

/* Prints what the run is, and opens standard output for its values and progress. Returns FALSE with
 * an error set. */
gboolean lig_cli_control_open (GError **error);

/* Obeys commands as long as the main loop runs; at the end of the input, the run saves a checkpoint
 * and ends. The second function ends that. Without lig_cli_control_open() they do nothing. */
void lig_cli_control_follow (LigRun *run);
void lig_cli_control_end (void);

G_END_DECLS
