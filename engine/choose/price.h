/* SPDX-License-Identifier: MIT */
/* The time of groups: measured on the device, read from a store, or predicted. */
#pragma once

#include "engine/lower/lower.h"

typedef struct {
  double seconds;
  double noise;      /* half the interquartile range of the samples */
  gboolean measured; /* measured on this device, now or earlier; else predicted */
} LigPrice;

/* Finds the prices of groups in one pass. Groups that neither this graph nor the tuning table
 * contains are timed in turns, on random data; if the device cannot run, they are predicted. */
gboolean lig_price_groups (LigGraph *graph,
                           const LigPlanGroup *groups,
                           guint count,
                           LigPass pass,
                           LigPrice *prices,
                           GError **error);

/* Finds the price of one group without measuring: from this graph or the tuning table, else
 * predicted; the seconds are NaN if the device's peak rates are unknown or kernels are missing. */
void lig_price_recall (LigGraph *graph, const LigPlanGroup *group, LigPass pass, LigPrice *price);

/* The same, and the bytes that the group reads and writes; NaN if kernels are missing. */
void lig_price_recall_bytes (
  LigGraph *graph, const LigPlanGroup *group, LigPass pass, LigPrice *price, double *bytes);

/* Returns the work, about in seconds, of measuring the unknown prices of groups; keys in `seen` do
 * not count, and those that count are added to it. */
double lig_price_count_work (
  LigGraph *graph, const LigPlanGroup *groups, guint count, LigPass pass, GHashTable *seen);

/* Adds the predicted collectives to a measured price: other ranks do not take part in measuring. */
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

/* Removes the common factor of each turn from the samples of several lists, one sample per list and
 * turn: if power limits the clocks, they differ between turns, but the ratios of the lists do not.
 * Each sample is divided by the turn's mean, weighted by the medians of the lists. Because each
 * list is a part of that mean, the remaining scatter is widened. */
void lig_price_level (double *const *samples, guint lists, guint turns);

/* Times lists of steps (GArray of LigGraphStep) in turns, each turn in another random order, after
 * a warm-up, with inputs that rotate through more memory than the last cache holds. The price is
 * the median; power-limited lists are leveled first. */
gboolean lig_time_lists (LigGraph *graph,
                         GArray *const *lists,
                         guint count,
                         LigTiming timing,
                         LigPrice *prices,
                         GError **error);
