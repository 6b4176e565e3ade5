/* SPDX-License-Identifier: MIT */
/* Groups: the processes of a training with which one of them exchanges. */
#pragma once

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
