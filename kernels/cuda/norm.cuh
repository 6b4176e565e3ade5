/* SPDX-License-Identifier: MIT */
/* What the norms share, forward and backward: the length of a row, how its threads are chosen,
 * their sums, and the gain beside a pack of elements. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"

namespace lig
{
struct Norm {
  int64_t length, rows;
  float share;   /* of an element in a mean: 1 / length; 1 for l2, which sums */
  float eps;     /* added before the root */
  float offset;  /* of the gain over the weight: 1 if zero-centered */
  bool centered; /* layer norm: the mean is taken off */
};

/* `weight` is null for l2. Rows too long for the CPU's workspace are refused here, too, so that a
 * plan fits both or neither. */
inline LigStatus
prepare (
  Norm *norm, LigLaunch *launch, const LigOperand *x, const LigOperand *weight, bool centered)
{
  const LigNormParams *params = (const LigNormParams *) launch->params;
  int64_t length = weight ? weight->size : x->columns;
  norm->length = length;
  norm->rows = length > 0 ? x->size / length : 0;
  norm->share = weight ? 1 / (float) length : 1;
  norm->eps = params ? params->eps : weight ? 1e-5f : 1e-6f;
  norm->offset = params && params->zero_centered ? 1 : 0;
  norm->centered = centered;
  if (length > (int64_t) (LIG_WORKSPACE_SIZE / sizeof (float) / 4))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "the row to normalize is too long");
  return LIG_OK;
}

/* Whether the operand is absent or of that type. */
inline bool
of_type (const LigOperand *operand, LigDtype dtype)
{
  return !operand || !operand->data || operand->dtype == dtype;
}

/* Whether the operand is absent or serves accesses of 16 bytes. */
inline bool
packable (const LigOperand *operand)
{
  return !operand || aligned (operand);
}

inline Vector
optional_vector (const LigOperand *operand)
{
  return operand ? vector (operand) : Vector{nullptr, LIG_FP32};
}

/* How a row is spread: over LANES threads, as many as half a warp, a warp, or (0) several warps
 * that the launch counts; each holds up to PACKS packs, `lanes` apart. */
template <int LANES_, int PACKS_> struct Shape {
  static constexpr int LANES = LANES_, PACKS = PACKS_;
};

template <class F>
inline LigStatus
choose_shape (int64_t packs, F f)
{
  if (packs <= 16)
    return f (Shape<16, 1>{});
  if (packs <= 32)
    return f (Shape<32, 1>{});
  if (packs <= 64)
    return f (Shape<32, 2>{});
  if (packs <= 128)
    return f (Shape<32, 4>{});
  if (packs <= 2048)
    return f (Shape<0, 4>{});
  return f (Shape<0, 8>{});
}

/* The threads of a row of several warps, `each` packs a thread: the power of two that holds it. */
inline int
threads_of_row (int64_t packs, int each)
{
  int threads = 64;
  while (threads * each < packs)
    threads *= 2;
  return threads;
}

/* Calls `f` with the element type of the weight, which is that of x or fp32: the types that packs
 * of the gain are read in. Others have the path element by element. */
template <class T, class F>
inline LigStatus
dispatch_weight (LigDtype dtype, F f)
{
  return dtype == LIG_FP32 ? f (float{}) : f (T{});
}

/* Whether packs of a weight of that type are read. */
inline bool
weight_packs (const LigOperand *weight, LigDtype dtype)
{
  return !weight || !weight->data ||
         (aligned (weight) && (weight->dtype == dtype || weight->dtype == LIG_FP32));
}

/* All elements of a pack at once: two halves share a register, which single ones would not. */
__device__ inline void
widen_pack (const Pack<float> &pack, float (&to)[4])
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    to[i] = pack.v[i];
}
__device__ inline void
widen_pack (const Pack<half> &pack, float (&to)[8])
{
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float2 two = __half22float2 (reinterpret_cast<const __half2 *> (&pack)[i]);
    to[2 * i] = two.x;
    to[2 * i + 1] = two.y;
  }
}
__device__ inline void
widen_pack (const Pack<bf16> &pack, float (&to)[8])
{
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint32_t two = reinterpret_cast<const uint32_t *> (&pack)[i];
    to[2 * i] = __uint_as_float (two << 16);
    to[2 * i + 1] = __uint_as_float (two & 0xffff0000u);
  }
}

__device__ inline void
narrow_pack (const float (&from)[4], Pack<float> &pack)
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    pack.v[i] = from[i];
}
__device__ inline void
narrow_pack (const float (&from)[8], Pack<half> &pack)
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    reinterpret_cast<__half2 *> (&pack)[i] = __floats2half2_rn (from[2 * i], from[2 * i + 1]);
}
__device__ inline void
narrow_pack (const float (&from)[8], Pack<bf16> &pack)
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    reinterpret_cast<__nv_bfloat162 *> (&pack)[i] =
      __floats2bfloat162_rn (from[2 * i], from[2 * i + 1]);
}

/* The parameters beside a pack of W elements, as they lie in memory. */
template <class P, int W> struct Beside {
  Pack<P> packs[W / wide<P>];
  __device__ void
  load (const P *from)
  {
#pragma unroll
    for (int i = 0; i < W / wide<P>; i++) {
      uint4 bits = __ldg (reinterpret_cast<const uint4 *> (from) + i);
      packs[i] = *reinterpret_cast<Pack<P> *> (&bits);
    }
  }
  __device__ void
  widen_to (float (&to)[W]) const
  {
    float part[wide<P>];
#pragma unroll
    for (int i = 0; i < W / wide<P>; i++) {
      widen_pack (packs[i], part);
#pragma unroll
      for (int j = 0; j < wide<P>; j++)
        to[i * wide<P> + j] = part[j];
    }
  }
};

/* Elements that are read or written at once: a pack, or one. */
template <class T, int COUNT> struct alignas (COUNT * sizeof (T)) Unit {
  T v[COUNT];
};

/* Copies 16 bytes into shared memory, past the registers; where `inside` is false, nothing is read
 * and they become 0. */
__device__ inline void
fetch (uint4 *to, const void *from, bool inside)
{
  uint32_t at = (uint32_t) __cvta_generic_to_shared (to), bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes)
               : "memory");
}

__device__ inline void
fetch_commit ()
{
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits for all commits of this thread but the last `pending`, which the instruction wants as a
 * constant: 1 to 3. */
__device__ inline void
fetch_wait (int pending)
{
  if (pending == 1)
    asm volatile("cp.async.wait_group 1;" ::: "memory");
  else if (pending == 2)
    asm volatile("cp.async.wait_group 2;" ::: "memory");
  else
    asm volatile("cp.async.wait_group 3;" ::: "memory");
}

__device__ inline void
fetch_wait_all ()
{
  asm volatile("cp.async.wait_group 0;" ::: "memory");
}

/* The sum over the LANES threads of a row, or over the block (0), which is then several warps; each
 * thread gets the same bits. `slots`, aligned to 8 bytes, is used by rows of several warps; between
 * two uses of it lies another barrier of the block. */
template <int LANES>
__device__ inline float
row_sum (float value, float *slots)
{
#pragma unroll
  for (int offset = (LANES > 0 && LANES < 32 ? LANES : 32) / 2; offset > 0; offset >>= 1)
    value += __shfl_xor_sync (0xffffffffu, value, offset);
  if (LANES == 0) {
    if (threadIdx.x % 32 == 0)
      slots[threadIdx.x / 32] = value;
    __syncthreads ();
    const float2 *pairs = reinterpret_cast<const float2 *> (slots);
    int count = blockDim.x / 64;
    value = 0;
#pragma unroll 4
    for (int i = 0; i < count; i++)
      value += pairs[i].x + pairs[i].y;
  }
  return value;
}

/* Threads of a row, of a block, and blocks, for rows that are read from memory again and again
 * rather than held: those that are ragged, misaligned, or very long. */
struct Spread {
  int lanes, threads;
  unsigned blocks;
};

inline Spread
spread_rows (const LigLaunch *launch, const Norm &norm, bool packs)
{
  Spread spread;
  spread.lanes = packs || norm.length > 1024 ? 0 : norm.length > 16 ? 32 : 4;
  spread.threads = packs ? 512 : 256;
  int64_t at_once = spread.lanes ? spread.threads / spread.lanes : 1;
  int64_t wanted = (norm.rows + at_once - 1) / at_once;
  int64_t most = (int64_t) launch->device->multiprocessors * 32;
  spread.blocks = (unsigned) (wanted < most ? wanted : most);
  return spread;
}
} /* namespace lig */
