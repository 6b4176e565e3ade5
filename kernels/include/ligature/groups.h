/* SPDX-License-Identifier: MIT */
/* Rank groups: the sets of processes of a training run that communicate with each other. */
#pragma once

/* The number of groups that shard the work, LIG_GROUP_ALL, as a constant for the lengths of arrays:
 * bindings do not know the values of enumerators. */
#define LIG_SHARDING_GROUPS 3

/**
 * LigRankGroup:
 * @LIG_GROUP_DATA: data parallelism: the processes with the same parameters and different rows of
 *   the batch
 * @LIG_GROUP_CONTEXT: context parallelism: those with the same parameters and rows, and different
 *   tokens of these rows
 * @LIG_GROUP_TENSOR: tensor parallelism: those with the same rows and different shards of the
 *   parameters
 * @LIG_GROUP_ALL: all processes
 * @LIG_GROUP_REPLICAS: those with the same parameters: the data and context groups combined
 * @LIG_GROUP_EXPERT: expert parallelism: neighbours in a data group, each with different experts
 * @LIG_GROUP_EXPERT_REPLICAS: those of a data group with the same experts
 *
 * The processes with which a process communicates.
 */
typedef enum {
  LIG_GROUP_DATA,
  LIG_GROUP_CONTEXT,
  LIG_GROUP_TENSOR,
  LIG_GROUP_ALL,
  LIG_GROUP_REPLICAS,
  LIG_GROUP_EXPERT,
  LIG_GROUP_EXPERT_REPLICAS,
  LIG_N_GROUPS
} LigRankGroup;

/**
 * LigCollective:
 * @LIG_ALL_REDUCE: each rank gets the sum of the ranks' values
 * @LIG_REDUCE_SCATTER: each rank gets its shard of that sum
 * @LIG_ALL_GATHER: each rank gets the shards of all ranks
 * @LIG_RING_EXCHANGE: each rank gets the values of the previous rank
 * @LIG_ALL_TO_ALL: each rank gets a shard of the values of each rank
 * @LIG_N_COLLECTIVES: the number of collectives
 *
 * A collective operation.
 */
typedef enum {
  LIG_ALL_REDUCE,
  LIG_REDUCE_SCATTER,
  LIG_ALL_GATHER,
  LIG_RING_EXCHANGE,
  LIG_ALL_TO_ALL,
  LIG_N_COLLECTIVES
} LigCollective;

#if !defined __GI_SCANNER__ && !defined __cplusplus
_Static_assert(LIG_SHARDING_GROUPS == LIG_GROUP_ALL,
               "the sharding groups precede the group of all ranks");
#endif
