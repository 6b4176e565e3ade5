/* SPDX-License-Identifier: MIT */
/* The sources of quantized copies: matrices that are read, and functions of such matrices. A
 * function F has STREAMS, the matrices that it reads, TILES, the parts of a row that it computes
 * from the same elements, `stream (i)`, `place (i, row, column, columns)`, the index of an element
 * of a stream, and `apply (in, out)`, which computes neighbouring elements. Overloads of
 * columns_of (), row_of () and apply_to () are for functions that need more. If F is RISING, it is
 * a function of one number, its argument, the element of the only stream, or what argument_of ()
 * makes of that: it rises from RISES on, and no magnitude of its values before is greater than
 * there, or than RISES. If `Of` is not void, F rounds to that type, which is then that of the
 * streams. */
#pragma once

#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/common/async-copy.cuh"
#include "kernels/cuda/quantize-launch.cuh"

namespace lig
{
/* The matrix itself. */
struct Plain {
  using Of = void;
  static constexpr int STREAMS = 1, TILES = 1;
  static constexpr bool RISING = false;
  Target x;
  __device__ const Target &
  stream (int) const
  {
    return x;
  }
  __device__ int64_t
  place (int, int64_t row, int64_t column, int64_t columns) const
  {
    return row * columns + column;
  }
  template <int W>
  __device__ void
  apply (const float (&in)[1][W], float (&out)[1][W]) const
  {
#pragma unroll
    for (int i = 0; i < W; i++)
      out[0][i] = in[0][i];
  }
};

/* Returns the values that a function needs for W columns from `column` on, whatever the row: none.
 */
template <int W, class F>
__device__ inline Nothing
columns_of (const F &, int64_t)
{
  return {};
}

/* Returns the values that a function needs for a row, whatever the columns: none. */
template <class F>
__device__ inline Nothing
row_of (const F &, int64_t)
{
  return {};
}

/* Computes neighbouring elements of a row. */
template <class F, int S, int T, int W>
__device__ inline void
apply_to (const F &f, const float (&in)[S][W], float (&out)[T][W], const Nothing &, const Nothing &)
{
  f.apply (in, out);
}

/* Turns neighbouring elements into the arguments of a rising function: they are that. */
template <class F, int W>
__device__ inline void
argument_of (const F &, float (&)[W], const Nothing &)
{
}

/* The bytes of shared memory of a multiprocessor that blocks can have for tiles. */
constexpr size_t TILE_MEMORY = 224 << 10;

/* Elements of one type, read by 16 bytes. Two tiles of F are EDGE columns apart, or a multiple of
 * that. The elements of its streams are fetched to the block's memory, and F's values take the
 * place of the first of them. The code of F, which may be long, is a loop that the instruction
 * cache holds. Copies and streams are aligned, so that the rows of a thread are all inside the
 * matrix, or none. */
template <class F, class T> struct PackedSource {
  using Type = T;
  static constexpr int TILES = F::TILES, CHUNKS = chunks_of<T>;
  static constexpr bool PLAIN = std::is_same_v<F, Plain>, UNORDERED = true;
  /* Two numbers of 16 bits differ by more than F may fall by rounding. */
  static constexpr bool RISING = F::RISING && sizeof (T) == 2;
  static constexpr bool DOUBLE = TILES == 1 && CHUNKS == 1;
  static constexpr int SLOT = EDGE * ACROSS * CHUNKS, SLOTS = F::STREAMS + DOUBLE;
  static constexpr size_t STAGED = SLOTS * SLOT * sizeof (uint4);
  /* Three would leave too few registers for the code of F. */
  static constexpr int BLOCKS = STAGED * 2 <= TILE_MEMORY ? 2 : 1;
  using Raw = uint4[F::STREAMS][CHUNKS];
  using OfRow = decltype (row_of (std::declval<const F &> (), 0));
  F f;
  T *values; /* what F computes, as it is rounded; null: it is not written */

  __device__ int64_t
  column_of (const Quantization &q, int tile, int64_t column) const
  {
    return column + tile * (q.columns / TILES);
  }

  /* Returns the elements of a row of a thread in a stream. */
  __device__ const uint4 *
  source_of (const Quantization &q, int stream, int64_t row, int64_t column) const
  {
    return reinterpret_cast<const uint4 *> ((const T *) f.stream (stream).data +
                                            f.place (stream, row, column, q.columns));
  }

  /* Reads a row of a thread of each stream. */
  __device__ void
  load (const Quantization &q, int64_t row, int64_t column, Raw &raw) const
  {
#pragma unroll
    for (int s = 0; s < F::STREAMS; s++)
#pragma unroll
      for (int c = 0; c < CHUNKS; c++)
        raw[s][c] = source_of (q, s, row, column)[c];
  }

  /* Returns the place of a stream, or of a tile, which has that of the stream of its number. */
  __device__ static uint4 *
  slot (uint4 *staged, int stream, int turn)
  {
    return staged + (!DOUBLE ? stream : stream ? stream + 1 : turn) * SLOT;
  }

  __device__ static bool
  inside (const Quantization &q, const TilePlace &tile)
  {
    return tile.row () < q.rows && tile.column () < q.columns / TILES;
  }

  /* Begins to read the elements of a thread in a stream. */
  __device__ void
  fetch (const Quantization &q, const TilePlace &tile, uint4 *staged, int stream, int turn) const
  {
    const bool any = inside (q, tile);
    const uint4 *from = source_of (q, stream, any ? tile.row () : 0, any ? tile.column () : 0);
    const int64_t step = source_of (q, stream, 1, 0) - source_of (q, stream, 0, 0);
    uint4 *to = slot (staged, stream, turn);
#pragma unroll
    for (int i = 0; i < SIDE; i++, from += step)
#pragma unroll
      for (int c = 0; c < CHUNKS; c++)
        copy_async (to + part_at<true, T> (i, c), from + c, any);
    commit_copies ();
  }

  __device__ void
  fetch_all (const Quantization &q, const TilePlace &tile, uint4 *staged) const
  {
#pragma unroll
    for (int s = 0; s < F::STREAMS; s++)
      fetch (q, tile, staged, s, 0);
  }

  /* Computes a row of a thread of each tile. */
  template <class Row, class Columns>
  __device__ void
  compute (const Raw &raw,
           const Row &row,
           const Columns &columns,
           Words<T> (&words)[TILES][CHUNKS]) const
  {
    float in[F::STREAMS][SIDE], out[TILES][SIDE];
#pragma unroll
    for (int s = 0; s < F::STREAMS; s++)
#pragma unroll
      for (int c = 0; c < CHUNKS; c++) {
        float part[wide<T>];
        unpack (Words<T>{raw[s][c]}, part);
#pragma unroll
        for (int j = 0; j < wide<T>; j++)
          in[s][c * wide<T> + j] = part[j];
      }
    apply_to (f, in, out, row, columns);
#pragma unroll
    for (int t = 0; t < TILES; t++)
#pragma unroll
      for (int c = 0; c < CHUNKS; c++) {
        float part[wide<T>];
#pragma unroll
        for (int j = 0; j < wide<T>; j++)
          part[j] = out[t][c * wide<T> + j];
        pack (part, words[t][c]);
      }
  }

  /* Returns what F needs for the columns from `column` on. */
  __device__ auto
  columns_at (int64_t column) const
  {
    return columns_of<SIDE> (f, column);
  }

  /* Returns what F needs for a row; nothing is read beyond the last. */
  __device__ auto
  row_at (const Quantization &q, int64_t row) const
  {
    return row_of (f, row < q.rows ? row : q.rows - 1);
  }

  /* Writes what F computed. */
  __device__ void
  store (const Words<T> (&words)[CHUNKS], int64_t at) const
  {
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
      store_chunk (values + at + c * wide<T>, words[c]);
  }

  /* Computes the elements of a thread. */
  __device__ void
  compute_tiles (const Quantization &q, const TilePlace &tile, uint4 *staged, int turn) const
  {
    const bool any = inside (q, tile);
    const int64_t row = tile.row (), column = tile.column ();
    const auto columns = columns_at (any ? column : 0);
    auto of_next = row_at (q, row);
    await_copies<0> ();
#pragma unroll 1
    for (int i = 0; i < SIDE; i++) {
      const auto of_row = of_next;
      Words<T> words[TILES][CHUNKS] = {};
      Raw raw;
      of_next = row_at (q, row + i + 1);
#pragma unroll
      for (int s = 0; s < F::STREAMS; s++)
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
          raw[s][c] = slot (staged, s, turn)[part_at<true, T> (i, c)];
      if (any)
        compute (raw, of_row, columns, words);
#pragma unroll
      for (int t = 0; t < TILES; t++)
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
          slot (staged, t, turn)[part_at<true, T> (i, c)] = words[t][c].bits;
      if (values && any)
#pragma unroll
        for (int t = 0; t < TILES; t++)
          store (words[t], (row + i) * q.columns + column_of (q, t, column));
    }
  }

  /* Has the tiles in their places. The places of other streams are those of the next at once, as a
   * thread reads only what it fetched. */
  __device__ void
  stage (const Quantization &q,
         const TilePlace &tile,
         const TilePlace &next,
         bool more,
         uint4 *staged,
         int turn) const
  {
    if constexpr (PLAIN)
      await_copies<0> ();
    else
      compute_tiles (q, tile, staged, turn);
    if (more)
#pragma unroll
      for (int s = TILES; s < F::STREAMS; s++)
        fetch (q, next, staged, s, turn);
  }

  /* Gives the arguments of a rising F. */
  template <class Columns>
  __device__ void
  arguments (const Raw &raw, const Columns &columns, Words<T> (&words)[CHUNKS]) const
  {
    words[0].bits = raw[0][0];
    if constexpr (!std::is_same_v<Columns, Nothing>) {
      float values[SIDE];
      unpack (words[0], values);
      argument_of (f, values, columns);
      pack (values, words[0]);
    }
  }

  /* Returns the value of a rising F, as it is rounded. */
  __device__ float
  value_at (float argument) const
  {
    float in[1][1] = {{argument}}, out[1][1];
    f.apply (in, out);
    return widen (narrow<T> (out[0][0]));
  }
};

/* Elements of any floating types, one by one, rounded to the type of the launch. */
template <class F> struct LooseSource {
  using Type = float;
  static constexpr int TILES = 1, BLOCKS = 2;
  static constexpr bool UNORDERED = false, DOUBLE = false;
  static constexpr size_t STAGED = EDGE * EDGE * sizeof (float);
  F f;
  Target values;

  __device__ static uint4 *
  slot (uint4 *staged, int, int)
  {
    return staged;
  }

  __device__ float
  element (const Quantization &q, int64_t row, int64_t column) const
  {
    int64_t part = q.columns / F::TILES, tile = column / part;
    float in[F::STREAMS][1], out[F::TILES][1];
    for (int s = 0; s < F::STREAMS; s++)
      in[s][0] = f.stream (s).get (f.place (s, row, column - tile * part, q.columns));
    apply_to (f, in, out, row_of (f, row), columns_of<1> (f, column - tile * part));
    float value = out[tile ? F::TILES - 1 : 0][0];
    return q.source == LIG_FP16   ? widen (narrow<half> (value))
           : q.source == LIG_BF16 ? widen (narrow<bf16> (value))
                                  : value;
  }

  __device__ void
  fetch (const Quantization &, const TilePlace &, uint4 *, int, int) const
  {
  }

  __device__ void
  fetch_all (const Quantization &, const TilePlace &, uint4 *) const
  {
  }

  /* Computes the elements of a thread. */
  __device__ void
  stage (
    const Quantization &q, const TilePlace &tile, const TilePlace &, bool, uint4 *staged, int) const
  {
#pragma unroll 1
    for (int i = 0; i < SIDE * SIDE; i++) {
      int down = first_line () + i / SIDE, right = first_along () + i % SIDE;
      int64_t row = tile.first_row () + down, column = tile.first_column () + right;
      bool inside = row < q.rows && column < q.columns;
      float value = inside ? element (q, row, column) : 0;
      reinterpret_cast<float *> (staged + chunk_at<2> (down, right / 4))[right % 4] = value;
      if (inside && values.data)
        values.set (row * q.columns + column, value);
    }
  }
};

/* Returns whether blocks of a device have the shared memory that the tiles of a source take. All
 * devices that have the formats give them 99 KiB, some of them more. */
template <class S>
bool
holds_tiles (const LigLaunch *launch)
{
  int space = 99 << 10;
  if (S::STAGED > 96 << 10)
    cudaDeviceGetAttribute (&space, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                            launch->device->number);
  return S::STAGED + (1 << 10) <= (size_t) space;
}

/* Returns whether a launch's operands allow 16-byte accesses to rows of `columns` elements. */
inline bool
streams_pack (std::initializer_list<const LigOperand *> operands, int64_t columns)
{
  LigDtype dtype = (*operands.begin ())->dtype;
  return packable (operands) && columns % (dtype == LIG_FP32 ? 4 : 8) == 0;
}

/* Quantizes what F computes. `packs`: its streams and tiles allow 16-byte accesses. */
template <class F>
LigStatus
quantize_function (LigLaunch *launch,
                   const Quantization &q,
                   const Lines &lines,
                   const F &f,
                   const LigOperand *values,
                   const LigOperand *dbias,
                   bool packs)
{
  const LooseSource<F> loose = {f, target (values)};
  if (!packs || !copies_pack (q))
    return quantize_from<false> (launch, q, lines, loose, dbias);
  return dispatch (launch, q.source, [&] (auto zero) {
    using T = decltype (zero);
    if (!holds_tiles<PackedSource<F, T>> (launch))
      return quantize_from<false> (launch, q, lines, loose, dbias);
    if constexpr (std::is_void_v<typename F::Of> || std::is_same_v<typename F::Of, T>)
      return quantize_from<true> (launch, q, lines, PackedSource<F, T>{f, (T *) values->data},
                                  dbias);
    else
      return LIG_FAIL (launch, LIG_UNSUPPORTED, "quantize: operands have different types");
  });
}

/* Quantizes what F computes for a matrix like x, with the scale of a whole tensor if one is given,
 * else by two readings. The outputs row, row_scale, transposed, transposed_scale, recorded and
 * rounded are the operands from `first` on; dbias gets the sum of the rows. */
template <class F>
LigStatus
quantize_producer (LigLaunch *launch,
                   const LigOperand *x,
                   const LigOperand *scale,
                   const LigOperand *dbias,
                   int first,
                   const F &f,
                   const LigOperand *values,
                   bool packs)
{
  const LigProducerParams *params = (const LigProducerParams *) launch->params;
  bool sums = dbias && dbias->data;
  if (!all_floating (launch, first))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: not a floating type; convert to fp32, fp16 or bf16");
  Quantization q = quantization (launch, &params->quantize, x, scale, first);
  Lines lines = {};
  LigStatus status = place_lines (launch, &q, sums, &lines);
  return status == LIG_OK ? quantize_function (launch, q, lines, f, values, dbias, packs) : status;
}
} /* namespace lig */
