/* SPDX-License-Identifier: MIT */
/* The sources of quantized copies: matrices that are read, and functions of such matrices. A
 * function F has STREAMS, the matrices that it reads, TILES, the parts of a row that it computes
 * from the same elements, `stream (i)`, `place (i, row, column, columns)`, the index of an element
 * of a stream, and `apply (in, out)`, which computes neighbouring elements. Overloads of
 * columns_of (), row_of () and apply_to () are for functions that need more. If F is RISING, it is
 * a function of one number, its argument, the element of the only stream, or what argument_of ()
 * makes of that: it rises from RISES on, and no magnitude of its values before is greater than
 * there, or than RISES. If `Of` is not void, F rounds to that type, which is then that of the
 * streams. At most BLOCKS blocks that write tiles by one scale share a multiprocessor. */
#pragma once

#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/common/async-copy.cuh"
#include "kernels/cuda/quantize-launch.cuh"

namespace lig
{
/* The matrix itself. */
struct Plain {
  using Of = void;
  static constexpr int STREAMS = 1, TILES = 1, BLOCKS = 4;
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

/* Elements of one type, read by 16 bytes. Two tiles of F are EDGE columns apart, or a multiple of
 * that. Values are staged in the block's memory, so that the code of F, which may be long, is a
 * loop that the instruction cache holds; each thread reads only its own words again. The elements
 * of the first FETCHED streams are staged as well, and F's values take their place, as far as that
 * memory suffices. Copies and streams are aligned, so that the rows of a thread are all inside the
 * matrix, or none. */
template <class F, class T> struct PackedSource {
  using Type = T;
  static constexpr int TILES = F::TILES, CHUNKS = SIDE * (int) sizeof (T) / 16;
  static constexpr bool PLAIN = std::is_same_v<F, Plain>, UNORDERED = true;
  static constexpr int FETCHED =
    TILES == 1 ? (F::STREAMS * CHUNKS <= 2 ? F::STREAMS : 0) : (TILES * CHUNKS <= 2 ? TILES : 0);
  /* Two numbers of 16 bits differ by more than F may fall by rounding. */
  static constexpr bool RISING = F::RISING && sizeof (T) == 2;
  static constexpr int SLOTS = FETCHED > TILES ? FETCHED : TILES;
  static constexpr int BLOCKS = SLOTS * CHUNKS == 1 ? F::BLOCKS : SLOTS * CHUNKS == 2 ? 2 : 1;
  static constexpr int LINE_BLOCKS = SLOTS * CHUNKS == 1 ? 3 : BLOCKS;
  static constexpr size_t STAGED = SLOTS * CHUNKS * SIDE * THREADS * sizeof (uint4);
  using Raw = uint4[F::STREAMS][CHUNKS];
  using OfRow = decltype (row_of (std::declval<const F &> (), 0));
  F f;
  T *values; /* what F computes, as it is rounded; null: it is not written */

  __device__ int64_t
  column_of (const Quantization &q, int tile, int64_t column) const
  {
    return column + tile * (q.columns / TILES);
  }

  __device__ static bool
  inside (const Quantization &q, int64_t row, int64_t column)
  {
    return row < q.rows && column < q.columns / TILES;
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
    bool any = inside (q, row, column);
#pragma unroll
    for (int s = 0; s < F::STREAMS; s++)
#pragma unroll
      for (int c = 0; c < CHUNKS; c++)
        raw[s][c] = any ? source_of (q, s, row, column)[c] : make_uint4 (0, 0, 0, 0);
  }

  /* Returns where a thread stages a part of a row of a stream, or of a tile. */
  __device__ static uint4 *
  place_of (uint4 *staged, int slot, int i, int chunk)
  {
    return staged + ((slot * SIDE + i) * CHUNKS + chunk) * THREADS + threadIdx.x;
  }

  /* Begins to read the elements of a thread whose places a part leaves: of all streams that are
   * fetched, or with several tiles of one. */
  __device__ void
  fetch (const Quantization &q, int64_t row, int64_t column, int part, uint4 *staged) const
  {
    if constexpr (FETCHED > 0) {
      bool any = inside (q, row, column);
      int from = TILES == 1 ? 0 : part, end = TILES == 1 ? FETCHED : part + 1;
#pragma unroll
      for (int s = 0; s < FETCHED; s++) {
        if (s < from || s >= end)
          continue;
        const uint4 *at = source_of (q, s, any ? row : 0, any ? column : 0);
        int64_t step = source_of (q, s, 1, 0) - source_of (q, s, 0, 0);
#pragma unroll
        for (int i = 0; i < SIDE; i++, at += step)
#pragma unroll
          for (int c = 0; c < CHUNKS; c++)
            copy_async (place_of (staged, s, i, c), at + c, any);
      }
      commit_copies ();
    }
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

  /* Computes a row of a thread of each tile, and stages it. */
  template <class Columns>
  __device__ void
  stage_row (const Quantization &q,
             const Raw &raw,
             const Columns &columns,
             int64_t row,
             int64_t column,
             int i,
             uint4 *staged,
             bool any,
             bool writes) const
  {
    Words<T> words[TILES][CHUNKS] = {};
    if (any)
      compute (raw, row_of (f, row), columns, words);
#pragma unroll
    for (int t = 0; t < TILES; t++)
#pragma unroll
      for (int c = 0; c < CHUNKS; c++)
        *place_of (staged, t, i, c) = words[t][c].bits;
    if (writes)
#pragma unroll
      for (int t = 0; t < TILES; t++)
        store (words[t], row * q.columns + column_of (q, t, column));
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

  /* Reads rows of a thread of the streams that were not fetched. */
  template <int D>
  __device__ void
  load_late (const Quantization &q, int64_t row, int64_t column, bool any, Raw (&raw)[D]) const
  {
#pragma unroll
    for (int s = FETCHED; s < F::STREAMS; s++) {
      const uint4 *at = source_of (q, s, any ? row : 0, any ? column : 0);
      int64_t step = any ? source_of (q, s, 1, 0) - source_of (q, s, 0, 0) : 0;
#pragma unroll
      for (int d = 0; d < D; d++, at += step)
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
          raw[d][s][c] = at[c];
    }
  }

  /* Computes the elements of a thread from those that were fetched, and others: the next of them
   * are read while some are computed. */
  __device__ void
  stage (const Quantization &q, int64_t row, int64_t column, uint4 *staged, bool last) const
  {
    constexpr int D = FETCHED < F::STREAMS ? 2 : 1;
    const bool any = inside (q, row, column), writes = last && values && any;
    Raw next[D], raw[D];
    if (PLAIN && FETCHED) {
      await_copies<0> ();
      return;
    }
    const auto columns = columns_of<SIDE> (f, any ? column : 0);
    load_late (q, row, column, any, next);
    if constexpr (FETCHED > 0)
      await_copies<0> ();
#pragma unroll 1
    for (int first = 0; first < SIDE; first += D) {
      memcpy (raw, next, sizeof raw);
      if (first + D < SIDE)
        load_late (q, row + first + D, column, any, next);
#pragma unroll
      for (int d = 0; d < D; d++) {
#pragma unroll
        for (int s = 0; s < FETCHED; s++)
#pragma unroll
          for (int c = 0; c < CHUNKS; c++)
            raw[d][s][c] = *place_of (staged, s, first + d, c);
        stage_row (q, raw[d], columns, row + first + d, column, first + d, staged, any, writes);
      }
    }
  }

  /* Gives the elements of a thread. */
  __device__ void
  read (uint4 *staged, int tile, Square<T> &square) const
  {
    uint4 words[SIDE][CHUNKS];
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
      for (int c = 0; c < CHUNKS; c++)
        words[i][c] = *place_of (staged, tile, i, c);
    memcpy (&square, words, sizeof square);
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
  static constexpr int TILES = 1, BLOCKS = 2, LINE_BLOCKS = 2;
  static constexpr bool UNORDERED = false;
  static constexpr size_t STAGED = SIDE * SIDE * THREADS * sizeof (float);
  F f;
  Target values;

  __device__ int64_t
  column_of (const Quantization &, int, int64_t column) const
  {
    return column;
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
  fetch (const Quantization &, int64_t, int64_t, int, uint4 *) const
  {
  }

  /* Computes the elements of a thread. */
  __device__ void
  stage (const Quantization &q, int64_t row, int64_t column, uint4 *staged, bool last) const
  {
    float *to = (float *) staged + threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < SIDE * SIDE; i++) {
      int64_t at = row + i / SIDE, across = column + i % SIDE;
      bool inside = at < q.rows && across < q.columns;
      float value = inside ? element (q, at, across) : 0;
      to[i * THREADS] = value;
      if (inside && last && values.data)
        values.set (at * q.columns + across, value);
    }
  }

  /* Gives the elements of a thread. */
  __device__ void
  read (uint4 *staged, int, Square<float> &square) const
  {
    const float *from = (const float *) staged + threadIdx.x;
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
      for (int p = 0; p < PAIRS; p++)
        square.rows[i][p] =
          Pair<float>{from[(i * SIDE + 2 * p) * THREADS], from[(i * SIDE + 2 * p + 1) * THREADS]};
  }
};

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
  if (!packs || !copies_pack (q))
    return quantize_from<false> (launch, q, lines, LooseSource<F>{f, target (values)}, dbias);
  return dispatch (launch, q.source, [&] (auto zero) {
    using T = decltype (zero);
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
