/* SPDX-License-Identifier: MIT */
/* Shared code of the CUDA kernels: operands of any floating type, dispatch over types, sizes of
 * launches.
 *
 * A kernel has a vectorized path with 16-byte accesses for aligned rows and pointers, and a scalar
 * path for all others. */
#pragma once

#include "kernels/cuda/common/convert.cuh"
#include "kernels/cuda/common/cuda.h"
#include "kernels/formulas.h"

namespace lig
{
/* The default number of threads per threadblock. */
enum { THREADS = 256 };

/* A vector of parameters whose type can differ from the kernel's. It is read once per column, so
 * the branch, which is uniform, costs nothing. */
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

/* The same for a vector that is written. */
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

/* Returns an operand to be read as a Vector. */
inline Vector
vector (const LigOperand *operand)
{
  return Vector{operand->data, operand->dtype};
}

/* Returns an operand to be written as a Target. */
inline Target
target (const LigOperand *operand)
{
  return Target{operand->data, operand->dtype};
}

/* Returns the number of rows of an operand. */
inline int64_t
rows (const LigOperand *operand)
{
  return operand->size / operand->columns;
}

/* Returns the launch's stream. */
inline cudaStream_t
stream (const LigLaunch *launch)
{
  return (cudaStream_t) launch->stream;
}

/* Returns whether the operand is absent or begins at a 16-byte boundary. */
inline bool
aligned (const LigOperand *operand)
{
  return ((uintptr_t) operand->data & 15) == 0;
}

/* Returns whether that holds for the first `count` operands. */
inline bool
all_aligned (const LigLaunch *launch, int count)
{
  for (int i = 0; i < count; i++)
    if (!aligned (&launch->operands[i]))
      return false;
  return true;
}

/* Calls `f` with a value of the element type; a generic lambda gets the type by decltype. */
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
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "not a floating type; convert to fp32, fp16 or bf16");
  }
}

/* Returns the number of threadblocks for `work` independent items, one per thread, at most
 * `per_multiprocessor` threadblocks per SM. */
inline int
blocks_for (const LigLaunch *launch, int64_t work, int threads, int per_multiprocessor)
{
  int64_t blocks = (work + threads - 1) / threads;
  int64_t max = (int64_t) launch->device->multiprocessors * per_multiprocessor;
  return (int) (blocks < 1 ? 1 : blocks < max ? blocks : max);
}
} /* namespace lig */
