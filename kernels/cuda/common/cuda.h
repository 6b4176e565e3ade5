/* SPDX-License-Identifier: MIT */
/* What the parts of the CUDA backend share on the host, C and CUDA alike: the opened device,
 * statuses that say where, and the names of the kernels. */
#pragma once

#include "kernels/backend.h"
#include "kernels/fail.h"
#include <ligature/params.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LigProducts LigProducts; /* product.h: matrix products found so far */

struct LigBackendDevice {
  int number;
  int multiprocessors;
  int capability;
  LigProducts *products;
  LigChoices choices;
  struct cudaDeviceProp properties;
  char message[512];
};

/* The function of a kernel. */
#define LIG_CUDA(name) lig_cuda_##name
#define LIG_EACH(name, signature, work) LigStatus LIG_CUDA (name) (LigLaunch * launch);
#include "kernels/kernel-list.h"
#undef LIG_EACH

/* What a CUDA error means to the engine. Keeps `text` with the error's own words in the device's
 * message, where there is a device. */
LigStatus lig_cuda_status (LigBackendDevice *device, cudaError_t error, const char *text);

/* To be returned after a kernel was launched: whether that worked, with the place if not. */
LigStatus lig_cuda_launched (LigLaunch *launch, const char *place);
#define LIG_LAUNCHED(launch) lig_cuda_launched (launch, __FILE__ ":" LIG_AT (__LINE__))

#ifdef __cplusplus
}
#endif
