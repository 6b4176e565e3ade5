/* SPDX-License-Identifier: MIT */
/* The cases of attention that cuDNN computes as the kernels define it. */
#include "kernels/attention-key.h"

#include "kernels/attention-refusal.h"

#include <stdio.h>
#include <string.h>

/* The operands of attention and attention_backward, by kernel-list.h. */
enum { FORWARD_X = 0, BACKWARD_X = 1 };
enum { MEMORY_AFTER_X = 1, LENGTHS_AFTER_X = 2 };

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
  /* A square mask has one corner, and a window that reaches everywhere hides nothing. */
  if (one->mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT && one->keys == one->length)
    one->mask = LIG_MASK_CAUSAL;
  one->window = params->window < one->keys || params->window < one->length ? params->window : 0;
  one->scale = params->scale;
  one->dtype = (uint8_t) x->dtype;
  one->backward = backward;
  one->padded = x[LENGTHS_AFTER_X].data != NULL;
  one->memory = memory;
  one->ordered = backward && ordered;
  *why = lig_attention_refusal (x, params, backward);
  return !*why;
}

void
lig_cudnn_case_words (const LigCudnnCase *one, char *text, size_t size)
{
  static const char *const masks[] = {"causal", "none", "causal-bottom-right"};
  snprintf (text, size, "%s%s %s | rows %lld x %d to %d | heads %d/%d x %d | %s window %d%s%s",
            one->backward ? "backward" : "forward",
            one->backward ? one->ordered ? " deterministic" : " any order" : "",
            lig_dtype_name ((LigDtype) one->dtype), (long long) one->batch, one->length, one->keys,
            one->heads, one->kv_heads, one->features, masks[(unsigned) one->mask % 3], one->window,
            one->padded ? " lengths" : "", one->memory ? " memory" : "");
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
