/* SPDX-License-Identifier: MIT */
/* Writes copies whose scales are computed from lines within a tile. A thread stages its elements in
 * shared memory, from where it writes them as rows, and, once the threadblock has the whole tile,
 * others as columns. */
#pragma once

#include "kernels/cuda/quantize-walk.cuh"

namespace lig
{
/* The policy that writes such copies of a source S, for quantize_walk: it also processes rows past
 * the end of the matrix, which are zeros. */
template <class S> struct BlockCopies {
  static constexpr bool KNOWN = false;
  static constexpr int TURNS = 1, TILE_BYTES = EDGE * EDGE * (int) sizeof (typename S::Type);
  static constexpr int BLOCKS = Ring<S>::PARTS > 3 ? 1 : S::TILES *S::CHUNKS > 1 ? 2 : 3;

  template <class T>
  __device__ static void
  take_row (const Quantization &,
            int,
            const Words<T> (&words)[S::CHUNKS],
            const float (&)[SIDE],
            float,
            float,
            int64_t,
            int line,
            void *memory)
  {
    const int unit = first_along () / SIDE * S::CHUNKS;
#pragma unroll
    for (int c = 0; c < S::CHUNKS; c++)
      ((uint4 *)
         memory)[chunk_at<S::CHUNKS> (first_line (), unit + c) + line * ACROSS * S::CHUNKS] =
        words[c].bits;
  }

  /* Writes a thread's lines of a tile and the inverse scale of its own line. All threads call
   * it. */
  template <bool ROWS, class T>
  __device__ static void
  write_lines (const Quantization &q, const void *memory, const Side &side, int64_t along)
  {
    const int64_t line = side.first + first_line (), own = side.first + own_line ();
    const bool inside = along < side.length && line < side.lines;
    uint8_t *to = side.copy + line * side.length + along;
    Square<T> square;
    read_square<ROWS> ((const uint4 *) memory, square);
    const float scale = q.scale_of (line_amax<ROWS> (square));
    if (side.scales && threadIdx.x % ACROSS < SIDE && own < side.lines)
      side.scales[side.block * side.lines + own] = lig_quantize_inverse (scale);
#pragma unroll
    for (int i = 0; i < SIDE; i++, to += side.length) {
      const float of_line = __shfl_sync (0xffffffffu, scale, i, ACROSS);
      float values[SIDE];
      line_of<ROWS> (square, i, values);
      const uint2 bytes = bytes_of<T> (q, values, of_line);
      if (inside)
        *reinterpret_cast<uint2 *> (to) = bytes;
    }
  }

  template <class>
  __device__ static void
  write_rows (
    const Quantization &q, const S &source, int tasks, const TilePlace &tile, const void *memory)
  {
    if (!(tasks & STORES_ROWS))
      return;
#pragma unroll 1
    for (int t = 0; t < S::TILES; t++) {
      const TilePlace part = {tile.down, tile.across + t * q.across};
      write_lines<true, typename S::Type> (q, (const char *) memory + t * TILE_BYTES,
                                           part.side<true> (q),
                                           part.first_column () + first_along ());
    }
  }

  template <class T>
  __device__ static void
  write_columns (
    const Quantization &q, const void *memory, const TilePlace &tile, int64_t column, bool)
  {
    const TilePlace part = {tile.down, (int) (column / EDGE)};
    write_lines<false, T> (q, memory, part.side<false> (q), tile.first_row () + first_along ());
  }
};
} /* namespace lig */
