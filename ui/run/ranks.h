/* SPDX-License-Identifier: MIT */
/* The choice of the number of ranks: processes that share each batch of a training. It is a setting
 * of the user, as the processors are the machine's. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns the number of ranks of the document's next training; 1 where several are impossible. */
int lig_ranks_get (LigDocument *doc);

/* Returns how they divide the work. */
LigLayout lig_ranks_choose_layout (LigDocument *doc);

/* Returns how a run of the store that is continued divides the work: as before, if so many ranks
 * are possible here, else by one. `run`: (nullable): its UUID. */
LigLayout lig_ranks_find_layout (LigDocument *doc, const char *run);

/* Returns: (nullable): why the document cannot be trained by several ranks. */
const char *lig_ranks_find_obstacle (LigDocument *doc);

/* Returns a row with the number, or with the obstacle; and a row with the layouts of as many ranks,
 * which is visible if they are several. */
GtkWidget *lig_ranks_row_new (LigDocument *doc);
GtkWidget *lig_rank_layout_row_new (LigDocument *doc);

G_END_DECLS
