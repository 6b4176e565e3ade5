/* SPDX-License-Identifier: MIT */
/* Writes copies whose scales are known before the tiles are computed, per-tensor or per-row ones. A
 * thread rounds its elements as soon as it has computed them, stores those of a row at once, and
 * stages the bytes of the transposed copy in shared memory, from where the threadblock writes them
 * by columns. */
#pragma once

#include "kernels/cuda/quantize-walk.cuh"

namespace lig
{
/* Returns the offset of the bytes of a vector of columns in a row. Those of one vector in rows SIDE
 * apart are in different banks. */
__device__ inline int
bytes_at (int row, int unit)
{
  return row * ACROSS + (unit ^ row / SIDE % ACROSS);
}

/* The policy that writes such copies of a source S, for quantize_walk. */
template <class S> struct KnownCopies {
  static constexpr bool KNOWN = true;
  static constexpr int TURNS = S::TILES > 1 ? 1 : 2, TILE_BYTES = EDGE * EDGE;
  static constexpr int BLOCKS = Ring<S>::PARTS > 3 ? 1 : Ring<S>::PARTS > 2 ? 2 : 3;

  template <class T>
  __device__ static void
  take_row (const Quantization &q,
            int tasks,
            const Words<T> (&)[S::CHUNKS],
            const float (&values)[SIDE],
            float scale,
            float row_scale,
            int64_t at,
            int line,
            void *memory)
  {
    uint2 bytes = bytes_of<T> (q, values, scale);
    if (tasks & STORES_COLUMNS)
      ((uint2 *) memory)[bytes_at (first_line (), first_along () / SIDE) + line * ACROSS] = bytes;
    if (tasks & BY_ROWS)
      bytes = bytes_of<T> (q, values, row_scale);
    if (tasks & STORES_ROWS)
      *reinterpret_cast<uint2 *> (q.row + at) = bytes;
  }

  template <class>
  __device__ static void
  write_rows (const Quantization &, const S &, int, const TilePlace &, const void *)
  {
  }

  /* Transposes a thread's SIDE by SIDE bytes of a tile, and stores them as columns. */
  template <class>
  __device__ static void
  write_columns (
    const Quantization &q, const void *memory, const TilePlace &tile, int64_t column, bool inside)
  {
    const int unit = first_line () / SIDE;
    const int64_t row = tile.first_row () + first_along ();
    const uint2 *from = (const uint2 *) memory + bytes_at (first_along (), unit);
    uint32_t low[SIDE], high[SIDE];
    if (!inside || row >= q.rows)
      return;
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
      const uint2 word = from[i * ACROSS];
      low[i] = word.x;
      high[i] = word.y;
    }
#pragma unroll
    for (int i = 0; i < SIDE; i += 4) {
      transpose_words (low[i], low[i + 1], low[i + 2], low[i + 3]);
      transpose_words (high[i], high[i + 1], high[i + 2], high[i + 3]);
    }
    uint8_t *to = q.transposed + (column + unit * SIDE) * q.rows + row;
#pragma unroll
    for (int i = 0; i < SIDE; i++, to += q.rows)
      *reinterpret_cast<uint2 *> (to) =
        i < 4 ? make_uint2 (low[i], low[i + 4]) : make_uint2 (high[i - 4], high[i]);
  }
};
} /* namespace lig */
