/* SPDX-License-Identifier: MIT */
/* Measures the links between the devices of ranks. */
#pragma once

#include "engine/device/device-private.h"
#include <ligature/fabric.h>

/* Measures all-reduce times; all ranks call it together. The fabric counts as one machine with
 * links that are as slow as the slowest. */
gboolean
lig_links_measure (LigDevice *device, const LigPeers *peers, LigFabric *fabric, GError **error);
