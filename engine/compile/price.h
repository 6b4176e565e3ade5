/* SPDX-License-Identifier: MIT */
/* What groups cost: measured on the device, remembered, or predicted from its ceilings. */
#pragma once

#include "engine/compile/lower.h"

typedef struct {
  double seconds;
  double noise;      /* half the spread of the middle half of the samples */
  gboolean measured; /* on this device, now or earlier; else predicted */
} LigPrice;

/* Seconds a step takes at least: max(bytes / copy bandwidth, flops / product rate), plus what a
 * launch costs; 0 where the device's ceilings are not known. */
double lig_predict_step (LigDevice *device, const LigDraftStep *step, LigDtype dtype);

/* Prices of groups in one pass. Those that neither this draft nor the tuning table knows are timed
 * in turns, on random data of their own; on a device that cannot run they are predicted. */
gboolean lig_price_groups (LigDraft *draft,
                           const LigGroup *groups,
                           guint count,
                           LigPass pass,
                           LigPrice *prices,
                           GError **error);

/* The price of one group without measuring: as this draft or the tuning table knows it, else
 * predicted; seconds are NaN where the device's ceilings are not known or kernels are missing. */
void lig_price_recall (LigDraft *draft, const LigGroup *group, LigPass pass, LigPrice *price);

/* Everything that the time of these steps depends on, in words; (transfer full). */
char *lig_price_key (LigDraft *draft, GArray *steps);

typedef enum {
  LIG_TIMING_GROUPS,
  LIG_TIMING_WHOLE, /* lists are whole steps: they run until the device's power is felt */
  LIG_TIMING_LAST,  /* whole steps, in at least LIG_LAST_TURNS turns */
} LigTiming;

enum { LIG_LAST_TURNS = 12 };

/* Times lists of steps (GArray of LigDraftStep) in turns, each turn in another random order:
 * warm-up, inputs rotated through more memory than the last cache holds, median. */
gboolean lig_time_lists (LigDraft *draft,
                         GArray *const *lists,
                         guint count,
                         LigTiming timing,
                         LigPrice *prices,
                         GError **error);
