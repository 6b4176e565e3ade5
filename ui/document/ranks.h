/* SPDX-License-Identifier: MIT */
/* The ranks for which a document plans, and by which it trains: processes that share each batch.
 * Their number and layout are settings of the user, as CPUs and GPUs are the machine's; the
 * document compiles again when they change. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/* Returns: (nullable): why the document cannot have several ranks. A device that is only described
 * can have any number. */
const char *lig_ranks_find_obstacle (LigDocument *doc);

/* Returns the largest number of ranks on the document's device. */
int lig_ranks_get_max (LigDocument *doc);

/* Returns the number of ranks of the document; 1 where several are impossible. */
int lig_ranks_get (LigDocument *doc);

/* Chooses the number, also for other documents. */
void lig_ranks_set (LigDocument *doc, int count);

/* Returns how the ranks divide the work. */
LigLayout lig_ranks_choose_layout (LigDocument *doc);

/* Chooses how they do, also for later trainings by a number of ranks that the groups divide. */
void lig_ranks_set_layout (LigDocument *doc, const LigLayout *layout);

/* Returns how a run of the store that is continued divides the work: as before, if so many ranks
 * are possible here, else by one. `run`: (nullable): its UUID. */
LigLayout lig_ranks_find_layout (LigDocument *doc, const char *run);

/* Opens a device whose plans are those of rank 0 of the layout. Returns: (nullable): null with the
 * error set */
LigDevice *lig_ranks_open_device (const char *name, const LigLayout *layout, GError **error);

/* Returns whether a device is one that lig_ranks_open_device() would open. @device: (nullable) */
gboolean lig_ranks_has_device (LigDevice *device, const char *name, const LigLayout *layout);

G_END_DECLS
