/* SPDX-License-Identifier: MIT */
/* The backward pass of attention as a graph. With p = exp (mask (scale q k^T) - lse) and
 * dp = dy v^T: dv = p^T dy, ds = scale p (dp - sum (dy y)), dk = ds^T q, dq = ds k. With fewer key
 * heads than query heads dk and dv are summed over the query heads that share one. */
#include "kernels/cuda/attention/cudnn-case.h"

/* The tensors that several steps use. */
typedef struct {
  const LigCudnnCase *one;
  LigCudnnAxes axes;
  LigCudnnLengths lengths;
  const LigCudnnTensor *query, *key, *dresult; /* key is transposed */
  const LigCudnnTensor *scale, *sums;
} Backward;

/* Computes the sums of dy y over the features of each query. */
static const LigCudnnTensor *
sum_results (LigCudnnScheme *graph, const Backward *all)
{
  const LigCudnnAxes *axes = &all->axes;
  const LigCudnnTensor *result =
    lig_cudnn_tensor (graph, LIG_CUDNN_RESULT, axes->type, axes->query, axes->result_strides);
  const LigCudnnTensor *matmuls = lig_cudnn_apply (graph, LIG_CUDNN_MULTIPLY, all->dresult, result);
  const LigCudnnTensor *sums =
    lig_cudnn_virtual (graph, LIG_CUDNN_FP32, axes->rows, axes->rows_strides);
  lig_cudnn_reduce (graph, LIG_CUDNN_SUM, matmuls, sums);
  /* cuDNN's pattern has a factor here, which is 1 without dropout. */
  const LigCudnnPointwise multiply = {
    .mode = LIG_CUDNN_MULTIPLY,
    .compute = LIG_CUDNN_FP32,
    .x = sums,
    .b = lig_cudnn_number (graph, 1),
    .y = lig_cudnn_tensor (graph, LIG_CUDNN_SUMS, LIG_CUDNN_FP32, axes->rows, axes->rows_strides)};
  lig_cudnn_pointwise (graph, &multiply);
  return multiply.y;
}

/* Recomputes the weights p. */
static const LigCudnnTensor *
weights (LigCudnnScheme *graph, const Backward *all)
{
  const LigCudnnAxes *axes = &all->axes;
  const LigCudnnMatmul scores = {
    .a = all->query,
    .b = all->key,
    .c = lig_cudnn_virtual (graph, LIG_CUDNN_FP32, axes->scores, axes->scores_strides),
    .rows = all->lengths.queries,
    .columns = all->lengths.keys};
  lig_cudnn_matmul (graph, &scores);
  const LigCudnnTensor *last = lig_cudnn_apply (graph, LIG_CUDNN_MULTIPLY, scores.c, all->scale);
  const LigCudnnTensor *lse =
    lig_cudnn_tensor (graph, LIG_CUDNN_LSE, LIG_CUDNN_FP32, axes->rows, axes->rows_strides);
  last = lig_cudnn_apply (graph, LIG_CUDNN_SUBTRACT, last, lse);
  last = lig_cudnn_mask_lengths (graph, last, all->lengths);
  last = lig_cudnn_mask (graph, all->one, last);
  return lig_cudnn_apply (graph, LIG_CUDNN_EXP, last, NULL);
}

/* Computes left^T right, where `left` has the axes of the scores, as the gradient of keys or
 * values. */
static void
gradient_of_keys (LigCudnnScheme *graph,
                  const Backward *all,
                  const LigCudnnTensor *left,
                  const LigCudnnTensor *right,
                  LigCudnnTensorId id)
{
  const LigCudnnAxes *axes = &all->axes;
  int64_t turned[4], turned_strides[4];
  lig_cudnn_transpose (turned, axes->scores);
  lig_cudnn_transpose (turned_strides, axes->scores_strides);
  const LigCudnnTensor *transposed = lig_cudnn_virtual (graph, axes->type, turned, turned_strides);
  lig_cudnn_reshape (graph, left, transposed);
  const LigCudnnTensor *gradient =
    lig_cudnn_tensor (graph, (int64_t) id, axes->type, axes->key, axes->key_strides);
  LigCudnnMatmul matmul = {.a = transposed,
                           .b = right,
                           .c = gradient,
                           .rows = all->lengths.keys,
                           .depth = all->lengths.queries};
  if (all->one->heads != all->one->kv_heads) {
    int64_t features = all->one->features, keys = all->one->keys, heads = all->one->heads;
    const int64_t shape[4] = {all->one->batch, heads, keys, features};
    const int64_t strides[4] = {heads * keys * features, keys * features, features, 1};
    matmul.c = lig_cudnn_virtual (graph, axes->type, shape, strides);
  }
  lig_cudnn_matmul (graph, &matmul);
  if (matmul.c != gradient)
    lig_cudnn_reduce (graph, LIG_CUDNN_SUM, matmul.c, gradient);
}

/* Computes ds. */
static const LigCudnnTensor *
gradient_of_scores (LigCudnnScheme *graph, const Backward *all, const LigCudnnTensor *p)
{
  const LigCudnnAxes *axes = &all->axes;
  int64_t turned[4], turned_strides[4];
  lig_cudnn_transpose (turned, axes->key);
  lig_cudnn_transpose (turned_strides, axes->key_strides);
  const LigCudnnMatmul matmul = {
    .a = all->dresult,
    .b = lig_cudnn_tensor (graph, LIG_CUDNN_VALUE, axes->type, turned, turned_strides),
    .c = lig_cudnn_virtual (graph, LIG_CUDNN_FP32, axes->scores, axes->scores_strides),
    .rows = all->lengths.queries,
    .columns = all->lengths.keys};
  lig_cudnn_matmul (graph, &matmul);
  const LigCudnnTensor *last = lig_cudnn_apply (graph, LIG_CUDNN_SUBTRACT, matmul.c, all->sums);
  last = lig_cudnn_apply (graph, LIG_CUDNN_MULTIPLY, last, p);
  return lig_cudnn_apply (graph, LIG_CUDNN_MULTIPLY, last, all->scale);
}

/* Computes dq: accumulated in fp32 in the caller's memory in any order, or by the engine in a fixed
 * order. */
static void
gradient_of_queries (LigCudnnScheme *graph, const Backward *all, const LigCudnnTensor *ds)
{
  const LigCudnnAxes *axes = &all->axes;
  int64_t features = all->one->features, length = all->one->length, heads = all->one->heads;
  const int64_t strides[4] = {heads * length * features, length * features, features, 1};
  const LigCudnnTensor *keys = lig_cudnn_virtual (graph, axes->type, axes->key, axes->key_strides);
  lig_cudnn_reshape (graph, all->key, keys);
  const LigCudnnTensor *dquery =
    lig_cudnn_tensor (graph, LIG_CUDNN_DQUERY, axes->type, axes->query, axes->query_strides);
  LigCudnnMatmul matmul = {
    .a = ds, .b = keys, .c = dquery, .rows = all->lengths.queries, .depth = all->lengths.keys};
  if (!all->one->ordered)
    matmul.c = lig_cudnn_tensor (graph, LIG_CUDNN_DQUERY_32, LIG_CUDNN_FP32, axes->query, strides);
  lig_cudnn_matmul (graph, &matmul);
  const LigCudnnPointwise round = {
    .mode = LIG_CUDNN_IDENTITY, .compute = LIG_CUDNN_FP32, .x = matmul.c, .y = dquery};
  if (!all->one->ordered)
    lig_cudnn_pointwise (graph, &round);
}

void
lig_cudnn_backward (LigCudnnScheme *graph, const LigCudnnCase *one)
{
  Backward all = {.one = one};
  LigCudnnAxes *axes = &all.axes;
  int64_t turned[4], turned_strides[4];
  lig_cudnn_axes (axes, one);
  lig_cudnn_transpose (turned, axes->key);
  lig_cudnn_transpose (turned_strides, axes->key_strides);
  all.lengths = lig_cudnn_lengths (graph, one);
  all.query =
    lig_cudnn_tensor (graph, LIG_CUDNN_QUERY, axes->type, axes->query, axes->query_strides);
  all.key = lig_cudnn_tensor (graph, LIG_CUDNN_KEY, axes->type, turned, turned_strides);
  all.dresult =
    lig_cudnn_tensor (graph, LIG_CUDNN_DRESULT, axes->type, axes->query, axes->result_strides);
  all.scale = lig_cudnn_number (graph, one->scale);
  all.sums = sum_results (graph, &all);
  const LigCudnnTensor *p = weights (graph, &all);
  gradient_of_keys (graph, &all, p, all.dresult, LIG_CUDNN_DVALUE);
  const LigCudnnTensor *ds = gradient_of_scores (graph, &all, p);
  gradient_of_keys (graph, &all, ds, all.query, LIG_CUDNN_DKEY);
  gradient_of_queries (graph, &all, ds);
}
