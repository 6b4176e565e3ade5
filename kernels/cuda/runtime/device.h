/* SPDX-License-Identifier: MIT */
/* The parts of the backend's table, other than kernels, that have their own files; backend.h
 * documents them. */
#pragma once

#include "kernels/cuda/common/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* libraries.c */
bool lig_cuda_library (int n, LigBackendLibrary *library);

/* capture.c */
LigStatus lig_cuda_capture (LigBackendDevice *device, void *stream);
LigStatus lig_cuda_capture_end (LigBackendDevice *device, void *stream, void **graph);
LigStatus lig_cuda_replay (LigBackendDevice *device, void *graph, void *stream);
void lig_cuda_graph_free (LigBackendDevice *device, void *graph);

/* Returns whether this module's code can run on the current device (put.cu). */
cudaError_t lig_cuda_probe (void);

/* Writes at most 64 bytes to device memory, as a kernel's argument (put.cu). */
LigStatus lig_cuda_put (
  LigBackendDevice *device, void *target, const void *source, size_t bytes, void *stream);

/* Start and stop a timer in device memory (timer.cu). */
LigStatus lig_cuda_start (LigBackendDevice *device, LigTimer *timer, void *stream);
LigStatus lig_cuda_stop (LigBackendDevice *device, LigTimer *timer, void *stream);

#ifdef __cplusplus
}
#endif
