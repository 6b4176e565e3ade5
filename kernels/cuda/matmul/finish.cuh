/* SPDX-License-Identifier: MIT */
/* The tile scheduling and the epilogue of the built-in matmul (built-in.cu): warps process the
 * epilogue of a tile in pieces, each staged in a warp's own shared memory, so that they need no
 * barrier and access global memory in 16-byte vectors. */
#pragma once

#include "kernels/cuda/common/async-copy.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/matmul/warpgroup.cuh"
#include "kernels/formulas.h"

namespace lig
{
constexpr int TILE_ROWS = 128, TILE_COLUMNS = 192, TILE_DEPTH = 64, BLOCK = 384;
constexpr int LEFT_BYTES = TILE_ROWS * TILE_DEPTH * 2, RIGHT_BYTES = TILE_COLUMNS * TILE_DEPTH * 2;
constexpr int STAGE_BYTES = LEFT_BYTES + RIGHT_BYTES, CHUNK_BYTES = 64 * TILE_DEPTH * 2;
/* Each of the eight epilogue warps stages pieces of 16 rows and 32 columns in its own shared
 * memory: alternating buffers for the pieces to be written, and a ring of prefetched pieces. */
constexpr int PIECE_ROWS = 16, PIECE_COLUMNS = 32, AHEAD = 5, WRITTEN = 2;
constexpr int PIECE_BYTES = PIECE_ROWS * PIECE_COLUMNS * 2;
constexpr int PIECES = TILE_ROWS / 64 * (TILE_COLUMNS / PIECE_COLUMNS); /* of a warp, in a tile */

/* The fp32 vectors of a warpgroup: the bias of its tile, and the sums of each warp. A matrix of
 * ones, [8, 16]. */
constexpr int VECTORS = 5 * TILE_COLUMNS, ONES_BYTES = 256;

/* Pairs of vertically adjacent tiles are visited in bands of this height (rasterization), so that a
 * band's part of the left operand and the right operand stay in the L2 cache. */
constexpr int BAND = 8;

/* The kind of the epilogue. */
enum class After { SUM, ADD, GELU, GELU_BACKWARD };

/* The layout of shared memory, from a multiple of 1024 bytes on. Matmuls whose epilogues read no
 * pieces use that memory for one more stage: loads of operands are late while other tiles are
 * written. */
template <After AFTER> struct Layout {
  static constexpr bool READS = AFTER == After::ADD || AFTER == After::GELU_BACKWARD;
  static constexpr int STAGES = READS ? 4 : 5;
  static constexpr int WARP_BYTES = (WRITTEN + (READS ? AHEAD : 0)) * PIECE_BYTES;
  static constexpr int VECTORS_AT = STAGES * STAGE_BYTES + 8 * WARP_BYTES;
  static constexpr int ONES_AT = VECTORS_AT + 2 * VECTORS * 4;
  static constexpr int BARRIERS_AT = ONES_AT + ONES_BYTES;
  static constexpr int SHARED_BYTES = 1024 + BARRIERS_AT + 2 * STAGES * 8;
};

/* The tensor maps of the operands and of the outputs; `aux` is gelu's input. */
struct Maps {
  CUtensorMap left, right, result, aux;
};

struct Job {
  int rows, columns, depth; /* of the result; of the matmul */
  int tall, wide;           /* pairs of tiles in a column, tiles in a row */
  float factor;
  Vector bias;
  const char *read; /* the matrix that is added, or the input of gelu' */
  uint32_t stride;  /* its row stride, in bytes */
  bool keeps;       /* writes the input of gelu */
  float *sums;      /* [2 tall, columns], one row per row of tiles; null: none */
  float *left_sums; /* [2 tall, depth], the same for the left operand */
};

/* Sets the first row and column of a tile. */
struct Corner {
  int row, column;
};

__device__ inline Corner
corner_of (const Job &job, int pair, int rank)
{
  int band = pair / (BAND * job.wide), within = pair - band * BAND * job.wide;
  int height = min (BAND, job.tall - band * BAND);
  int down = band * BAND + within % height;
  return Corner{(2 * down + rank) * TILE_ROWS, within / height * TILE_COLUMNS};
}

/* A lane's share of the pieces of its warp. In row l / 4 + 8 h of a piece, lane l computes the
 * columns 8 j + 2 (l % 4) and the next, as elements 4 j + 2 h and the next: the layout of the MMA
 * accumulators. It loads the 16-byte vector from column 8 (l % 4) on. In shared memory, the same
 * vector of eight rows, and the vectors of two rows, are in different banks, in the swizzled layout
 * that bulk copies (TMA) use for rows of 64 bytes. */
struct Share {
  uint32_t memory;         /* of the warp */
  int row, column;         /* of the warp's first piece */
  uint32_t offset;         /* byte offset of its vector in the matrix that is read */
  int rows, columns;       /* from its vector to the end of the matrix */
  uint32_t unit, fragment; /* addresses of its vector, and of its row of matrices, in a piece */
};

__device__ inline Share
share_of (const Job &job, Corner tile, int warp, uint32_t memory)
{
  int lane = threadIdx.x % 32, bytes = PIECE_COLUMNS * 2;
  int first = tile.row + warp % 4 * PIECE_ROWS;
  int row = first + lane / 4, column = tile.column + 8 * (lane % 4);
  return Share{memory,
               first,
               tile.column,
               (uint32_t) row * job.stride + (uint32_t) column * 2,
               job.rows - row,
               job.columns - column,
               memory + lane / 4 * bytes + (lane % 4 ^ lane / 8) * 16,
               memory + lane % 16 * bytes + (lane / 16 ^ lane % 16 / 2 % 4) * 16};
}

/* Returns the byte distance of a piece's vector from that of the first piece. */
__device__ inline uint32_t
offset_of (const Job &job, int number)
{
  return number % 2 * 64 * job.stride + number / 2 * PIECE_COLUMNS * 2;
}

/* Returns whether that vector, or the one 8 rows below, is within the matrix. */
__device__ inline bool
is_inside (const Share &share, int number, int below)
{
  return number % 2 * 64 + below < share.rows && number / 2 * PIECE_COLUMNS < share.columns;
}

/* Issues the copy of a piece of the matrix that is read to its slot in the ring. */
__device__ inline void
fetch_piece (const Job &job, const Share &share, int number)
{
  uint32_t to = share.unit + (WRITTEN + number % AHEAD) * PIECE_BYTES;
  const char *from = job.read + (share.offset + offset_of (job, number));
  if (number < PIECES) {
    copy_async (to, from, is_inside (share, number, 0));
    copy_async (to + PIECE_BYTES / 2, from + 8 * job.stride, is_inside (share, number, 8));
  }
  commit_copies ();
}

/* Reads a thread's elements of a prefetched piece, and prefetches a later one into its slot. */
__device__ inline void
read_piece (uint32_t (&words)[8], const Job &job, const Share &share, int number)
{
  uint32_t from = share.fragment + (WRITTEN + number % AHEAD) * PIECE_BYTES;
  await_copies<AHEAD - 1> ();
  __syncwarp ();
  read_matrices (from, words[0], words[1], words[2], words[3]);
  read_matrices (from ^ 32, words[4], words[5], words[6], words[7]);
  __syncwarp ();
  fetch_piece (job, share, number + AHEAD);
}

/* Rounds a piece. */
template <class T>
__device__ inline void
round_piece (uint32_t (&words)[8], const float (&v)[16])
{
#pragma unroll
  for (int i = 0; i < 8; i++)
    words[i] = narrow_pair<T> (v[2 * i], v[2 * i + 1]);
}

/* The pieces of a step of finish (): the rounded result, and gelu's input. */
struct Rounded {
  uint32_t result[8], aux[8];
};

/* Stages a piece in one of the warp's output buffers. */
__device__ inline void
place_piece (const uint32_t (&words)[8], uint32_t fragment, int place)
{
  fragment += place * PIECE_BYTES;
  write_matrices (fragment, words[0], words[1], words[2], words[3]);
  write_matrices (fragment ^ 32, words[4], words[5], words[6], words[7]);
}

/* Issues the stores of the pieces of a step. Results alternate between the two buffers; if gelu's
 * input is stored too, result and input have a buffer each. */
template <bool KEEPS>
__device__ inline void
write_pieces (const Rounded &rounded, const Maps &maps, const Share &share, int number)
{
  int place = KEEPS ? 0 : number % WRITTEN;
  int column = share.column + number / 2 * PIECE_COLUMNS, row = share.row + number % 2 * 64;
  bool speaks = is_elected ();
  if (speaks)
    await_stores<KEEPS ? 0 : WRITTEN - 1> ();
  __syncwarp ();
  place_piece (rounded.result, share.fragment, place);
  if (KEEPS)
    place_piece (rounded.aux, share.fragment, 1);
  publish_writes ();
  __syncwarp ();
  if (!speaks)
    return;
  store_tile (&maps.result, column, row, share.memory + place * PIECE_BYTES);
  if (KEEPS)
    store_tile (&maps.aux, column, row, share.memory + PIECE_BYTES);
  commit_stores ();
}

/* Returns gelu (lig_gelu) in few instructions: the tensor cores stall if the epilogue of a tile is
 * slower than the mainloop of the next. */
__device__ inline float
quick_gelu (float x)
{
  return x * lig_quick_inverse (1 + lig_quick_gelu_decay (x));
}

/* Returns gelu' in few instructions. Beyond the limits it is 0 and 1; NaN remains. */
__device__ inline float
quick_gelu_slope (float x)
{
  asm("max.NaN.f32 %0, %0, 0fC1200000;\n\tmin.NaN.f32 %0, %0, 0f43480000;" : "+f"(x));
  float e = lig_quick_gelu_decay (x), r = lig_quick_inverse (1 + e);
  return fmaf (lig_gelu_rise (x) * r, e * r, r);
}

/* A thread's elements of the bias, for the columns of a piece. */
struct Bias {
  float2 pairs[4];
};
__device__ inline Bias
read_bias (const float *bias)
{
  Bias read;
#pragma unroll
  for (int i = 0; i < 4; i++)
    read.pairs[i] = *(const float2 *) (bias + 8 * i);
  return read;
}

/* Applies the epilogue to a thread's elements of a piece; gelu keeps its input. */
template <class T, After AFTER>
__device__ inline void
finish_piece (float (&v)[16], const uint32_t (&words)[8], float factor, const Bias &bias)
{
#pragma unroll
  for (int i = 0; i < 16; i += 2) {
    float2 read = {}, add = bias.pairs[i / 4];
    if constexpr (Layout<AFTER>::READS)
      widen_pair<T> (words[i / 2], read.x, read.y);
    if constexpr (AFTER == After::GELU_BACKWARD) {
      v[i] = v[i] * factor * quick_gelu_slope (read.x);
      v[i + 1] = v[i + 1] * factor * quick_gelu_slope (read.y);
    } else {
      v[i] = fmaf (v[i], factor, add.x + read.x);
      v[i + 1] = fmaf (v[i + 1], factor, add.y + read.y);
    }
  }
}

/* Adds a rounded piece to the sums of a thread's columns. Out of bounds, zeros may have been
 * multiplied by infinities. */
template <class T>
__device__ inline void
add_columns (float (&columns)[8], const uint32_t (&words)[8], const Share &share, int number)
{
  bool first = number % 2 == 0, above = share.rows > number % 2 * 64,
       below = share.rows > number % 2 * 64 + 8;
#pragma unroll
  for (int i = 0; i < 8; i += 2) {
    float2 upper, lower;
    widen_pair<T> (above ? words[i] : 0, upper.x, upper.y);
    widen_pair<T> (below ? words[i + 1] : 0, lower.x, lower.y);
    columns[i] = (first ? 0 : columns[i]) + (upper.x + lower.x);
    columns[i + 1] = (first ? 0 : columns[i + 1]) + (upper.y + lower.y);
  }
}

/* Reduces a warp's column sums over its rows and stores them in shared memory. */
__device__ inline void
keep_sums (float (&sums)[8], float *kept)
{
  int place = share_folded (sums, 4, Sum{});
  kept[8 * (place / 2) + 2 * (threadIdx.x % 4) + place % 2] = sums[0];
}

/* Writes the sums of a tile's columns. */
__device__ inline void
write_sums (const Job &job, const float *kept, Corner at, int group)
{
  warpgroup_sync (group);
  for (int column = threadIdx.x % 128; column < TILE_COLUMNS; column += 128)
    if (at.column + column < job.columns) {
      float sum = 0;
      for (int warp = 0; warp < 4; warp++)
        sum += kept[warp * TILE_COLUMNS + column];
      job.sums[(int64_t) (at.row / TILE_ROWS) * job.columns + at.column + column] = sum;
    }
}

/* Runs the epilogue of a tile piece by piece; the two pieces of the same columns are consecutive.
 * Sums are those of the rounded result. The bias of the next pieces is loaded before pieces are
 * stored: a load after them would wait for the stores. */
template <class T, After AFTER, bool KEEPS>
__device__ inline void
finish (
  const float (&sums)[2][96], const Maps &maps, const Job &job, const Share &share, float *vectors)
{
  int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  float columns[8] = {}, *kept = vectors + (1 + warp) * TILE_COLUMNS;
  const float *biases = vectors + 2 * (lane % 4);
  Bias bias = read_bias (biases);
#pragma unroll
  for (int number = 0; number < PIECES; number++) {
    Rounded rounded;
    uint32_t words[8];
    float v[16];
    if constexpr (Layout<AFTER>::READS)
      read_piece (words, job, share, number);
#pragma unroll
    for (int i = 0; i < 16; i++)
      v[i] = sums[number % 2][number / 2 * 16 + i];
    finish_piece<T, AFTER> (v, words, job.factor, bias);
    if (AFTER != After::GELU_BACKWARD && number % 2 && number + 1 < PIECES)
      bias = read_bias (biases + (number + 1) / 2 * PIECE_COLUMNS);
    if constexpr (AFTER == After::GELU) {
      if (KEEPS)
        round_piece<T> (rounded.aux, v);
#pragma unroll
      for (int i = 0; i < 16; i++)
        v[i] = quick_gelu (v[i]);
    }
    round_piece<T> (rounded.result, v);
    write_pieces<KEEPS> (rounded, maps, share, number);
    if (AFTER == After::GELU_BACKWARD && job.sums) {
      add_columns<T> (columns, rounded.result, share, number);
      if (number % 2)
        keep_sums (columns, kept + number / 2 * PIECE_COLUMNS);
    }
  }
}

} /* namespace lig */
