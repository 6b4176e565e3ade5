/* SPDX-License-Identifier: MIT */
/* Describes attention problems that cuDNN can compute exactly as the kernels define them, as
 * cases. */
#include "kernels/attention-key.h"

#include "kernels/attention-rejection.h"
#include "kernels/attention-scratch.h"

#include <stdio.h>
#include <string.h>

/* The operands of attention and attention_backward, by kernel-list.h. */
enum { FORWARD_X = 0, BACKWARD_X = 1 };
enum { MEMORY_AFTER_X = 1, LENGTHS_AFTER_X = 2 };

/* Splits a case with deterministic sums into parts that fit the scratch memory. If no split fits,
 * the case stays whole and will find no scratch memory. */
static void
divide (LigCudnnCase *one, const LigAttentionParams *params)
{
  LigAttentionParts parts = lig_attention_parts (one->batch, params);
  if (parts.batch * parts.heads <= 1)
    return;
  one->batch_parts = parts.batch;
  one->head_parts = parts.heads;
  one->batch /= parts.batch;
  one->heads /= parts.heads;
  one->kv_heads /= parts.heads;
}

bool
lig_cudnn_case (LigCudnnCase *one,
                const LigOperand *operands,
                const LigAttentionParams *params,
                bool backward,
                bool ordered,
                const char **why)
{
  const LigOperand *x = &operands[backward ? BACKWARD_X : FORWARD_X];
  int64_t rows = x->columns > 0 ? x->size / x->columns : 0;
  bool memory = x[MEMORY_AFTER_X].data;
  memset (one, 0, sizeof *one);
  one->batch = params->length > 0 ? rows / params->length : 0;
  one->heads = params->heads;
  one->kv_heads = params->kv_heads;
  one->features = params->features;
  one->length = params->length;
  one->keys = memory ? params->memory_length : params->length;
  one->mask = params->mask;
  /* The corner is irrelevant for a square mask, and a window that covers every key hides
   * nothing. */
  if (one->mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT && one->keys == one->length)
    one->mask = LIG_MASK_CAUSAL;
  one->window = params->window < one->keys || params->window < one->length ? params->window : 0;
  one->scale = params->scale;
  one->dtype = (uint8_t) x->dtype;
  one->backward = backward;
  one->padded = x[LENGTHS_AFTER_X].data != NULL;
  one->memory = memory;
  one->ordered = backward && ordered;
  one->batch_parts = one->head_parts = 1;
  *why = lig_attention_rejection (x, params, backward);
  if (one->ordered && !*why)
    divide (one, params);
  return !*why;
}

LigCudnnCase
lig_cudnn_case_whole (const LigCudnnCase *one)
{
  LigCudnnCase whole = *one;
  whole.batch *= one->batch_parts;
  whole.heads *= one->head_parts;
  whole.kv_heads *= one->head_parts;
  whole.batch_parts = whole.head_parts = 1;
  return whole;
}

void
lig_cudnn_case_words (const LigCudnnCase *one, char *text, size_t size)
{
  static const char *const masks[] = {"causal", "none", "causal-bottom-right"};
  LigCudnnCase whole = lig_cudnn_case_whole (one);
  long long parts = (long long) (one->batch_parts * one->head_parts);
  char divided[48] = "";
  if (parts > 1)
    snprintf (divided, sizeof divided, " in %lld parts", parts);
  snprintf (text, size, "%s%s %s | rows %lld x %d to %d | heads %d/%d x %d | %s window %d%s%s%s",
            one->backward ? "backward" : "forward",
            one->backward ? one->ordered ? " deterministic" : " any order" : "",
            lig_dtype_name ((LigDtype) one->dtype), (long long) whole.batch, one->length, one->keys,
            whole.heads, whole.kv_heads, one->features, masks[(unsigned) one->mask % 3],
            one->window, one->padded ? " lengths" : "", one->memory ? " memory" : "", divided);
}

void
lig_cudnn_case_key (
  const LigCudnnCase *one, size_t cudnn, const char *device, char *key, size_t size)
{
  char words[256];
  lig_cudnn_case_words (one, words, sizeof words);
  snprintf (key, size, "attention %s | ligature " LIG_VERSION ", cuDNN %zu | %s", words, cudnn,
            device);
}
