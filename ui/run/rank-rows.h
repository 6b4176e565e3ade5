/* SPDX-License-Identifier: MIT */
/* The rows on ranks among the settings of a training. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Attach to a line of a grid a row with the number of ranks, or with the obstacle; and a row with
 * the layouts of as many ranks, which is visible if they are several. */
void lig_rank_count_attach (LigDocument *doc, GtkGrid *to, int line);
void lig_rank_layout_attach (LigDocument *doc, GtkGrid *to, int line);

G_END_DECLS
