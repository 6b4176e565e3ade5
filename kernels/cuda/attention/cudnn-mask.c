/* SPDX-License-Identifier: MIT */
/* The axes of attention's tensors, and the masks over its scores. cuDNN recognizes this sequence of
 * nodes and skips the blocks of scores that are fully masked. */
#include "kernels/cuda/attention/cudnn-case.h"
#include <ligature/params-attention.h>

#include <math.h>
#include <string.h>

/* Sets the strides of a contiguous tensor. */
static void
set_dense (int64_t strides[4], const int64_t shape[4])
{
  strides[3] = 1;
  for (int i = 2; i >= 0; i--)
    strides[i] = strides[i + 1] * shape[i + 1];
}

/* Sets the strides of [batch, heads, length, features] in rows of `columns` elements. */
static void
set_packed (int64_t strides[4], int64_t length, int64_t features, int64_t columns)
{
  strides[0] = length * columns;
  strides[1] = features;
  strides[2] = columns;
  strides[3] = 1;
}

void
lig_cudnn_axes (LigCudnnAxes *axes, const LigCudnnCase *one)
{
  /* A part reads some columns of the full rows. */
  int64_t features = one->features, parts = one->head_parts;
  int64_t result = parts * one->heads * features, memory = 2 * parts * one->kv_heads * features;
  int64_t packed = one->memory ? result : result + memory;
  const int64_t scores[4] = {one->batch, one->heads, one->length, one->keys};
  const int64_t rows[4] = {one->batch, one->heads, one->length, 1};
  const int64_t query[4] = {one->batch, one->heads, one->length, features};
  const int64_t key[4] = {one->batch, one->kv_heads, one->keys, features};
  memcpy (axes->scores, scores, sizeof scores);
  memcpy (axes->rows, rows, sizeof rows);
  memcpy (axes->query, query, sizeof query);
  memcpy (axes->key, key, sizeof key);
  set_dense (axes->scores_strides, scores);
  set_dense (axes->rows_strides, rows);
  set_packed (axes->query_strides, one->length, features, packed);
  set_packed (axes->result_strides, one->length, features, result);
  set_packed (axes->key_strides, one->keys, features, one->memory ? memory : packed);
  axes->type = one->dtype == LIG_FP16 ? LIG_CUDNN_FP16 : LIG_CUDNN_BF16;
}

void
lig_cudnn_transpose (int64_t to[4], const int64_t from[4])
{
  to[0] = from[0];
  to[1] = from[1];
  to[2] = from[3];
  to[3] = from[2];
}

LigCudnnLengths
lig_cudnn_lengths (LigCudnnScheme *graph, const LigCudnnCase *one)
{
  const int64_t shape[4] = {one->batch, 1, 1, 1}, strides[4] = {1, 1, 1, 1};
  LigCudnnLengths lengths = {NULL, NULL};
  if (one->padded) {
    lengths.queries =
      lig_cudnn_tensor (graph, LIG_CUDNN_QUERY_LENGTHS, LIG_CUDNN_INT32, shape, strides);
    lengths.keys = lig_cudnn_tensor (graph, LIG_CUDNN_KEY_LENGTHS, LIG_CUDNN_INT32, shape, strides);
  }
  return lengths;
}

/* Adds a node whose result is virtual, with the shape of x and a type of its own. */
static const LigCudnnTensor *
apply (LigCudnnScheme *graph,
       LigCudnnMode mode,
       LigCudnnType compute,
       const LigCudnnTensor *x,
       const LigCudnnTensor *b,
       LigCudnnType type)
{
  const LigCudnnPointwise pointwise = {.mode = mode,
                                       .compute = compute,
                                       .x = x,
                                       .b = b,
                                       .y = lig_cudnn_virtual (graph, type, x->shape, x->strides)};
  lig_cudnn_pointwise (graph, &pointwise);
  return pointwise.y;
}

/* Returns the index of each score along an axis. */
static const LigCudnnTensor *
index_of (LigCudnnScheme *graph, const LigCudnnTensor *scores, int64_t axis, LigCudnnType compute)
{
  const LigCudnnTensor *y =
    lig_cudnn_virtual (graph, LIG_CUDNN_INT32, scores->shape, scores->strides);
  const LigCudnnPointwise pointwise = {
    .mode = LIG_CUDNN_INDEX, .compute = compute, .x = scores, .axis = axis, .y = y};
  lig_cudnn_pointwise (graph, &pointwise);
  return y;
}

/* Returns the scores where `truth` holds, and minus infinity elsewhere. */
static const LigCudnnTensor *
select (LigCudnnScheme *graph, const LigCudnnTensor *scores, const LigCudnnTensor *truth)
{
  const LigCudnnTensor *y =
    lig_cudnn_virtual (graph, LIG_CUDNN_FP32, scores->shape, scores->strides);
  const LigCudnnPointwise pointwise = {.mode = LIG_CUDNN_SELECT,
                                       .compute = LIG_CUDNN_FP32,
                                       .x = scores,
                                       .b = lig_cudnn_number (graph, -INFINITY),
                                       .truth = truth,
                                       .y = y};
  lig_cudnn_pointwise (graph, &pointwise);
  return y;
}

const LigCudnnTensor *
lig_cudnn_mask_lengths (LigCudnnScheme *graph,
                        const LigCudnnTensor *scores,
                        LigCudnnLengths lengths)
{
  if (!lengths.keys)
    return scores;
  const LigCudnnTensor *rows = index_of (graph, scores, 2, LIG_CUDNN_INT32);
  const LigCudnnTensor *columns = index_of (graph, scores, 3, LIG_CUDNN_INT32);
  rows = apply (graph, LIG_CUDNN_LESS, LIG_CUDNN_BOOL, rows, lengths.queries, LIG_CUDNN_BOOL);
  columns = apply (graph, LIG_CUDNN_LESS, LIG_CUDNN_BOOL, columns, lengths.keys, LIG_CUDNN_BOOL);
  return select (graph, scores,
                 apply (graph, LIG_CUDNN_AND, LIG_CUDNN_BOOL, rows, columns, LIG_CUDNN_BOOL));
}

/* Masks the keys after row + ahead. */
static const LigCudnnTensor *
mask_after (LigCudnnScheme *graph, const LigCudnnTensor *scores, const LigCudnnCase *one, int ahead)
{
  const LigCudnnTensor *rows = index_of (graph, scores, 2, LIG_CUDNN_FP32);
  const LigCudnnTensor *columns = index_of (graph, scores, 3, LIG_CUDNN_FP32);
  if (one->mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT) {
    rows = apply (graph, LIG_CUDNN_ADD, LIG_CUDNN_INT32, rows, lig_cudnn_integer (graph, one->keys),
                  LIG_CUDNN_INT32);
    rows = apply (graph, LIG_CUDNN_SUBTRACT, LIG_CUDNN_INT32, rows,
                  lig_cudnn_integer (graph, one->length), LIG_CUDNN_INT32);
  }
  if (ahead)
    rows = apply (graph, LIG_CUDNN_ADD, LIG_CUDNN_INT32, rows, lig_cudnn_integer (graph, ahead),
                  LIG_CUDNN_INT32);
  return select (
    graph, scores,
    apply (graph, LIG_CUDNN_GREATER_OR_EQUAL, LIG_CUDNN_BOOL, rows, columns, LIG_CUDNN_BOOL));
}

/* Masks the keys before the window, which ends at the row's own position. */
static const LigCudnnTensor *
mask_before (LigCudnnScheme *graph, const LigCudnnTensor *scores, const LigCudnnCase *one)
{
  int32_t shift = one->mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT ? one->keys - one->length : 0;
  const LigCudnnTensor *rows = index_of (graph, scores, 2, LIG_CUDNN_FP32);
  const LigCudnnTensor *columns = index_of (graph, scores, 3, LIG_CUDNN_FP32);
  /* cuDNN's pattern has this constant in fp32, in which sums of indices are exact. */
  columns = apply (graph, LIG_CUDNN_ADD, LIG_CUDNN_FP32, columns,
                   lig_cudnn_number (graph, (float) (one->window - shift)), LIG_CUDNN_FP32);
  return select (graph, scores,
                 apply (graph, LIG_CUDNN_GREATER, LIG_CUDNN_BOOL, columns, rows, LIG_CUDNN_BOOL));
}

const LigCudnnTensor *
lig_cudnn_mask (LigCudnnScheme *graph, const LigCudnnCase *one, const LigCudnnTensor *scores)
{
  if (one->mask != LIG_MASK_NONE)
    scores = mask_after (graph, scores, one, 0);
  else if (one->window)
    scores = mask_after (graph, scores, one, one->window - 1);
  return one->window ? mask_before (graph, scores, one) : scores;
}
