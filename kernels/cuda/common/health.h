/* SPDX-License-Identifier: MIT */
/* The health of a device: its clocks, power, temperature, and the reason for throttling. */
#pragma once

#include "kernels/cuda/common/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the health of the device, like LigBackend's `health`; unknown numbers are negative. */
void lig_cuda_health (LigBackendDevice *device, LigBackendHealth *health);

#ifdef __cplusplus
}
#endif
