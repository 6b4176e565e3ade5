/* SPDX-License-Identifier: MIT */
/* The groups that take most of a step's time, by name: the same group in all repetitions of a
 * block, and in all equal macros, counts as one.
 *
 * Threads: any thread may call these functions. */
#pragma once

#include <ligature/figures.h>

G_BEGIN_DECLS

/**
 * LIG_HOTSPOT_NAMES:
 *
 * The number of names that the window and reports list.
 */
#define LIG_HOTSPOT_NAMES 5

/**
 * LigHotspot: (skip)
 * @name: their ops and place, translated: `Linear + bias · qkv in 12 × Transformer layer at 2`,
 *   `Linear at 4`, `Linear at 1.*.3 × 12`; no two have the same
 * @path: (nullable): the path of the first op of the first group; %NULL: the sum of the rest
 * @counts: the number of groups in the forward and in the backward pass
 * @passes: the figures of the groups of each pass
 * @figures: the figures of all
 *
 * Groups of the same ops at the same place, in both passes and all repetitions.
 */
typedef struct {
  char *name;
  char *path;
  guint counts[2];
  LigFigures passes[2];
  LigFigures figures;
} LigHotspot;

/**
 * lig_hotspot_free: (skip)
 * @self: (nullable): the groups to free
 *
 * Frees the groups.
 */
LIG_API void lig_hotspot_free (LigHotspot *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigHotspot, lig_hotspot_free)

/**
 * lig_hotspot_list: (skip)
 * @timed: a plan
 * @unfused: (nullable): the plan of lig_plan_unfuse()
 * @max: the maximum number of names, after which the rest is summed
 *
 * Lists the hotspots of a step. Groups without a kernel are omitted, and all groups if the input
 * has no rows.
 *
 * Returns: (transfer full): an array of #LigHotspot, by decreasing time, then the sum of the rest
 */
LIG_API GPtrArray *
lig_hotspot_list (const LigTimedPlan *timed, const LigTimedPlan *unfused, guint max);

/**
 * lig_hotspot_describe: (skip)
 * @self: groups
 *
 * Returns: (transfer full) (nullable): the passes with their counts, the time of each if both
 * occur, and the bound: `forward × 12 ≈ 1.10 ms, backward × 12 ≈ 3.50 ms · compute`; %NULL for the
 * rest
 */
LIG_API char *lig_hotspot_describe (const LigHotspot *self);

/**
 * lig_hotspot_sum: (skip)
 * @list: an array of #LigHotspot
 * @sum: (out caller-allocates): their figures
 *
 * Adds up a list. The sum of groups that were timed one by one is longer than a pass that was
 * measured as a whole.
 */
LIG_API void lig_hotspot_sum (GPtrArray *list, LigFigures *sum);

/**
 * lig_hotspot_share_text: (skip)
 * @figures: the figures of some groups
 * @whole: the figures of all groups of the list, by lig_hotspot_sum()
 *
 * Returns: (transfer full): the time and its fraction of the whole: `≈ 5.40 ms · 19 %`
 */
LIG_API char *lig_hotspot_share_text (const LigFigures *figures, const LigFigures *whole);

G_END_DECLS
