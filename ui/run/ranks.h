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

/* Chooses how they do, also for later trainings by a number of ranks that the groups divide. */
void lig_ranks_set_layout (LigDocument *doc, const LigLayout *layout);

/* Returns how a run of the store that is continued divides the work: as before, if so many ranks
 * are possible here, else by one. `run`: (nullable): its UUID. */
LigLayout lig_ranks_find_layout (LigDocument *doc, const char *run);

/* Returns: (nullable): why the document cannot be trained by several ranks. */
const char *lig_ranks_find_obstacle (LigDocument *doc);

/* Attach to a line of a grid a row with the number, or with the obstacle; and a row with the
 * layouts of as many ranks, which is visible if they are several. */
void lig_ranks_attach (LigDocument *doc, GtkGrid *to, int line);
void lig_rank_layout_attach (LigDocument *doc, GtkGrid *to, int line);

G_END_DECLS
