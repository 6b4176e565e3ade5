/* SPDX-License-Identifier: MIT */
/* Fabrics: the links between devices, kept in device descriptions, and the times of collectives on
 * them. The times are models, not measurements. */
#pragma once

#include <ligature/error.h>
#include <ligature/foreign.h>
#include <ligature/groups.h>

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
 * lig_fabric_write:
 * @self: a fabric
 * @builder: a builder in an object
 *
 * Adds the member `fabric` of a device description, if the fabric is known.
 */
LIG_API void lig_fabric_write (const LigFabric *self, JsonBuilder *builder);

G_END_DECLS
