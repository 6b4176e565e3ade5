/* SPDX-License-Identifier: MIT */
/* The product of a tile of left rows and a tile of right rows over a depth, sums (i, j) = the sum
 * over l of left (i, l) right (j, l), by a threadblock of THREADS threads. The elements of a side
 * are [i, l], along the depth, or [l, i]. Elements outside of the range are not read.
 *
 * An engine has TILE, the edge of a tile; STAGED, its bytes of shared memory; `run`, which computes
 * the sums; and `each (f)`, which calls f (i, j, a, b) for each pair of neighbouring columns j and
 * j + 1 whose sums a thread has. */
#pragma once

#include "kernels/cuda/common/async-copy.cuh"
#include "kernels/cuda/common/mma.cuh"
#include "kernels/cuda/experts.cuh"

namespace lig
{
namespace grouped
{
/* Both sides: matrices with a number of elements from row to row. A side with packs has rows that
 * are 16-byte aligned. */
struct Sides {
  Vector left, right;
  int64_t left_pitch, right_pitch;
  bool left_packs, right_packs;
};

/* A tile and its depth, and where the right matrix begins. */
struct Range {
  int64_t i, i_end, j, j_end, l, l_end, right_at;
};

/* The matrix that is written. */
struct Result {
  Target target;
  bool pairs, accumulate; /* whether pairs of elements are aligned; whether old values are kept */

  /* Writes two neighbouring elements, or if not `both` the first. */
  __device__ void
  put (int64_t at, float a, float b, bool both) const
  {
    if (accumulate) {
      a += target.get (at);
      b += both ? target.get (at + 1) : 0;
    }
    if (!pairs || !both) {
      target.set (at, a);
      if (both)
        target.set (at + 1, b);
    } else if (target.dtype == LIG_FP32)
      *reinterpret_cast<float2 *> ((float *) target.data + at) = make_float2 (a, b);
    else
      *reinterpret_cast<uint32_t *> ((uint16_t *) target.data + at) =
        target.dtype == LIG_FP16 ? narrow_pair<half> (a, b) : narrow_pair<bf16> (a, b);
  }
};

static inline bool
has_packs (const LigOperand *operand, int64_t pitch)
{
  return aligned (operand) && pitch * (int64_t) lig_dtype_size (operand->dtype) % 16 == 0;
}

static inline Sides
sides (const LigOperand *left, int64_t left_pitch, const LigOperand *right, int64_t right_pitch)
{
  return Sides{vector (left),
               vector (right),
               left_pitch,
               right_pitch,
               has_packs (left, left_pitch),
               has_packs (right, right_pitch)};
}

static inline Result
result (const LigOperand *operand, bool accumulate)
{
  return Result{target (operand), aligned (operand) && operand->columns % 2 == 0, accumulate};
}

/* Tensor cores: 16-bit elements of type T. Eight warps compute 64 by 32 sums each. Tiles are copied
 * STAGES deep; a row has eight elements of padding, so that the eight rows of a matrix that
 * ldmatrix loads are in different banks. */
template <class T, bool LEFT_ALONG, bool RIGHT_ALONG> struct Cores {
  static constexpr int TILE = 128, DEPTH = 32, STAGES = 3, PADDING = 8;
  static constexpr int LONG = TILE * (DEPTH + PADDING), WIDE = DEPTH * (TILE + PADDING);
  static constexpr int LEFT = LEFT_ALONG ? LONG : WIDE, RIGHT = RIGHT_ALONG ? LONG : WIDE;
  static constexpr size_t STAGED = (size_t) STAGES * (LEFT + RIGHT) * sizeof (T);
  float sums[4][4][4];

  /* Copies a tile of a side; outside of the range it is 0. */
  template <bool ALONG>
  static __device__ void
  fill (T *tile,
        const T *from,
        int64_t pitch,
        bool packs,
        int64_t i,
        int64_t i_end,
        int64_t l,
        int64_t l_end)
  {
    constexpr int INNER = ALONG ? DEPTH : TILE, PITCH = INNER + PADDING, CHUNKS = INNER / 8;
    int64_t row = ALONG ? i : l, row_end = ALONG ? i_end : l_end;
    int64_t column = ALONG ? l : i, column_end = ALONG ? l_end : i_end;
#pragma unroll
    for (int c = (int) threadIdx.x; c < TILE * DEPTH / 8; c += THREADS) {
      int64_t at_row = row + c / CHUNKS, at = column + c % CHUNKS * 8;
      bool inside = at_row < row_end && at < column_end;
      const T *source = from + (inside ? at_row * pitch + at : 0);
      uint4 *to = reinterpret_cast<uint4 *> (tile + c / CHUNKS * PITCH + c % CHUNKS * 8);
      if (packs)
        copy_async (to, source, inside);
      else {
        const uint16_t *elements = reinterpret_cast<const uint16_t *> (source);
        uint32_t words[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
          uint32_t low = inside && at + 2 * k < column_end ? elements[2 * k] : 0;
          uint32_t high = inside && at + 2 * k + 1 < column_end ? elements[2 * k + 1] : 0;
          words[k] = low | high << 16;
        }
        *to = make_uint4 (words[0], words[1], words[2], words[3]);
      }
    }
  }

  /* Loads four matrices of eight by eight elements; a lane has the address of a row. */
  template <bool TRANSPOSED>
  static __device__ void
  load (uint32_t (&to)[4], const T *from)
  {
    uint32_t address = (uint32_t) __cvta_generic_to_shared (from);
    if (TRANSPOSED)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                   : "r"(address)
                   : "memory");
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                   : "r"(address)
                   : "memory");
  }

  /* Adds the product of two tiles. */
  __device__ void
  add (const T *left, const T *right)
  {
    constexpr int LEFT_PITCH = (LEFT_ALONG ? DEPTH : TILE) + PADDING;
    constexpr int RIGHT_PITCH = (RIGHT_ALONG ? DEPTH : TILE) + PADDING;
    int lane = (int) threadIdx.x % 32, warp = (int) threadIdx.x / 32;
    int down = warp / 4 * 64, over = warp % 4 * 32;
    /* The row and the column of a lane within 16 by 16 elements: first down, then over; and first
     * over, then down. */
    int first = lane % 16, second = lane / 16 * 8, upper = lane % 8 + lane / 16 * 8;
    int middle = lane / 8 % 2 * 8;
#pragma unroll
    for (int l = 0; l < DEPTH; l += 16) {
      uint32_t a[4][4], b[2][4];
#pragma unroll
      for (int m = 0; m < 4; m++) {
        int i = down + 16 * m;
        load<!LEFT_ALONG> (a[m], LEFT_ALONG ? left + (i + first) * LEFT_PITCH + l + second
                                            : left + (l + upper) * LEFT_PITCH + i + middle);
      }
#pragma unroll
      for (int n = 0; n < 2; n++) {
        int j = over + 16 * n;
        load<!RIGHT_ALONG> (b[n], RIGHT_ALONG ? right + (j + upper) * RIGHT_PITCH + l + middle
                                              : right + (l + first) * RIGHT_PITCH + j + second);
      }
#pragma unroll
      for (int m = 0; m < 4; m++)
#pragma unroll
        for (int n = 0; n < 4; n++)
          multiply<T> (sums[m][n], a[m], b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
    }
  }

  __device__ void
  run (const Sides &sides, const Range &r, uint4 *staged)
  {
    T *tiles = reinterpret_cast<T *> (staged);
    const T *left = (const T *) sides.left.data, *right = (const T *) sides.right.data + r.right_at;
    int64_t steps = (r.l_end - r.l + DEPTH - 1) / DEPTH;
    bool right_packs = sides.right_packs && r.right_at % 8 == 0;
#pragma unroll
    for (int m = 0; m < 4; m++)
#pragma unroll
      for (int n = 0; n < 4; n++)
#pragma unroll
        for (int k = 0; k < 4; k++)
          sums[m][n][k] = 0;
    auto fetch = [&] (int64_t step) {
      T *tile = tiles + step % STAGES * (LEFT + RIGHT);
      int64_t l = r.l + step * DEPTH;
      if (step < steps) {
        fill<LEFT_ALONG> (tile, left, sides.left_pitch, sides.left_packs, r.i, r.i_end, l, r.l_end);
        fill<RIGHT_ALONG> (tile + LEFT, right, sides.right_pitch, right_packs, r.j, r.j_end, l,
                           r.l_end);
      }
      commit_copies ();
    };
#pragma unroll
    for (int step = 0; step < STAGES - 1; step++)
      fetch (step);
#pragma unroll 1
    for (int64_t step = 0; step < steps; step++) {
      await_copies<STAGES - 2> ();
      /* All threads have copied this tile, and have used the one that is overwritten next. */
      __syncthreads ();
      fetch (step + STAGES - 1);
      const T *tile = tiles + step % STAGES * (LEFT + RIGHT);
      add (tile, tile + LEFT);
    }
  }

  template <class F>
  __device__ void
  each (F f) const
  {
    int lane = (int) threadIdx.x % 32, warp = (int) threadIdx.x / 32;
    int down = warp / 4 * 64 + lane / 4, over = warp % 4 * 32 + lane % 4 * 2;
#pragma unroll
    for (int m = 0; m < 4; m++)
#pragma unroll
      for (int n = 0; n < 4; n++) {
        f (down + 16 * m, over + 8 * n, sums[m][n][0], sums[m][n][1]);
        f (down + 16 * m + 8, over + 8 * n, sums[m][n][2], sums[m][n][3]);
      }
  }
};

/* Any types: each thread computes four by four sums in fp32, along the depth in order. */
template <bool LEFT_ALONG, bool RIGHT_ALONG> struct GroupedPlain {
  static constexpr int TILE = 64, DEPTH = 16, SIDE = 4, PITCH = TILE + 4;
  static constexpr size_t STAGED = 2 * DEPTH * PITCH * sizeof (float);
  float sums[SIDE][SIDE];

  /* Copies a tile as [l, i]; outside of the range it is 0. Neighbouring threads load neighbouring
   * elements. */
  template <bool ALONG>
  static __device__ void
  fill (float *tile,
        const Vector &from,
        int64_t at,
        int64_t pitch,
        int64_t i,
        int64_t i_end,
        int64_t l,
        int64_t l_end)
  {
#pragma unroll
    for (int c = (int) threadIdx.x; c < TILE * DEPTH; c += THREADS) {
      int own_i = ALONG ? c / DEPTH : c % TILE, own_l = ALONG ? c % DEPTH : c / TILE;
      int64_t row = i + own_i, deep = l + own_l;
      tile[own_l * PITCH + own_i] = row < i_end && deep < l_end
                                      ? from[at + (ALONG ? row * pitch + deep : deep * pitch + row)]
                                      : 0;
    }
  }

  __device__ void
  run (const Sides &sides, const Range &r, uint4 *staged)
  {
    float *left = reinterpret_cast<float *> (staged), *right = left + DEPTH * PITCH;
    int down = (int) threadIdx.x / 16 * SIDE, over = (int) threadIdx.x % 16 * SIDE;
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
      for (int j = 0; j < SIDE; j++)
        sums[i][j] = 0;
#pragma unroll 1
    for (int64_t l = r.l; l < r.l_end; l += DEPTH) {
      fill<LEFT_ALONG> (left, sides.left, 0, sides.left_pitch, r.i, r.i_end, l, r.l_end);
      fill<RIGHT_ALONG> (right, sides.right, r.right_at, sides.right_pitch, r.j, r.j_end, l,
                         r.l_end);
      __syncthreads ();
#pragma unroll
      for (int k = 0; k < DEPTH; k++)
#pragma unroll
        for (int i = 0; i < SIDE; i++)
#pragma unroll
          for (int j = 0; j < SIDE; j++)
            sums[i][j] += left[k * PITCH + down + i] * right[k * PITCH + over + j];
      __syncthreads ();
    }
  }

  template <class F>
  __device__ void
  each (F f) const
  {
    int down = (int) threadIdx.x / 16 * SIDE, over = (int) threadIdx.x % 16 * SIDE;
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
      for (int j = 0; j < SIDE; j += 2)
        f (down + i, over + j, sums[i][j], sums[i][j + 1]);
  }
};
} /* namespace grouped */
} /* namespace lig */
