/* SPDX-License-Identifier: MIT */
/* The sources of quantized copies: matrices that are read, and functions of such matrices. A
 * function F has STREAMS, the number of matrices that it reads; TILES, the number of parts of a row
 * that it computes from the same elements; `stream (i)`; `place (i, row, column, columns)`, the
 * index of an element of a stream; and `apply (in, out)`, which computes neighbouring elements.
 * Overloads of columns_of (), row_of (), taken_from () and apply_to () are for functions that need
 * more. If F is RISING, it is a function of one argument, which is the element of the only stream,
 * or the result of argument_of (): it is increasing from RISES on, and before that no magnitude of
 * its values exceeds its value at RISES, or RISES. If `Of` is not void, F rounds to that type,
 * which is then that of the streams. */
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

/* Returns the values that a function needs for W columns from `column` on, independent of the row:
 * none by default. */
template <int W, class F>
__device__ inline Nothing
columns_of (const F &, int64_t)
{
  return {};
}

/* Returns the values that a function needs for a row, independent of the columns: none by
 * default. */
template <class F>
__device__ inline Nothing
row_of (const F &, int64_t)
{
  return {};
}

/* Returns 16 bytes of a stream as a function takes them: unchanged by default. */
template <class F, class T, class Columns>
__device__ inline Words<T>
taken_from (const F &, int, const Words<T> &words, const Columns &)
{
  return words;
}

/* Computes neighbouring elements of a row. */
template <class F, int S, int T, int W>
__device__ inline void
apply_to (const F &f, const float (&in)[S][W], float (&out)[T][W], const Nothing &, const Nothing &)
{
  f.apply (in, out);
}

/* Converts neighbouring elements to the arguments of a rising function: unchanged by default. */
template <class F, int W>
__device__ inline void
argument_of (const F &, float (&)[W], const Nothing &)
{
}

/* Elements of one type, loaded in 16-byte vectors. Two tiles of F are a multiple of EDGE columns
 * apart. The elements of its streams are copied to shared memory, and F's values overwrite those of
 * the first stream: a thread computes only from its own copies. The code of F, which may be long,
 * is a loop that fits into the instruction cache. Copies and streams are aligned, so that the rows
 * of a thread are either all inside the matrix, or none. */
template <class F, class T> struct PackedSource {
  using Type = T;
  static constexpr int TILES = F::TILES, CHUNKS = chunks_of<T>;
  static constexpr bool PLAIN = std::is_same_v<F, Plain>, UNORDERED = true;
  /* Two 16-bit numbers differ by more than F may decrease by rounding. */
  static constexpr bool RISING = F::RISING && sizeof (T) == 2;
  /* A function of one stream has high arithmetic intensity. */
  static constexpr int BLOCKS = !PLAIN && F::STREAMS * CHUNKS == 1 ? 2 : 1;
  static constexpr int TILE_WORDS = EDGE * ACROSS * CHUNKS;
  static constexpr size_t STAGED = F::STREAMS * TILE_WORDS * sizeof (uint4);
  using Raw = uint4[F::STREAMS][CHUNKS];
  using OfRow = decltype (row_of (std::declval<const F &> (), 0));
  using Block = TileBlock<BLOCKS>;
  static constexpr int COMPUTED = Block::COMPUTED;
  F f;
  T *values; /* the rounded result of F; null: it is not written */

  __device__ int64_t
  column_of (const Quantization &q, int tile, int64_t column) const
  {
    return column + tile * (q.columns / TILES);
  }

  /* Returns a thread's elements of a row in a stream. */
  __device__ const uint4 *
  source_of (const Quantization &q, int stream, int64_t row, int64_t column) const
  {
    return reinterpret_cast<const uint4 *> ((const T *) f.stream (stream).data +
                                            f.place (stream, row, column, q.columns));
  }

  /* Loads a row of a thread from each stream. */
  __device__ void
  load (const Quantization &q, int64_t row, int64_t column, Raw &raw) const
  {
#pragma unroll
    for (int s = 0; s < F::STREAMS; s++)
#pragma unroll
      for (int c = 0; c < CHUNKS; c++)
        raw[s][c] = source_of (q, s, row, column)[c];
  }

  /* Return the first row and column of a tile that a thread computes. */
  __device__ static int64_t
  first_row (const TilePlace &tile)
  {
    return tile.first_row () + Block::first_computed ();
  }
  __device__ static int64_t
  first_column (const TilePlace &tile)
  {
    return tile.first_column () + first_along ();
  }

  __device__ static bool
  inside (const Quantization &q, const TilePlace &tile)
  {
    return first_row (tile) < q.rows && first_column (tile) < q.columns / TILES;
  }

  /* Returns the offset of a part of the i-th row that a thread computes. */
  __device__ static int
  place_of (int i, int chunk)
  {
    return chunk_at<CHUNKS> (Block::first_computed (), first_along () / SIDE * CHUNKS + chunk) +
           i * ACROSS * CHUNKS;
  }

  /* Issues the copies of a thread's elements. */
  __device__ void
  fetch (const Quantization &q, const TilePlace &tile, uint4 *staged) const
  {
    const bool any = inside (q, tile);
#pragma unroll
    for (int s = 0; s < F::STREAMS; s++, staged += TILE_WORDS) {
      const uint4 *from =
        source_of (q, s, any ? first_row (tile) : 0, any ? first_column (tile) : 0);
      const int64_t step = source_of (q, s, 1, 0) - source_of (q, s, 0, 0);
#pragma unroll
      for (int i = 0; i < COMPUTED; i++, from += step)
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
          copy_async (staged + place_of (i, c), from + c, any);
    }
    commit_copies ();
  }

  /* Computes a row of a thread for each tile. */
  template <class Row, class Columns>
  __device__ void
  compute (const Raw &raw,
           const Row &row,
           const Columns &columns,
           Words<T> (&words)[TILES][CHUNKS]) const
  {
    float in[F::STREAMS][SIDE], out[TILES][SIDE];
    if constexpr (PLAIN) {
      memcpy (words, raw, sizeof words);
      return;
    }
#pragma unroll
    for (int s = 0; s < F::STREAMS; s++)
#pragma unroll
      for (int c = 0; c < CHUNKS; c++) {
        float part[wide<T>];
        unpack (taken_from (f, s, Words<T>{raw[s][c]}, columns), part);
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

  /* Returns the values that F needs for the columns from `column` on. */
  __device__ auto
  columns_at (int64_t column) const
  {
    return columns_of<SIDE> (f, column);
  }

  /* Returns the values that F needs for a row; nothing is read past the last row. */
  __device__ auto
  row_at (const Quantization &q, int64_t row) const
  {
    return row_of (f, row < q.rows ? row : q.rows - 1);
  }

  /* Writes the result of F. */
  __device__ void
  store (const Words<T> (&words)[CHUNKS], int64_t at) const
  {
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
      store_chunk (values + at + c * wide<T>, words[c]);
  }

  /* Raises extremes by the elements of a row. */
  __device__ static void
  raise (Extremes<T> &extremes, const Words<T> (&words)[CHUNKS])
  {
    Pair<T> pairs[PAIRS];
    memcpy (pairs, words, sizeof pairs);
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      extremes.raise_to (pairs[p]);
  }

  /* Computes the i-th row of a thread from its elements in `raw`. */
  template <class Row, class Columns>
  __device__ void
  compute_staged (const Quantization &q,
                  const TilePlace &tile,
                  uint4 *staged,
                  int i,
                  const Raw &raw,
                  const Row &of_row,
                  const Columns &columns,
                  Words<T> (&words)[TILES][CHUNKS]) const
  {
    const bool any = inside (q, tile);
    if (any)
      compute (raw, of_row, columns, words);
#pragma unroll
    for (int t = 0; t < TILES; t++) {
#pragma unroll
      for (int c = 0; c < CHUNKS; c++)
        staged[t * TILE_WORDS + place_of (i, c)] = words[t][c].bits;
      if (values && any)
        store (words[t],
               (first_row (tile) + i) * q.columns + column_of (q, t, first_column (tile)));
    }
  }

  /* Computes the elements of a thread. */
  __device__ void
  stage (const Quantization &q,
         const TilePlace &tile,
         uint4 *staged,
         Extremes<T> (&extremes)[TILES]) const
  {
    const bool raises = q.recorded || q.has_scales_of_tiles ();
    const auto columns = columns_at (inside (q, tile) ? first_column (tile) : 0);
    auto of_next = row_at (q, first_row (tile));
    await_copies<0> ();
    if (PLAIN && !raises)
      return;
#pragma unroll 1
    for (int i = 0; i < COMPUTED; i++) {
      const auto of_row = of_next;
      Words<T> words[TILES][CHUNKS] = {};
      Raw raw;
      of_next = row_at (q, first_row (tile) + i + 1);
#pragma unroll
      for (int s = 0; s < F::STREAMS; s++)
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
          raw[s][c] = staged[s * TILE_WORDS + place_of (i, c)];
      if constexpr (PLAIN)
        compute (raw, of_row, columns, words);
      else
        compute_staged (q, tile, staged, i, raw, of_row, columns, words);
      if (raises)
#pragma unroll
        for (int t = 0; t < TILES; t++)
          raise (extremes[t], words[t]);
    }
  }

  /* Sets the arguments of a rising F. */
  template <class Columns>
  __device__ void
  arguments (const Raw &raw, const Columns &columns, Words<T> (&words)[CHUNKS]) const
  {
    words[0] = taken_from (f, 0, Words<T>{raw[0][0]}, columns);
    if constexpr (!std::is_same_v<Columns, Nothing> && !std::is_same_v<Columns, Words<T>>) {
      float values[SIDE];
      unpack (words[0], values);
      argument_of (f, values, columns);
      pack (values, words[0]);
    }
  }

  /* Returns the rounded value of a rising F. */
  __device__ float
  value_at (float argument) const
  {
    float in[1][1] = {{argument}}, out[1][1];
    f.apply (in, out);
    return widen (narrow<T> (out[0][0]));
  }
};

/* Elements of any floating types, one by one, rounded to the launch's type. */
template <class F> struct LooseSource {
  using Type = float;
  static constexpr int TILES = 1, BLOCKS = 1, TILE_WORDS = EDGE * EDGE / 4;
  static constexpr bool UNORDERED = false;
  static constexpr size_t STAGED = TILE_WORDS * sizeof (uint4);
  using Block = TileBlock<BLOCKS>;
  F f;
  Target values;

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
  fetch (const Quantization &, const TilePlace &, uint4 *) const
  {
  }

  /* Computes the elements of a thread. */
  __device__ void
  stage (const Quantization &q,
         const TilePlace &tile,
         uint4 *staged,
         Extremes<float> (&extremes)[1]) const
  {
#pragma unroll 1
    for (int i = 0; i < Block::COMPUTED * SIDE; i++) {
      int down = Block::first_computed () + i / SIDE, right = first_along () + i % SIDE;
      int64_t row = tile.first_row () + down, column = tile.first_column () + right;
      bool inside = row < q.rows && column < q.columns;
      float value = inside ? element (q, row, column) : 0;
      reinterpret_cast<float *> (staged + chunk_at<2> (down, right / 4))[right % 4] = value;
      extremes[0].raise_to (Pair<float>{value, value});
      if (inside && values.data)
        values.set (row * q.columns + column, value);
    }
  }
};

/* Returns whether a launch's operands allow 16-byte accesses to rows of `columns` elements. */
inline bool
streams_pack (std::initializer_list<const LigOperand *> operands, int64_t columns)
{
  LigDtype dtype = (*operands.begin ())->dtype;
  return packable (operands) && columns % (dtype == LIG_FP32 ? 4 : 8) == 0;
}

/* Returns the function for operands of any types. Functions that depend on types overload it. */
template <class F>
const F &
of_any_types (const F &f)
{
  return f;
}

/* Quantizes the result of F. `packs`: its streams and tiles allow 16-byte accesses. */
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
  const auto any = of_any_types (f);
  const LooseSource<std::decay_t<decltype (any)>> loose = {any, target (values)};
  if (!packs || !copies_pack (q))
    return quantize_from<false> (launch, q, lines, loose, dbias);
  return dispatch (launch, q.source, [&] (auto zero) {
    using T = decltype (zero);
    if (places_of<PackedSource<F, T>> (launch) == 0)
      return quantize_from<false> (launch, q, lines, loose, dbias);
    if constexpr (std::is_void_v<typename F::Of> || std::is_same_v<typename F::Of, T>)
      return quantize_from<true> (launch, q, lines, PackedSource<F, T>{f, (T *) values->data},
                                  dbias);
    else
      return LIG_FAIL (launch, LIG_UNSUPPORTED, "quantize: operands have different types");
  });
}

/* Quantizes the result of F for a matrix like x, with a per-tensor scale if one is given, else in
 * two passes. The outputs row, row_scale, transposed, transposed_scale, recorded and rounded are
 * the operands from `first` on; dbias gets the sum of the rows. */
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
