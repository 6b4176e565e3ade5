/* SPDX-License-Identifier: MIT */
/* Attention in cuDNN: a case, its graph and its plan. */
#pragma once

#include "kernels/attention-key.h"
#include "kernels/cuda/attention/cudnn-scheme.h"

/* The tensors in device memory, by the ids that identify them when a plan runs. */
typedef enum {
  LIG_CUDNN_QUERY = 1,
  LIG_CUDNN_KEY,
  LIG_CUDNN_VALUE,
  LIG_CUDNN_RESULT,
  LIG_CUDNN_LSE,
  LIG_CUDNN_QUERY_LENGTHS,
  LIG_CUDNN_KEY_LENGTHS,
  LIG_CUDNN_DRESULT,
  LIG_CUDNN_DQUERY,
  LIG_CUDNN_DKEY,
  LIG_CUDNN_DVALUE,
  LIG_CUDNN_SUMS,     /* backward: fp32 [batch, heads, length], undefined before */
  LIG_CUDNN_DQUERY_32 /* backward, not ordered: fp32 [batch, heads, length, features], undefined
                         before */
} LigCudnnTensorId;

/* The caller's memory in addition to the operands: the sections of LigLaunch.scratch, in order. */
typedef struct {
  int64_t sums, dquery, workspace; /* bytes, multiples of 256 */
} LigCudnnSpace;

/* The byte offsets of a part in its operands; `rows` is its first row of the batch. Keys, values
 * and their gradients are in `memory` if the case has one, else in x. */
typedef struct {
  int64_t rows, query, key, value, result, lse;
} LigCudnnPlaces;
LigCudnnPlaces lig_cudnn_case_places (const LigCudnnCase *one, int64_t part);

/* Returns the number of parts of a case, which are ordered by heads first, then by batch. */
int64_t lig_cudnn_case_parts (const LigCudnnCase *one);

/* Returns the caller's memory for one part, without the plan's workspace. */
LigCudnnSpace lig_cudnn_case_space (const LigCudnnCase *one);

/* Build the graph of a case, without finalizing it (cudnn-forward.c, cudnn-backward.c). */
void lig_cudnn_forward (LigCudnnScheme *graph, const LigCudnnCase *one);
void lig_cudnn_backward (LigCudnnScheme *graph, const LigCudnnCase *one);

/* The axes of a case's tensors, in elements (cudnn-mask.c). */
typedef struct {
  int64_t scores[4], scores_strides[4]; /* [batch, heads, length, keys] */
  int64_t rows[4], rows_strides[4];     /* [batch, heads, length, 1] */
  int64_t query[4], query_strides[4];   /* [batch, heads, length, features] within x */
  int64_t result_strides[4];            /* of the same axes within y */
  int64_t key[4], key_strides[4];       /* [batch, kv_heads, keys, features] within x or memory */
  LigCudnnType type;
} LigCudnnAxes;
void lig_cudnn_axes (LigCudnnAxes *axes, const LigCudnnCase *one);

/* Swaps the last two of four axes. */
void lig_cudnn_transpose (int64_t to[4], const int64_t from[4]);

/* The lengths of a padded case, shared by the nodes of a graph; null without padding. */
typedef struct {
  const LigCudnnTensor *queries, *keys;
} LigCudnnLengths;
LigCudnnLengths lig_cudnn_lengths (LigCudnnScheme *graph, const LigCudnnCase *one);

/* Return the scores with minus infinity for masked keys: by lengths, mask and window
 * (cudnn-mask.c). */
const LigCudnnTensor *lig_cudnn_mask_lengths (LigCudnnScheme *graph,
                                              const LigCudnnTensor *scores,
                                              LigCudnnLengths lengths);
const LigCudnnTensor *
lig_cudnn_mask (LigCudnnScheme *graph, const LigCudnnCase *one, const LigCudnnTensor *scores);

/* A plan: a graph and the engine that runs it. */
typedef struct {
  LigCudnnScheme graph;
  LigCudnnDescriptor plan;
  LigCudnnSpace space;
  int64_t engine;
  bool nondeterministic; /* according to the engine's numerical notes */
} LigCudnnPlan;

/* Returns the plan of a case for the handle's device, or, without a handle, for the device that a
 * finalized descriptor describes. Null, with the reason in `why`, if cuDNN has none. */
LigCudnnPlan *lig_cudnn_plan_new (const LigCudnn *cudnn,
                                  LigCudnnHandle handle,
                                  LigCudnnDescriptor device,
                                  const LigCudnnCase *one,
                                  char *why,
                                  size_t size);

/* Frees a plan; null is allowed. */
void lig_cudnn_plan_free (LigCudnnPlan *plan);
