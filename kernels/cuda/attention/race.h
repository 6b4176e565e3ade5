/* SPDX-License-Identifier: MIT */
/* The comparison of cuDNN with a built-in kernel of attention on random numbers: whether their
 * results agree, and the time of each. */
#pragma once

#include "kernels/cuda/attention/cudnn.h"

typedef struct {
  float own, cudnn;   /* microseconds of a launch */
  bool agree;         /* both results agree */
  bool repeats;       /* cuDNN computed the same bits twice, if required */
  bool no_memory;     /* for the comparison */
  const char *failed; /* the step that failed; or null */
} LigAttentionRace;

/* Compares both on separately allocated memory; only scratch and workspace are those of the launch.
 * The entry has a plan. */
void lig_attention_race (LigAttentionRace *race,
                         const LigLaunch *launch,
                         LigAttentionEntry *entry,
                         LigKernelFunc own);
