/* SPDX-License-Identifier: MIT */
/* The comparison of cuDNN with a built-in kernel of attention on random numbers: whether both
 * compute the same, and the time of each. */
#pragma once

#include "kernels/cuda/attention/cudnn.h"

typedef struct {
  float own, cudnn;   /* microseconds of a launch */
  bool agree;         /* both computed the same */
  bool repeats;       /* cuDNN computed the same bits twice, unless it need not */
  bool no_memory;     /* for the comparison */
  const char *failed; /* a step that failed; null */
} LigAttentionRace;

/* Races both on memory of its own; only scratch and workspace are the launch's. The entry has a
 * plan. */
void lig_attention_race (LigAttentionRace *race,
                         const LigLaunch *launch,
                         LigAttentionEntry *entry,
                         LigKernelFunc own);
