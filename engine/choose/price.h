/* SPDX-License-Identifier: MIT */
/* The cost of groups: measured on the device, recalled, or predicted. */
#pragma once

#include "engine/lower/lower.h"

typedef struct {
  double seconds;
  double noise;      /* half the spread of the middle half of the samples */
  gboolean measured; /* on this device, now or earlier; else predicted */
} LigPrice;

/* Finds the prices of groups in one pass. Groups that neither this graph nor the tuning table
 * contains are timed in turns, on random data; where the device cannot run they are predicted. */
gboolean lig_price_groups (LigGraph *graph,
                           const LigPlanGroup *groups,
                           guint count,
                           LigPass pass,
                           LigPrice *prices,
                           GError **error);

/* Finds the price of one group without measuring: from this graph or the tuning table, else
 * predicted; the seconds are NaN where the device's peak rates are unknown or kernels are missing.
 */
void lig_price_recall (LigGraph *graph, const LigPlanGroup *group, LigPass pass, LigPrice *price);

/* The same, and the bytes that the group reads and writes; NaN where kernels are missing. */
void lig_price_recall_bytes (
  LigGraph *graph, const LigPlanGroup *group, LigPass pass, LigPrice *price, double *bytes);

/* Returns the work of measuring the prices of groups that are unknown, about in seconds; keys that
 * `seen` has do not count, and those that count are added to it. */
double lig_price_count_work (
  LigGraph *graph, const LigPlanGroup *groups, guint count, LigPass pass, GHashTable *seen);

/* Adds the collectives with other ranks to a measured price: the other ranks do not measure. */
void lig_price_collectives (const LigGraph *graph, GArray *steps, LigPrice *price);

/* Returns a time as text, `12.3 us`, with `suffix`; the graph owns it. */
const char *lig_format_price (LigGraph *graph, double seconds, const char *suffix);

/* Returns a text of everything that the time of these steps depends on; (transfer full). */
char *lig_price_key (LigGraph *graph, GArray *steps);

typedef enum {
  LIG_TIMING_GROUPS,
  LIG_TIMING_WHOLE, /* lists are whole steps: each sample is long enough for the power limit to show
                     */
  LIG_TIMING_LAST,  /* whole steps, in at least LIG_LAST_TURNS turns, or half as many long ones */
} LigTiming;

enum { LIG_LAST_TURNS = 12 };

/* Removes from samples of several lists, one of each in every turn, what a turn has in common:
 * where power limits the clocks they differ between turns, which the differences of the lists do
 * not depend on. Each sample is divided by the turn's mean, to which it counts in proportion to the
 * median of its list. As each list is a part of that mean, the scatter that is left is widened. */
void lig_price_level (double *const *samples, guint lists, guint turns);

/* Times lists of steps (GArray of LigGraphStep) in turns, each turn in another random order, after
 * a warm-up, with inputs that rotate through more memory than the last cache holds. The price is
 * the median; lists that power limits are leveled first. */
gboolean lig_time_lists (LigGraph *graph,
                         GArray *const *lists,
                         guint count,
                         LigTiming timing,
                         LigPrice *prices,
                         GError **error);
