/* SPDX-License-Identifier: MIT */
/* Normalization of rows, backward. With h = (x - mean) rstd and u = gain dy,
 *   layer norm: dx = rstd (u - mean (u) - h mean (u h)), dbias = sum over rows of dy,
 *   rms norm: the same without mean (u) and dbias,
 *   l2: dx = rstd (dy - h sum (dy h)),
 * dweight = sum over rows of dy h. If there is a branch, dx + branch is rounded once. Lower bound:
 * each operand crosses the memory bus once. The rows that a thread sums, and so all bits of dx,
 * dweight and dbias, do not depend on which outputs are present. */
#include "kernels/cuda/common/columns.cuh"
#include "kernels/cuda/norm-backward.cuh"
#include "kernels/cuda/norm-few.cuh"
#include "kernels/cuda/norm-sums.cuh"

namespace lig
{
/* Computes only partial sums of dweight and dbias, for rows that gradient_packs cannot hold. A
 * thread has one chunk of U columns; `width` threads process neighbouring chunks, the others other
 * rows. */
template <class T, int U>
__global__ void __launch_bounds__ (256) sum_units (Backward<T> b, int width, int64_t rows_per_part)
{
  __shared__ float2 all[U][256];
  const int across = (int) threadIdx.x % width, height = 256 / width;
  const int64_t column = ((int64_t) blockIdx.x * width + across) * U;
  const int64_t top = blockIdx.y * rows_per_part;
  const int64_t end = min (top + rows_per_part, b.norm.rows);
  float2 sums[U];
#pragma unroll
  for (int j = 0; j < U; j++)
    sums[j] = make_float2 (0, 0);
  if (column < b.norm.length)
#pragma unroll 2
    for (int64_t row = top + threadIdx.x / width; row < end; row += height) {
      const int64_t at = row * b.norm.length + column;
      const Chunk<T, U> dy = *(const Chunk<T, U> *) (b.dy + at),
                        x = *(const Chunk<T, U> *) (b.x + at);
      const float mean = b.mean ? b.mean[row] : 0.0f, rstd = b.rstd[row];
#pragma unroll
      for (int j = 0; j < U; j++) {
        sums[j].x += widen (dy.v[j]) * ((widen (x.v[j]) - mean) * rstd);
        sums[j].y += widen (dy.v[j]);
      }
    }
#pragma unroll
  for (int j = 0; j < U; j++)
    all[j][threadIdx.x] = sums[j];
  __syncthreads ();
  if ((int) threadIdx.x >= width || column >= b.norm.length)
    return;
#pragma unroll
  for (int j = 0; j < U; j++) {
    for (int i = 1; i < height; i++) {
      sums[j].x += all[j][i * width + across].x;
      sums[j].y += all[j][i * width + across].y;
    }
    const int64_t at = blockIdx.y * b.norm.length + column + j;
    if (b.dweights)
      b.dweights[at] = sums[j].x;
    if (b.dbiases)
      b.dbiases[at] = sums[j].y;
  }
}

/* Computes only dx, in chunks of U elements; a row is read twice. */
template <class T, int U, int LANES>
__global__ void
__launch_bounds__ (U > 1 ? 512 : 256) gradient_units (Backward<T> b)
{
  __shared__ alignas (16) float slots[2][32];
  const int lanes = LANES ? LANES : (int) blockDim.x, lane = (int) threadIdx.x % lanes;
  const int at_once = (int) blockDim.x / lanes;
  /* The loop bound is uniform over the threadblock, because all of its threads take part in the
   * reductions. */
  for (int64_t base = (int64_t) blockIdx.x * at_once; base < b.norm.rows;
       base += (int64_t) gridDim.x * at_once) {
    const int64_t row = base + threadIdx.x / lanes;
    const bool live = row < b.norm.rows;
    const int units = live ? (int) (b.norm.length / U) : 0;
    const float mean = live && b.mean ? b.mean[row] : 0.0f, rstd = live ? b.rstd[row] : 0.0f;
    float u_mean = 0, uh_mean = 0;
    for (int unit = lane; unit < units; unit += lanes) {
      const int64_t at = row * b.norm.length + (int64_t) unit * U;
      const Chunk<T, U> dy = *(const Chunk<T, U> *) (b.dy + at),
                        x = *(const Chunk<T, U> *) (b.x + at);
#pragma unroll
      for (int j = 0; j < U; j++) {
        const float u = gain_at (b.norm, b.weight, (int64_t) unit * U + j) * widen (dy.v[j]);
        u_mean += u;
        uh_mean += u * ((widen (x.v[j]) - mean) * rstd);
      }
    }
    u_mean = b.norm.centered ? row_sum<LANES> (u_mean, slots[0]) * b.norm.share : 0.0f;
    uh_mean = row_sum<LANES> (uh_mean, slots[1]) * b.norm.share;
    for (int unit = lane; unit < units; unit += lanes) {
      const int64_t at = row * b.norm.length + (int64_t) unit * U;
      Chunk<T, U> dy = *(const Chunk<T, U> *) (b.dy + at), branch = dy;
      const Chunk<T, U> x = *(const Chunk<T, U> *) (b.x + at);
      if (b.branch)
        branch = *(const Chunk<T, U> *) (b.branch + at);
#pragma unroll
      for (int j = 0; j < U; j++) {
        const float h = (widen (x.v[j]) - mean) * rstd;
        const float u = gain_at (b.norm, b.weight, (int64_t) unit * U + j) * widen (dy.v[j]);
        const float dx = rstd * (u - u_mean - h * uh_mean);
        dy.v[j] = narrow<T> (b.branch ? dx + widen (branch.v[j]) : dx);
      }
      *(Chunk<T, U> *) (b.dx + at) = dy;
    }
    /* The next row overwrites the slots. */
    if (LANES == 0)
      __syncthreads ();
  }
}

/* The operands by their roles; null if the kernel has none. */
struct Operands {
  const LigOperand *dy, *branch, *x, *weight, *mean, *rstd, *dx, *dweight, *dbias;
};

/* Returns whether the kernel has the operand and the launch binds it. */
static bool
is_present (const LigOperand *operand)
{
  return operand && operand->data;
}

/* Places the partial sums in the workspace. */
template <class T>
static void
place_partials (const LigLaunch *launch, const Operands &o, int parts, Backward<T> *b)
{
  float *partials = (float *) launch->workspace;
  b->dweights = is_present (o.dweight) ? partials : nullptr;
  b->dbiases = is_present (o.dbias) ? partials + parts * b->norm.length : nullptr;
}

/* Reduces the partial sums. */
template <class T>
static LigStatus
finish (LigLaunch *launch, const Operands &o, int parts, const Backward<T> &b)
{
  return finish_sums (launch, {{b.dweights, b.dbiases}, {o.dweight, o.dbias}}, parts,
                      b.norm.length);
}

/* The launch configuration of gradient_packs. */
struct Layout {
  int lanes, threads, stages, blocks;
  bool held; /* whether the gain is kept in shared memory */
  size_t shared;
};

/* Fills in a layout; false if shared memory cannot hold two rows of three operands. Three are
 * assumed with and without branch, so that the sums are the same. */
static bool
lay_out (const LigLaunch *launch, const Norm &norm, int row_packs, int each, bool branch, Layout *l)
{
  int space = 0, multiprocessors = launch->device->multiprocessors;
  cudaDeviceGetAttribute (&space, cudaDevAttrMaxSharedMemoryPerBlockOptin, launch->device->number);
  space -= 1024; /* for the kernel's static shared memory */
  if (l->lanes == 0)
    l->lanes = (row_packs + 32 * each - 1) / (32 * each) * 32;
  /* Rows are processed by whole warps. */
  int packs = each * 16, unit = l->lanes < 32 ? 32 : l->lanes, units = l->threads / unit;
  int gains = each > 1 ? (int) (norm.length / row_packs) * 4 * each * l->lanes : 0;
  auto two_rows = [&] { return 2 * 3 * packs * unit * units; };
  auto blocks = [&] {
    int rows = unit / l->lanes * units;
    return (norm.rows + rows - 1) / rows;
  };
  /* Few rows are spread over all SMs. */
  while (units > 1 && (two_rows () + gains > space || 2 * blocks () <= multiprocessors))
    units /= 2;
  l->held = two_rows () + gains <= space;
  if (!l->held)
    gains = 0;
  if (two_rows () > space)
    return false;
  l->threads = units * unit;
  int row = (branch ? 3 : 2) * packs * l->threads, max = max_parts (norm.length, 2);
  max = max < multiprocessors ? max : multiprocessors;
  l->blocks = (int) (blocks () < max ? blocks () : max);
  l->stages = (space - gains) / row < 4 ? (space - gains) / row : 4;
  /* A group with only one row has no next row to prefetch. */
  if (blocks () <= max)
    l->stages = 2;
  l->shared = (size_t) l->stages * row + gains;
  return true;
}

/* Launches gradient_packs and the second stage. */
template <class T, class S, bool CENTERED, bool HELD, Branch BRANCH>
static LigStatus
launch_packs (LigLaunch *launch, const Operands &o, Backward<T> b, const Layout &l)
{
  auto kernel = gradient_packs<T, S::LANES, S::PACKS, CENTERED, HELD, BRANCH>;
  cudaError_t error =
    cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) l.shared);
  if (error != cudaSuccess)
    return lig_cuda_status (launch->device, error, "norm: reserving shared memory");
  b.lanes = l.lanes;
  b.groups = l.threads / l.lanes;
  b.step = (int64_t) l.blocks * b.groups;
  b.stages = l.stages;
  place_partials (launch, o, l.blocks, &b);
  kernel<<<l.blocks, l.threads, l.shared, stream (launch)>>> (b);
  LigStatus status = LIG_LAUNCHED (launch);
  return status == LIG_OK ? finish (launch, o, l.blocks, b) : status;
}

/* Launches sum_units and the second stage. The sums come before dx, which may overwrite dy. */
template <class T, int U>
static LigStatus
launch_sums (LigLaunch *launch, const Operands &o, Backward<T> b)
{
  int64_t units = b.norm.length / U, width = 1;
  while (width < 32 && width < units)
    width *= 2;
  int64_t tiles = (units + width - 1) / width, height = 256 / width;
  int64_t parts = (b.norm.rows + height * 4 - 1) / (height * 4);
  int64_t enough = (int64_t) launch->device->multiprocessors * 8 / tiles + 1;
  int64_t max = max_parts (b.norm.length, 2);
  parts = parts < enough ? parts : enough;
  parts = parts < max ? parts : max;
  int64_t rows_per_part = (b.norm.rows + parts - 1) / parts;
  place_partials (launch, o, (int) parts, &b);
  sum_units<T, U><<<dim3 ((unsigned) tiles, (unsigned) parts), 256, 0, stream (launch)>>> (
    b, (int) width, rows_per_part);
  LigStatus status = LIG_LAUNCHED (launch);
  return status == LIG_OK ? finish (launch, o, (int) parts, b) : status;
}

/* Launches the path for rows that no threadblock can hold, with vectorized or scalar accesses. */
template <class T>
static LigStatus
launch_units (LigLaunch *launch, const Operands &o, const Backward<T> &b, bool packs)
{
  LigStatus status = LIG_OK;
  if (is_present (o.dweight) || is_present (o.dbias))
    status = packs ? launch_sums<T, wide<T>> (launch, o, b) : launch_sums<T, 1> (launch, o, b);
  if (status != LIG_OK || !b.dx)
    return status;
  Spread spread = spread_rows (launch, b.norm, packs);
  if (packs)
    gradient_units<T, wide<T>, 0><<<spread.blocks, spread.threads, 0, stream (launch)>>> (b);
  else if (spread.lanes == 0)
    gradient_units<T, 1, 0><<<spread.blocks, spread.threads, 0, stream (launch)>>> (b);
  else if (spread.lanes == 32)
    gradient_units<T, 1, 32><<<spread.blocks, spread.threads, 0, stream (launch)>>> (b);
  else
    gradient_units<T, 1, 4><<<spread.blocks, spread.threads, 0, stream (launch)>>> (b);
  return LIG_LAUNCHED (launch);
}

/* Returns whether dx shares memory with an input. */
template <class T>
static bool
in_place (const Backward<T> &b)
{
  const T *inputs[] = {b.dy, b.x, b.branch};
  int64_t size = b.norm.rows * b.norm.length * (int64_t) sizeof (T);
  for (const T *input : inputs) {
    int64_t apart = (int64_t) ((uintptr_t) b.dx - (uintptr_t) input);
    if (input && b.dx && apart > -size && apart < size)
      return true;
  }
  return false;
}

/* The limits for few rows: gradient_few reads them twice in one launch, so they have to fit into
 * the L2 cache, and one threadblock sums over all of them. */
enum { FEW_ROWS = 2048, FEW_BYTES = 4 << 20 };

/* Returns whether there are few rows, for elements of that many bytes. */
static bool
are_few (const Norm &norm, int element)
{
  int64_t bytes = norm.length * element;
  return norm.rows <= FEW_ROWS && bytes <= FEW_PACKS * FEW_THREADS * 16 &&
         norm.rows * bytes <= FEW_BYTES;
}

/* Launches gradient_few. If dx overwrites an input, a first launch of the same threadblocks
 * computes the sums: the bits are those of one launch. */
template <class T>
static LigStatus
launch_few (LigLaunch *launch, const Operands &o, Backward<T> b)
{
  Target none = {nullptr, LIG_FP32};
  bool sums = is_present (o.dweight) || is_present (o.dbias);
  int packs = (int) (b.norm.length / wide<T>), each = packs <= 32 ? 1 : FEW_PACKS;
  for (b.lanes = 32; b.lanes * each < packs;)
    b.lanes *= 2;
  FewSums to = {o.dweight ? target (o.dweight) : none, o.dbias ? target (o.dbias) : none,
                sums ? (packs + FEW_ACROSS - 1) / FEW_ACROSS : 0, (bool) launch->accumulate};
  int at_once = FEW_THREADS / b.lanes;
  int others = b.dx ? (int) ((b.norm.rows + at_once - 1) / at_once) : 0;
  return dispatch_weight<T> (b.weight.data ? b.weight.dtype : o.x->dtype, [&] (auto p) {
    using P = decltype (p);
    auto kernel = b.norm.centered
                    ? each > 1 ? gradient_few<T, P, FEW_PACKS, true> : gradient_few<T, P, 1, true>
                  : each > 1 ? gradient_few<T, P, FEW_PACKS, false>
                             : gradient_few<T, P, 1, false>;
    if (to.blocks && others && in_place (b)) {
      kernel<<<(unsigned) to.blocks, FEW_THREADS, 0, stream (launch)>>> (b, to);
      to.blocks = 0;
    }
    if (to.blocks + others > 0)
      kernel<<<(unsigned) (to.blocks + others), FEW_THREADS, 0, stream (launch)>>> (b, to);
    return LIG_LAUNCHED (launch);
  });
}

/* Calls `f` with the shape for rows of that many packs, at most 2048. */
template <class F>
static LigStatus
choose_held_shape (int64_t packs, F f)
{
  if (packs <= 16)
    return f (Shape<16, 1>{});
  if (packs <= 32)
    return f (Shape<32, 1>{});
  if (packs <= 64)
    return f (Shape<32, 2>{});
  if (packs <= 96)
    return f (Shape<32, 3>{});
  if (packs <= 128)
    return f (Shape<32, 4>{});
  return f (Shape<0, 4>{});
}

/* Launches gradient_packs with a layout for the rows, or the other path if there is no layout. */
template <class T, bool CENTERED>
static LigStatus
launch_held (LigLaunch *launch, const Operands &o, const Backward<T> &b)
{
  int packs = (int) (b.norm.length / wide<T>);
  return choose_held_shape (packs, [&] (auto shape) {
    using S = decltype (shape);
    /* If two rows fit in fp32, there is nearly always room for the gain. */
    constexpr bool LONG = S::LANES == 0 && sizeof (T) < 4;
    Layout l;
    l.lanes = S::LANES;
    l.threads = max_threads<S::PACKS, CENTERED>;
    if (!lay_out (launch, b.norm, packs, S::PACKS, b.branch, &l) || (!l.held && !LONG))
      return launch_units (launch, o, b, true);
    /* Three packs use all registers of a thread: a run-time check for the branch costs 19 % at a
     * width of 768. */
    constexpr bool FULL = S::PACKS == 3 && CENTERED && sizeof (T) < 4;
    constexpr Branch WITH = FULL ? Branch::ADDED : Branch::ASKED;
    constexpr Branch WITHOUT = FULL ? Branch::NONE : Branch::ASKED;
    if (!l.held)
      return launch_packs<T, S, CENTERED, !LONG, Branch::ASKED> (launch, o, b, l);
    return b.branch ? launch_packs<T, S, CENTERED, true, WITH> (launch, o, b, l)
                    : launch_packs<T, S, CENTERED, true, WITHOUT> (launch, o, b, l);
  });
}

/* Computes the gradients for elements of type T. */
template <class T>
static LigStatus
backward_as (LigLaunch *launch, const Operands &o, const Norm &norm)
{
  auto data = [] (const LigOperand *operand) { return operand ? operand->data : nullptr; };
  Backward<T> b = {norm,
                   (const T *) data (o.dy),
                   (const T *) data (o.branch),
                   (const T *) data (o.x),
                   optional_vector (o.weight),
                   (const float *) data (o.mean),
                   (const float *) data (o.rstd),
                   (T *) data (o.dx)};
  if (norm.rows == 0)
    return finish (launch, o, 0, b);
  bool fits = norm.length % wide<T> == 0 && packable (o.dy) && packable (o.branch) &&
              packable (o.x) && packable (o.dx);
  if (!fits || !weight_packs (o.weight, o.x->dtype) || norm.length / wide < T >> 2048)
    return launch_units (launch, o, b, fits);
  if (are_few (norm, sizeof (T)))
    return launch_few (launch, o, b);
  return norm.centered ? launch_held<T, true> (launch, o, b) : launch_held<T, false> (launch, o, b);
}

/* Computes dx, dweight and dbias, each of which may be absent. */
static LigStatus
backward (LigLaunch *launch, const Operands &o, bool centered)
{
  Norm norm;
  LigStatus status = prepare (&norm, launch, o.x, o.weight, centered);
  if (status != LIG_OK || norm.length == 0)
    return status;
  LigDtype dtype = o.x->dtype;
  if (!of_type (o.dy, dtype) || !of_type (o.branch, dtype) || !of_type (o.dx, dtype))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "norm: operands have different types; convert them to one");
  return dispatch (launch, dtype,
                   [&] (auto one) { return backward_as<decltype (one)> (launch, o, norm); });
}
} /* namespace lig */

using namespace lig;

/* Computes dx [M, N], dweight [N] and dbias [N] from dy, x, mean and rstd. */
extern "C" LigStatus
lig_cuda_layer_norm_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return backward (launch, {&o[0], nullptr, &o[1], &o[2], &o[3], &o[4], &o[5], &o[6], &o[7]}, true);
}

/* Computes the same with a branch [M, N] that is added to dx. */
extern "C" LigStatus
lig_cuda_layer_norm_backward_add (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return backward (launch, {&o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &o[6], &o[7], &o[8]}, true);
}

/* Computes dx [M, N] and dweight [N] from dy, x and rstd. */
extern "C" LigStatus
lig_cuda_rms_norm_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return backward (launch, {&o[0], nullptr, &o[1], &o[2], nullptr, &o[3], &o[4], &o[5], nullptr},
                   false);
}

/* Computes the same with a branch [M, N] that is added to dx. */
extern "C" LigStatus
lig_cuda_rms_norm_backward_add (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return backward (launch, {&o[0], &o[1], &o[2], &o[3], nullptr, &o[4], &o[5], &o[6], nullptr},
                   false);
}

/* Computes dx [M, N] from dy, x and rstd. */
extern "C" LigStatus
lig_cuda_l2_normalization_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return backward (
    launch, {&o[0], nullptr, &o[1], nullptr, nullptr, &o[2], &o[3], nullptr, nullptr}, false);
}
