/* SPDX-License-Identifier: MIT */
/* Launches that may begin before the previous kernel ends (programmatic dependent launch), so that
 * the gaps between short kernels vanish. Sources that include this are compiled for them: see
 * cuda_kinds in kernels/cuda/meson.build. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"

#include <utility>

namespace lig
{
#ifdef LIG_EARLY
/* Allows the next kernel to start early while this one runs, if it is launched so. */
__device__ inline void
let_next_begin ()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Waits until the previous kernel has ended and its results are visible; returns at once in a
 * kernel that was not launched early. After it, the kernel may let the next one begin. */
__device__ inline void
wait_for_previous ()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Launches a kernel that calls wait_for_previous() before it accesses memory; with `early`, where
 * the device can, before the previous kernel ends. Threadblocks of a cluster are neighbours in x.
 */
template <class... P, class... A>
inline LigStatus
launch_early (LigLaunch *launch,
              bool early,
              void (*kernel) (P...),
              dim3 blocks,
              dim3 threads,
              size_t bytes,
              int cluster,
              A &&...arguments)
{
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = bytes;
  config.stream = stream (launch);
  config.attrs = attributes;
  if (cluster > 1) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs++].val.clusterDim = {(unsigned) cluster, 1, 1};
  }
  if (early && launch->device->capability >= 90) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchKernelEx (&config, kernel, std::forward<A> (arguments)...);
  return LIG_LAUNCHED (launch);
}

/* Returns whether a launch has so few threadblocks that its beginning and end are most of its
 * time. */
inline bool
is_short (const LigLaunch *launch, int64_t blocks)
{
  return blocks <= launch->device->multiprocessors;
}
#endif
} /* namespace lig */
