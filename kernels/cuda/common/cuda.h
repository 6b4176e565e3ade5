/* SPDX-License-Identifier: MIT */
/* Shared declarations of the CUDA backend's host code, in C and CUDA: the opened device, statuses,
 * and the names of the kernels. */
#pragma once

#include "kernels/backend.h"
#include "kernels/fail.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LigMatmuls LigMatmuls;     /* the matmuls seen so far (matmul.h) */
typedef struct LigAttention LigAttention; /* the cases of attention seen so far (cudnn.h) */

struct LigBackendDevice {
  int number;
  int multiprocessors;
  int capability;
  double bytes_of_clock; /* memory bytes per SM and SM clock; 0: unknown */
  LigMatmuls *matmuls;
  LigAttention *attention; /* null before the first use */
  LigChoices choices;
  struct cudaDeviceProp properties;
  char message[512];
};

/* The name of a kernel's function. */
#define LIG_CUDA(name) lig_cuda_##name
#define LIG_EACH(name, signature, work) LigStatus LIG_CUDA (name) (LigLaunch * launch);
#include "kernels/kernel-list.h"
#undef LIG_EACH

/* Converts a CUDA error to a status. Stores `text` and the error's description in the device's
 * message, unless the device is null. */
LigStatus lig_cuda_status (LigBackendDevice *device, cudaError_t error, const char *text);

/* Returns whether the previous kernel launch was accepted, and otherwise sets the launch's `where`
 * to `place`. */
LigStatus lig_cuda_launched (LigLaunch *launch, const char *place);
#define LIG_LAUNCHED(launch) lig_cuda_launched (launch, __FILE__ ":" LIG_AT (__LINE__))

#ifdef __cplusplus
}
#endif
