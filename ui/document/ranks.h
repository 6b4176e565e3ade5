/* SPDX-License-Identifier: MIT */
/* The ranks that a document plans for and trains on: processes that share each batch. Their number
 * and parallelism are chosen for each open document, which recompiles when they change; its file
 * does not have them, because CPUs and GPUs belong to the machine. */
#pragma once

#include "ui/document/document.h"
#include <ligature/layout.h>

G_BEGIN_DECLS

/* Returns: (nullable): why the document cannot have several ranks. A described device can have any
 * number. */
const char *lig_ranks_find_obstacle (LigDocument *doc);

/* Returns the largest number of ranks on the document's device. */
int lig_ranks_get_max (LigDocument *doc);

/* Returns the number of ranks of the document; 1 if several are impossible. */
int lig_ranks_get (LigDocument *doc);

/* Sets the number. */
void lig_ranks_set (LigDocument *doc, int count);

/* Returns the parallelism of the ranks. */
LigLayout lig_ranks_choose_layout (LigDocument *doc);

/* Returns whether an op of the sequence has parallel=expert, so that ranks can share its experts.
 */
gboolean lig_ranks_share_experts (LigDocument *doc);

/* Sets the parallelism, also for later runs with a number of ranks that the group sizes divide. */
void lig_ranks_set_layout (LigDocument *doc, const LigLayout *layout);

/* Returns the parallelism of a continued run of the store: as before if that many ranks are
 * possible here, else one rank. `run`: (nullable): its UUID. */
LigLayout lig_ranks_find_layout (LigDocument *doc, const char *run);

/* Opens a device whose plans are those of rank 0. Returns: (nullable): null with the error set */
LigDevice *lig_ranks_open_device (const char *name, const LigLayout *layout, GError **error);

/* Returns whether lig_ranks_open_device() would open this device. @device: (nullable) */
gboolean lig_ranks_has_device (LigDevice *device, const char *name, const LigLayout *layout);

G_END_DECLS
