/* SPDX-License-Identifier: MIT */
/* Decides which variants of attention cuDNN computes exactly as the kernels define them. */
#include "kernels/attention-rejection.h"

#include <stddef.h>

/* The operands after x, as in kernel-list.h. */
enum { MEMORY = 1, LENGTHS = 2, DOCUMENTS = 3 };

/* Returns the reason why cuDNN has no pattern for the variant; null if it has one. */
static const char *
reject_variant (const LigOperand *x, const LigAttentionParams *params)
{
  if (params->heads < 1 || params->kv_heads < 1 || params->heads % params->kv_heads != 0 ||
      params->mask < LIG_MASK_CAUSAL || params->mask > LIG_MASK_CAUSAL_BOTTOM_RIGHT)
    return "the parameters do not fit each other";
  if (x->dtype != LIG_BF16 && x->dtype != LIG_FP16)
    return "it requires bf16 or fp16";
  if (x[DOCUMENTS].data)
    return "its masks do not support documents";
  if (params->dropout > 0)
    return "its dropout uses a different RNG stream";
  if (params->softcap > 0)
    return "a softcap is not part of its pattern";
  if (params->alibi)
    return "ALiBi is left to the built-in kernel";
  if (params->features % 8 != 0 || params->features > 256)
    return "it needs a head dim that is a multiple of 8, at most 256";
  return NULL;
}

/* Returns the reason why the kernels and cuDNN define the mask or shape differently; null if they
 * agree. */
static const char *
reject_shape (const LigOperand *x, const LigAttentionParams *params, bool backward)
{
  bool memory = x[MEMORY].data, bottom_right = params->mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT;
  int64_t length = params->length, keys = memory ? params->memory_length : length;
  int64_t shift = bottom_right ? keys - length : 0, last = length - 1 + shift;
  bool window = params->window > 0 && (params->window < keys || params->window < length);
  /* In cross-attention, lengths do not shorten the queries, so that any query could be left without
   * keys; and the corner of the mask moves with each length, even if there are as many keys as
   * queries. */
  if (memory && x[LENGTHS].data && (window || bottom_right))
    return "with memory lengths its result is undefined where a query sees no key";
  if (shift < 0 || (window && last - params->window >= keys - 1))
    return "its result is undefined where a query sees no key";
  /* From the support surface of NVIDIA's cudnn-frontend; the library itself accepts both. */
  if (window && length > keys)
    return "its windows need no more queries than keys";
  if (backward && length == 1 && keys == 1)
    return "it has no backward pass for one query and one key";
  return NULL;
}

const char *
lig_attention_rejection (const LigOperand *x, const LigAttentionParams *params, bool backward)
{
  const char *variant = reject_variant (x, params);
  return variant ? variant : reject_shape (x, params, backward);
}
