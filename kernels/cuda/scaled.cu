/* SPDX-License-Identifier: MIT */
/* Units whose output is multiplied by a number per row, y = scales[row] unit (x), and their
 * gradients. A row is processed by a team of threads, which also sums dscales: each thread its
 * columns in order, then the threads in a fixed order. Lower bound: each operand crosses the memory
 * bus once. */
#include "kernels/cuda/common/teams.cuh"
#include "kernels/cuda/gated.cuh"

namespace lig
{
namespace scaled
{
/* The units, each with PARTS parts of a row of x; an activation has no b. */
struct srelu_unit {
  static constexpr int PARTS = 1;
  LigGatedParams params;
  srelu_unit
  any () const
  {
    return *this;
  }
  __device__ float
  operator() (float a, float) const
  {
    return lig_srelu (a);
  }
  __device__ void
  backward (float dy, float a, float, float &da, float &) const
  {
    da = lig_srelu_backward (dy, a);
  }
};

struct identity_unit {
  static constexpr int PARTS = 1;
  LigGatedParams params;
  identity_unit
  any () const
  {
    return *this;
  }
  __device__ float
  operator() (float a, float) const
  {
    return a;
  }
  __device__ void
  backward (float dy, float, float, float &da, float &) const
  {
    da = dy;
  }
};

/* A unit of two parts that is selected at run time. */
struct AnyUnit {
  static constexpr int PARTS = 2;
  enum Kind { SWIGLU, CLAMPED_SWIGLU, SITU_GLU } kind;
  LigGatedParams params;
  AnyUnit
  any () const
  {
    return *this;
  }
  __device__ float
  operator() (float a, float b) const
  {
    switch (uncertain (kind)) {
    case CLAMPED_SWIGLU:
      return lig_clamped_swiglu (a, b, &params);
    case SITU_GLU:
      return lig_situ_glu (a, b, &params);
    default:
      return lig_swiglu (a, b);
    }
  }
  __device__ void
  backward (float dy, float a, float b, float &da, float &db) const
  {
    switch (uncertain (kind)) {
    case CLAMPED_SWIGLU:
      return lig_clamped_swiglu_backward (dy, a, b, &params, &da, &db);
    case SITU_GLU:
      return lig_situ_glu_backward (dy, a, b, &params, &da, &db);
    default:
      return lig_swiglu_backward (dy, a, b, &da, &db);
    }
  }
};

#define UNIT(name, number, ...) \
  struct name##_unit { \
    static constexpr int PARTS = 2; \
    LigGatedParams params; \
    AnyUnit \
    any () const \
    { \
      return AnyUnit{AnyUnit::number, params}; \
    } \
    __device__ float \
    operator() (float a, float b) const \
    { \
      return lig_##name (a, b __VA_ARGS__); \
    } \
    __device__ void \
    backward (float dy, float a, float b, float &da, float &db) const \
    { \
      lig_##name##_backward (dy, a, b __VA_ARGS__, &da, &db); \
    } \
  };
UNIT (swiglu, SWIGLU)
UNIT (clamped_swiglu, CLAMPED_SWIGLU, , &params)
UNIT (situ_glu, SITU_GLU, , &params)
#undef UNIT

/* The rows of a problem. */
struct Rows {
  int64_t rows, columns; /* of y */
  int block, lanes;      /* the columns of a block of a half; the threads of a team */
};

/* The packs of a row that a thread has in flight. */
enum { PACKS = 2 };

/* Returns the place in x of a column of a row, for a gated unit that of its gate. */
template <int PARTS>
__device__ inline int64_t
place_in_x (const Rows &r, int64_t row, int64_t column)
{
  return row * r.columns * PARTS + column + (PARTS > 1 ? gate_shift ((int) column, r.block) : 0);
}

/* Computes y. */
template <class A, class F>
__global__ void
__launch_bounds__ (MAX_THREADS) forward_rows (Target x, const float *scales, Target y, Rows r, F f)
{
  constexpr int W = A::W, PARTS = F::PARTS;
  int per_block = (int) blockDim.x / r.lanes, lane = (int) threadIdx.x & (r.lanes - 1);
  int64_t row = (int64_t) blockIdx.x * per_block + threadIdx.x / r.lanes;
  for (; row < r.rows; row += (int64_t) gridDim.x * per_block) {
    float scale = scales[row];
    for (int64_t first = (int64_t) lane * W; first < r.columns;
         first += (int64_t) r.lanes * W * PACKS) {
      typename A::Value in[PACKS][PARTS];
#pragma unroll
      for (int u = 0; u < PACKS; u++) {
        int64_t column = first + (int64_t) u * r.lanes * W;
        if (column < r.columns)
#pragma unroll
          for (int p = 0; p < PARTS; p++)
            in[u][p] = A::read (x, place_in_x<PARTS> (r, row, column) + p * r.block);
      }
#pragma unroll
      for (int u = 0; u < PACKS; u++) {
        int64_t column = first + (int64_t) u * r.lanes * W;
        if (column < r.columns) {
          float a[W], b[W];
          A::widen (in[u][0], x, a);
          A::widen (in[u][PARTS - 1], x, b);
#pragma unroll
          for (int i = 0; i < W; i++)
            a[i] = f (a[i], b[i]) * scale;
          A::write (y, row * r.columns + column, A::narrow (a, y));
        }
      }
    }
  }
}

/* Replaces a and b by their gradients, and returns the part of the columns in dscales. */
template <int W, class F>
__device__ inline float
turn_back (F f, const float (&dy)[W], float scale, float (&a)[W], float (&b)[W])
{
  float sum = 0;
#pragma unroll
  for (int i = 0; i < W; i++) {
    float da, db = 0;
    sum += dy[i] * f (a[i], b[i]);
    f.backward (dy[i] * scale, a[i], b[i], da, db);
    a[i] = da;
    b[i] = db;
  }
  return sum;
}

/* Computes dx and dscales; each may be absent. A team that has no row left computes the last one
 * again, without writing it: all threads of a warp take part in the sums. */
template <class A, bool WHOLE, class F>
__global__ void
__launch_bounds__ (MAX_THREADS)
  backward_rows (Target dy, Target x, const float *scales, Target dx, float *dscales, Rows r, F f)
{
  constexpr int W = A::W, PARTS = F::PARTS;
  int per_block = WHOLE ? 1 : (int) blockDim.x / r.lanes;
  int lane = (int) threadIdx.x & (r.lanes - 1);
  for (int64_t base = (int64_t) blockIdx.x * per_block; base < r.rows;
       base += (int64_t) gridDim.x * per_block) {
    int64_t row = base + (WHOLE ? 0 : threadIdx.x / r.lanes);
    bool own = row < r.rows;
    float scale = own ? scales[row] : 0, sum = 0;
    for (int64_t column = (int64_t) lane * W; own && column < r.columns;
         column += (int64_t) r.lanes * W) {
      int64_t at = place_in_x<PARTS> (r, row, column);
      typename A::Value gradient = A::read (dy, row * r.columns + column), in[PARTS];
#pragma unroll
      for (int p = 0; p < PARTS; p++)
        in[p] = A::read (x, at + p * r.block);
      float g[W], a[W], b[W];
      A::widen (gradient, dy, g);
      A::widen (in[0], x, a);
      A::widen (in[PARTS - 1], x, b);
      sum += turn_back (f, g, scale, a, b);
      if (present (dx)) {
        A::write (dx, at, A::narrow (a, dx));
        if (PARTS > 1)
          A::write (dx, at + r.block, A::narrow (b, dx));
      }
    }
    if (dscales) {
      sum = fold_team<WHOLE> (sum, r.lanes, 0, Sum{});
      if (lane == 0 && own)
        dscales[row] = sum;
    }
  }
}

/* Returns whether the types and shapes are supported, and sets the rows. */
static LigStatus
prepare (LigLaunch *launch, const LigOperand *x, const LigOperand *scales, int parts, Rows *r)
{
  int64_t columns = x->columns / parts;
  *r = Rows{rows (x), columns, 0, 1};
  if (!lig_dtype_is_floating (x->dtype) || scales->dtype != LIG_FP32)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "scaled unit: not a floating type, or scales that are not fp32; convert them");
  int64_t block = parts > 1 ? block_of (launch, columns) : columns;
  if (columns <= 0 || columns > INT32_MAX || !blocks_fit (columns, block))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_NO_DIVISOR);
  r->block = (int) block;
  return LIG_OK;
}

/* Launches y = scales[row] unit (x). */
template <class F>
static LigStatus
forward (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *scales = &launch->operands[1];
  const LigOperand *y = &launch->operands[2];
  Rows r;
  if (x->size <= 0)
    return LIG_OK;
  LigStatus status = prepare (launch, x, scales, F::PARTS, &r);
  if (status != LIG_OK)
    return status;
  bool packs = packable ({x, y}) && halves_pack (x, r.block);
  F f = {gated_params (launch)};
  return dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    Teams t = teams_for (launch, r.rows, r.columns, A::W, false);
    Rows with = r;
    with.lanes = t.whole ? t.threads : t.lanes;
    forward_rows<A><<<t.blocks, t.threads, 0, stream (launch)>>> (
      target (x), (const float *) scales->data, target (y), with, function_for<A> (f));
    return LIG_LAUNCHED (launch);
  });
}

/* Launches dx and dscales. */
template <class F>
static LigStatus
backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *dy = &o[0], *x = &o[1], *scales = &o[2];
  const LigOperand *dx = &o[3], *dscales = &o[4];
  Rows r;
  if (x->size <= 0)
    return LIG_OK;
  LigStatus status = prepare (launch, x, scales, F::PARTS, &r);
  if (status != LIG_OK)
    return status;
  if (!lig_dtype_is_floating (dy->dtype) || (dscales->data && dscales->dtype != LIG_FP32))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "scaled unit: not a floating type, or scales that are not fp32; convert them");
  bool packs = packable ({x, dy, dx}) && halves_pack (x, r.block);
  F f = {gated_params (launch)};
  return dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    Teams t = teams_for (launch, r.rows, r.columns, A::W, false);
    Rows with = r;
    with.lanes = t.whole ? t.threads : t.lanes;
    auto function = function_for<A> (f);
    auto kernel = t.whole ? backward_rows<A, true, decltype (function)>
                          : backward_rows<A, false, decltype (function)>;
    kernel<<<t.blocks, t.threads, 0, stream (launch)>>> (
      target (dy), target (x), (const float *) scales->data, target_like (dx, x),
      (float *) dscales->data, with, function);
    return LIG_LAUNCHED (launch);
  });
}
} /* namespace scaled */
} /* namespace lig */

using namespace lig;

#define KERNELS(name, backward_name, unit, ...) \
  extern "C" LigStatus lig_cuda_##name (LigLaunch *launch) \
  { \
    return scaled::forward<scaled::unit##_unit> (launch); \
  } \
  extern "C" LigStatus lig_cuda_##backward_name (LigLaunch *launch) \
  { \
    return scaled::backward<scaled::unit##_unit> (launch); \
  }
LIG_EACH_SCALED (KERNELS)
