/* SPDX-License-Identifier: MIT */
/* Shows long texts by a pager. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Keeps everything that is printed from now on until the program exits. If it is longer than the
 * terminal, a pager then shows it: $LIG_PAGER, else $PAGER, else less. Does nothing if stdout is no
 * terminal, or if there is no pager or it is `cat`. */
void lig_cli_page (void);

/* Returns the file descriptor of the terminal to which the text of this one will go. */
int lig_cli_terminal (int descriptor);

G_END_DECLS
