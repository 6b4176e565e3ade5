/* SPDX-License-Identifier: MIT */
/* Parameters of collectives. See <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <stdint.h>

/**
 * LigReduction:
 * @LIG_REDUCE_SUM: the sum over all peers: on the CPU in fp32, rounded once; NCCL rounds after each
 *   addition
 * @LIG_REDUCE_MEAN: the sum divided by the number of peers
 * @LIG_REDUCE_MAX: the maximum, ignoring NaN
 *
 * The result of a collective that reduces.
 */
typedef enum { LIG_REDUCE_SUM, LIG_REDUCE_MEAN, LIG_REDUCE_MAX } LigReduction;

/**
 * LigCollectiveParams:
 * @peers: the number of participating processes
 * @reduction: a #LigReduction, for the kernels that reduce
 * @group: the #LigRankGroup of the participating processes, which determines the peers of a launch
 *
 * Parameters of all_reduce, all_gather, reduce_scatter and shard_rows. The last three shard the
 * rows evenly, in the order of the peers.
 */
typedef struct {
  int32_t peers;
  int32_t reduction;
  int32_t group;
} LigCollectiveParams;

/**
 * LigRingParams:
 * @collective: the processes
 * @skipped: the number of processes between this one and the destination; 0: the destination is the
 *   next one
 *
 * Parameters of ring_exchange: process i sends to process (i + 1 + @skipped) mod peers.
 */
typedef struct {
  LigCollectiveParams collective;
  int32_t skipped;
} LigRingParams;
