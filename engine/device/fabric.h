/* SPDX-License-Identifier: MIT */
/* Fabrics in device descriptions. */
#pragma once

#include <ligature/fabric.h>

#include <json-glib/json-glib.h>

/* Reads the member `fabric` of a device description; without it the fabric is unknown. */
gboolean lig_fabric_read (JsonObject *description, LigFabric *fabric, GError **error);

/* Predicts the seconds of a collective on a value of `bytes` bytes by the formulas of Thakur,
 * Rabenseifner and Gropp, “Optimization of Collective Communication Operations in MPICH” (2005); 0
 * with one rank, or if the fabric is unknown. `stride` is the distance between the numbers of the
 * group's ranks; ranks fill one machine after the other, and the last machine counts as full. A
 * reduce-scatter or an all-gather of n ranks is a ring: (n - 1) latencies, and (n - 1) / n of the
 * bytes. An all-reduce is one of each, or a double tree (Sanders, Speck and Träff, 2009), whichever
 * is faster: 2 log2 n latencies, and twice the bytes. Across machines, each machine reduce-scatters
 * internally, devices with the same local rank all-reduce their part, and each machine all-gathers.
 * A ring exchange takes as long as its slowest link. In an all-to-all, each rank sends a part of
 * the bytes to each other one, on the links inside and, at the same time, between machines; its
 * messages are on the way at once, so that latencies grow with the logarithms of both numbers.
 * All of them also take the fabric's launch overhead (`start`). */
double lig_fabric_predict (
  const LigFabric *self, LigCollective collective, int ranks, int stride, double bytes);
