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
 * @bandwidth: the bytes that a device sends per second while it receives as many: the bus bandwidth
 *   of nccl-tests, if known
 * @latency: the seconds per message, in addition to the time for its bytes
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
 * @multiprocessors: the number of SMs that a running collective takes from other kernels
 * @start: the fixed seconds per collective, in addition to those of its messages, to begin and end
 *   it on all ranks
 * @inside: the link between the devices of a machine
 * @between: the link of each device to other machines
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
