/* SPDX-License-Identifier: MIT */
/* Fabrics: the links between devices, kept in device descriptions, and the times of collectives on
 * them. The times are models, not measurements. */
#pragma once

#include <ligature/error.h>
#include <ligature/foreign.h>

G_BEGIN_DECLS

/**
 * LigFabricLink:
 * @bandwidth: the bytes that a device sends in a second while it receives as many: the bus
 *   bandwidth of NCCL's tests, where it is known
 * @latency: the seconds that a message takes beyond those of its bytes
 *
 * A link from each device to the others.
 */
typedef struct {
  double bandwidth;
  double latency;
} LigFabricLink;

/**
 * LigFabric:
 * @devices: the number of devices of a machine; 0: the fabric is unknown
 * @multiprocessors: the number of multiprocessors that a collective takes from other kernels while
 *   it runs
 * @start: the seconds that every collective takes beyond those of its messages, until all ranks
 *   have begun and ended it
 * @inside: the link between the devices of a machine
 * @between: the link between machines, one for each device
 *
 * The links of a device.
 */
typedef struct {
  int devices;
  int multiprocessors;
  double start;
  LigFabricLink inside, between;
} LigFabric;

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

/**
 * lig_collective_from_kernel:
 * @name: the name of a kernel
 *
 * Returns: the collective that the kernel computes; %LIG_N_COLLECTIVES if it computes none
 */
LIG_API LigCollective lig_collective_from_kernel (const char *name);

/**
 * lig_fabric_predict:
 * @self: a fabric
 * @collective: a collective
 * @ranks: the number of ranks of the group
 * @stride: the distance between the numbers of its ranks; all ranks fill one machine after the
 *   other, and the last counts as full
 * @bytes: the bytes of the whole value
 *
 * Predicts a collective by the formulas of Thakur, Rabenseifner and Gropp, “Optimization of
 * Collective Communication Operations in MPICH” (2005). A reduce-scatter or an all-gather of n
 * ranks is a ring: (n - 1) latencies, and (n - 1) / n of the bytes. An all-reduce is one of each,
 * or two trees (Sanders, Speck and Träff, 2009), whichever is faster: 2 log2 n latencies, and twice
 * the bytes. Across machines each one reduces and scatters inside, devices with the same place
 * exchange their part, and each machine gathers. A ring exchange takes as long as its slowest link.
 * All of them take the fabric's start, too.
 *
 * Returns: the seconds; 0 with one rank, or if the fabric is unknown
 */
LIG_API double lig_fabric_predict (
  const LigFabric *self, LigCollective collective, int ranks, int stride, double bytes);

/**
 * lig_fabric_write:
 * @self: a fabric
 * @builder: a builder in an object
 *
 * Adds the member `fabric` of a device description, if the fabric is known.
 */
LIG_API void lig_fabric_write (const LigFabric *self, JsonBuilder *builder);

G_END_DECLS
