/* SPDX-License-Identifier: MIT */
/* Counts the operations of kernels whose work depends on their params, and the scratch memory that
 * kernels need beyond the workspace. */
#include "kernels/demands.h"

#include <ligature/params.h>

#include <stddef.h>
#include <string.h>

static int64_t
between (int64_t least, int64_t value, int64_t most)
{
  return value < least ? least : value > most ? most : value;
}

/* Returns the number of keys that all queries of one head of one row see together. */
static double
visible_pairs (const LigAttentionParams *params)
{
  int64_t length = params->length, keys = params->memory_length, window = params->window;
  int64_t shift = params->mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT ? keys - length : 0;
  double pairs = 0;
  for (int64_t i = 0; i < length; i++) {
    int64_t at = i + shift, first = 0, end = keys;
    if (params->mask != LIG_MASK_NONE)
      end = between (0, at + 1, keys);
    else if (window > 0)
      end = between (0, at + window, keys);
    if (window > 0)
      first = between (0, at - window + 1, end);
    pairs += (double) (end - first);
  }
  return pairs;
}

/* Counts the products of attention alone: 2 of the forward pass, 5 of the backward pass. The first
 * operand is x, or dy, with `length` rows for each row of the batch. */
static double
count_attention (const LigOperand *operand, const LigAttentionParams *params, int products)
{
  int64_t rows = operand->columns > 0 ? operand->size / operand->columns : 0;
  double batch = params->length > 0 ? (double) (rows / params->length) : 0;
  return 2.0 * products * batch * params->heads * params->features * visible_pairs (params);
}

static double
attention_flops (const LigOperand *operands, const void *params)
{
  return count_attention (&operands[0], params, 2);
}

static double
attention_backward_flops (const LigOperand *operands, const void *params)
{
  return count_attention (&operands[0], params, 5);
}

/* The CPU adds up the gradients of keys and values in fp32: in the operand if that can have the
 * sums, else in half the workspace if they fit, else in this memory. The operands begin with dy and
 * x. */
static int64_t
attention_backward_scratch (const LigOperand *operands, const void *params, LigBackendKind backend)
{
  const LigAttentionParams *p = params;
  if (backend != LIG_BACKEND_CPU || !p || p->length < 1)
    return 0;
  if (operands[1].dtype == LIG_FP32 && p->features % 16 == 0)
    return 0;
  int64_t batch = operands[0].size / operands[0].columns / p->length;
  int64_t padded = ((int64_t) p->features + 15) / 16 * 16;
  int64_t bytes = batch * p->kv_heads * p->memory_length * 2 * padded * (int64_t) sizeof (float);
  return bytes <= (int64_t) LIG_WORKSPACE_SIZE / 2 ? 0 : bytes;
}

static const struct {
  const char *kernel;
  double (*flops) (const LigOperand *operands, const void *params);
  int64_t (*scratch) (const LigOperand *operands, const void *params, LigBackendKind backend);
} demands[] = {
  {"attention", attention_flops, NULL},
  {"attention_backward", attention_backward_flops, attention_backward_scratch},
};

void
lig_kernel_declare (LigKernel *kernel)
{
  for (size_t i = 0; i < sizeof demands / sizeof *demands; i++)
    if (strcmp (kernel->name, demands[i].kernel) == 0) {
      kernel->flops = demands[i].flops;
      kernel->scratch = demands[i].scratch;
    }
}
