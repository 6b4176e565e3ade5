/* SPDX-License-Identifier: MIT */
/* The memory layout of a case of attention. */
#include "kernels/cuda/attention/cudnn-case.h"

/* Rounds bytes up to a multiple of 256. */
static int64_t
rounded (int64_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

LigCudnnSpace
lig_cudnn_case_space (const LigCudnnCase *one)
{
  int64_t rows = one->batch * one->heads * one->length;
  LigCudnnSpace space = {0, 0, 0};
  if (one->backward)
    space.sums = rounded (rows * 4);
  if (one->backward && !one->ordered)
    space.dquery = rounded (rows * one->features * 4);
  return space;
}

int64_t
lig_cudnn_case_parts (const LigCudnnCase *one)
{
  return one->batch_parts * one->head_parts;
}

LigCudnnPlaces
lig_cudnn_case_places (const LigCudnnCase *one, int64_t part)
{
  LigCudnnCase whole = lig_cudnn_case_whole (one);
  int64_t row = part / one->head_parts * one->batch, group = part % one->head_parts;
  int64_t head = 2 * (int64_t) one->features; /* bytes */
  int64_t queries = whole.heads * head, pairs = 2 * whole.kv_heads * head;
  int64_t packed = one->memory ? queries : queries + pairs;
  LigCudnnPlaces places = {.rows = row,
                           .query = row * one->length * packed + group * one->heads * head,
                           .key = row * one->keys * (one->memory ? pairs : packed) +
                                  (one->memory ? 0 : queries) + group * one->kv_heads * head,
                           .result = row * one->length * queries + group * one->heads * head,
                           .lse = (row * whole.heads + group * one->heads) * one->length * 4};
  places.value = places.key + whole.kv_heads * head;
  return places;
}
