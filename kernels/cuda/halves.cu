/* SPDX-License-Identifier: MIT */
/* Moves blocks of tokens: the two blocks of a rank, and the blocks of all ranks in sequence order.
 * Lower bound: each operand crosses the memory bus once. */
#include "kernels/cuda/common/access.cuh"
#include "kernels/positions.h"
#include <ligature/params-positions.h>

namespace lig
{
/* Columns are counted in vectors of A::W elements. */
struct Halves {
  int64_t size, length, columns, part;
};

/* The pieces of x: its two halves, and the columns after theirs. */
struct Pieces {
  Target first, second, rest;
};

/* Copies each vector out of x, or into it; a vector without a source is 0. */
template <class A, bool JOINS>
__global__ void
__launch_bounds__ (THREADS) move_halves (Halves h, Target x, Pieces pieces)
{
  int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  if (i >= h.size)
    return;
  int64_t row = i / h.columns, column = i % h.columns, half = h.length / 2, at = row % h.length;
  bool aside = column >= h.part;
  int64_t place = aside ? row * (h.columns - h.part) + column - h.part
                        : (row / h.length * half + at % half) * h.part + column;
  const Target &piece = aside ? pieces.rest : at < half ? pieces.first : pieces.second;
  bool there = piece.data != nullptr;
  if (JOINS)
    A::write (x, i * A::W, there ? A::read (piece, place * A::W) : typename A::Value{});
  else if (there)
    A::write (piece, place * A::W, A::read (x, i * A::W));
}

/* Copies each vector of one result to its place. */
template <class A>
__global__ void
__launch_bounds__ (THREADS)
  arrange (LigArrangeParams p, int64_t batch, int64_t columns, int64_t reach, Target x, Target y)
{
  int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  if (i >= batch * reach * columns)
    return;
  int64_t row = i / columns / reach, position = i / columns % reach;
  int64_t from = lig_block_source (row, batch, position, p.length, p.ranks);
  A::write (y, i * A::W, A::read (x, (from * columns + i % columns) * A::W));
}

/* Sums the gradients of a vector of x. */
template <class A>
__global__ void
__launch_bounds__ (THREADS) arrange_back (
  LigArrangeParams p, int64_t batch, int64_t columns, Target early, Target late, Target dx)
{
  int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x, length = p.length * p.ranks;
  if (i >= batch * length * columns)
    return;
  int64_t row = i / columns / length, position = i / columns % length;
  int64_t to = lig_block_source (row, batch, position, p.length, p.ranks);
  float sums[A::W] = {};
  for (int second = 0; second < 2; second++) {
    const Target &dy = second ? late : early;
    int64_t reach = lig_block_reach (p.length, p.ranks, p.rank, p.causal, second);
    if (!dy.data || position >= reach)
      continue;
    float values[A::W];
    A::widen (A::read (dy, ((row * reach + position) * columns + i % columns) * A::W), dy, values);
#pragma unroll
    for (int w = 0; w < A::W; w++)
      sums[w] += values[w];
  }
  A::write (dx, (to * columns + i % columns) * A::W, A::narrow (sums, dx));
}

static unsigned
blocks_of (int64_t units)
{
  return (unsigned) ((units + THREADS - 1) / THREADS);
}

static LigStatus
reject (LigLaunch *launch)
{
  return LIG_FAIL (launch, LIG_FAILED,
                   "halves: the rows do not fit the positions; compile the plan again");
}

/* Checks that all operands that are present have the type of x, and that kernels compute in it. */
static bool
one_type (const LigLaunch *launch, int count, const LigOperand *x)
{
  for (int i = 0; i < count; i++)
    if (launch->operands[i].data && launch->operands[i].dtype != x->dtype)
      return false;
  return lig_dtype_is_floating (x->dtype);
}

template <bool JOINS>
static LigStatus
move (LigLaunch *launch)
{
  const LigHalvesParams *p = (const LigHalvesParams *) launch->params;
  const LigOperand *x = &launch->operands[JOINS ? 3 : 0], *o = &launch->operands[JOINS ? 0 : 1];
  if (x->size == 0)
    return LIG_OK;
  if (!p || p->length < 2 || p->length % 2 != 0 || p->columns < 1 || p->columns > x->columns ||
      rows (x) % p->length != 0 || !one_type (launch, 4, x))
    return reject (launch);
  int width = x->dtype == LIG_FP32 ? 4 : 8;
  bool packs =
    packable ({x, &o[0], &o[1], &o[2]}) && x->columns % width == 0 && p->columns % width == 0;
  return dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    Halves h = {x->size / A::W, p->length, x->columns / A::W, p->columns / A::W};
    Pieces pieces = {target (&o[0]), target (&o[1]), target (&o[2])};
    move_halves<A, JOINS>
      <<<blocks_of (h.size), THREADS, 0, stream (launch)>>> (h, target (x), pieces);
    return LIG_LAUNCHED (launch);
  });
}

/* Returns the number of rows of the batch over all ranks, or 0 if the params do not fit. */
static int64_t
count_batch (const LigArrangeParams *p, const LigOperand *all)
{
  if (!p || p->length < 2 || p->length % 2 != 0 || p->ranks < 1 || p->rank < 0 ||
      p->rank >= p->ranks || rows (all) % (p->length * p->ranks) != 0)
    return 0;
  return rows (all) / (p->length * p->ranks);
}
} /* namespace lig */

using namespace lig;

/* Splits the rows of x. */
extern "C" LigStatus
lig_cuda_split_halves (LigLaunch *launch)
{
  return lig::move<false> (launch);
}

/* Joins the rows of x. */
extern "C" LigStatus
lig_cuda_join_halves (LigLaunch *launch)
{
  return lig::move<true> (launch);
}

/* Computes y and second. */
extern "C" LigStatus
lig_cuda_arrange_halves (LigLaunch *launch)
{
  const LigArrangeParams *p = (const LigArrangeParams *) launch->params;
  const LigOperand *x = &launch->operands[0];
  int64_t batch = count_batch (p, x);
  LigStatus status = LIG_OK;
  if (x->size == 0)
    return LIG_OK;
  if (batch == 0 || !one_type (launch, 3, x))
    return reject (launch);
  for (int late = 0; late < 2 && status == LIG_OK; late++) {
    const LigOperand *y = &launch->operands[1 + late];
    int64_t reach = lig_block_reach (p->length, p->ranks, p->rank, p->causal, late);
    bool packs = packable ({x, y}) && x->columns % (x->dtype == LIG_FP32 ? 4 : 8) == 0;
    if (!y->data)
      continue;
    status = dispatch_access (launch, x->dtype, packs, [=] (auto access) {
      using A = decltype (access);
      int64_t columns = x->columns / A::W;
      arrange<A><<<blocks_of (batch * reach * columns), THREADS, 0, stream (launch)>>> (
        *p, batch, columns, reach, target (x), target (y));
      return LIG_LAUNCHED (launch);
    });
  }
  return status;
}

/* Computes dx. */
extern "C" LigStatus
lig_cuda_arrange_halves_backward (LigLaunch *launch)
{
  const LigArrangeParams *p = (const LigArrangeParams *) launch->params;
  const LigOperand *o = launch->operands, *dx = &o[2];
  int64_t batch = count_batch (p, dx);
  if (dx->size == 0)
    return LIG_OK;
  if (batch == 0 || !one_type (launch, 3, dx))
    return reject (launch);
  bool packs = packable ({dx, &o[0], &o[1]}) && dx->columns % (dx->dtype == LIG_FP32 ? 4 : 8) == 0;
  return dispatch_access (launch, dx->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    int64_t columns = dx->columns / A::W, units = batch * p->length * p->ranks * columns;
    arrange_back<A><<<blocks_of (units), THREADS, 0, stream (launch)>>> (
      *p, batch, columns, target (&o[0]), target (&o[1]), target (dx));
    return LIG_LAUNCHED (launch);
  });
}
