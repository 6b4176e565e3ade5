/* SPDX-License-Identifier: MIT */
/* Shared code of the kernels of a mixture of experts: prefix sums in a threadblock, and the reason
 * of failures. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"
#include <ligature/params-experts.h>

/* The reason why operands are rejected. */
#define LIG_MISFIT \
  "experts: operands that do not fit together, or of another type; pass what the signature names"

namespace lig
{
struct Total {
  __device__ int64_t
  operator() (int64_t a, int64_t b) const
  {
    return a + b;
  }
};

struct Largest {
  __device__ int64_t
  operator() (int64_t a, int64_t b) const
  {
    return a > b ? a : b;
  }
};

/* Calls store (i, result) with the result for load (0) to load (i), for each i below `count`
 * (inclusive scan). All threads of the threadblock, whole warps, call it; after it ends, all see
 * what was stored. Values may be stored where they were loaded from. */
template <class F, class Load, class Store>
__device__ inline void
scan_block (int64_t count, int64_t neutral, F f, Load load, Store store)
{
  __shared__ int64_t totals[32];
  int lane = (int) threadIdx.x % 32, warp = (int) threadIdx.x / 32;
  int64_t carried = neutral;
  for (int64_t base = 0; base < count; base += blockDim.x) {
    int64_t i = base + threadIdx.x, value = i < count ? load (i) : neutral;
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
      int64_t before = __shfl_up_sync (0xffffffffu, value, apart);
      value = lane >= apart ? f (before, value) : value;
    }
    if (lane == 31)
      totals[warp] = value;
    __syncthreads ();
    int64_t prefix = carried;
    for (int w = 0; w < (int) blockDim.x / 32; w++) {
      prefix = w < warp ? f (prefix, totals[w]) : prefix;
      carried = f (carried, totals[w]);
    }
    if (i < count)
      store (i, f (prefix, value));
    __syncthreads ();
  }
}

/* Returns whether an operand is absent or has a type. */
static inline bool
is_type (const LigOperand *operand, LigDtype dtype)
{
  return !operand->data || operand->dtype == dtype;
}
} /* namespace lig */
