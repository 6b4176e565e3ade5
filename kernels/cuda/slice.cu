/* SPDX-License-Identifier: MIT */
/* Extracts a slice of positions and columns from packed rows, and adds a slice to them. Lower
 * bound: each operand crosses the memory bus once. */
#include "kernels/cuda/common/access.cuh"
#include <ligature/params-positions.h>

namespace lig
{
/* Columns are counted in vectors of A::W elements: of all rows, and of the slice. */
struct Slice {
  int64_t length, first, count, column;
  int64_t all, columns;
};

/* Copies each vector of y. */
template <class A>
__global__ void
__launch_bounds__ (THREADS) copy_slice (Slice s, int64_t size, Target x, Target y)
{
  int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  if (i >= size)
    return;
  int64_t row = i / s.columns, from = row / s.count * s.length + s.first + row % s.count;
  int64_t element = from * s.all + s.column + i % s.columns;
  A::write (y, i * A::W, A::read (x, element * A::W));
}

/* Computes each vector of y. */
template <class A>
__global__ void
__launch_bounds__ (THREADS) add (Slice s, int64_t size, Target x, Target slice, Target y)
{
  int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  if (i >= size)
    return;
  int64_t row = i / s.all, place = row % s.length - s.first, column = i % s.all - s.column;
  float sums[A::W] = {};
  if (present (x))
    A::widen (A::read (x, i * A::W), x, sums);
  if (place >= 0 && place < s.count && column >= 0 && column < s.columns) {
    int64_t from = (row / s.length * s.count + place) * s.columns + column;
    float values[A::W];
    A::widen (A::read (slice, from * A::W), slice, values);
#pragma unroll
    for (int w = 0; w < A::W; w++)
      sums[w] += values[w];
  }
  A::write (y, i * A::W, A::narrow (sums, y));
}

static unsigned
blocks_of (int64_t units)
{
  return (unsigned) ((units + THREADS - 1) / THREADS);
}

/* Checks that the slice is within rows like those of `whole`. */
static LigStatus
check (LigLaunch *launch, int count, const LigOperand *whole, const LigOperand *slice)
{
  auto p = (const LigSliceParams *) launch->params;
  if (!all_floating (launch, count))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "slice: not a floating type; convert the input");
  if (!p || p->first < 0 || p->count < 1 || p->column < 0 || p->length < p->count ||
      p->first > p->length - p->count || p->column > whole->columns - slice->columns ||
      rows (whole) % p->length != 0 || rows (slice) != rows (whole) / p->length * p->count)
    return LIG_FAIL (launch, LIG_FAILED, "slice: it does not fit the rows; compile the plan again");
  return LIG_OK;
}

/* Returns whether the columns of both consist of whole vectors of `width` elements. */
static bool
whole_units (const LigSliceParams *p, const LigOperand *whole, const LigOperand *slice)
{
  int width = slice->dtype == LIG_FP32 ? 4 : 8;
  return whole->columns % width == 0 && slice->columns % width == 0 && p->column % width == 0;
}

static Slice
slice_of (const LigSliceParams *p, const LigOperand *whole, const LigOperand *slice, int width)
{
  return {p->length,
          p->first,
          p->count,
          p->column / width,
          whole->columns / width,
          slice->columns / width};
}
} /* namespace lig */

using namespace lig;

/* Copies the slice of x. */
extern "C" LigStatus
lig_cuda_slice (LigLaunch *launch)
{
  auto p = (const LigSliceParams *) launch->params;
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  LigStatus status = check (launch, 2, x, y);
  if (status != LIG_OK || y->size == 0)
    return status;
  if (x->dtype != y->dtype)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "slice: not one type; convert the input before it");
  bool packs = packable ({y, x}) && whole_units (p, x, y);
  return dispatch_access (launch, y->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    int64_t units = y->size / A::W;
    copy_slice<A><<<blocks_of (units), THREADS, 0, stream (launch)>>> (
      slice_of (p, x, y, A::W), units, target (x), target (y));
    return LIG_LAUNCHED (launch);
  });
}

/* Computes y. */
extern "C" LigStatus
lig_cuda_add_slice (LigLaunch *launch)
{
  auto p = (const LigSliceParams *) launch->params;
  const LigOperand *x = &launch->operands[0], *slice = &launch->operands[1],
                   *y = &launch->operands[2];
  LigStatus status = check (launch, 3, y, slice);
  if (status != LIG_OK || y->size == 0)
    return status;
  if (x->data && x->size != y->size)
    return LIG_FAIL (launch, LIG_FAILED, "slice: x and y differ in size; compile the plan again");
  bool packs = packable ({y, x, slice}) && whole_units (p, y, slice);
  return dispatch_access (launch, y->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    int64_t units = y->size / A::W;
    add<A><<<blocks_of (units), THREADS, 0, stream (launch)>>> (
      slice_of (p, y, slice, A::W), units, target (x), target (slice), target (y));
    return LIG_LAUNCHED (launch);
  });
}
