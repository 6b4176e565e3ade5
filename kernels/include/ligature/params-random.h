/* SPDX-License-Identifier: MIT */
/* Parameters of the kernels that generate random numbers. See <ligature/params.h> for the rules of
 * all parameters. */
#pragma once

#include <stdint.h>

/**
 * LigDropoutParams:
 * @probability: the probability that an element is set to 0, from 0 to 1; the others are multiplied
 *   by 1 / (1 - probability); default 0.1
 * @path_hash: the hash of the op's path, whose lower 32 bits are part of the Philox counter;
 *   default 0
 * @block: in context parallelism, the number of elements in each of the two blocks of a sample's
 *   tokens that a rank has; 0: samples are not sharded
 * @ranks: the number of context parallel ranks
 * @rank: the index of this rank among them
 *
 * Parameters of dropout. An element is kept if its 32-bit Philox word is at least probability *
 * 2^32. The backward pass runs the same kernel and so regenerates the same words.
 */
typedef struct {
  float probability;
  uint64_t path_hash;
  int64_t block;
  int32_t ranks;
  int32_t rank;
} LigDropoutParams;

/**
 * LigDropPathParams:
 * @probability: the probability that a whole sample is set to 0, from 0 to 1; the others are
 *   multiplied by 1 / (1 - probability); default 0.1
 * @path_hash: as in #LigDropoutParams
 * @samples: the number of samples, which is the length of the first axis; the elements of a sample
 *   are contiguous
 *
 * Parameters of drop_path (Huang and others, 2016). Sample n is kept if word n % 4 of the Philox
 * counter (n / 4, path_hash, micro-step) is at least probability * 2^32. The backward pass runs the
 * same kernel and so regenerates the same words.
 */
typedef struct {
  float probability;
  uint64_t path_hash;
  int64_t samples;
} LigDropPathParams;
