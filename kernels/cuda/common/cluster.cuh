/* SPDX-License-Identifier: MIT */
/* Clusters of threadblocks that run at the same time and read each other's shared memory (compute
 * capability 9.0). Code for older devices compiles, and must not be launched with clusters. */
#pragma once

#include <stdint.h>

namespace lig
{
/* Returns the rank of this threadblock in its cluster. */
__device__ inline uint32_t
cluster_rank ()
{
  uint32_t rank = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}

/* Synchronizes all threads of the cluster, including their writes to shared memory. */
__device__ inline void
cluster_sync ()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::
                 : "memory");
#endif
}

/* Returns the number at the same place of the shared memory of another threadblock. */
__device__ inline float
read_cluster (const float *place, int rank)
{
  float value = *place;
#if __CUDA_ARCH__ >= 900
  uint32_t at = (uint32_t) __cvta_generic_to_shared (place), there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there) : "memory");
#endif
  return value;
}
} /* namespace lig */
