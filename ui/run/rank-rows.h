/* SPDX-License-Identifier: MIT */
/* The rank rows among the training settings. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Attach to a line of a grid a row with the number of ranks, or the obstacle to several; and a row
 * with their parallelism, which is visible if there are several ranks. */
void lig_rank_count_attach (LigDocument *doc, GtkGrid *to, int line);
void lig_rank_layout_attach (LigDocument *doc, GtkGrid *to, int line);

G_END_DECLS
