/* SPDX-License-Identifier: MIT */
/* Collectives of processes. Devices of this backend join no ranks yet, so each process is alone. */
#include "kernels/cuda/common/access.cuh"

extern "C" LigStatus lig_cuda_convert (LigLaunch *launch);

/* Copies x: the result for a process alone. */
static LigStatus
copy_alone (LigLaunch *launch)
{
  if (launch->peers)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "collective: not available on CUDA; train on one card");
  if (!lig::all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "collective: not a floating type; convert to fp32, fp16 or bf16");
  return lig_cuda_convert (launch);
}

extern "C" LigStatus
lig_cuda_all_reduce (LigLaunch *launch)
{
  return copy_alone (launch);
}

extern "C" LigStatus
lig_cuda_all_gather (LigLaunch *launch)
{
  return copy_alone (launch);
}

extern "C" LigStatus
lig_cuda_reduce_scatter (LigLaunch *launch)
{
  return copy_alone (launch);
}

extern "C" LigStatus
lig_cuda_take_part (LigLaunch *launch)
{
  return copy_alone (launch);
}
