/* SPDX-License-Identifier: MIT */
/* Position embedding: y = x + weight[r % T] for row r; and its gradient, the sum of dy over the
 * rows of each position, in the order of the batch. Lower bound: each operand crosses the memory
 * bus once. */
#include "kernels/cuda/common/walk.cuh"
#include "kernels/cuda/embedding.cuh"

namespace lig
{
/* The first position of each sequence, null: 0, and the number of rows of the table. */
struct Starts {
  const int32_t *data;
  int64_t rows;
  /* Returns the element of the table that is added to an element of x. */
  __device__ int64_t
  place (int64_t at, int64_t columns, int64_t length) const
  {
    int64_t row = at / columns, position = data[row / length] + row % length;
    position = position < 0 ? 0 : position < rows ? position : rows - 1;
    return position * columns + at % columns;
  }
};

/* Adds the rows of the table, `table` elements in all, to the positions of each row of the
 * batch. */
template <class A>
__global__ void
__launch_bounds__ (THREADS) add_positions (Target x,
                                           Vector weight,
                                           Target y,
                                           int64_t size,
                                           int64_t columns,
                                           LigPositionParams p,
                                           Starts starts)
{
  constexpr int W = A::W, DEPTH = depth<A> (2);
  int64_t table = p.length * columns;
  typename A::Value in[DEPTH];
  int64_t base = ((int64_t) blockIdx.x * DEPTH * THREADS + threadIdx.x) * W;
#pragma unroll
  for (int u = 0; u < DEPTH; u++)
    if (base + u * THREADS * W < size)
      in[u] = A::read (x, base + u * THREADS * W);
#pragma unroll
  for (int u = 0; u < DEPTH; u++)
    if (base + u * THREADS * W < size) {
      int64_t at = base + u * THREADS * W;
      float values[W], shift[W];
      A::widen (in[u], x, values);
      int64_t place = starts.data ? starts.place (at, columns, p.length)
                                  : lig_position (at % table, table, p.ranks, p.rank);
      load_columns<W> (weight, place, shift);
#pragma unroll
      for (int i = 0; i < W; i++)
        values[i] += shift[i];
      A::write (y, at, A::narrow (values, y));
    }
}

/* Sums over the batch in order. A thread has W elements of the table; those from `table` on have no
 * gradient. */
template <class A>
__global__ void
__launch_bounds__ (THREADS) sum_positions (Target dy,
                                           Target dweight,
                                           int64_t batch,
                                           int64_t columns,
                                           LigPositionParams p,
                                           int64_t size,
                                           bool accumulate)
{
  constexpr int W = A::W, DEPTH = 4;
  int64_t at = ((int64_t) blockIdx.x * THREADS + threadIdx.x) * W, table = p.length * columns;
  int64_t place = lig_position_place (at, table, p.ranks, p.rank);
  float sums[W] = {};
  for (int64_t b = 0; b < batch && place >= 0; b += DEPTH) {
    typename A::Value in[DEPTH];
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
      if (b + u < batch)
        in[u] = A::read (dy, (b + u) * table + place);
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
      if (b + u < batch) {
        float values[W];
        A::widen (in[u], dy, values);
#pragma unroll
        for (int i = 0; i < W; i++)
          sums[i] += values[i];
      }
  }
#pragma unroll
  for (int i = 0; i < W; i++)
    if (at + i < size && (place >= 0 || !accumulate))
      dweight.set (at + i, accumulate ? dweight.get (at + i) + sums[i] : sums[i]);
}
} /* namespace lig */

using namespace lig;

static LigStatus
add (LigLaunch *launch, const int32_t *starts, const LigOperand *y)
{
  const LigOperand *x = &launch->operands[0], *weight = &launch->operands[1];
  if (!all_floating (launch, 2) || !lig_dtype_is_floating (y->dtype))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "position-embedding: not a floating type; convert to fp32, fp16 or bf16");
  LigPositionParams p = positions_of (launch, x, weight);
  if (p.length == 0)
    return LIG_FAILED;
  Starts begin = {starts, rows (weight)};
  bool packs =
    packable ({x, y}) && aligned (weight) && x->columns % (x->dtype == LIG_FP32 ? 4 : 8) == 0;
  return dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    int64_t part = (int64_t) depth<A> (2) * THREADS * A::W, blocks = (x->size + part - 1) / part;
    add_positions<A><<<(unsigned) blocks, THREADS, 0, stream (launch)>>> (
      target (x), vector (weight), target (y), x->size, x->columns, p, begin);
    return LIG_LAUNCHED (launch);
  });
}

/* Computes y = x + weight[row % T]. */
extern "C" LigStatus
lig_cuda_position_embedding (LigLaunch *launch)
{
  return add (launch, nullptr, &launch->operands[2]);
}

/* Computes the same for sequences that begin at other positions than 0. */
extern "C" LigStatus
lig_cuda_position_embedding_at (LigLaunch *launch)
{
  return add (launch, (const int32_t *) launch->operands[2].data, &launch->operands[3]);
}

/* Computes dweight, the sum of dy over the rows of the batch. */
extern "C" LigStatus
lig_cuda_position_embedding_backward (LigLaunch *launch)
{
  const LigOperand *dy = &launch->operands[0], *dweight = &launch->operands[1];
  if (!all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "position-embedding: not a floating type; convert to fp32, fp16 or bf16");
  LigPositionParams p = positions_of (launch, dy, dweight);
  if (p.length == 0)
    return LIG_FAILED;
  bool packs = aligned (dy) && dy->columns % (dy->dtype == LIG_FP32 ? 4 : 8) == 0;
  bool accumulate = launch->accumulate;
  int64_t batch = rows (dy) / p.length, columns = dy->columns;
  return dispatch_access (launch, dy->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    int64_t blocks = (dweight->size + THREADS * A::W - 1) / (THREADS * A::W);
    sum_positions<A><<<(unsigned) blocks, THREADS, 0, stream (launch)>>> (
      target (dy), target (dweight), batch, columns, p, dweight->size, accumulate);
    return LIG_LAUNCHED (launch);
  });
}
