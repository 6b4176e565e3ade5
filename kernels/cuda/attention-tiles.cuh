/* SPDX-License-Identifier: MIT */
/* Tiles of 16-bit elements in shared memory and warp-level matmuls of them on tensor cores with
 * fp32 accumulators. The rounded accumulators of two neighbouring matmuls form the operand a of the
 * next matmul without shuffles.
 *
 * A row of a tile has D / 8 chunks of 16 bytes; chunk c of row r is stored at place c ^ (r % 8)
 * (XOR swizzle), so that the same chunk of eight rows is in different banks. */
#pragma once

#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/common/async-copy.cuh"
#include "kernels/cuda/common/mma.cuh"

namespace lig
{
/* Loads four matrices of 8 rows of 16 bytes (ldmatrix), where lane l passes the address of row l %
 * 8 of matrix l / 8. Each lane gets two neighbours of row l / 4, or if TRANSPOSED of column l /
 * 4. */
template <bool TRANSPOSED>
__device__ inline void
read_matrices (uint32_t (&to)[4], const uint4 *from)
{
  uint32_t at = (uint32_t) __cvta_generic_to_shared (from);
  if constexpr (TRANSPOSED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
}

/* Returns the lane. It is hidden from the compiler, which would keep the many addresses derived
 * from it in registers across blocks, where none are to spare. */
__device__ inline int
present_lane ()
{
  int lane = (int) threadIdx.x % 32;
  asm volatile("" : "+r"(lane));
  return lane;
}

/* A tile with rows of D elements. */
template <int D> struct Tile {
  static constexpr int CHUNKS = D / 8;
  uint4 *data;

  __device__ uint4 *
  at (int row, int chunk) const
  {
    return data + row * CHUNKS + (chunk ^ (row & 7));
  }

  /* Starts the asynchronous copy of ROWS rows from `first` on of the head at `column`; rows from
   * `limit` on and columns from `features` on are zero-filled. `row` is the index of row 0 in the
   * packed matrix. */
  template <class T, int ROWS, int THREADS_>
  __device__ void
  copy (const Heads &from, int64_t row, int first, int limit, int column, int features) const
  {
    constexpr int STEP = THREADS_ / CHUNKS;
    int chunk = (int) threadIdx.x % CHUNKS, r = (int) threadIdx.x / CHUNKS;
    bool inside = chunk * 8 < features;
    const T *source = from.template at<T> (row + first, column) + chunk * 8;
#pragma unroll
    for (int i = 0; i < ROWS / STEP; i++, r += STEP) {
      bool live = inside && first + r < limit;
      copy_async (at (r, chunk), live ? source + r * from.stride : from.template at<T> (0, 0),
                  live);
    }
  }

  /* Loads the operand a of rows row to row + 15, columns 16 k to 16 k + 15. */
  __device__ void
  read_a (uint32_t (&a)[4], int lane, int row, int k) const
  {
    read_matrices<false> (a, at (row + lane % 16, 2 * k + lane / 16));
  }

  /* Loads two operands b, b[0..1] and b[2..3], whose columns are the tile's rows row to row + 7 and
   * row + 8 to row + 15, and whose rows are its columns 16 k to 16 k + 15. */
  __device__ void
  read_b (uint32_t (&b)[4], int lane, int row, int k) const
  {
    read_matrices<false> (b, at (row + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
  }

  /* Loads two operands b whose rows are the tile's rows row to row + 15, and whose columns are its
   * columns 16 n to 16 n + 7 and 16 n + 8 to 16 n + 15. */
  __device__ void
  read_b_across (uint32_t (&b)[4], int lane, int row, int n) const
  {
    read_matrices<true> (b, at (row + lane % 16, 2 * n + lane / 16));
  }

  /* Rounds 16 rows of accumulators, multiplied by a factor for each of the lane's two rows, into
   * rows row to row + 15. */
  template <class T>
  __device__ void
  keep (int row, const float (&sums)[D / 8][4], float factor, float other) const
  {
    int g = (int) threadIdx.x % 32 / 4, t = (int) threadIdx.x % 4;
#pragma unroll
    for (int n = 0; n < D / 8; n++) {
      reinterpret_cast<uint32_t *> (at (row + g, n))[t] =
        narrow_pair<T> (sums[n][0] * factor, sums[n][1] * factor);
      reinterpret_cast<uint32_t *> (at (row + g + 8, n))[t] =
        narrow_pair<T> (sums[n][2] * other, sums[n][3] * other);
    }
  }

  /* Writes the warp's COUNT rows from `row` on to the rows from first + row on of the head at
   * `column`. */
  template <class T, int COUNT>
  __device__ void
  write (
    const Heads &to, int64_t at_row, int row, int first, int limit, int column, int features) const
  {
    __syncwarp ();
    for (int i = (int) threadIdx.x % 32; i < COUNT * CHUNKS; i += 32) {
      int r = row + i / CHUNKS, chunk = i % CHUNKS;
      if (first + r < limit && chunk * 8 < features)
        *reinterpret_cast<uint4 *> (to.template at<T> (at_row + first + r, column) + chunk * 8) =
          *at (r, chunk);
    }
  }
};

/* Accumulators for MT times 16 rows by N columns: the warp's part of a matmul. */
template <int MT, int N> struct Sums16 {
  float v[MT][N / 8][4];
  __device__ void
  clear ()
  {
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
      for (int n = 0; n < N / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++)
          v[m][n][i] = 0;
  }
};

/* Accumulates the matmul of the warp's rows of `a`, from `row` on, and all rows of `b`: a b^T. */
template <class T, int MT, int N, int D>
__device__ inline void
add_scores (Sums16<MT, N> &c, const Tile<D> &a, int row, const Tile<D> &b)
{
  int lane = present_lane ();
#pragma unroll
  for (int k = 0; k < D / 16; k++) {
    uint32_t left[MT][4];
#pragma unroll
    for (int m = 0; m < MT; m++)
      a.read_a (left[m], lane, row + 16 * m, k);
#pragma unroll
    for (int n = 0; n < N / 16; n++) {
      uint32_t right[4];
      b.read_b (right, lane, 16 * n, k);
#pragma unroll
      for (int m = 0; m < MT; m++) {
        multiply<T> (c.v[m][2 * n], left[m], right[0], right[1]);
        multiply<T> (c.v[m][2 * n + 1], left[m], right[2], right[3]);
      }
    }
  }
}

/* Accumulates the matmul of the rounded `p`, [MT 16, N], and `b`, [N, D]. */
template <class T, int MT, int N, int D>
__device__ inline void
add_weighted (Sums16<MT, D> &c, const Sums16<MT, N> &p, const Tile<D> &b)
{
  int lane = present_lane ();
#pragma unroll
  for (int k = 0; k < N / 16; k++) {
    uint32_t left[MT][4];
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const float (&sums)[4] = p.v[m][2 * k + i / 2];
        left[m][i] = narrow_pair<T> (sums[2 * (i % 2)], sums[2 * (i % 2) + 1]);
      }
#pragma unroll
    for (int n = 0; n < D / 16; n++) {
      uint32_t right[4];
      b.read_b_across (right, lane, 16 * k, n);
#pragma unroll
      for (int m = 0; m < MT; m++) {
        multiply<T> (c.v[m][2 * n], left[m], right[0], right[1]);
        multiply<T> (c.v[m][2 * n + 1], left[m], right[2], right[3]);
      }
    }
  }
}
} /* namespace lig */
