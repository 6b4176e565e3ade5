/* SPDX-License-Identifier: MIT */
/* Timers on the device: single-thread kernels read its clock, so that points in a replayed graph
 * can be timed, too. The clock's resolution is up to a microsecond. */
#include "kernels/cuda/common/cuda.cuh"
#include "kernels/cuda/runtime/device.h"

static __device__ uint64_t
nanoseconds ()
{
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

static __global__ void
start (LigTimer *timer)
{
  timer->began = nanoseconds ();
}

static __global__ void
stop (LigTimer *timer)
{
  timer->seconds += 1e-9 * (double) (nanoseconds () - timer->began);
}

extern "C" LigStatus
lig_cuda_start (LigBackendDevice *device, LigTimer *timer, void *stream)
{
  start<<<1, 1, 0, (cudaStream_t) stream>>> (timer);
  return lig_cuda_status (device, cudaGetLastError (), "starting a timer");
}

extern "C" LigStatus
lig_cuda_stop (LigBackendDevice *device, LigTimer *timer, void *stream)
{
  stop<<<1, 1, 0, (cudaStream_t) stream>>> (timer);
  return lig_cuda_status (device, cudaGetLastError (), "stopping a timer");
}
