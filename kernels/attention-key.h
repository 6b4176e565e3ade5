/* SPDX-License-Identifier: MIT */
/* A case of attention: everything that its run time depends on, and the key under which the choice
 * between cuDNN and the built-in kernel is stored. Plain C, shared by plans, which look up the
 * choice, and the CUDA module, which makes it. */
#pragma once

#include <ligature/launch.h>

typedef struct _LigAttentionParams LigAttentionParams;

/* Everything that a cuDNN plan depends on. Cases are compared bytewise, so they are zeroed first
 * and have no padding. A launch may run its plan several times, each time for a part of the batch
 * or of the heads: `batch`, `heads` and `kv_heads` are those of one part. */
typedef struct {
  int64_t batch, batch_parts;
  int32_t heads, kv_heads, features, length, keys, head_parts;
  int32_t mask;   /* LigAttentionMask; bottom-right only if length and keys differ */
  int32_t window; /* 0: unlimited */
  float scale;    /* of the scores */
  uint8_t dtype;  /* LigDtype */
  uint8_t backward;
  uint8_t padded;  /* padded batch: each row has its own length */
  uint8_t memory;  /* cross-attention: keys, values and lengths come from another tensor */
  uint8_t ordered; /* backward: deterministic order of summation */
  uint8_t unused[7];
} LigCudnnCase;
_Static_assert(sizeof (LigCudnnCase) == 64, "a case of attention has gaps");

/* Sets `one` to the case of a launch of attention or attention_backward, given its operands.
 * Returns false, with the reason in `why`, if cuDNN cannot compute it or would compute a different
 * result. */
bool lig_cudnn_case (LigCudnnCase *one,
                     const LigOperand *operands,
                     const LigAttentionParams *params,
                     bool backward,
                     bool ordered,
                     const char **why);

/* Returns the case that all parts form together. */
LigCudnnCase lig_cudnn_case_whole (const LigCudnnCase *one);

/* Writes the case as text, which is part of the key of a stored choice. */
void lig_cudnn_case_words (const LigCudnnCase *one, char *text, size_t size);

/* Writes the key of a stored choice: the case, the versions and the name of the device. A choice is
 * `cuDNN: cuDNN 1200 ns, own 1500 ns`, or begins with `own:`; both times follow if the two were
 * timed, otherwise the reason. */
void lig_cudnn_case_key (
  const LigCudnnCase *one, size_t cudnn, const char *device, char *key, size_t size);
