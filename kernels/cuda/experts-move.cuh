/* SPDX-License-Identifier: MIT */
/* The rows of tokens and the places of their copies. A warp moves the rows of a token. */
#pragma once

#include "kernels/cuda/experts.cuh"

namespace lig
{
/* The warps of a threadblock that moves rows. */
enum { MOVERS = THREADS / 32 };

/* Rows of `units` units of type U, and the choices of each token. */
struct Move {
  const int32_t *places;
  int64_t tokens, units, rows; /* the rows that places name */
  int top_k;
  __device__ int64_t
  place (int64_t token, int j) const
  {
    int64_t place = places[token * top_k + j];
    return place < rows ? place : -1;
  }
};

/* Returns the threadblocks that process tokens or groups of rows, one per warp. */
static inline int
movers (const LigLaunch *launch, int64_t items)
{
  return blocks_for (launch, items, MOVERS, 1 << 12);
}

/* Returns the rows that places name, and the tokens that have them. */
static inline Move
move_of (const LigOperand *places, const void *data, int64_t tokens, int64_t rows)
{
  Move move = {};
  move.places = (const int32_t *) data;
  move.tokens = tokens;
  move.top_k = (int) (tokens > 0 ? places->size / tokens : 0);
  move.rows = rows;
  return move;
}
} /* namespace lig */
