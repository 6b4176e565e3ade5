/* SPDX-License-Identifier: MIT */
/* The second stage of the sums over rows of norm gradients. */
#include "kernels/cuda/common/early.cuh"
#include "kernels/cuda/norm-sums.cuh"

namespace lig
{
/* The number of warps per threadblock, and of loads that a thread has in flight. */
enum { SLICES = 16, LOADS_IN_FLIGHT = 9 };

/* The vectors of a launch. */
struct Vectors {
  const float *partials[MAX_SUMS];
  Target targets[MAX_SUMS];
};

/* Reduces the partial sums [parts, length] of the vector that blockIdx.y selects: each warp adds
 * every SLICES-th part, then the warps' sums are added in order and rounded once. */
__global__ void __launch_bounds__ (32 * SLICES)
  finish_vectors (Vectors vectors, int parts, int64_t length, bool accumulate)
{
  __shared__ float sums[SLICES][32];
  const Target target = vectors.targets[blockIdx.y];
  const float *partials = vectors.partials[blockIdx.y];
  const int across = (int) threadIdx.x % 32, slice = (int) threadIdx.x / 32;
  const int64_t column = (int64_t) blockIdx.x * 32 + across;
  const bool inside = column < length;
  wait_for_previous ();
  float sum = 0;
  for (int base = slice; base < parts; base += SLICES * LOADS_IN_FLIGHT) {
    float part[LOADS_IN_FLIGHT];
#pragma unroll
    for (int i = 0; i < LOADS_IN_FLIGHT; i++)
      part[i] = inside && base + i * SLICES < parts
                  ? partials[(base + i * SLICES) * length + column]
                  : 0.0f;
#pragma unroll
    for (int i = 0; i < LOADS_IN_FLIGHT; i++)
      sum += part[i];
  }
  sums[slice][across] = sum;
  __syncthreads ();
  if (slice > 0 || !inside)
    return;
#pragma unroll
  for (int i = 1; i < SLICES; i++)
    sum += sums[i][across];
  target.set (column, accumulate ? target.get (column) + sum : sum);
}

LigStatus
finish_sums (LigLaunch *launch, const NormSums &sums, int parts, int64_t length)
{
  Vectors vectors = {};
  int count = 0;
  for (int i = 0; i < MAX_SUMS; i++)
    if (sums.targets[i] && sums.targets[i]->data) {
      vectors.partials[count] = sums.partials[i];
      vectors.targets[count++] = target (sums.targets[i]);
    }
  if (count == 0)
    return LIG_OK;
  /* Same shared-memory carve-out as the previous kernel: a change would drain the SM. */
  cudaFuncSetAttribute (finish_vectors, cudaFuncAttributePreferredSharedMemoryCarveout,
                        cudaSharedmemCarveoutMaxShared);
  return launch_early (launch, parts > 0, finish_vectors,
                       dim3 ((unsigned) ((length + 31) / 32), (unsigned) count), dim3 (32 * SLICES),
                       0, 1, vectors, parts, length, (bool) launch->accumulate);
}
} /* namespace lig */
