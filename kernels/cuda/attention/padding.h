/* SPDX-License-Identifier: MIT */
/* The handling of lengths that cuDNN leaves to its caller. */
#pragma once

#include "kernels/cuda/common/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the lengths of a batch for cuDNN, both int32: those of the keys, clamped to 0 to `keys`,
 * and those of the queries, which are the same, or `length` for all if there is a memory. */
cudaError_t lig_attention_lengths (const int32_t *lengths,
                                   int64_t batch,
                                   int32_t length,
                                   int32_t keys,
                                   bool memory,
                                   int32_t *query_lengths,
                                   int32_t *key_lengths,
                                   cudaStream_t stream);

/* Zeroes rows past the lengths: row i of `rows` per batch if i is at least its length, or if
 * `whole`, all rows of a batch of length 0. Each batch has `groups` consecutive groups of rows;
 * `bytes`, a multiple of 4, is the size of a row. */
typedef struct {
  void *data;
  int64_t batch, groups, rows, bytes;
  bool whole;
} LigPadded;
cudaError_t
lig_attention_clear (const LigPadded *padded, const int32_t *lengths, cudaStream_t stream);

/* Copies the rows within the lengths, and writes zeros for the others. Here `groups` is 1, `whole`
 * false, and both addresses and the size of a row are multiples of 16. */
cudaError_t lig_attention_copy (const LigPadded *padded,
                                const void *from,
                                const int32_t *lengths,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif
