/* SPDX-License-Identifier: MIT */
/* The sharding of a sequence over context parallel ranks: of 2 n equal blocks, rank r of n has the
 * blocks r and 2 n - 1 - r, in this order. */
#pragma once

#include "kernels/formulas.h"

/* Returns the position in the whole sequence of this rank's token `at` of `length`. */
LIG_FORMULA int64_t
lig_position (int64_t at, int64_t length, int32_t ranks, int32_t rank)
{
  int64_t half = length / 2;
  if (ranks < 2)
    return at;
  return at + (at < half ? rank * half : (2 * ranks - 2 - rank) * half);
}

/* Returns the inverse of lig_position(), or -1 if another rank has the position. */
LIG_FORMULA int64_t
lig_position_place (int64_t position, int64_t length, int32_t ranks, int32_t rank)
{
  int64_t half = length / 2, early = rank * half, late = (2 * ranks - 1 - rank) * half;
  if (ranks < 2)
    return position < length ? position : -1;
  if (position >= early && position < early + half)
    return position - early;
  return position >= late && position < late + half ? position - late + half : -1;
}

/* Returns the index of a rank's block in the whole sequence: its second block if `late`. */
LIG_FORMULA int64_t
lig_block_number (int32_t ranks, int32_t rank, bool late)
{
  return late ? 2 * ranks - 1 - rank : rank;
}

/* Returns the number of positions that the queries of a block may see. */
LIG_FORMULA int64_t
lig_block_reach (int64_t length, int32_t ranks, int32_t rank, bool causal, bool late)
{
  return length / 2 * (causal ? lig_block_number (ranks, rank, late) + 1 : 2 * ranks);
}

/* Returns the row of the gathered rows of all ranks, [ranks, batch, length], that has a given
 * position of row `row` of the batch. */
LIG_FORMULA int64_t
lig_block_source (int64_t row, int64_t batch, int64_t position, int64_t length, int32_t ranks)
{
  int64_t half = length / 2, block = position / half, from = position % half;
  bool late = block >= ranks;
  int64_t rank = late ? 2 * ranks - 1 - block : block;
  return (rank * batch + row) * length + (late ? half : 0) + from;
}
