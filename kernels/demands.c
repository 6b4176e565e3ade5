/* SPDX-License-Identifier: MIT */
/* Counts the operations of kernels whose work depends on their params, and their scratch memory
 * beyond the workspace. */
#include "kernels/demands.h"

#include "kernels/attention-rejection.h"
#include "kernels/attention-scratch.h"
#include "kernels/joint-loss.h"
#include <ligature/params-collective.h>
#include <ligature/params-experts.h>

static int64_t
between (int64_t min, int64_t value, int64_t max)
{
  return value < min ? min : value > max ? max : value;
}

/* Returns the number of visible (query, key) pairs of one head of one row. */
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

/* Counts only the matmuls of attention: 2 in the forward pass, 5 in the backward pass. The first
 * operand is x or dy, with `length` rows for each row of the batch. */
static double
count_attention (const LigOperand *operand, const LigAttentionParams *params, int matmuls)
{
  int64_t rows = operand->columns > 0 ? operand->size / operand->columns : 0;
  double batch = params->length > 0 ? (double) (rows / params->length) : 0;
  return 2.0 * matmuls * batch * params->heads * params->features * visible_pairs (params);
}

double
lig_attention_flops (const LigOperand *operands, const void *params)
{
  return count_attention (&operands[0], params, 2);
}

/* How many positions the texts have is not known before they run: on average half of the cache. */
double
lig_attention_cached_flops (const LigOperand *operands, const void *params)
{
  const LigAttentionParams *p = params;
  const LigOperand *x = &operands[0];
  double rows = x->columns > 0 ? (double) (x->size / x->columns) : 0;
  return 2.0 * rows * p->heads * p->features * p->memory_length;
}

double
lig_attention_backward_flops (const LigOperand *operands, const void *params)
{
  return count_attention (&operands[0], params, 5);
}

/* One byte of a packed operand has two elements. */
double
lig_quantized_flops (const LigOperand *operands, const void *params)
{
  const LigOperand *a = &operands[0], *b = &operands[1];
  double packed = a->dtype == LIG_UINT8 ? 2 : 1;
  (void) params;
  return 2.0 * packed * (double) a->size * (double) (b->size / b->columns);
}

int64_t
lig_grouped_rows (const LigOperand *rows, const void *params)
{
  const LigGroupedParams *grouped = params;
  int64_t all = rows->columns > 0 ? rows->size / rows->columns : 0;
  return grouped && grouped->rows > 0 && grouped->rows < all ? grouped->rows : all;
}

/* How many rows are in groups is known only on the device. The operands begin with x or dy, weight,
 * offsets. */
double
lig_grouped_flops (const LigOperand *operands, const void *params)
{
  const LigOperand *x = &operands[0], *weight = &operands[1], *offsets = &operands[2];
  double groups = offsets->size > 1 ? (double) (offsets->size - 1) : 1;
  double rows = (double) lig_grouped_rows (x, params);
  return 2.0 * rows * (double) weight->size / groups;
}

/* The operands begin with a and b; offsets are the fifth. */
double
lig_grouped_fp8_flops (const LigOperand *operands, const void *params)
{
  const LigOperand in_order[] = {operands[0], operands[1], operands[4]};
  return lig_grouped_flops (in_order, params);
}

/* The operands begin with dy, x. */
double
lig_grouped_weight_flops (const LigOperand *operands, const void *params)
{
  const LigOperand *dy = &operands[0], *x = &operands[1];
  return 2.0 * (double) lig_grouped_rows (dy, params) * (double) dy->columns * (double) x->columns;
}

/* The matmul and the unit are separate kernels where none computes both: the first one's result, if
 * no operand is. */
int64_t
lig_grouped_gated_scratch (const LigLaunch *launch, LigBackendKind backend)
{
  const LigOperand *sum = &launch->operands[6], *y = &launch->operands[7];
  (void) backend;
  return sum->size > 0 ? 0 : 2 * y->size * (int64_t) lig_dtype_size (y->dtype);
}

/* The same for the gradient of the unit's output; a kernel that computes both keeps partial sums in
 * this memory. */
int64_t
lig_grouped_gated_backward_scratch (const LigLaunch *launch, LigBackendKind backend)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[3];
  (void) backend;
  return x->size / 2 * (int64_t) lig_dtype_size (dy->dtype);
}

/* The bytes of the logits of a chunk. On a CPU they should stay in cache. On a GPU no cache holds
 * one row per SM, each chunk reads and writes the weight gradient once, and matmuls with fewer rows
 * are slower: half of the logits, within these limits. */
#define CPU_CHUNK_BYTES (4LL << 20)
#define MIN_CHUNK_BYTES (512LL << 20)
#define MAX_CHUNK_BYTES (4LL << 30)

/* Splits the rows into chunks of equal height, so that the last one also fills the device, and
 * matmuls of only one shape need autotuning. */
static int64_t
chunk_on_gpu (int64_t rows, int64_t row)
{
  int64_t bytes = between (MIN_CHUNK_BYTES, (rows + 1) / 2 * row, MAX_CHUNK_BYTES);
  int64_t chunks = 1;
  while ((rows + chunks - 1) / chunks > between (128, bytes / row, 1 << 16))
    chunks *= 2;
  return ((rows + chunks - 1) / chunks + 127) / 128 * 128;
}

int64_t
lig_joint_chunk (const LigOperand *x, const LigOperand *weight, LigBackendKind backend)
{
  int64_t features = x->columns > 0 ? x->columns : 1, rows = x->size / features;
  int64_t row = weight->size / features * (int64_t) lig_dtype_size (x->dtype);
  row = row > 0 ? row : 1;
  int64_t height = backend == LIG_BACKEND_CPU
                     ? between (128, CPU_CHUNK_BYTES / row / 128 * 128, 1 << 16)
                     : chunk_on_gpu (rows, row);
  return between (1, height, rows > 0 ? rows : 1);
}

int64_t
lig_joint_stride (int64_t classes, LigDtype dtype, LigBackendKind backend)
{
  return backend == LIG_BACKEND_CPU ? classes : lig_padded_stride (classes, dtype);
}

double
lig_joint_flops (const LigOperand *operands, const void *params)
{
  (void) params;
  const LigOperand *x = &operands[0], *weight = &operands[1];
  int matmuls = 1 + (operands[LIG_JOINT_GX].size > 0) + (operands[LIG_JOINT_GWEIGHT].size > 0);
  return 2.0 * matmuls * (double) x->size *
         (double) (weight->size / (weight->columns ? weight->columns : 1));
}

/* See kernels/joint-loss.h for the layout. */
int64_t
lig_joint_scratch (const LigLaunch *launch, LigBackendKind backend)
{
  const LigOperand *x = &launch->operands[0], *weight = &launch->operands[1];
  int64_t features = x->columns > 0 ? x->columns : 1, rows = x->size / features;
  int64_t height = lig_joint_chunk (x, weight, backend), chunks = (rows + height - 1) / height;
  int64_t floats = 64 + (2 * chunks + 63) / 64 * 64 + (2 * height + 63) / 64 * 64;
  int64_t stride = lig_joint_stride (weight->size / features, x->dtype, backend);
  return floats * (int64_t) sizeof (float) + height * stride * (int64_t) lig_dtype_size (x->dtype);
}

/* The CPU sums the gradients of keys and values in fp32: in the output itself if that is fp32, else
 * in half the workspace if they fit, else in this memory. */
static int64_t
scratch_on_cpu (const LigOperand *x, int64_t batch, const LigAttentionParams *params)
{
  if (x->dtype == LIG_FP32 && params->features % 16 == 0)
    return 0;
  int64_t padded = ((int64_t) params->features + 15) / 16 * 16;
  int64_t rows = batch * params->kv_heads * params->memory_length;
  int64_t bytes = rows * 2 * padded * (int64_t) sizeof (float);
  return bytes <= (int64_t) LIG_WORKSPACE_SIZE / 2 ? 0 : bytes;
}

/* Returns whether cuDNN can compute attention of x, memory, lengths and documents. */
static bool
library_can (const LigOperand *from, const LigLaunch *launch, bool backward)
{
  LigOperand x[4];
  for (int i = 0; i < 4; i++) {
    x[i] = from[i];
    x[i].data = from[i].size > 0 ? x : NULL; /* only the presence of an operand matters */
  }
  return !lig_attention_rejection (x, launch->params, backward);
}

int64_t
lig_attention_forward_scratch (const LigLaunch *launch, LigBackendKind backend)
{
  const LigAttentionParams *attention = launch->params;
  return backend == LIG_BACKEND_CPU || !attention || !library_can (launch->operands, launch, false)
           ? 0
           : lig_attention_copies (launch->operands, NULL);
}

/* On CUDA the built-in kernel keeps four fp32 numbers per query and head, in the workspace if they
 * fit. The operands begin with dy, x. */
int64_t
lig_attention_backward_scratch (const LigLaunch *launch, LigBackendKind backend)
{
  const LigAttentionParams *attention = launch->params;
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  if (!attention || attention->length < 1 || dy->columns < 1)
    return 0;
  int64_t rows = dy->size / dy->columns, batch = rows / attention->length;
  int64_t own = LIG_ATTENTION_OWN * rows * attention->heads, other = 0;
  if (backend == LIG_BACKEND_CPU)
    return scratch_on_cpu (x, batch, attention);
  if (library_can (x, launch, true))
    other = lig_attention_scratch (batch, attention, launch->nondeterministic) +
            lig_attention_copies (x, dy);
  if (own <= (int64_t) LIG_WORKSPACE_SIZE)
    own = 0;
  return own > other ? own : other;
}

int64_t
lig_collective_piece (int64_t size, int peers)
{
  const int64_t line = 64;
  int64_t each = (size + peers - 1) / peers;
  return (each + line - 1) / line * line;
}

/* On a CPU, the pieces that the peers send; the pieces of shards are not longer than others. */
int64_t
lig_collective_scratch (const LigLaunch *launch, LigBackendKind backend)
{
  const LigCollectiveParams *params = launch->params;
  const LigOperand *x = &launch->operands[0];
  if (backend != LIG_BACKEND_CPU || !params || params->peers < 1)
    return 0;
  return params->peers * lig_collective_piece (x->size, params->peers) *
         (int64_t) lig_dtype_size (x->dtype);
}
