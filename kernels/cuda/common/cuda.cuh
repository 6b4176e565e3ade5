/* SPDX-License-Identifier: MIT */
/* What the CUDA kernels share: element types, 16-byte accesses, dispatch over types.
 *
 * Elements are computed in fp32 and rounded once. A kernel has a path of 16-byte accesses for rows
 * and pointers that are so aligned, and a path element by element for all others. */
#pragma once

#include "kernels/cuda/common/convert.cuh"
#include "kernels/cuda/common/cuda.h"
#include "kernels/formulas.h"

namespace lig
{
/* Threads of a block, unless a kernel has a reason for another number. */
enum { THREADS = 256 };

/* A vector of parameters whose type need not be the kernel's: read once per column, so the branch,
 * which is the same for all threads, costs nothing. */
struct Vector {
  const void *data; /* null: absent */
  LigDtype dtype;
  __device__ float
  operator[] (int64_t i) const
  {
    return dtype == LIG_FP32   ? ((const float *) data)[i]
           : dtype == LIG_FP16 ? widen (((const half *) data)[i])
                               : widen (((const bf16 *) data)[i]);
  }
};

/* Like Vector, to be written. */
struct Target {
  void *data;
  LigDtype dtype;
  __device__ float
  get (int64_t i) const
  {
    return Vector{data, dtype}[i];
  }
  __device__ void
  set (int64_t i, float value) const
  {
    if (dtype == LIG_FP32)
      ((float *) data)[i] = value;
    else if (dtype == LIG_FP16)
      ((half *) data)[i] = narrow<half> (value);
    else
      ((bf16 *) data)[i] = narrow<bf16> (value);
  }
};

inline Vector
vector (const LigOperand *operand)
{
  return Vector{operand->data, operand->dtype};
}

inline Target
target (const LigOperand *operand)
{
  return Target{operand->data, operand->dtype};
}

inline int64_t
rows (const LigOperand *operand)
{
  return operand->size / operand->columns;
}

inline cudaStream_t
stream (const LigLaunch *launch)
{
  return (cudaStream_t) launch->stream;
}

/* Whether the operand's memory is absent or begins at a 16-byte boundary. */
inline bool
aligned (const LigOperand *operand)
{
  return ((uintptr_t) operand->data & 15) == 0;
}

/* Whether that holds for the first `count` operands. */
inline bool
all_aligned (const LigLaunch *launch, int count)
{
  for (int i = 0; i < count; i++)
    if (!aligned (&launch->operands[i]))
      return false;
  return true;
}

/* Calls `f` with a value of the element type, whose type a generic lambda takes by decltype. */
template <class F>
inline LigStatus
dispatch (LigLaunch *launch, LigDtype dtype, F f)
{
  switch (dtype) {
  case LIG_FP32:
    return f (float{});
  case LIG_FP16:
    return f (half{});
  case LIG_BF16:
    return f (bf16{});
  default:
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "not a floating type");
  }
}

/* Blocks for `work` threads' worth of independent work, no more than fill the device a few times.
 */
inline int
blocks_for (const LigLaunch *launch, int64_t work, int threads, int per_multiprocessor)
{
  int64_t wanted = (work + threads - 1) / threads;
  int64_t most = (int64_t) launch->device->multiprocessors * per_multiprocessor;
  return (int) (wanted < 1 ? 1 : wanted < most ? wanted : most);
}

/* Lets the kernel that waits for this one be set up meanwhile. */
__device__ inline void
let_next_begin ()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Waits until the kernel before, which this one was set up beside, has ended and its results are
 * visible; at once where they were launched one after another. */
__device__ inline void
wait_for_previous ()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

} /* namespace lig */
