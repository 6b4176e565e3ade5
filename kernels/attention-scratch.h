/* SPDX-License-Identifier: MIT */
/* The scratch memory of attention on CUDA when cuDNN may compute it. Plain C, shared by the plan,
 * which allocates it, and the module, which partitions it. */
#pragma once

#include <ligature/launch.h>
#include <ligature/params-attention.h>

#include <stdbool.h>

/* The largest scratch memory provided for deterministic backward passes, which grows with the
 * square of the sequence length. A larger problem is computed in parts. If even one key head of one
 * row needs more, the built-in kernel runs instead, which needs no such memory. */
#define LIG_ATTENTION_MAX_ORDERED ((int64_t) 3 << 30)

/* The bytes that the built-in backward pass keeps per query and head: four fp32 numbers. */
#define LIG_ATTENTION_OWN 16

/* The bytes that every cuDNN plan needs in addition to its tensors. */
#define LIG_ATTENTION_PLAN ((int64_t) 256)

static inline int64_t
lig_attention_rounded (int64_t value, int64_t step)
{
  return (value + step - 1) / step * step;
}

/* Returns the bytes of one fp32 sum per query and head. */
static inline int64_t
lig_attention_sums (int64_t batch, const LigAttentionParams *params)
{
  return lig_attention_rounded (batch * params->heads * params->length * 4, 256);
}

/* Returns the bytes of the fp32 gradient of the queries, which is accumulated in any order. */
static inline int64_t
lig_attention_dquery (int64_t batch, const LigAttentionParams *params)
{
  return lig_attention_rounded (batch * params->heads * params->length * params->features * 4, 256);
}

/* Returns the bytes of the 16-bit gradient of all scores, in tiles of 64 by 128, from which the
 * gradient of the queries is summed in a fixed order. */
static inline int64_t
lig_attention_dscores (int64_t batch, const LigAttentionParams *params)
{
  int64_t rows = lig_attention_rounded (params->length, 64);
  int64_t columns = lig_attention_rounded (params->memory_length, 128);
  return lig_attention_rounded (2 * batch * params->heads * rows * columns, 256);
}

/* Returns the bytes of the 16-bit gradients of keys and values per query head, before they are
 * summed over the heads that share a key head. */
static inline int64_t
lig_attention_shared (int64_t batch, const LigAttentionParams *params)
{
  int64_t bytes = 4 * batch * params->heads * params->memory_length * params->features;
  return params->heads == params->kv_heads ? 0 : lig_attention_rounded (bytes, 256);
}

/* Returns the bytes for a deterministic backward pass over that many rows and these heads. */
static inline int64_t
lig_attention_ordered (int64_t batch, const LigAttentionParams *params)
{
  return LIG_ATTENTION_PLAN + lig_attention_sums (batch, params) +
         lig_attention_shared (batch, params) + lig_attention_dscores (batch, params);
}

/* The numbers of equal parts into which the batch and the key heads are split; the parts run one
 * after another in the same memory. */
typedef struct {
  int64_t batch;
  int32_t heads;
} LigAttentionParts;

/* Returns the smallest number of parts for which each part of a deterministic backward pass fits
 * the largest scratch memory: the batch is split, and the heads too if one row is too large. The
 * operands of each part are 16-byte aligned. Returns 0 by 0 if even the smallest parts are too
 * large. */
static inline LigAttentionParts
lig_attention_parts (int64_t batch, const LigAttentionParams *params)
{
  LigAttentionParams part = *params;
  for (int64_t n = 1; n <= batch; n++)
    if (batch % n == 0 && (n == 1 || batch / n * params->heads * params->length % 4 == 0) &&
        lig_attention_ordered (batch / n, params) <= LIG_ATTENTION_MAX_ORDERED)
      return (LigAttentionParts){n, 1};
  for (int32_t n = 2; n <= params->kv_heads && batch > 0; n++) {
    part.heads = params->heads / n;
    part.kv_heads = params->kv_heads / n;
    if (params->kv_heads % n == 0 && (int64_t) part.heads * params->length % 4 == 0 &&
        lig_attention_ordered (1, &part) <= LIG_ATTENTION_MAX_ORDERED)
      return (LigAttentionParts){batch, n};
  }
  return (LigAttentionParts){0, 0};
}

/* Returns the bytes for a backward pass over that many rows, accumulated in any order if the launch
 * permits it. If the memory for a deterministic pass is missing, the built-in kernel runs. */
static inline int64_t
lig_attention_scratch (int64_t batch, const LigAttentionParams *params, bool nondeterministic)
{
  LigAttentionParams part = *params;
  if (nondeterministic)
    return LIG_ATTENTION_PLAN + lig_attention_sums (batch, params) +
           lig_attention_shared (batch, params) + lig_attention_dquery (batch, params);
  LigAttentionParts parts = lig_attention_parts (batch, params);
  if (parts.batch < 1)
    return 0;
  part.heads /= parts.heads;
  part.kv_heads /= parts.heads;
  return lig_attention_ordered (batch / parts.batch, &part);
}

/* Returns the bytes of zero-padded copies of the operands that have lengths: of keys and values,
 * which are in x unless there is a memory, and, in the backward pass, of dy if the lengths apply to
 * the queries, too. The copies are zero beyond the lengths because cuDNN multiplies masked
 * elements, which may be NaN. `x` is followed by memory and lengths; dy is null in the forward
 * pass. */
static inline int64_t
lig_attention_copies (const LigOperand *x, const LigOperand *dy)
{
  const LigOperand *memory = &x[1], *keys = memory->size > 0 ? memory : x;
  int64_t bytes = lig_attention_rounded (keys->size * 2, 256);
  if (x[2].size == 0)
    return 0;
  return bytes + (dy && keys == x ? lig_attention_rounded (dy->size * 2, 256) : 0);
}
