/* SPDX-License-Identifier: MIT */
/* Copies a few bytes from the host to device memory without waiting: they are passed as a kernel
 * argument. */
#include "kernels/cuda/common/cuda.cuh"
#include "kernels/cuda/runtime/device.h"

#include <string.h>

struct Bytes {
  unsigned char v[64];
};

static __global__ void
put (unsigned char *target, Bytes bytes, int count)
{
  if ((int) threadIdx.x < count)
    target[threadIdx.x] = bytes.v[threadIdx.x];
}

extern "C" cudaError_t
lig_cuda_probe (void)
{
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes (&attributes, put);
}

extern "C" LigStatus
lig_cuda_put (
  LigBackendDevice *device, void *target, const void *source, size_t bytes, void *stream)
{
  Bytes copy = {};
  memcpy (copy.v, source, bytes < sizeof copy.v ? bytes : sizeof copy.v);
  put<<<1, 64, 0, (cudaStream_t) stream>>> ((unsigned char *) target, copy, (int) bytes);
  return lig_cuda_status (device, cudaGetLastError (), "writing to the device");
}
