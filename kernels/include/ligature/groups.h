/* SPDX-License-Identifier: MIT */
/* Groups: the processes of a training with which one of them exchanges. */
#pragma once

/* The number of groups that divide the work, LIG_GROUP_ALL, for the lengths of arrays: bindings do
 * not know those of enumerators. */
#define LIG_SHARDING_GROUPS 3

/**
 * LigRankGroup:
 * @LIG_GROUP_DATA: the processes that have the same parameters and other rows of the batch
 * @LIG_GROUP_CONTEXT: those that have the same parameters and rows, and other positions of them
 * @LIG_GROUP_TENSOR: those that have the same rows and other parts of the parameters
 * @LIG_GROUP_ALL: all processes
 * @LIG_GROUP_REPLICAS: those that have the same parameters, of the data and context groups together
 *
 * The processes with which one of them exchanges.
 */
typedef enum {
  LIG_GROUP_DATA,
  LIG_GROUP_CONTEXT,
  LIG_GROUP_TENSOR,
  LIG_GROUP_ALL,
  LIG_GROUP_REPLICAS,
  LIG_N_GROUPS
} LigRankGroup;

/**
 * LigCollective:
 * @LIG_ALL_REDUCE: each rank gets the sum of the ranks' values
 * @LIG_REDUCE_SCATTER: each rank gets its part of that sum
 * @LIG_ALL_GATHER: each rank gets the parts of all ranks
 * @LIG_RING_EXCHANGE: each rank gets the values of the rank before it
 * @LIG_N_COLLECTIVES: the number of collectives
 *
 * A collective operation.
 */
typedef enum {
  LIG_ALL_REDUCE,
  LIG_REDUCE_SCATTER,
  LIG_ALL_GATHER,
  LIG_RING_EXCHANGE,
  LIG_N_COLLECTIVES
} LigCollective;

#if !defined __GI_SCANNER__ && !defined __cplusplus
_Static_assert(LIG_SHARDING_GROUPS == LIG_GROUP_ALL, "all groups before that of all ranks");
#endif
