/* SPDX-License-Identifier: MIT */
/* Maps errors of the CUDA runtime to statuses. */
#include "kernels/cuda/common/cuda.h"
#include "kernels/cuda/common/lost.h"

#include <stdio.h>

LigStatus
lig_cuda_status (LigBackendDevice *device, cudaError_t error, const char *text)
{
  if (error == cudaSuccess)
    return LIG_OK;
  /* Clears the error left by a launch; a sticky error is returned again by the next call. */
  cudaGetLastError ();
  if (device)
    snprintf (device->message, sizeof device->message, "%s: %s (%s)", text,
              cudaGetErrorString (error), cudaGetErrorName (error));
  return error == cudaErrorMemoryAllocation ? LIG_OUT_OF_MEMORY
         : lig_cuda_is_lost ((int) error)   ? LIG_DEVICE_LOST
                                            : LIG_FAILED;
}

LigStatus
lig_cuda_launched (LigLaunch *launch, const char *place)
{
  cudaError_t error = cudaGetLastError ();
  if (error == cudaSuccess)
    return LIG_OK;
  LigStatus status = lig_cuda_status (launch->device, error, place);
  launch->where = launch->device ? launch->device->message : place;
  return status;
}
