/* SPDX-License-Identifier: MIT */
/* The common parts of the CUDA backend's host code, in C and CUDA: the opened device, statuses,
 * and the names of the kernels. */
#pragma once

#include "kernels/backend.h"
#include "kernels/fail.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LigMatmuls LigMatmuls;     /* the matmuls met so far (matmul.h) */
typedef struct LigAttention LigAttention; /* the cases of attention met so far (cudnn.h) */

struct LigBackendDevice {
  int number;
  int multiprocessors;
  int capability;
  double bytes_of_clock; /* of memory for each multiprocessor in one of its clocks; 0: unknown */
  LigMatmuls *matmuls;
  LigAttention *attention; /* null before the first */
  LigChoices choices;
  struct cudaDeviceProp properties;
  char message[512];
};

/* The name of a kernel's function. */
#define LIG_CUDA(name) lig_cuda_##name
#define LIG_EACH(name, signature, work) LigStatus LIG_CUDA (name) (LigLaunch * launch);
#include "kernels/kernel-list.h"
#undef LIG_EACH

/* Returns what a CUDA error means to the engine. Keeps `text` and the error's own description in
 * the device's message, unless the device is null. */
LigStatus lig_cuda_status (LigBackendDevice *device, cudaError_t error, const char *text);

/* Returns whether the kernel launched just before was accepted, and sets the launch's `where` to
 * `place` if not. */
LigStatus lig_cuda_launched (LigLaunch *launch, const char *place);
#define LIG_LAUNCHED(launch) lig_cuda_launched (launch, __FILE__ ":" LIG_AT (__LINE__))

#ifdef __cplusplus
}
#endif
