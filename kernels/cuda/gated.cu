/* SPDX-License-Identifier: MIT */
/* Gated units y = act (a) b (formulas.h), where a row of x [M, 2 N] is [a, b] and y is [M, N], with
 * or without a bias [2 N] that is added to x first, and their gradients. A thread processes the
 * same columns of both halves. */
#include "kernels/cuda/common/walk.cuh"
#include "kernels/cuda/gated-formulas.cuh"

namespace lig
{
namespace gated
{
#define EACH_UNIT(UNIT) LIG_EACH_GATED (UNIT) LIG_EACH_GATED_WITH_PARAMS (UNIT)

/* A unit that is selected at run time. */
struct AnyUnit {
  enum Kind {
#define KIND(name, ...) KIND_##name,
    EACH_UNIT (KIND)
#undef KIND
  } kind;
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
#define CASE(name, ...) \
  case KIND_##name: \
    return name (a, b, params);
      EACH_UNIT (CASE)
#undef CASE
    }
    return a;
  }
  __device__ void
  backward (float dy, float a, float b, float &da, float &db) const
  {
    switch (uncertain (kind)) {
#define CASE(name, backward_name, ...) \
  case KIND_##name: \
    return backward_name (dy, a, b, params, da, db);
      EACH_UNIT (CASE)
#undef CASE
    }
  }
};

#define UNIT(name, backward_name, ...) \
  struct name##_unit { \
    LigGatedParams params; \
    AnyUnit \
    any () const \
    { \
      return AnyUnit{AnyUnit::KIND_##name, params}; \
    } \
    __device__ float \
    operator() (float a, float b) const \
    { \
      return name (a, b, params); \
    } \
    __device__ void \
    backward (float dy, float a, float b, float &da, float &db) const \
    { \
      backward_name (dy, a, b, params, da, db); \
    } \
  };
EACH_UNIT (UNIT)
#undef UNIT

/* Adds its part of the bias to one half of a row, and rounds the sum as the formula must see it. */
template <class A>
__device__ inline void
add_half (const Target &sum, int64_t at, const float (&added)[A::W], float (&values)[A::W])
{
  add_row (values, added);
  typename A::Value rounded = A::narrow (values, sum);
  if (present (sum))
    A::write (sum, at, rounded);
  A::widen (rounded, sum, values);
}

/* Computes y [M, N] from x, or from sum = x + bias if BIASED; the sum and y may be absent. Without
 * a bias in registers, more rows of x are in flight. */
template <class A, bool BIASED, class F>
__global__ void
__launch_bounds__ (THREADS, 3)
  forward_each (Target x, Vector bias, Target sum, Target y, Walk w, int block, F f)
{
  wait_for_previous ();
  let_next_begin ();
  constexpr int W = A::W, DEPTH = BIASED ? 2 : 4;
  int64_t half = w.columns;
  Spot s = spot<W> (w);
  if (s.first >= s.end)
    return;
  int64_t apart = BIASED ? half : block, shift = BIASED ? 0 : gate_shift ((int) s.column, block);
  float gate_bias[W] = {}, linear_bias[W] = {};
  if (BIASED) {
    load_columns (bias, s.column, gate_bias);
    load_columns (bias, half + s.column, linear_bias);
  }
  for (int64_t row = s.first; row < s.end; row += DEPTH * s.step) {
    typename A::Value gate[DEPTH], linear[DEPTH];
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
      if (row + u * s.step < s.end) {
        int64_t at = (row + u * s.step) * 2 * half + s.column + shift;
        gate[u] = A::read (x, at);
        linear[u] = A::read (x, at + apart);
      }
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
      if (row + u * s.step < s.end) {
        int64_t to = (row + u * s.step) * half + s.column, at = to + (row + u * s.step) * half;
        float a[W], b[W];
        A::widen (gate[u], x, a);
        A::widen (linear[u], x, b);
        if (BIASED) {
          add_half<A> (sum, at, gate_bias, a);
          add_half<A> (sum, at + half, linear_bias, b);
        }
        if (present (y)) {
#pragma unroll
          for (int i = 0; i < W; i++)
            a[i] = f (a[i], b[i]);
          A::write (y, to, A::narrow (a, y));
        }
      }
  }
}

/* Replaces a and b of W columns of a row by their gradients. */
template <int W, class F>
__device__ inline void
turn_back (F f, const float (&dy)[W], float (&a)[W], float (&b)[W])
{
#pragma unroll
  for (int i = 0; i < W; i++) {
    float da, db;
    f.backward (dy[i], a[i], b[i], da, db);
    a[i] = da;
    b[i] = db;
  }
}

/* Computes only dx [M, 2 N]. */
template <class A, class F>
__global__ void
__launch_bounds__ (THREADS, 4)
  backward_each (Target dy, Target x, Target dx, Walk w, int block, F f)
{
  constexpr int W = A::W, DEPTH = depth<A> (3);
  int64_t half = w.columns;
  Spot s = spot<W> (w);
  int shift = gate_shift ((int) s.column, block);
  for (int64_t row = s.first; row < s.end; row += DEPTH * s.step) {
    typename A::Value gradient[DEPTH], gate[DEPTH], linear[DEPTH];
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
      if (row + u * s.step < s.end) {
        int64_t from = (row + u * s.step) * half + s.column;
        int64_t at = from + (row + u * s.step) * half + shift;
        gradient[u] = A::read (dy, from);
        gate[u] = A::read (x, at);
        linear[u] = A::read (x, at + block);
      }
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
      if (row + u * s.step < s.end) {
        int64_t at = (row + u * s.step) * 2 * half + s.column + shift;
        float g[W], a[W], b[W];
        A::widen (gradient[u], dy, g);
        A::widen (gate[u], x, a);
        A::widen (linear[u], x, b);
        turn_back (f, g, a, b);
        if (present (dx)) {
          A::write (dx, at, A::narrow (a, dx));
          A::write (dx, at + block, A::narrow (b, dx));
        }
      }
  }
}

/* Writes the rounded gradient of one half, and adds it to the sums. */
template <class A>
__device__ inline void
take_half (const Target &dx, int64_t at, float (&values)[A::W], float (&sums)[A::W])
{
  typename A::Value rounded = A::narrow (values, dx);
  if (present (dx))
    A::write (dx, at, rounded);
  A::widen (rounded, dx, values);
  add_row (sums, values);
}

/* Computes dx [M, 2 N] and its sums over rows. */
template <class A, class F>
__global__ void
__launch_bounds__ (THREADS, 4)
  backward_sums_each (Target dy, Target x, Target dx, Walk w, Sums to, F f)
{
  constexpr int W = A::W, DEPTH = A::W > 1 ? 3 : depth<A> (3);
  Spot s = spot<W> (w);
  float sums[2][W] = {};
  /* A row of x is twice as long as the walk's. Keeps the compiler from recomputing the offset for
   * each row. */
  int column = uncertain ((int) s.column);
  go_down<A, 3, DEPTH> (
    w, s,
    [&] (int64_t at, auto take) {
      int64_t gate = 2 * at - column;
      take (0, dy, at);
      take (1, x, gate);
      take (2, x, gate + w.columns);
    },
    [&] (int64_t at, const typename A::Value (&in)[3]) {
      float g[W], a[W], b[W];
      A::widen (in[0], dy, g);
      A::widen (in[1], x, a);
      A::widen (in[2], x, b);
      turn_back (f, g, a, b);
      take_half<A> (dx, 2 * at - column, a, sums[0]);
      take_half<A> (dx, 2 * at - column + w.columns, b, sums[1]);
    });
  finish_sums (w, to, sums);
}

/* Launches forward_each. */
template <bool BIASED, class F>
static LigStatus
launch_forward (LigLaunch *launch,
                const LigOperand *x,
                const LigOperand *bias,
                const LigOperand *sum,
                const LigOperand *y,
                F f)
{
  int64_t half = x->columns / 2, block = block_of (launch, half);
  if (x->size <= 0 || half <= 0)
    return LIG_OK;
  if (!blocks_fit (half, block))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_NO_DIVISOR);
  bool packs = packable ({x, sum, y}) && aligned (bias) && halves_pack (x, block);
  return dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    Walk w = plain_walk (launch, rows (x), half, A::W);
    dim3 grid = walk_grid (w, A::W);
    auto function = function_for<A> (f);
    return launch_early (launch, is_short (launch, (int64_t) grid.x * grid.y),
                         forward_each<A, BIASED, decltype (function)>, grid, dim3 (THREADS), 0, 1,
                         target (x), vector (bias), target_like (sum, x), target (y), w,
                         (int) block, function);
  });
}

/* Launches backward_each. */
template <class F>
static LigStatus
launch_backward (LigLaunch *launch, F f)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dx = &launch->operands[2];
  int64_t half = x->columns / 2, block = block_of (launch, half);
  if (x->size <= 0 || half <= 0)
    return LIG_OK;
  if (!blocks_fit (half, block))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_NO_DIVISOR);
  bool packs = packable ({x, dy, dx}) && halves_pack (x, block);
  return dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    Walk w = plain_walk (launch, rows (x), half, A::W);
    backward_each<A><<<walk_grid (w, A::W), THREADS, 0, stream (launch)>>> (
      target (dy), target (x), target_like (dx, x), w, (int) block, function_for<A> (f));
    return LIG_LAUNCHED (launch);
  });
}

/* Launches backward_sums_each, with the walk over whole rows that sum_rows () uses. */
template <class F>
static LigStatus
launch_backward_sums (LigLaunch *launch, const LigOperand *dbias, F f)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dx = &launch->operands[2];
  bool packs = packable ({x, dy, dx}) && halves_pack (x, x->columns / 2);
  Walk w = sum_walk (launch, rows (x), x->columns, x->dtype);
  w.columns = x->columns / 2;
  if (w.columns <= 0)
    return LIG_OK;
  Sums to = sums_to (launch, w, dbias);
  dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    backward_sums_each<A><<<walk_grid (w, A::W), THREADS, 0, stream (launch)>>> (
      target (dy), target (x), target_like (dx, x), w, to, function_for<A> (f));
    return LIG_OK;
  });
  return finish_walk (launch, w, to, dbias);
}

/* Returns the function for kernels with a bias. The few units that are used with a bias are
 * compiled separately; the others are selected at run time. */
template <class F>
static auto
with_bias (F f)
{
  if constexpr (std::is_same_v<F, geglu_unit> || std::is_same_v<F, swiglu_unit>)
    return f;
  else
    return f.any ();
}

static const LigOperand none = {};

/* Launches y = act (a) b. */
template <class F>
static LigStatus
forward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  if (!all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "gated unit: not a floating type; convert to fp32, fp16 or bf16");
  return launch_forward<false> (launch, &o[0], &none, &none, &o[1], F{gated_params (launch)});
}

/* Launches dx = [da, db]. */
template <class F>
static LigStatus
backward (LigLaunch *launch)
{
  if (!all_floating (launch, 3))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "gated unit: not a floating type; convert to fp32, fp16 or bf16");
  return launch_backward (launch, F{gated_params (launch)});
}

/* Launches sum = x + bias, and y from the sum. */
template <class F>
static LigStatus
bias_forward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  if (!all_floating (launch, 4))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "bias and gated unit: not a floating type; convert to fp32, fp16 or bf16");
  if (gated_params (launch).interleave > 0)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_INTERLEAVED);
  return launch_forward<true> (launch, &o[0], &o[1], &o[2], &o[3],
                               with_bias (F{gated_params (launch)}));
}

/* Launches dx, and, if present, dbias [2 N], the sum of the rounded dx over rows. */
template <class F>
static LigStatus
bias_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  if (!all_floating (launch, 4) || !sums_fit (o[1].columns))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "bias and gated unit: not a floating type, or more than 2^23 columns; convert "
                     "or reduce them");
  if (gated_params (launch).interleave > 0)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_INTERLEAVED);
  F f = {gated_params (launch)};
  return o[3].data ? launch_backward_sums (launch, &o[3], with_bias (f))
                   : launch_backward (launch, f);
}
} /* namespace gated */
} /* namespace lig */

using namespace lig;

#define KERNELS(name, backward_name, bias_name, bias_backward_name, ...) \
  extern "C" LigStatus lig_cuda_##name (LigLaunch *launch) \
  { \
    return gated::forward<gated::name##_unit> (launch); \
  } \
  extern "C" LigStatus lig_cuda_##backward_name (LigLaunch *launch) \
  { \
    return gated::backward<gated::name##_unit> (launch); \
  } \
  extern "C" LigStatus lig_cuda_##bias_name (LigLaunch *launch) \
  { \
    return gated::bias_forward<gated::name##_unit> (launch); \
  } \
  extern "C" LigStatus lig_cuda_##bias_backward_name (LigLaunch *launch) \
  { \
    return gated::bias_backward<gated::name##_unit> (launch); \
  }
EACH_UNIT (KERNELS)
