/* SPDX-License-Identifier: MIT */
/* The epilogues of grouped matmuls with a gated unit (grouped-gated.cu).
 *
 * A warp stages its sums in shared memory, rounded like those that a matmul stores, and reads them
 * back in vectors of eight columns: so few registers are live next to the accumulators that any
 * unit fits, selected at run time. */
#pragma once

#include "kernels/cuda/gated-formulas.cuh"
#include "kernels/cuda/grouped-rows.cuh"
#include "kernels/functions.h"

namespace lig
{
namespace grouped
{
/* The columns of a block of a half; those of a vector; the rows of a vector's lanes. */
enum { BLOCK_COLUMNS = PIECE_COLUMNS, VECTOR_COLUMNS = 8, VECTOR_ROWS = 8 };
enum { HALF_PIECE = PIECE_BYTES / 2 };

/* The layout of shared memory: each warp stages two pieces, or one and a ring of the vectors that
 * are read ahead, for which there is one pipeline stage less. Numbers of a tile's columns and rows
 * follow. */
template <bool BACKWARD> struct GatedLayout {
  static constexpr int COUNT = BACKWARD ? 4 : STAGES;
  static constexpr int READ_AHEAD = BACKWARD ? 6 : 0;
  static constexpr int WARP_BYTES = (BACKWARD ? 1 + READ_AHEAD : 2) * PIECE_BYTES;
  static constexpr int VECTORS_AT = COUNT * STAGE_BYTES + 8 * WARP_BYTES;
  /* The fp32 numbers of a warpgroup: biases, or the totals of rows, and the factors of rows. */
  static constexpr int OWN = TILE_ROWS + (BACKWARD ? TILE_ROWS : TILE_COLUMNS);
  static constexpr int BARRIERS_AT = VECTORS_AT + 2 * OWN * 4;
  static constexpr int SHARED_BYTES = 1024 + BARRIERS_AT + 2 * COUNT * 8 + UNITS_BYTES;
};

/* A matmul and its unit. In the forward pass rows.y is the unit's input, which may be absent, and
 * `out` its output; in the backward pass `in` is the unit's input and `out` its gradient. */
struct Gated {
  Rows rows;
  const char *in;
  char *out;
  const float *factors;
  float *partials; /* of dfactors, [wide, rows]; null: none */
  int unit;
  LigGatedParams params;
};

/* Returns whether an epilogue can compute a unit: the gradient of one divides so often that there
 * are too few registers. */
template <bool BACKWARD>
__host__ __device__ constexpr bool
has_unit (int unit)
{
  return !BACKWARD || unit != LIG_FUNCTION_situ_glu;
}

/* Calls f (i, forward, backward), with the functions of the unit, for each of the four words of a
 * vector. The words of a frequent unit are computed at once; those of others one by one, for which
 * there are enough registers. The number of the unit is read each time, so that the compiler does
 * not specialize the code around it. */
template <bool BACKWARD, class F>
__device__ inline void
each_word (const Gated &job, F f)
{
  const LigGatedParams &p = job.params;
#define FUNCTIONS(name, backward_name) \
  [&] (float a, float b) { return gated::name (a, b, p); }, \
    [&] (float dy, float a, float b, float &da, float &db) { \
      gated::backward_name (dy, a, b, p, da, db); \
    }
  if (uncertain (job.unit) == LIG_FUNCTION_swiglu) {
#pragma unroll
    for (int i = 0; i < 4; i++)
      f (i, FUNCTIONS (swiglu, swiglu_backward));
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    switch (uncertain (job.unit)) {
#define UNIT(name, backward_name, ...) \
  case LIG_FUNCTION_##name: \
    if constexpr (has_unit<BACKWARD> (LIG_FUNCTION_##name)) \
      f (i, FUNCTIONS (name, backward_name)); \
    break;
      LIG_EACH_GATED (UNIT) LIG_EACH_GATED_WITH_PARAMS (UNIT)
#undef UNIT
#undef FUNCTIONS
    }
}

/* A vector of eight 16-bit columns. */
struct Pack {
  uint32_t words[4];
};

__device__ inline Pack
read_shared (uint32_t from)
{
  Pack p;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(p.words[0]), "=r"(p.words[1]), "=r"(p.words[2]), "=r"(p.words[3])
               : "r"(from)
               : "memory");
  return p;
}

__device__ inline void
write_global (char *to, const Pack &p)
{
  *(uint4 *) to = make_uint4 (p.words[0], p.words[1], p.words[2], p.words[3]);
}

/* Returns the address of a vector; that of the linear half follows `BESIDE` bytes later. */
enum { VECTOR_BYTES = VECTOR_COLUMNS * 2, BESIDE = BLOCK_COLUMNS * 2 };
template <class P>
__device__ inline P *
vector_at (P *matrix, uint32_t number)
{
  return matrix + (int64_t) number * VECTOR_BYTES;
}

/* Rounds a thread's sums of a piece, plus the bias times the factors of both rows. */
template <class T>
__device__ inline void
round_sums (uint32_t (&words)[8],
            const float (&sums)[96],
            int first,
            const Bias &bias,
            float upper,
            float lower)
{
  float v[16];
#pragma unroll
  for (int i = 0; i < 16; i++) {
    float add = i % 2 ? bias.pairs[i / 4].y : bias.pairs[i / 4].x;
    v[i] = fmaf (add, i / 2 % 2 ? lower : upper, sums[first + i]);
  }
  round_piece<T> (words, v);
}

/* Stores a staged piece of the unit's input. */
__device__ inline void
store_sum (
  const Maps &maps, const Rows &job, const Share &share, int place, int row, int column, int end)
{
  uint32_t from = share.memory + place * PIECE_BYTES;
  if (row + PIECE_ROWS > end)
    store_part (job, share, from, row, column, end);
  else if (is_elected ())
    store_tile (&maps.result, column, row, from);
}

/* Computes the outputs of a step from the staged pieces of the gate and of the linear half, whose
 * first row and column are given. */
template <class T>
__device__ inline void
apply_unit (const Gated &job, const Share &share, int row, int column, int end)
{
  int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int below = 0; below < 2; below++) {
    uint32_t from = share.unit + below * HALF_PIECE;
    Pack gate = read_shared (from), linear = read_shared (from + PIECE_BYTES);
    int own = row + lane / 4 + below * VECTOR_ROWS;
    bool inside = own < end;
    float factor = job.factors && inside ? job.factors[own] : 1;
    each_word<false> (job, [&] (int i, auto unit, auto) {
      float2 a, b;
      widen_pair<T> (gate.words[i], a.x, a.y);
      widen_pair<T> (linear.words[i], b.x, b.y);
      gate.words[i] = narrow_pair<T> (unit (a.x, b.x) * factor, unit (a.y, b.y) * factor);
    });
    if (inside)
      write_global (
        vector_at (job.out, (uint32_t) own * (job.rows.columns / 16) + column / 16 + lane % 4),
        gate);
  }
}

/* Runs the epilogue of the forward pass: each step computes 16 rows of a block of outputs. */
template <class T>
__device__ inline void
finish_forward (const float (&sums)[2][96],
                const Maps &maps,
                const Gated &job,
                const Share &share,
                const SentTile &tile,
                const float *vectors)
{
  int lane = threadIdx.x % 32, first = tile.row, end = tile.end;
  bool keeps = job.rows.y != nullptr;
#pragma unroll
  for (int step = 0; step < PIECES / 2; step++) {
    int row = share.row + step % 2 * HALF_ROWS;
    int column = share.column + step / 2 * 2 * BLOCK_COLUMNS;
    if (row >= end || column >= job.rows.columns)
      continue;
    const float *scales = vectors + TILE_COLUMNS + row - first + lane / 4;
    uint32_t gate[8], linear[8];
    const float *biases = vectors + step / 2 * 2 * BLOCK_COLUMNS + 2 * (lane % 4);
    round_sums<T> (gate, sums[step % 2], step / 2 * 32, read_bias (biases), scales[0],
                   scales[VECTOR_ROWS]);
    round_sums<T> (linear, sums[step % 2], step / 2 * 32 + 16, read_bias (biases + BLOCK_COLUMNS),
                   scales[0], scales[VECTOR_ROWS]);
    if (keeps && is_elected ())
      await_stores<0> ();
    __syncwarp ();
    place_piece (gate, share.fragment, 0);
    place_piece (linear, share.fragment, 1);
    if (keeps)
      publish_writes ();
    __syncwarp ();
    if (keeps) {
      store_sum (maps, job.rows, share, 0, row, column, end);
      store_sum (maps, job.rows, share, 1, row, column + BLOCK_COLUMNS, end);
      if (is_elected ())
        commit_stores ();
    }
    apply_unit<T> (job, share, row, column, end);
  }
}

/* The place of a lane's vectors of the unit's input, of which a step has an upper and a lower half:
 * `number` counts the halves. */
struct VectorPlace {
  bool inside;
  int row;
  uint32_t at; /* the number of the gate's vector */
};

__device__ inline VectorPlace
place_of (const Gated &job, const Share &share, int number, int end)
{
  int lane = threadIdx.x % 32, step = number / 2;
  int row = share.row + step % 2 * HALF_ROWS + number % 2 * VECTOR_ROWS + lane / 4;
  int column = share.column + step / 2 * BLOCK_COLUMNS, columns = job.rows.columns;
  return VectorPlace{number < 2 * PIECES && row < end && column < columns, row,
                     (uint32_t) row * (columns / (VECTOR_COLUMNS / 2)) +
                       column / (VECTOR_COLUMNS / 2) + lane % 4};
}

/* Returns where a lane's vector of the gate is staged; that of the linear half follows half a piece
 * later. */
__device__ inline uint32_t
slot_of (const Share &share, int number)
{
  return share.memory + (1 + number % GatedLayout<true>::READ_AHEAD) * PIECE_BYTES +
         threadIdx.x % 32 * VECTOR_BYTES;
}

/* Issues the copies of a lane's vectors of the unit's input. */
__device__ inline void
fetch_vectors (const Gated &job, const Share &share, int number, int end)
{
  VectorPlace place = place_of (job, share, number, end);
  const char *from = vector_at (job.in, place.inside ? place.at : 0);
  uint32_t to = slot_of (share, number);
  copy_async (to, from, place.inside);
  copy_async (to + HALF_PIECE, from + BESIDE, place.inside);
  commit_copies ();
}

/* Computes a lane's vectors of the gradient of the unit's input, and returns its part of
 * dfactors. */
template <class T>
__device__ inline float
turn_back (const Gated &job, const Pack &dy, Pack &gate, Pack &linear, float factor)
{
  float sum = 0;
  each_word<true> (job, [&] (int i, auto unit, auto backward) {
    float2 g, a, b, da, db;
    widen_pair<T> (dy.words[i], g.x, g.y);
    widen_pair<T> (gate.words[i], a.x, a.y);
    widen_pair<T> (linear.words[i], b.x, b.y);
    if (job.partials)
      sum += g.x * unit (a.x, b.x) + g.y * unit (a.y, b.y);
    backward (g.x * factor, a.x, b.x, da.x, db.x);
    backward (g.y * factor, a.y, b.y, da.y, db.y);
    gate.words[i] = narrow_pair<T> (da.x, da.y);
    linear.words[i] = narrow_pair<T> (db.x, db.y);
  });
  return sum;
}

/* Adds the lanes' parts of dfactors to the totals of the warp's rows, in shared memory; the first
 * block of columns sets them. */
__device__ inline void
add_parts (float *totals, float sum, int step, int below)
{
  int lane = threadIdx.x % 32;
  fold_lanes (4, Sum{}, sum);
  float *total = totals + step % 2 * PIECE_ROWS + below * VECTOR_ROWS + lane / 4;
  if (lane % 4 == 0)
    *total = step < 2 ? sum : *total + sum;
}

/* Writes the totals of the warp's rows. */
__device__ inline void
write_totals (const Gated &job, const Share &share, const float *totals, int end)
{
  int lane = threadIdx.x % 32, row = share.row + lane / PIECE_ROWS * HALF_ROWS + lane % PIECE_ROWS;
  __syncwarp ();
  if (row < end)
    job.partials[(int64_t) (share.column / TILE_COLUMNS) * job.rows.rows + row] = totals[lane];
}

/* Runs the epilogue of the backward pass: each step computes 16 rows of a block of both halves. */
template <class T>
__device__ inline void
finish_backward (const float (&sums)[2][96],
                 const Gated &job,
                 const Share &share,
                 int end,
                 float *totals,
                 const float *factors)
{
#pragma unroll
  for (int step = 0; step < PIECES; step++) {
    uint32_t words[8];
    round_sums<T> (words, sums[step % 2], step / 2 * 16, Bias{}, 0, 0);
    __syncwarp ();
    place_piece (words, share.fragment, 0);
    __syncwarp ();
#pragma unroll 1
    for (int below = 0; below < 2; below++) {
      VectorPlace place = place_of (job, share, 2 * step + below, end);
      constexpr int READ_AHEAD = GatedLayout<true>::READ_AHEAD;
      await_copies<READ_AHEAD - 1> ();
      uint32_t slot = slot_of (share, 2 * step % READ_AHEAD + below);
      Pack dy = read_shared (share.unit + below * HALF_PIECE);
      Pack gate = read_shared (slot), linear = read_shared (slot + HALF_PIECE);
      fetch_vectors (job, share, 2 * step + below + READ_AHEAD, end);
      float factor = factors[place.row - share.row];
      float sum = turn_back<T> (job, dy, gate, linear, factor);
      if (job.partials)
        add_parts (totals, place.inside ? sum : 0, step, below);
      if (job.out && place.inside) {
        char *to = vector_at (job.out, place.at);
        write_global (to, gate);
        write_global (to + BESIDE, linear);
      }
    }
  }
  await_copies<0> ();
  if (job.partials)
    write_totals (job, share, totals, end);
}
} /* namespace grouped */
} /* namespace lig */
