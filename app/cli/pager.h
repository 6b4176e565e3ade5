/* SPDX-License-Identifier: MIT */
/* Shows long output in a pager. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Keeps everything that is printed from now on until the program exits. If it is longer than the
 * terminal, a pager then shows it: $LIG_PAGER, else $PAGER, else less. Does nothing if stdout is
 * not a terminal, or if there is no pager or it is `cat`. */
void lig_cli_page (void);

/* Returns the file descriptor of the terminal on which output to this descriptor will appear. */
int lig_cli_terminal (int descriptor);

G_END_DECLS
