/* SPDX-License-Identifier: MIT */
/* Attention through cuDNN: the plans that a device has, and their launches. */
#pragma once

#include "kernels/cuda/attention/cudnn-version.h"
#include "kernels/cuda/common/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns whether cuDNN computes this launch of attention, or of attention_backward, exactly as the
 * kernel is defined; otherwise the reason is in `why`, which stays valid as long as the device.
 * Builds the plan, which can take seconds, unless the launch's stream is being captured. */
bool lig_cudnn_attention_can (const LigLaunch *launch, bool backward, const char **why);

/* Launch the plan that lig_cudnn_attention_can() built. Return LIG_UNSUPPORTED, with nothing
 * launched, if there is none. */
LigStatus lig_cudnn_attention (LigLaunch *launch);
LigStatus lig_cudnn_attention_backward (LigLaunch *launch);

#ifdef __cplusplus
}

#else

#include "kernels/cuda/attention/cudnn-case.h"

/* A case that has occurred, its plan, and the choice between it and the built-in kernel. */
typedef struct {
  LigCudnnCase one;
  LigCudnnPlan *plan; /* null: not tried, or rejected */
  bool tried;
  bool decided; /* `wins` is known */
  bool wins;    /* cuDNN is used */
  char why[320];
} LigAttentionEntry;

struct LigAttention {
  LigCudnnHandle handle;
  LigAttentionEntry **entries;
  int n_entries;
};

/* Returns the entry of a launch's case, whose address does not change; null, with the reason in
 * `why`, if cuDNN cannot compute it. */
LigAttentionEntry *lig_attention_entry (const LigLaunch *launch, bool backward, const char **why);

/* Builds the entry's plan unless that was tried before; returns whether there is one. */
bool lig_attention_build (const LigLaunch *launch, LigAttentionEntry *entry);

#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Frees the cases of a device; null is allowed. */
void lig_attention_free (LigAttention *attention);

#ifdef __cplusplus
}
#endif
