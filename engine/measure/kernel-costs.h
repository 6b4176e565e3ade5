/* SPDX-License-Identifier: MIT */
/* Measures what kernels cost beyond a device's peak rates. */
#pragma once

#include <ligature/device.h>

G_BEGIN_DECLS

/* Measures the costs of the kernels on a device whose peak rates `facts` contains, and stores them
 * there. Takes some seconds, because matmuls choose among algorithms. On a device without graphs
 * the costs stay unknown. */
gboolean lig_measure_costs (LigDevice *device, LigDeviceFacts *facts, GError **error);

G_END_DECLS
