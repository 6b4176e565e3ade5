/* SPDX-License-Identifier: MIT */
/* The collectives of a plan. */
#pragma once

#include <ligature/plan.h>

G_BEGIN_DECLS

/* Returns (transfer full) a line for each collective in a group of ranks, in step order: its kernel
 * and the lane. Ranks of the group whose lines differ would deadlock. */
char *lig_plan_list_collectives (LigPlan *self, LigRankGroup group);

/* Returns whether the forward pass communicates with ranks that have other rows of the batch. */
gboolean lig_plan_gathers_rows (LigPlan *self);

G_END_DECLS
