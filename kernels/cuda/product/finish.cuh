/* SPDX-License-Identifier: MIT */
/* The division of an own product (own.cu) into tiles, and what follows the product of a tile: its
 * warps finish it in pieces, each by way of shared memory of its own, so that they need no barrier
 * and memory is read and written in units of 16 bytes. */
#pragma once

#include "kernels/cuda/common/async-copy.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/product/warpgroup.cuh"

namespace lig
{
constexpr int TILE_ROWS = 128, TILE_COLUMNS = 192, TILE_DEPTH = 64, STAGES = 4, BLOCK = 384;
constexpr int LEFT_BYTES = TILE_ROWS * TILE_DEPTH * 2, RIGHT_BYTES = TILE_COLUMNS * TILE_DEPTH * 2;
constexpr int STAGE_BYTES = LEFT_BYTES + RIGHT_BYTES, CHUNK_BYTES = 64 * TILE_DEPTH * 2;
/* Each of the eight warps that finish tiles reads and writes pieces of 16 rows and 32 columns by
 * way of memory of its own: a ring of pieces to come, and the piece that is written. */
constexpr int PIECE_ROWS = 16, PIECE_COLUMNS = 32, AHEAD = 6;
constexpr int PIECE_BYTES = PIECE_ROWS * PIECE_COLUMNS * 2, WARP_BYTES = (AHEAD + 1) * PIECE_BYTES;
constexpr int PIECES = TILE_ROWS / 64 * (TILE_COLUMNS / PIECE_COLUMNS); /* of a warp, in a tile */

/* The fp32 vectors of a warpgroup: the bias of its tile, and the sums of each warp. */
constexpr int VECTORS = 5 * TILE_COLUMNS;
constexpr int VECTORS_AT = STAGES * STAGE_BYTES + 8 * WARP_BYTES;
/* A matrix of ones, [8, 16]. */
constexpr int ONES_AT = VECTORS_AT + 2 * VECTORS * 4, ONES_BYTES = 256;
constexpr int BARRIERS_AT = ONES_AT + ONES_BYTES;
constexpr int SHARED_BYTES = 1024 + BARRIERS_AT + 2 * STAGES * 8;

/* Pairs of tiles one below the other are walked in bands of this height, so that a band's part of
 * the left operand and the right one stay in the L2 cache. */
constexpr int BAND = 8;

/* The work after the product of a tile. */
enum class After { SUM, ADD, GELU, GELU_BACKWARD };

/* The maps of the operands. */
struct Maps {
  CUtensorMap left, right;
};

struct Job {
  int rows, columns, depth; /* of the result; of the product */
  int tall, wide;           /* pairs of tiles in a column, tiles in a row */
  float factor;
  Vector bias;
  const char *read; /* what is added, or the argument of gelu' */
  char *aux, *result;
  uint32_t stride;  /* of these three, in bytes */
  float *sums;      /* [2 tall, columns], one row per row of tiles; null: none */
  float *left_sums; /* [2 tall, depth], likewise of the left operand */
};

/* The first row and column of a tile. */
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

/* A lane's share of the pieces of its warp. Of row l / 4 + 8 h of a piece lane l computes the
 * columns 8 j + 2 (l % 4) and the next, as element 4 j + 2 h and the next: the order of the
 * products' sums. It reads and writes the unit of 16 bytes from column 8 (l % 4) on. In shared
 * memory, eight rows of the same unit, and the units of two rows, lie in different banks. */
struct Share {
  uint32_t offset;         /* of its unit in the tile's matrices, in bytes */
  int rows, columns;       /* from its unit to the end of the matrix */
  uint32_t unit, fragment; /* addresses of its unit, and of its row of matrices, in a piece */
};

__device__ inline Share
share_of (const Job &job, Corner tile, uint32_t memory)
{
  int lane = threadIdx.x % 32, row = tile.row + threadIdx.x % 128 / 32 * PIECE_ROWS + lane / 4;
  int column = tile.column + 8 * (lane % 4), bytes = PIECE_COLUMNS * 2;
  return Share{(uint32_t) row * job.stride + (uint32_t) column * 2, job.rows - row,
               job.columns - column, memory + lane / 4 * bytes + (lane % 4 ^ lane / 8) * 16,
               memory + lane % 16 * bytes + (lane / 16 ^ lane % 16 / 2 % 4) * 16};
}

/* Returns how far the unit of a piece is from that of the first piece, in bytes. */
__device__ inline uint32_t
offset_of (const Job &job, int number)
{
  return number % 2 * 64 * job.stride + number / 2 * PIECE_COLUMNS * 2;
}

/* Returns whether that unit, or the one 8 rows below, is inside of the matrix. */
__device__ inline bool
is_inside (const Share &share, int number, int below)
{
  return number % 2 * 64 + below < share.rows && number / 2 * PIECE_COLUMNS < share.columns;
}

/* Begins to copy a piece of the matrix that is read to its place in the ring. */
__device__ inline void
fetch_piece (const Job &job, const Share &share, int number)
{
  uint32_t to = share.unit + (1 + number % AHEAD) * PIECE_BYTES;
  const char *from = job.read + (share.offset + offset_of (job, number));
  if (number < PIECES) {
    copy_async (to, from, is_inside (share, number, 0));
    copy_async (to + PIECE_BYTES / 2, from + 8 * job.stride, is_inside (share, number, 8));
  }
  commit_copies ();
}

/* Reads a thread's elements of a piece that was fetched, and fetches a later one in its place. */
__device__ inline void
read_piece (uint32_t (&words)[8], const Job &job, const Share &share, int number)
{
  uint32_t from = share.fragment + (1 + number % AHEAD) * PIECE_BYTES;
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

/* Writes a rounded piece. */
__device__ inline void
write_piece (const uint32_t (&words)[8], char *to, const Job &job, const Share &share, int number)
{
  char *first = to + (share.offset + offset_of (job, number));
  __syncwarp ();
  write_matrices (share.fragment, words[0], words[1], words[2], words[3]);
  write_matrices (share.fragment ^ 32, words[4], words[5], words[6], words[7]);
  __syncwarp ();
  uint4 upper = read_unit (share.unit), lower = read_unit (share.unit + PIECE_BYTES / 2);
  write_unit (first, upper, is_inside (share, number, 0));
  write_unit (first + 8 * job.stride, lower, is_inside (share, number, 8));
}

/* Returns 2^x and 1 / x, with an error of few units in the last place. */
__device__ inline float
quick_power (float x)
{
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float
quick_inverse (float x)
{
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/* The factors of gelu in its tanh form (lig_gelu), x sigmoid (A x + B x^3), for powers of 2. */
constexpr float A = 1.5957691216f, B = 0.0713548162726f, LOG2_E = 1.44269504089f;

/* Returns gelu in few instructions: the tensor cores wait for a tile that is finished more slowly
 * than the next is multiplied. */
__device__ inline float
quick_gelu (float x)
{
  return x * quick_inverse (1 + quick_power (x * fmaf (-B * LOG2_E, x * x, -A * LOG2_E)));
}

/* Returns gelu' likewise. Beyond the limits it is 0 and 1; NaN remains. */
__device__ inline float
quick_gelu_slope (float x)
{
  asm("max.NaN.f32 %0, %0, 0fC1200000;\n\tmin.NaN.f32 %0, %0, 0f43480000;" : "+f"(x));
  float square = x * x;
  float power = quick_power (x * fmaf (-B * LOG2_E, square, -A * LOG2_E));
  float share = quick_inverse (1 + power), rise = x * fmaf (3 * B, square, A);
  return fmaf (rise * share, power * share, share);
}

/* Does what follows the product for a thread's elements of a piece; gelu keeps its argument. */
template <class T, After AFTER>
__device__ inline void
finish_piece (float (&v)[16], const uint32_t (&words)[8], float factor, const float *bias)
{
#pragma unroll
  for (int i = 0; i < 16; i += 2) {
    float2 read = {};
    if constexpr (AFTER == After::GELU_BACKWARD || AFTER == After::ADD)
      widen_pair<T> (words[i / 2], read.x, read.y);
    if constexpr (AFTER == After::GELU_BACKWARD) {
      v[i] = v[i] * factor * quick_gelu_slope (read.x);
      v[i + 1] = v[i + 1] * factor * quick_gelu_slope (read.y);
    } else {
      float2 add = *(const float2 *) (bias + 8 * (i / 4));
      v[i] = fmaf (v[i], factor, add.x + read.x);
      v[i + 1] = fmaf (v[i + 1], factor, add.y + read.y);
    }
  }
}

/* Adds up a warp's columns over its rows and keeps the sums in shared memory. */
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

/* Finishes a tile piece by piece; the two pieces of the same columns follow each other. Sums are
 * those of the result as it is rounded. */
template <class T, After AFTER>
__device__ inline void
finish (const float (&sums)[2][96], const Job &job, const Share &share, float *vectors)
{
  int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  float columns[8] = {}, *kept = vectors + (1 + warp) * TILE_COLUMNS;
#pragma unroll
  for (int number = 0; number < PIECES; number++) {
    int part = number / 2 * PIECE_COLUMNS;
    uint32_t words[8];
    float v[16];
    if constexpr (AFTER == After::GELU_BACKWARD || AFTER == After::ADD)
      read_piece (words, job, share, number);
#pragma unroll
    for (int i = 0; i < 16; i++)
      v[i] = sums[number % 2][number / 2 * 16 + i];
    finish_piece<T, AFTER> (v, words, job.factor, vectors + part + 2 * (lane % 4));
    if constexpr (AFTER == After::GELU) {
      round_piece<T> (words, v);
      if (job.aux)
        write_piece (words, job.aux, job, share, number);
#pragma unroll
      for (int i = 0; i < 16; i++)
        v[i] = quick_gelu (v[i]);
    }
    round_piece<T> (words, v);
    write_piece (words, job.result, job, share, number);
    if (AFTER == After::GELU_BACKWARD && job.sums) {
      /* Outside of the matrix, zeros may have been multiplied by infinities. */
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
      if (!first)
        keep_sums (columns, kept + part);
    }
  }
}

} /* namespace lig */
