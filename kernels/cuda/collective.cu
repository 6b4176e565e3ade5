/* SPDX-License-Identifier: MIT */
/* Collectives of processes. Devices of this backend join no ranks yet, so each process is alone. */
#include "kernels/cuda/common/access.cuh"

extern "C" LigStatus lig_cuda_convert (LigLaunch *launch);

/* Computes the sum of x over a process alone: x. */
extern "C" LigStatus
lig_cuda_all_reduce (LigLaunch *launch)
{
  if (launch->peers)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "all-reduce: not available on CUDA; train on one card");
  if (!lig::all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "all-reduce: not a floating type; convert to fp32, fp16 or bf16");
  return lig_cuda_convert (launch);
}
