/* SPDX-License-Identifier: MIT */
/* The links between the devices of ranks, as measured. */
#pragma once

#include "engine/device/device-private.h"
#include <ligature/fabric.h>

/* Measures how long the ranks need to add up arrays; all of them call it at once. The fabric
 * counts as one machine whose links are as slow as the slowest. */
gboolean
lig_links_measure (LigDevice *device, const LigPeers *peers, LigFabric *fabric, GError **error);
