/* SPDX-License-Identifier: MIT */
/* The gradients' norm and the optimizers, over whole arenas; kernels/cpu/optimizer.c has the
 * formulas. Lower bound: each array crosses the memory bus once in each direction. Each threadblock
 * reads the values that change from step to step from the tick, in device memory. */
#include "kernels/cuda/common/cuda.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/scaling.h"
#include <ligature/params-optimizer.h>

namespace lig
{
/* A thread keeps UPDATE_UNROLL chunks of W elements in registers; with UPDATE_BLOCKS threadblocks
 * per SM enough bytes are in flight. */
enum { NORM_UNROLL = 4, UPDATE_UNROLL = 2, UPDATE_BLOCKS = 4, W = 4 };
/* The number of elements up to which a single threadblock, and so a single launch, computes the
 * norm. */
enum { NORM_ALONE = 1 << 15, NORM_MAX_THREADS = 1024 };

/* Adds squares in double precision, because those of large gradients overflow floats. */
template <class T, int N>
__device__ inline void
add_squares (const Chunk<T, N> &chunk, double &sum)
{
  float values[N];
  unpack (chunk, values);
#pragma unroll
  for (int i = 0; i < N; i++)
    sum = fma ((double) values[i], (double) values[i], sum);
}

/* The destination of a norm. One thread updates the fields of the scaling. */
struct NormTarget {
  Target norm;
  LigScaling *scaling; /* null: no loss scaling */
  bool dynamic;
  __device__ void
  operator() (double squares) const
  {
    float length = (float) sqrt (squares);
    if (scaling)
      length = lig_scaling_take_norm (scaling, length, dynamic);
    if (norm.data)
      norm.set (0, length);
  }
};

/* Computes y = factor x, and records the factor that the gradients now carry. */
__global__ void
__launch_bounds__ (THREADS)
  scale_each (Target x, Target y, int64_t size, LigScaling *scaling, float fixed)
{
  int64_t at = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  float factor = fixed > 0 ? fixed : scaling ? scaling->scale : 1.0f;
  if (at == 0 && scaling)
    scaling->carried = factor;
  for (; y.data && at < size; at += (int64_t) gridDim.x * THREADS)
    y.set (at, factor * x.get (at));
}

/* Computes a threadblock's sum of squares; if it is the only threadblock, the norm itself. */
template <class T, bool PACKED>
__global__ void
__launch_bounds__ (NORM_MAX_THREADS)
  sum_squares (const T *values, int64_t size, double *partials, NormTarget norm)
{
  constexpr int N = PACKED ? wide<T> : 1;
  int64_t chunks = size / N, step = (int64_t) gridDim.x * blockDim.x;
  int64_t first = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  double sums[NORM_UNROLL] = {};
  for (int64_t at = first; at < chunks; at += step * NORM_UNROLL) {
    Chunk<T, N> chunk[NORM_UNROLL];
#pragma unroll
    for (int u = 0; u < NORM_UNROLL; u++)
      if (at + u * step < chunks)
        chunk[u] = load_chunk<N> (values + (at + u * step) * N);
#pragma unroll
    for (int u = 0; u < NORM_UNROLL; u++)
      if (at + u * step < chunks)
        add_squares (chunk[u], sums[u]);
  }
  if (chunks * N + first < size)
    add_squares (load_chunk<1> (values + chunks * N + first), sums[0]);
  double total = block_total ((sums[0] + sums[1]) + (sums[2] + sums[3]));
  if (threadIdx.x > 0)
    return;
  if (gridDim.x == 1)
    norm (total);
  else
    partials[blockIdx.x] = total;
}

/* The scalars of an update, derived from the tick, the norm and the scaling. */
struct Scalars {
  bool writes;    /* false if the norm is not finite */
  float clip;     /* the factor of the gradients */
  float keep;     /* adamw: the factor of a weight after decay */
  float rate;     /* the learning rate; adamw: over 1 - beta1^t */
  float variance; /* adamw: 1 / sqrt (1 - beta2^t) */
};

/* The operands from which these scalars are derived. */
struct Sources {
  const LigTick *tick;
  Vector norm;
  const LigScaling *scaling; /* null: gradients carry no factor, and no update was skipped */
  __device__ bool
  is_finite () const
  {
    return !norm.data || isfinite (norm[0]);
  }
  __device__ float
  factor () const
  {
    float clip = tick->clip_norm, length = norm.data ? norm[0] : 0.0f;
    float share = clip > 0 && length > clip ? clip / length : 1.0f;
    return scaling ? share / scaling->carried : share;
  }
};

/* Returns base^exponent by repeated squaring, which is fast, and accurate enough to be subtracted
 * from 1. */
__device__ inline double
power (double base, uint64_t exponent)
{
  double result = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

/* The rule of sgd: p -= rate (momentum m + clip g + decay p), where the parenthesis is the new m.
 * Without a momentum arena (no STATES) m is not kept. */
template <int STATES> struct Sgd {
  static constexpr int states = STATES;
  LigSgdParams params;
  __device__ Scalars
  scalars (const Sources &from) const
  {
    return {from.is_finite (), from.factor (), 1, from.tick->learning_rate, 1};
  }
  __device__ void
  apply (const Scalars &s, float g, float &p, float *state) const
  {
    float step = s.clip * g + params.weight_decay * p;
    if (STATES)
      step = state[0] = params.momentum * state[0] + step;
    p -= s.rate * step;
  }
};

struct Adamw {
  static constexpr int states = 2;
  LigAdamwParams params;
  /* Computes the scalars of an update. A whole warp calls it: odd lanes compute the power of beta2,
   * even ones that of beta1. */
  __device__ Scalars
  scalars (const Sources &from) const
  {
    double beta = (double) (threadIdx.x & 1 ? params.beta2 : params.beta1);
    double rest = 1 - power (beta, lig_scaling_count (from.scaling, from.tick->step));
    double rate = (double) from.tick->learning_rate;
    double rest1 = __shfl_sync (0xffffffffu, rest, 0), rest2 = __shfl_sync (0xffffffffu, rest, 1);
    return {from.is_finite (), from.factor (), (float) (1 - rate * (double) params.weight_decay),
            (float) (rate / rest1), (float) (1 / sqrt (rest2))};
  }
  __device__ void
  apply (const Scalars &s, float g, float &p, float *state) const
  {
    float gradient = s.clip * g;
    state[0] = params.beta1 * state[0] + (1 - params.beta1) * gradient;
    state[1] = params.beta2 * state[1] + (1 - params.beta2) * (gradient * gradient);
    p = s.keep * p - s.rate * state[0] / (sqrtf (state[1]) * s.variance + params.eps);
  }
};

/* Returns the threadblock's scalars, which its first warp computes. */
template <class Rule>
__device__ inline Scalars
shared_scalars (const Rule &rule, const Sources &from)
{
  __shared__ Scalars shared;
  if (threadIdx.x < 32) {
    Scalars scalars = rule.scalars (from);
    if (threadIdx.x == 0)
      shared = scalars;
  }
  __syncthreads ();
  return shared;
}

/* The arrays of one update. States and master are fp32; G is the gradients' type. */
template <class T, class G> struct Arena {
  const G *gradients;
  T *parameters; /* null: only the master is kept */
  float *states[2];
  float *master; /* null: the parameters are the weights */
};

/* N elements of each array, in registers. */
template <class T, class G, class Rule, bool MASTER, int N> struct Piece {
  Chunk<G, N> gradients;
  Chunk<T, N> parameters;
  Chunk<float, N> states[Rule::states ? Rule::states : 1], master;
  __device__ void
  load (const Arena<T, G> &arena, int64_t at)
  {
    gradients = load_chunk<N> (arena.gradients + at);
    if (MASTER)
      master = load_chunk<N> (arena.master + at);
    else
      parameters = load_chunk<N> (arena.parameters + at);
#pragma unroll
    for (int s = 0; s < Rule::states; s++)
      states[s] = load_chunk<N> (arena.states[s] + at);
  }
  __device__ void
  update (const Rule &rule, const Scalars &scalars)
  {
    float g[N], weights[N];
    unpack (gradients, g);
    if (MASTER)
      unpack (master, weights);
    else
      unpack (parameters, weights);
#pragma unroll
    for (int i = 0; i < N; i++) {
      float state[2];
#pragma unroll
      for (int s = 0; s < Rule::states; s++)
        state[s] = states[s].v[i];
      rule.apply (scalars, g[i], weights[i], state);
#pragma unroll
      for (int s = 0; s < Rule::states; s++)
        states[s].v[i] = state[s];
    }
    if (MASTER)
      pack (weights, master);
    pack (weights, parameters);
  }
  __device__ void
  store (const Arena<T, G> &arena, int64_t at) const
  {
    if (MASTER)
      store_chunk (arena.master + at, master);
    if (!MASTER || arena.parameters)
      store_chunk (arena.parameters + at, parameters);
#pragma unroll
    for (int s = 0; s < Rule::states; s++)
      store_chunk (arena.states[s] + at, states[s]);
  }
};

/* Updates chunks of W elements. The first chunks are loaded while the scalars are computed. The
 * first threadblock processes the tail that does not fill a chunk. */
template <class T, class G, class Rule, bool MASTER>
__global__ void
__launch_bounds__ (THREADS, UPDATE_BLOCKS)
  update_chunks (Rule rule, Sources from, Arena<T, G> arena, int64_t size)
{
  int64_t chunks = size / W, rest = chunks * W + threadIdx.x;
  int64_t at = (int64_t) blockIdx.x * THREADS * UPDATE_UNROLL + threadIdx.x;
  Piece<T, G, Rule, MASTER, W> pieces[UPDATE_UNROLL];
#pragma unroll
  for (int u = 0; u < UPDATE_UNROLL; u++)
    if (at + u * THREADS < chunks)
      pieces[u].load (arena, (at + u * THREADS) * W);
  Scalars scalars = shared_scalars (rule, from);
  if (!scalars.writes)
    return;
  while (at < chunks) {
#pragma unroll
    for (int u = 0; u < UPDATE_UNROLL; u++)
      if (at + u * THREADS < chunks) {
        pieces[u].update (rule, scalars);
        pieces[u].store (arena, (at + u * THREADS) * W);
      }
    at += (int64_t) gridDim.x * THREADS * UPDATE_UNROLL;
#pragma unroll
    for (int u = 0; u < UPDATE_UNROLL; u++)
      if (at + u * THREADS < chunks)
        pieces[u].load (arena, (at + u * THREADS) * W);
  }
  if (blockIdx.x == 0 && rest < size) {
    Piece<T, G, Rule, MASTER, 1> piece;
    piece.load (arena, rest);
    piece.update (rule, scalars);
    piece.store (arena, rest);
  }
}

/* Arrays of any types and alignments. */
struct Arrays {
  Vector gradients;
  Target parameters, states[2], master;
};

/* Updates arrays of any floating types, element by element. */
template <class Rule>
__global__ void
__launch_bounds__ (THREADS) update_each (Rule rule, Sources from, Arrays arrays, int64_t size)
{
  Target weights = arrays.master.data ? arrays.master : arrays.parameters;
  Scalars scalars = shared_scalars (rule, from);
  int64_t at = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  for (; scalars.writes && at < size; at += (int64_t) gridDim.x * THREADS) {
    float weight = weights.get (at), state[2];
    for (int s = 0; s < Rule::states; s++)
      state[s] = arrays.states[s].get (at);
    rule.apply (scalars, arrays.gradients[at], weight, state);
    for (int s = 0; s < Rule::states; s++)
      arrays.states[s].set (at, state[s]);
    weights.set (at, weight);
    if (arrays.master.data && arrays.parameters.data)
      arrays.parameters.set (at, weight);
  }
}

/* The operands of an update; the optimizer state in the order of the rule. */
struct Update {
  const LigOperand *gradients, *parameters, *states[2], *master;
};

/* Returns the sources of the scalars; norm and scaling are the operands 1 and 2 of all updates. */
static Sources
sources (const LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return {launch->tick, vector (&o[1]), (const LigScaling *) o[2].data};
}

/* Returns whether types and alignments allow update_chunks. */
static bool
fits (const Update &u, int states)
{
  bool typed = u.gradients->dtype == u.parameters->dtype || u.gradients->dtype == LIG_FP32;
  bool fit = typed && aligned (u.gradients) && aligned (u.parameters) &&
             (!u.master->data || u.master->dtype == LIG_FP32) && aligned (u.master);
  for (int s = 0; s < states; s++)
    fit = fit && u.states[s]->dtype == LIG_FP32 && aligned (u.states[s]);
  return fit;
}

/* Launches update_chunks. */
template <class T, class G, class Rule>
static void
launch_chunks (LigLaunch *launch, const Rule &rule, const Update &u)
{
  int64_t size = u.gradients->size, work = (size / W + UPDATE_UNROLL - 1) / UPDATE_UNROLL;
  Arena<T, G> arena = {
    (const G *) u.gradients->data, (T *) u.parameters->data, {}, (float *) u.master->data};
  for (int s = 0; s < Rule::states; s++)
    arena.states[s] = (float *) u.states[s]->data;
  int blocks = blocks_for (launch, work, THREADS, UPDATE_BLOCKS);
  auto kernel = arena.master ? update_chunks<T, G, Rule, true> : update_chunks<T, G, Rule, false>;
  kernel<<<blocks, THREADS, 0, stream (launch)>>> (rule, sources (launch), arena, size);
}

/* Launches an update of all elements by a rule. */
template <class Rule>
static LigStatus
run_update (LigLaunch *launch, int operands, const Rule &rule, const Update &u)
{
  int64_t size = u.gradients->size;
  for (int i = 0; i < operands; i++)
    if (launch->operands[i].data && !lig_dtype_is_floating (launch->operands[i].dtype))
      return LIG_FAIL (launch, LIG_UNSUPPORTED,
                       "not a floating type; convert to fp32, fp16 or bf16");
  if (size == 0)
    return LIG_OK;
  if (fits (u, Rule::states))
    return dispatch (launch, u.parameters->dtype, [&] (auto one) {
      using T = decltype (one);
      if (u.gradients->dtype == LIG_FP32)
        launch_chunks<T, float> (launch, rule, u);
      else
        launch_chunks<T, T> (launch, rule, u);
      return LIG_LAUNCHED (launch);
    });
  Arrays arrays = {vector (u.gradients), target (u.parameters), {}, target (u.master)};
  for (int s = 0; s < Rule::states; s++)
    arrays.states[s] = target (u.states[s]);
  int blocks = blocks_for (launch, size, THREADS, 16);
  update_each<<<blocks, THREADS, 0, stream (launch)>>> (rule, sources (launch), arrays, size);
  return LIG_LAUNCHED (launch);
}
} /* namespace lig */

using namespace lig;

/* Computes y = factor x, and records the factor that the gradients now carry. */
extern "C" LigStatus
lig_cuda_scale_gradient (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigScalingParams *params = (const LigScalingParams *) launch->params;
  LigScaling *scaling = (LigScaling *) launch->operands[2].data;
  if (!lig_dtype_is_floating (x->dtype) || (y->data && !lig_dtype_is_floating (y->dtype)))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "not a floating type; convert to fp32, fp16 or bf16");
  int blocks = blocks_for (launch, x->size, THREADS, 16);
  scale_each<<<blocks, THREADS, 0, stream (launch)>>> (target (x), target (y), x->size, scaling,
                                                       params ? params->fixed : 0.0f);
  return LIG_LAUNCHED (launch);
}

/* Computes the global norm of the gradients, and updates the loss scale. */
extern "C" LigStatus
lig_cuda_gradient_norm (LigLaunch *launch)
{
  const LigOperand *gradients = &launch->operands[0];
  const LigScalingParams *params = (const LigScalingParams *) launch->params;
  NormTarget norm = {target (&launch->operands[1]), (LigScaling *) launch->operands[2].data,
                     params && params->fixed == 0};
  double *partials = (double *) launch->workspace;
  int64_t size = gradients->size;
  return dispatch (launch, gradients->dtype, [=] (auto one) {
    using T = decltype (one);
    bool packed = aligned (gradients), alone = size <= NORM_ALONE;
    int threads = alone ? (int) NORM_MAX_THREADS : (int) THREADS;
    int64_t work = (packed ? size / wide<T> : size) / NORM_UNROLL + 1;
    int blocks = alone ? 1 : blocks_for (launch, work, THREADS, 8);
    const T *values = (const T *) gradients->data;
    if (packed)
      sum_squares<T, true><<<blocks, threads, 0, stream (launch)>>> (values, size, partials, norm);
    else
      sum_squares<T, false><<<blocks, threads, 0, stream (launch)>>> (values, size, partials, norm);
    if (blocks > 1)
      finish_partials<<<1, NORM_MAX_THREADS, 0, stream (launch)>>> (partials, blocks, norm);
    return LIG_LAUNCHED (launch);
  });
}

/* Updates parameters, momentum and master. */
extern "C" LigStatus
lig_cuda_sgd (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigSgdParams *params = (const LigSgdParams *) launch->params;
  LigSgdParams values = params ? *params : LigSgdParams{};
  Update update = {&o[0], &o[3], {&o[4], nullptr}, &o[5]};
  if (o[4].data)
    return run_update (launch, 6, Sgd<1>{values}, update);
  return run_update (launch, 6, Sgd<0>{values}, update);
}

/* Updates parameters, mean, variance and master. */
extern "C" LigStatus
lig_cuda_adamw (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigAdamwParams *params = (const LigAdamwParams *) launch->params;
  LigAdamwParams values = params ? *params : LigAdamwParams{0.9f, 0.999f, 1e-8f, 0};
  return run_update (launch, 7, Adamw{values}, Update{&o[0], &o[3], {&o[4], &o[5]}, &o[6]});
}
