/* SPDX-License-Identifier: MIT */
/* Places of ranks in a layout. */
#pragma once

#include <ligature/layout.h>

G_BEGIN_DECLS

/* Checks the sizes of a layout that a program made: a group has no negative number of ranks, and
 * all groups together have at least one and at most 2^20. The error is LIG_ERROR_VALUE. */
gboolean lig_layout_check (const LigLayout *self, GError **error);

/* Returns the distance between the numbers of neighbours in the group. */
int lig_layout_stride (const LigLayout *self, LigRankGroup group);

/* Returns the number of a rank in its group, from 0. */
int lig_layout_place (const LigLayout *self, int rank, LigRankGroup group);

G_END_DECLS
