/* SPDX-License-Identifier: MIT */
/* Positions of ranks in their parallel groups. */
#pragma once

#include <ligature/layout.h>

G_BEGIN_DECLS

/* Checks the sizes of a layout that a program made: no group size is negative, and the product of
 * all sizes is at least 1 and at most 2^20. The error is LIG_ERROR_VALUE. */
gboolean lig_layout_check (const LigLayout *self, GError **error);

/* Returns the stride between neighbouring ranks of the group. */
int lig_layout_stride (const LigLayout *self, LigRankGroup group);

/* Returns the index of a rank in its group, from 0. */
int lig_layout_place (const LigLayout *self, int rank, LigRankGroup group);

G_END_DECLS
