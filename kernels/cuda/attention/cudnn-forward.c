/* SPDX-License-Identifier: MIT */
/* The forward pass of attention as a graph: y = softmax (mask (scale q k^T)) v and the log-sum-exp.
 * Keys are transposed by their strides. */
#include "kernels/cuda/attention/cudnn-case.h"

/* Adds the softmax over the last axis. Its result has the type of the operands of the second
 * matmul. */
static const LigCudnnTensor *
softmax (LigCudnnScheme *graph, const LigCudnnAxes *axes, const LigCudnnTensor *scores)
{
  const LigCudnnTensor *max =
    lig_cudnn_virtual (graph, LIG_CUDNN_FP32, axes->rows, axes->rows_strides);
  lig_cudnn_reduce (graph, LIG_CUDNN_MAXIMUM, scores, max);
  const LigCudnnTensor *below = lig_cudnn_apply (graph, LIG_CUDNN_SUBTRACT, scores, max);
  const LigCudnnTensor *exponentials = lig_cudnn_apply (graph, LIG_CUDNN_EXP, below, NULL);
  const LigCudnnTensor *sum =
    lig_cudnn_virtual (graph, LIG_CUDNN_FP32, axes->rows, axes->rows_strides);
  lig_cudnn_reduce (graph, LIG_CUDNN_SUM, exponentials, sum);
  const LigCudnnTensor *logarithm = lig_cudnn_apply (graph, LIG_CUDNN_LOG, sum, NULL);
  const LigCudnnPointwise add = {
    .mode = LIG_CUDNN_ADD,
    .compute = LIG_CUDNN_FP32,
    .x = max,
    .b = logarithm,
    .y = lig_cudnn_tensor (graph, LIG_CUDNN_LSE, LIG_CUDNN_FP32, axes->rows, axes->rows_strides)};
  lig_cudnn_pointwise (graph, &add);
  const LigCudnnPointwise divide = {
    .mode = LIG_CUDNN_DIVIDE,
    .compute = LIG_CUDNN_FP32,
    .x = exponentials,
    .b = sum,
    .y = lig_cudnn_virtual (graph, axes->type, axes->scores, axes->scores_strides)};
  lig_cudnn_pointwise (graph, &divide);
  return divide.y;
}

void
lig_cudnn_forward (LigCudnnScheme *graph, const LigCudnnCase *one)
{
  LigCudnnAxes axes;
  int64_t turned[4], turned_strides[4];
  lig_cudnn_axes (&axes, one);
  lig_cudnn_transpose (turned, axes.key);
  lig_cudnn_transpose (turned_strides, axes.key_strides);
  LigCudnnLengths lengths = lig_cudnn_lengths (graph, one);
  const LigCudnnMatmul scores = {
    .a = lig_cudnn_tensor (graph, LIG_CUDNN_QUERY, axes.type, axes.query, axes.query_strides),
    .b = lig_cudnn_tensor (graph, LIG_CUDNN_KEY, axes.type, turned, turned_strides),
    .c = lig_cudnn_virtual (graph, LIG_CUDNN_FP32, axes.scores, axes.scores_strides),
    .rows = lengths.queries,
    .columns = lengths.keys,
    .pads = one->padded};
  lig_cudnn_matmul (graph, &scores);
  const LigCudnnTensor *last =
    lig_cudnn_apply (graph, LIG_CUDNN_MULTIPLY, scores.c, lig_cudnn_number (graph, one->scale));
  last = lig_cudnn_mask_lengths (graph, last, lengths);
  last = lig_cudnn_mask (graph, one, last);
  const LigCudnnMatmul result = {
    .a = softmax (graph, &axes, last),
    .b = lig_cudnn_tensor (graph, LIG_CUDNN_VALUE, axes.type, axes.key, axes.key_strides),
    .c = lig_cudnn_tensor (graph, LIG_CUDNN_RESULT, axes.type, axes.query, axes.result_strides),
    .rows = lengths.queries,
    .depth = lengths.keys};
  lig_cudnn_matmul (graph, &result);
}
