/* SPDX-License-Identifier: MIT */
/* Fused LM head matmul and cross-entropy, in chunks of rows, so that the logits are materialized
 * for only one chunk at a time: the gradients of the logits overwrite them, and the matmuls for the
 * gradients of x and weight follow at once. Both backends run this with their own kernels.
 *
 * The gradients are those of the sum of the losses instead of their mean, because the divisor is
 * known only after the last chunk. The gradients of the logits are between -1 and 1, so that 16-bit
 * types represent them well for any number of rows. */
#pragma once

#include "kernels/demands.h"

#include <stddef.h>

/* The functions of a backend. The row stride of the logits is lig_joint_stride() on CUDA; elsewhere
 * it is the number of classes. */
typedef struct {
  LigKernelFunc linear, linear_bias, entropy, entropy_backward, input, weight, weight_bias;
  /* Sets a device float to 1 for entropy_backward; null if `losses` replaces that. */
  LigStatus (*set_one) (LigLaunch *launch, float *one);
  /* Computes the mean loss of a chunk and the number of counted rows, and overwrites the logits
   * with their gradients, in one kernel instead of entropy and entropy_backward; has a float for
   * each row. Null: absent. */
  LigStatus (*losses) (
    LigLaunch *launch, LigOperand logits, LigOperand targets, float *values, float *part);
  /* Computes y, the mean loss, and count from the means and counts of the chunks. */
  LigStatus (*reduce_chunks) (LigLaunch *launch, const float *parts, int64_t chunks);
} LigJointCalls;

enum {
  LIG_JOINT_X,
  LIG_JOINT_WEIGHT,
  LIG_JOINT_BIAS,
  LIG_JOINT_TARGETS,
  LIG_JOINT_Y,
  LIG_JOINT_COUNT,
  LIG_JOINT_GX,
  LIG_JOINT_GWEIGHT,
  LIG_JOINT_GBIAS
};

/* The scratch memory: the logits of a chunk, two numbers for each of its rows (lse), a one, and two
 * numbers for each chunk. */
typedef struct {
  void *logits;
  float *lse, *one, *parts;
} LigJointScratch;

/* Launches a kernel with the given operands and otherwise the same launch; only the loss has
 * params. */
static inline LigStatus
lig_joint_call (LigLaunch *launch, LigKernelFunc function, const LigOperand *operands, bool adds)
{
  LigLaunch inner = *launch;
  inner.operands = operands;
  inner.params = NULL;
  inner.accumulate = adds;
  inner.scratch = NULL;
  LigStatus status = function (&inner);
  launch->where = inner.where;
  return status;
}

/* Launches the loss or its gradient, with params. */
static inline LigStatus
lig_joint_entropy (LigLaunch *launch, LigKernelFunc function, const LigOperand *operands)
{
  LigLaunch inner = *launch;
  inner.operands = operands;
  inner.scratch = NULL;
  LigStatus status = function (&inner);
  launch->where = inner.where;
  return status;
}

/* Computes the logits of a chunk and overwrites them with their gradients. */
static inline LigStatus
lig_joint_logits (LigLaunch *launch,
                  const LigJointCalls *calls,
                  const LigJointScratch *scratch,
                  LigOperand x,
                  LigOperand targets,
                  LigOperand logits,
                  float *part)
{
  const LigOperand *o = launch->operands;
  int64_t rows = targets.size;
  LigOperand lse = {scratch->lse, 2 * rows, 2, LIG_FP32}, one = {scratch->one, 1, 1, LIG_FP32};
  LigOperand mean = {part, 1, 1, LIG_FP32}, count = {part + 1, 1, 1, LIG_FP32};
  LigOperand plain[] = {x, o[LIG_JOINT_WEIGHT], logits};
  LigOperand biased[] = {x, o[LIG_JOINT_WEIGHT], o[LIG_JOINT_BIAS], logits};
  LigOperand losses[] = {logits, targets, mean, lse, count};
  LigOperand gradients[] = {one, logits, targets, lse, one, logits};
  LigStatus status = o[LIG_JOINT_BIAS].data
                       ? lig_joint_call (launch, calls->linear_bias, biased, false)
                       : lig_joint_call (launch, calls->linear, plain, false);
  if (status == LIG_OK && calls->losses)
    return calls->losses (launch, logits, targets, scratch->lse, part);
  if (status == LIG_OK)
    status = lig_joint_entropy (launch, calls->entropy, losses);
  if (status == LIG_OK)
    status = lig_joint_entropy (launch, calls->entropy_backward, gradients);
  return status;
}

/* Multiplies the logit gradients of a chunk by weight and x. */
static inline LigStatus
lig_joint_matmuls (LigLaunch *launch,
                   const LigJointCalls *calls,
                   LigOperand x,
                   LigOperand logits,
                   LigOperand gx,
                   bool first)
{
  const LigOperand *o = launch->operands;
  LigOperand input[] = {logits, o[LIG_JOINT_WEIGHT], gx};
  LigOperand plain[] = {logits, x, o[LIG_JOINT_GWEIGHT]};
  LigOperand biased[] = {logits, x, o[LIG_JOINT_GWEIGHT], o[LIG_JOINT_GBIAS]};
  LigStatus status = LIG_OK;
  if (gx.data)
    status = lig_joint_call (launch, calls->input, input, false);
  if (status == LIG_OK && o[LIG_JOINT_GBIAS].data)
    status = lig_joint_call (launch, calls->weight_bias, biased, !first);
  else if (status == LIG_OK && o[LIG_JOINT_GWEIGHT].data)
    status = lig_joint_call (launch, calls->weight, plain, !first);
  return status;
}

/* Returns a range of rows of an operand. */
static inline LigOperand
lig_joint_rows (const LigOperand *of, int64_t columns, int64_t first, int64_t count)
{
  LigOperand rows = {of->data, count * columns, of->columns, of->dtype};
  if (rows.data)
    rows.data = (char *) of->data + first * columns * (int64_t) lig_dtype_size (of->dtype);
  return rows;
}

/* Computes y, count and the gradients of the sum of losses; see linear_cross_entropy in
 * kernel-list.h. */
static inline LigStatus
lig_joint_loss (LigLaunch *launch, const LigJointCalls *calls, LigBackendKind backend)
{
  const LigOperand *o = launch->operands, *x = &o[LIG_JOINT_X];
  int64_t rows = o[LIG_JOINT_TARGETS].size, classes = o[LIG_JOINT_WEIGHT].size / x->columns;
  int64_t height = lig_joint_chunk (x, &o[LIG_JOINT_WEIGHT], backend);
  int64_t chunks = (rows + height - 1) / height;
  LigJointScratch scratch = {NULL, NULL, (float *) launch->scratch, NULL};
  scratch.parts = scratch.one + 64;
  scratch.lse = scratch.parts + (2 * chunks + 63) / 64 * 64;
  scratch.logits = scratch.lse + (2 * height + 63) / 64 * 64;
  LigStatus status = calls->set_one ? calls->set_one (launch, scratch.one) : LIG_OK;
  for (int64_t i = 0; i < chunks && status == LIG_OK; i++) {
    int64_t at = i * height, count = at + height < rows ? height : rows - at;
    LigOperand part = lig_joint_rows (x, x->columns, at, count);
    LigOperand gx = lig_joint_rows (&o[LIG_JOINT_GX], x->columns, at, count);
    LigOperand targets = lig_joint_rows (&o[LIG_JOINT_TARGETS], 1, at, count);
    LigOperand logits = {scratch.logits, count * classes, classes, x->dtype};
    status =
      lig_joint_logits (launch, calls, &scratch, part, targets, logits, scratch.parts + 2 * i);
    if (status == LIG_OK)
      status = lig_joint_matmuls (launch, calls, part, logits, gx, i == 0);
  }
  return status == LIG_OK ? calls->reduce_chunks (launch, scratch.parts, chunks) : status;
}
