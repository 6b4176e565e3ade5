/* SPDX-License-Identifier: MIT */
/* Normalization of rows, backward. With h = (x - mean) rstd and u = gain dy,
 *   layer norm:  dx = rstd (u - mean (u) - h mean (u h)), dbias = sum over rows of dy,
 *   rms norm:    the same without mean (u) and dbias,
 *   l2:          dx = rstd (dy - h sum (dy h)),
 * dweight = sum over rows of dy h, and dx + branch is rounded once where there is a branch. Floor:
 * each operand crosses the memory bus once. Which rows a thread adds up, and so each bit of dx,
 * dweight and dbias, does not depend on which outputs are wanted. */
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/norm.cuh"

namespace lig
{
template <class T> struct Backward {
  Norm norm;
  const T *dy, *branch, *x;
  Vector weight;
  const float *mean, *rstd;
  T *dx;
  float *dweights, *dbiases; /* partial sums, [parts, length]; null where nobody wants them */
  int lanes, stages;         /* of gradient_packs */
};

/* Short rows need few registers, and many warps to have enough bytes under way. */
template <int PACKS, bool CENTERED>
constexpr int most_threads = PACKS == 1 || (PACKS == 2 && !CENTERED) ? 1024 : 512;

/* Both sums over a row's threads. Rows of several warps have a barrier and slots of their own; the
 * slots alternate from row to row, so one barrier a row is enough: who writes a slot again has
 * passed the barrier of the row between, where all had read it. */
template <int LANES, bool CENTERED>
__device__ inline float2
row_sums (float2 sums, float2 *slots, int lanes)
{
#pragma unroll
  for (int offset = (LANES > 0 && LANES < 32 ? LANES : 32) / 2; offset > 0; offset >>= 1) {
    if (CENTERED)
      sums.x += __shfl_xor_sync (0xffffffffu, sums.x, offset);
    sums.y += __shfl_xor_sync (0xffffffffu, sums.y, offset);
  }
  if (LANES == 0) {
    const int group = (int) threadIdx.x / lanes;
    if (threadIdx.x % 32 == 0)
      slots[threadIdx.x / 32] = sums;
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(lanes) : "memory");
    const float4 *pairs = reinterpret_cast<const float4 *> (slots + group * (lanes / 32));
    sums = make_float2 (0, 0);
#pragma unroll 4
    for (int i = 0; i < lanes / 64; i++) {
      sums.x += pairs[i].x + pairs[i].z;
      sums.y += pairs[i].y + pairs[i].w;
    }
  }
  return sums;
}

/* Adds up what the groups of a block have of each column, in their order, into `target`. `shared`
 * is free for it when all threads have arrived. */
template <int N, int W>
__device__ inline void
write_partials (const float (&sums)[N][W], float4 *shared, int lanes, int packs, float *target)
{
  const int threads = (int) blockDim.x, thread = (int) threadIdx.x;
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < N; i++)
#pragma unroll
    for (int j = 0; j < W; j += 4)
      shared[(i * W + j) / 4 * threads + thread] =
        make_float4 (sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
  __syncthreads ();
  for (int item = thread; item < N * W / 4 * lanes; item += threads) {
    const int lane = item % lanes, quad = item / lanes;
    const int pack = lane + quad / (W / 4) * lanes;
    if (pack >= packs)
      continue;
    float4 total = make_float4 (0, 0, 0, 0);
#pragma unroll 4
    for (int at = lane; at < threads; at += lanes) {
      const float4 part = shared[quad * threads + at];
      total.x += part.x, total.y += part.y, total.z += part.z, total.w += part.w;
    }
    *reinterpret_cast<float4 *> (target + (int64_t) pack * W + quad % (W / 4) * 4) = total;
  }
}

/* A block is several groups of `lanes` threads, each with rows of its own, one after another. A
 * thread has the same packs of each row, keeps their sums over rows in registers, and fetches them
 * some rows ahead into shared memory that no other thread touches: no barrier is needed for data.
 */
template <class T, class P, int LANES, int N, bool CENTERED>
__global__ void
__launch_bounds__ (most_threads<N, CENTERED>, 1) gradient_packs (Backward<T> b)
{
  constexpr int W = wide<T>;
  /* Whether the registers hold the gain as well; else it is read again, from the L1 cache. */
  constexpr int SUMS = N * W * (CENTERED ? 2 : 1), GAINS = N * W * (int) sizeof (P) / 4;
  constexpr bool KEEP = most_threads<N, CENTERED> <= 512 && SUMS + GAINS <= 76;
  extern __shared__ uint4 staged[];
  __shared__ alignas (16) float2 slots[2][16];
  const int threads = (int) blockDim.x, thread = (int) threadIdx.x;
  const int lanes = LANES ? LANES : b.lanes, lane = thread % lanes;
  const int packs = (int) (b.norm.length / W), arrays = b.branch ? 3 : 2, stages = b.stages;
  const int64_t rows = b.norm.rows, step = (int64_t) gridDim.x * (threads / lanes);
  const P *weight = (const P *) b.weight.data;

  auto fetch_row = [&] (int64_t row, int slot) {
    if (row < rows) {
      uint4 *to = staged + slot * arrays * N * threads + thread;
      const int64_t start = row * b.norm.length;
#pragma unroll
      for (int i = 0; i < N; i++)
        if (lane + i * lanes < packs) {
          const int64_t at = start + (lane + i * lanes) * W;
          fetch (to + i * threads, b.dy + at);
          fetch (to + (N + i) * threads, b.x + at);
          if (b.branch)
            fetch (to + (2 * N + i) * threads, b.branch + at);
        }
    }
    fetch_commit ();
  };

  float dweight[N][W] = {}, dbias[CENTERED ? N : 1][W] = {};
  Beside<P, W> gains[N];
  const int64_t first = (int64_t) blockIdx.x * (threads / lanes) + thread / lanes;
  for (int stage = 0; stage < stages - 1; stage++)
    fetch_row (first + stage * step, stage);
  if (KEEP && weight) {
#pragma unroll
    for (int i = 0; i < N; i++)
      if (lane + i * lanes < packs)
        gains[i].load (weight + (lane + i * lanes) * W);
  }
  auto gain_of = [&] (int i, float (&g)[W]) {
    if (weight) {
      if (!KEEP)
        gains[i].load (weight + (lane + i * lanes) * W);
      gains[i].widen_to (g);
    }
#pragma unroll
    for (int j = 0; j < W; j++)
      g[j] = weight ? g[j] + b.norm.offset : 1.0f;
  };

  float next_mean = CENTERED && first < rows ? b.mean[first] : 0.0f;
  float next_rstd = first < rows ? b.rstd[first] : 0.0f;
  int slot = 0, parity = 0;
  /* The rows of a warp go on together, as its threads take part in each other's sums: until the
   * row of its first thread is beyond the last. */
  const int behind = LANES > 0 && LANES < 32 ? thread % 32 / lanes : 0;
  for (int64_t row = first; row - behind < rows; row += step) {
    const float mean = next_mean, rstd = next_rstd;
    const int mine = LANES == 0 || LANES >= 32 || row < rows ? packs : 0;
    const int64_t start = row * b.norm.length;
    const uint4 *from = staged + slot * arrays * N * threads + thread;
    fetch_row (row + (stages - 1) * step, slot ? slot - 1 : stages - 1);
    if (row + step < rows) {
      next_mean = CENTERED ? b.mean[row + step] : 0.0f;
      next_rstd = b.rstd[row + step];
    }
    fetch_wait (stages - 1);

    float2 sums = make_float2 (0, 0);
#pragma unroll
    for (int i = 0; i < N; i++)
      if (lane + i * lanes < mine) {
        float dy[W], x[W], g[W];
        widen_pack (*reinterpret_cast<const Pack<T> *> (from + i * threads), dy);
        widen_pack (*reinterpret_cast<const Pack<T> *> (from + (N + i) * threads), x);
        gain_of (i, g);
#pragma unroll
        for (int j = 0; j < W; j++) {
          const float h = (x[j] - mean) * rstd, u = g[j] * dy[j];
          dweight[i][j] += dy[j] * h;
          if (CENTERED) {
            dbias[i][j] += dy[j];
            sums.x += u;
          }
          sums.y += u * h;
        }
      }
    sums = row_sums<LANES, CENTERED> (sums, slots[parity], lanes);
    if (b.dx) {
      const float u_mean = sums.x * b.norm.share, uh_mean = sums.y * b.norm.share;
#pragma unroll
      for (int i = 0; i < N; i++)
        if (lane + i * lanes < mine) {
          float dy[W], x[W], g[W];
          widen_pack (*reinterpret_cast<const Pack<T> *> (from + i * threads), dy);
          widen_pack (*reinterpret_cast<const Pack<T> *> (from + (N + i) * threads), x);
          gain_of (i, g);
#pragma unroll
          for (int j = 0; j < W; j++) {
            const float h = (x[j] - mean) * rstd;
            dy[j] = rstd * (g[j] * dy[j] - u_mean - h * uh_mean);
          }
          if (b.branch) {
            widen_pack (*reinterpret_cast<const Pack<T> *> (from + (2 * N + i) * threads), x);
#pragma unroll
            for (int j = 0; j < W; j++)
              dy[j] += x[j];
          }
          Pack<T> dx;
          narrow_pack (dy, dx);
          store (b.dx + start + (lane + i * lanes) * W, dx);
        }
    }
    slot = slot + 1 == stages ? 0 : slot + 1;
    parity ^= 1;
  }

  float4 *shared = reinterpret_cast<float4 *> (staged);
  if (b.dweights)
    write_partials<N, W> (dweight, shared, lanes, packs, b.dweights + blockIdx.x * b.norm.length);
  if constexpr (CENTERED)
    if (b.dbiases)
      write_partials<N, W> (dbias, shared, lanes, packs, b.dbiases + blockIdx.x * b.norm.length);
}

/* The last stage of both vectors in one launch, by the blocks' y: slices of the parts by the warps
 * of a block, and then the slices, in order; rounded once. */
enum { SLICES = 16, BATCH = 9 };

__global__ void __launch_bounds__ (32 * SLICES) finish_vectors (const float *dweights,
                                                                const float *dbiases,
                                                                int parts,
                                                                int64_t length,
                                                                Target dweight,
                                                                Target dbias,
                                                                bool accumulate)
{
  __shared__ float sums[SLICES][32];
  const Target target = blockIdx.y ? dbias : dweight;
  const float *partials = blockIdx.y ? dbiases : dweights;
  const int across = (int) threadIdx.x % 32, slice = (int) threadIdx.x / 32;
  const int64_t column = (int64_t) blockIdx.x * 32 + across;
  const bool inside = column < length;
  if (!target.data)
    return;
  float sum = 0;
  for (int base = slice; base < parts; base += SLICES * BATCH) {
    float part[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++)
      part[i] = inside && base + i * SLICES < parts
                  ? partials[(base + i * SLICES) * length + column]
                  : 0.0f;
#pragma unroll
    for (int i = 0; i < BATCH; i++)
      sum += part[i];
  }
  sums[slice][across] = sum;
  __syncthreads ();
  if (slice > 0 || !inside)
    return;
#pragma unroll
  for (int i = 1; i < SLICES; i++)
    sum += sums[i][across];
  target.set (column, accumulate ? target.get (column) + sum : sum);
}

/* Partial sums of dweight and dbias by themselves, where gradient_packs has no place for a row. A
 * thread has one unit of columns; `width` threads lie side by side, the others below each other. */
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
      const Unit<T, U> dy = *(const Unit<T, U> *) (b.dy + at), x = *(const Unit<T, U> *) (b.x + at);
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

template <class T>
__device__ inline float
gain_at (const Backward<T> &b, int64_t i)
{
  return b.weight.data ? b.weight[i] + b.norm.offset : 1.0f;
}

/* dx by itself; a row is read twice. */
template <class T, int U, int LANES>
__global__ void
__launch_bounds__ (U > 1 ? 512 : 256) gradient_units (Backward<T> b)
{
  __shared__ alignas (16) float slots[2][32];
  const int lanes = LANES ? LANES : (int) blockDim.x, lane = (int) threadIdx.x % lanes;
  const int at_once = (int) blockDim.x / lanes;
  /* The bound is the block's, as all its threads take part in the sums. */
  for (int64_t base = (int64_t) blockIdx.x * at_once; base < b.norm.rows;
       base += (int64_t) gridDim.x * at_once) {
    const int64_t row = base + threadIdx.x / lanes;
    const bool live = row < b.norm.rows;
    const int units = live ? (int) (b.norm.length / U) : 0;
    const float mean = live && b.mean ? b.mean[row] : 0.0f, rstd = live ? b.rstd[row] : 0.0f;
    float u_mean = 0, uh_mean = 0;
    for (int unit = lane; unit < units; unit += lanes) {
      const int64_t at = row * b.norm.length + (int64_t) unit * U;
      const Unit<T, U> dy = *(const Unit<T, U> *) (b.dy + at), x = *(const Unit<T, U> *) (b.x + at);
#pragma unroll
      for (int j = 0; j < U; j++) {
        const float u = gain_at (b, (int64_t) unit * U + j) * widen (dy.v[j]);
        u_mean += u;
        uh_mean += u * ((widen (x.v[j]) - mean) * rstd);
      }
    }
    u_mean = b.norm.centered ? row_sum<LANES> (u_mean, slots[0]) * b.norm.share : 0.0f;
    uh_mean = row_sum<LANES> (uh_mean, slots[1]) * b.norm.share;
    for (int unit = lane; unit < units; unit += lanes) {
      const int64_t at = row * b.norm.length + (int64_t) unit * U;
      Unit<T, U> dy = *(const Unit<T, U> *) (b.dy + at), branch = dy;
      const Unit<T, U> x = *(const Unit<T, U> *) (b.x + at);
      if (b.branch)
        branch = *(const Unit<T, U> *) (b.branch + at);
#pragma unroll
      for (int j = 0; j < U; j++) {
        const float h = (widen (x.v[j]) - mean) * rstd;
        const float u = gain_at (b, (int64_t) unit * U + j) * widen (dy.v[j]);
        const float dx = rstd * (u - u_mean - h * uh_mean);
        dy.v[j] = narrow<T> (b.branch ? dx + widen (branch.v[j]) : dx);
      }
      *(Unit<T, U> *) (b.dx + at) = dy;
    }
    /* The slots are written again in the next row. */
    if (LANES == 0)
      __syncthreads ();
  }
}

/* Which operand is which; null where the kernel has none. */
struct Operands {
  const LigOperand *dy, *branch, *x, *weight, *mean, *rstd, *dx, *dweight, *dbias;
};

static bool
wanted (const LigOperand *operand)
{
  return operand && operand->data;
}

/* Lays the partial sums out in the workspace. */
template <class T>
static void
place_partials (const LigLaunch *launch, const Operands &o, int parts, Backward<T> *b)
{
  float *partials = (float *) launch->workspace;
  b->dweights = wanted (o.dweight) ? partials : nullptr;
  b->dbiases = wanted (o.dbias) ? partials + parts * b->norm.length : nullptr;
}

template <class T>
static LigStatus
finish (LigLaunch *launch, const Operands &o, int parts, const Backward<T> &b)
{
  if (!wanted (o.dweight) && !wanted (o.dbias))
    return LIG_OK;
  Target none = {nullptr, LIG_FP32};
  dim3 blocks ((unsigned) ((b.norm.length + 31) / 32), wanted (o.dbias) ? 2 : 1);
  finish_vectors<<<blocks, 32 * SLICES, 0, stream (launch)>>> (
    b.dweights, b.dbiases, parts, b.norm.length, o.dweight ? target (o.dweight) : none,
    o.dbias ? target (o.dbias) : none, launch->accumulate);
  return LIG_LAUNCHED (launch);
}

/* How gradient_packs is launched; `lanes` and the most `threads` are set beforehand. */
struct Layout {
  int lanes, threads, stages, blocks;
  size_t shared;
};

/* False where shared memory does not hold two rows of three operands. That there are three is
 * assumed with and without branch, so that the sums are the same. */
static bool
lay_out (const LigLaunch *launch, const Norm &norm, int packs, bool branch, Layout *l)
{
  int room = 0, multiprocessors = launch->device->multiprocessors;
  cudaDeviceGetAttribute (&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, launch->device->number);
  room -= 1024; /* for what the kernel declares itself */
  int slot = packs * 16, lanes = l->lanes, threads = l->threads;
  int fewest = lanes < 32 ? 32 : lanes;
  auto blocks = [&] { return (norm.rows + threads / lanes - 1) / (threads / lanes); };
  /* Few rows are spread over all multiprocessors. */
  while (threads > fewest && (2 * 3 * slot * threads > room || 2 * blocks () <= multiprocessors))
    threads /= 2;
  if (2 * 3 * slot * threads > room)
    return false;
  int row = (branch ? 3 : 2) * slot * threads, most = most_parts (norm.length, 2);
  most = most < multiprocessors ? most : multiprocessors;
  l->threads = threads;
  l->blocks = (int) (blocks () < most ? blocks () : most);
  l->stages = room / row < 4 ? room / row : 4;
  /* A group of one row has nothing to fetch ahead. */
  if (blocks () <= most)
    l->stages = 2;
  l->shared = (size_t) l->stages * row;
  return true;
}

template <class T, class P, class S, bool CENTERED>
static LigStatus
launch_packs (LigLaunch *launch, const Operands &o, Backward<T> b, const Layout &l)
{
  auto kernel = gradient_packs<T, P, S::LANES, S::PACKS, CENTERED>;
  cudaError_t error =
    cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) l.shared);
  if (error != cudaSuccess)
    return lig_cuda_status (launch->device, error, "shared memory of a norm's backward");
  b.lanes = l.lanes;
  b.stages = l.stages;
  place_partials (launch, o, l.blocks, &b);
  kernel<<<l.blocks, l.threads, l.shared, stream (launch)>>> (b);
  LigStatus status = LIG_LAUNCHED (launch);
  return status == LIG_OK ? finish (launch, o, l.blocks, b) : status;
}

/* The sums over rows come first: dx may take the place of dy. */
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
  int64_t most = most_parts (b.norm.length, 2);
  parts = parts < enough ? parts : enough;
  parts = parts < most ? parts : most;
  int64_t rows_per_part = (b.norm.rows + parts - 1) / parts;
  place_partials (launch, o, (int) parts, &b);
  sum_units<T, U><<<dim3 ((unsigned) tiles, (unsigned) parts), 256, 0, stream (launch)>>> (
    b, (int) width, rows_per_part);
  LigStatus status = LIG_LAUNCHED (launch);
  return status == LIG_OK ? finish (launch, o, (int) parts, b) : status;
}

template <class T>
static LigStatus
launch_units (LigLaunch *launch, const Operands &o, const Backward<T> &b, bool packs)
{
  LigStatus status = LIG_OK;
  if (wanted (o.dweight) || wanted (o.dbias))
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
  int64_t packs = norm.length / wide<T>;
  LigDtype weight = b.weight.data ? o.weight->dtype : o.x->dtype;
  bool fits = norm.length % wide<T> == 0 && packable (o.dy) && packable (o.branch) &&
              packable (o.x) && packable (o.dx);
  if (!fits || !weight_packs (o.weight, o.x->dtype) || packs > 2048)
    return launch_units (launch, o, b, fits);
  return dispatch_weight<T> (weight, [&] (auto p) {
    return choose_shape (packs, [&] (auto shape) {
      using P = decltype (p);
      using S = decltype (shape);
      if constexpr (S::PACKS > 4) {
        return launch_units (launch, o, b, true);
      } else {
        Layout l;
        l.lanes = S::LANES ? S::LANES : threads_of_row (packs, S::PACKS);
        l.threads = norm.centered ? most_threads<S::PACKS, true> : most_threads<S::PACKS, false>;
        if (!lay_out (launch, norm, S::PACKS, b.branch, &l))
          return launch_units (launch, o, b, true);
        return norm.centered ? launch_packs<T, P, S, true> (launch, o, b, l)
                             : launch_packs<T, P, S, false> (launch, o, b, l);
      }
    });
  });
}

static LigStatus
backward (LigLaunch *launch, const Operands &o, bool centered)
{
  Norm norm;
  LigStatus status = prepare (&norm, launch, o.x, o.weight, centered);
  if (status != LIG_OK || norm.length == 0)
    return status;
  LigDtype dtype = o.x->dtype;
  if (!of_type (o.dy, dtype) || !of_type (o.branch, dtype) || !of_type (o.dx, dtype))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "operands of several types");
  return dispatch (launch, dtype,
                   [&] (auto one) { return backward_as<decltype (one)> (launch, o, norm); });
}
} /* namespace lig */

using namespace lig;

extern "C" LigStatus
lig_cuda_layer_norm_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return backward (launch, {&o[0], nullptr, &o[1], &o[2], &o[3], &o[4], &o[5], &o[6], &o[7]}, true);
}

extern "C" LigStatus
lig_cuda_layer_norm_backward_add (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return backward (launch, {&o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &o[6], &o[7], &o[8]}, true);
}

extern "C" LigStatus
lig_cuda_rms_norm_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return backward (launch, {&o[0], nullptr, &o[1], &o[2], nullptr, &o[3], &o[4], &o[5], nullptr},
                   false);
}

extern "C" LigStatus
lig_cuda_rms_norm_backward_add (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return backward (launch, {&o[0], &o[1], &o[2], &o[3], nullptr, &o[4], &o[5], &o[6], nullptr},
                   false);
}

extern "C" LigStatus
lig_cuda_l2_normalization_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  return backward (
    launch, {&o[0], nullptr, &o[1], nullptr, nullptr, &o[2], &o[3], nullptr, nullptr}, false);
}
