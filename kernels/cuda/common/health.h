/* SPDX-License-Identifier: MIT */
/* The health of a device: its clocks, power and temperature, and why it is slow. */
#pragma once

#include "kernels/cuda/common/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the health of the device, as LigBackend's `health` does; unknown numbers are negative. */
void lig_cuda_health (LigBackendDevice *device, LigBackendHealth *health);

#ifdef __cplusplus
}
#endif
