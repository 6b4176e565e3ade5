/* SPDX-License-Identifier: MIT */
/* Fused LM head and cross-entropy; never materializes the full logits, see kernels/joint-loss.h.
 * Lower bound: three matmuls, and five passes over the logits: written by the matmul, read and
 * overwritten with their gradients by the loss, read by each of two matmuls. */
#include "kernels/classes.h"
#include "kernels/cuda/common/async-copy.cuh"
#include "kernels/cuda/common/columns.cuh"
#include "kernels/cuda/common/map.cuh"
#include "kernels/cuda/linear.cuh"
#include "kernels/cuda/loss.cuh"
#include "kernels/joint-loss.h"

namespace lig
{
/* The largest number of threads per row, and the number of stages in which the copies of a row are
 * awaited. */
enum { ROW_THREADS = 512, ROW_PARTS = 4 };

/* The rows of a chunk; `slots` packs of each thread are kept in shared memory. */
struct Rows {
  const int32_t *targets;
  float *values;
  int64_t count, columns, padded, stride; /* columns: the number of logits that are not padding */
  int slots;
  LigCrossEntropyParams params;
  __device__ bool
  counts (int64_t row) const
  {
    return row < count && targets[row] != params.ignored;
  }
};

/* Combines the sums of the lanes of a warp. */
__device__ inline void
fold_online (Online &online)
{
  float max = online.max;
  fold_lanes (32, Larger{}, max);
  online.rise (max);
  fold_lanes (32, Sum{}, online.exps, online.sum);
}

/* Combines the sums of all threads. Calls alternate between two buffers, so that one barrier
 * suffices: before a thread overwrites a buffer it has passed the barrier of the call between. */
__device__ inline void
fold_row (Online &online, Online *parts)
{
  int lane = (int) threadIdx.x % 32, warps = (int) blockDim.x / 32;
  fold_online (online);
  if (lane == 0)
    parts[threadIdx.x / 32] = online;
  __syncthreads ();
  online = lane < warps ? parts[lane] : Online{-INFINITY, 0, 0};
  fold_online (online);
}

/* Issues the copy of a thread's pack of a row. */
template <class T>
__device__ inline void
fetch (uint4 *held, const T *row, const Span<T> &span, int64_t pack)
{
  if (pack < span.packs)
    copy_async_streaming (held + pack, row + span.head + pack * wide<T>);
}

/* Waits for the copies of a stage. */
__device__ inline void
await_part (int part)
{
  if (part == 0)
    await_copies<ROW_PARTS - 1> ();
  else if (part == 1)
    await_copies<ROW_PARTS - 2> ();
  else if (part == 2)
    await_copies<ROW_PARTS - 3> ();
  else
    await_copies<0> ();
}

/* Returns the sum over a row whose copies have been issued. */
template <class T>
__device__ inline Online
sum_row (const T *row, const Span<T> &span, const uint4 *held, int slots, bool smooth, float base)
{
  const int threads = (int) blockDim.x, share = (slots + ROW_PARTS - 1) / ROW_PARTS;
  Online online = {-INFINITY, 0, 0};
  float values[wide<T>];
  if ((int) threadIdx.x < span.edges) {
    float value[1] = {widen (row[span.edge ((int) threadIdx.x)])};
    online.add (value, smooth, base);
  }
#pragma unroll
  for (int part = 0; part < ROW_PARTS; part++) {
    await_part (part);
    for (int slot = part * share; slot < (part + 1) * share && slot < slots; slot++) {
      int64_t pack = (int64_t) slot * threads + threadIdx.x;
      if (pack < span.packs) {
        unpack (Words<T>{held[pack]}, values);
        online.add (values, smooth, base);
      }
    }
  }
  const uint4 *packs = reinterpret_cast<const uint4 *> (row + span.head);
  for (int64_t pack = (int64_t) slots * threads + threadIdx.x; pack < span.packs; pack += threads) {
    unpack (Words<T>{packs[pack]}, values);
    online.add (values, smooth, base);
  }
  return online;
}

/* Replaces a pack by its gradients, which are 0 if the row does not count. */
template <class T>
__device__ inline void
write_pack (T *row, const Span<T> &span, int64_t pack, uint4 bits, const Slope &slope)
{
  int64_t column = span.head + pack * wide<T>;
  Words<T> words = {bits};
  float values[wide<T>];
  unpack (words, values);
  slope.apply (values, column);
  lig::pack (values, words);
  store_chunk (row + column, slope.factor == 0 ? Words<T>{} : words);
}

/* Computes the loss of each row and overwrites the logits with the gradients of the sum of the
 * losses. A threadblock reads a row once, into shared memory; the part that does not fit is read
 * again, mostly from cache. As soon as a thread has replaced a pack, it issues the copy of the same
 * pack of the threadblock's next row, so that memory stays busy while a row is summed. */
template <class T, bool SMOOTH>
__global__ void
__launch_bounds__ (ROW_THREADS, 2) entropy_in_place (T *x, Rows rows)
{
  extern __shared__ uint4 held[];
  __shared__ Online parts[2][32];
  const int threads = (int) blockDim.x, share = (rows.slots + ROW_PARTS - 1) / ROW_PARTS;
  const float smoothing = rows.params.label_smoothing, even = smoothing / (float) rows.columns;
  int turn = 0;
  bool counts = rows.counts (blockIdx.x);
  {
    const T *first = x + blockIdx.x * rows.stride;
    Span<T> span (first, rows.columns);
    for (int part = 0; part < ROW_PARTS; part++) {
      for (int slot = part * share; slot < (part + 1) * share && slot < rows.slots; slot++)
        if (counts)
          fetch (held, first, span, (int64_t) slot * threads + threadIdx.x);
      commit_copies ();
    }
  }
  for (int64_t at = blockIdx.x; at < rows.count; at += gridDim.x) {
    T *row = x + at * rows.stride;
    const T *next = row + gridDim.x * rows.stride;
    Span<T> span (row, rows.columns), next_span (next, rows.columns);
    bool follows = rows.counts (at + gridDim.x);
    int32_t target = rows.targets[at];
    Slope slope = {0, 0, 0, even, 1 - smoothing, target};
    float loss = 0;
    if (counts) {
      bool inside = target >= 0 && target < rows.columns;
      /* Other threads overwrite it after the barrier. */
      float logit = inside ? widen (row[target]) : NAN;
      float base = SMOOTH ? base_of (widen (row[0])) : 0;
      Online online = sum_row (row, span, held, rows.slots, SMOOTH, base);
      fold_row (online, parts[turn]);
      turn ^= 1;
      slope.max = online.max;
      slope.log2 = online.log () * LOG2_E;
      slope.factor = 1;
      loss = online.loss (logit, smoothing, (float) rows.columns, base);
    }
    if (threadIdx.x == 0)
      rows.values[at] = loss;
    for (int part = 0; part < ROW_PARTS; part++) {
      for (int slot = part * share; slot < (part + 1) * share && slot < rows.slots; slot++) {
        int64_t pack = (int64_t) slot * threads + threadIdx.x;
        if (pack < span.packs)
          write_pack (row, span, pack, counts ? held[pack] : uint4{}, slope);
        if (follows)
          fetch (held, next, next_span, pack);
      }
      commit_copies ();
    }
    const uint4 *packs = reinterpret_cast<const uint4 *> (row + span.head);
    for (int64_t pack = (int64_t) rows.slots * threads + threadIdx.x; pack < span.packs;
         pack += threads)
      write_pack (row, span, pack, counts ? packs[pack] : uint4{}, slope);
    if ((int) threadIdx.x < span.edges) {
      int64_t column = span.edge ((int) threadIdx.x);
      float value[1] = {counts ? widen (row[column]) : 0};
      slope.apply (value, column);
      row[column] = narrow<T> (counts ? value[0] : 0);
    }
    for (int64_t column = rows.columns + threadIdx.x; column < rows.padded; column += threads)
      row[column] = narrow<T> (0);
    counts = follows;
  }
}

/* Writes the mean loss of a chunk and the number of counted rows. Runs in one threadblock. */
__global__ void
__launch_bounds__ (MAX_THREADS) add_losses (Rows rows, float *part)
{
  double sum = 0;
  int counted = 0;
  for (int64_t i = threadIdx.x; i < rows.count; i += blockDim.x) {
    sum += (double) rows.values[i];
    counted += rows.counts (i);
  }
  sum = block_total (sum);
  counted = block_total (counted);
  if (threadIdx.x > 0)
    return;
  part[0] = counted ? (float) (sum / counted) : 0;
  part[1] = (float) counted;
}

/* Launches entropy_in_place with two threadblocks per SM if two rows fit into shared memory. */
template <class T>
static LigStatus
replace_logits (LigLaunch *launch, T *x, Rows rows)
{
  const auto &limits = launch->device->properties;
  int64_t packs = rows.columns / wide<T>, fixed = 1024 + 2 * 32 * sizeof (Online);
  int threads = (int) min ((packs / UNROLL + 31) / 32 * 32, (int64_t) ROW_THREADS);
  threads = threads < 32 ? 32 : threads;
  int64_t slot = threads * sizeof (uint4), slots = (packs + threads - 1) / threads;
  if (slots > ((int64_t) limits.sharedMemPerMultiprocessor / 2 - fixed) / slot)
    slots = min (slots, ((int64_t) limits.sharedMemPerBlockOptin - fixed) / slot);
  rows.slots = (int) slots;
  size_t bytes = (size_t) (slots * slot);
  int together = 0;
  auto kernel =
    rows.params.label_smoothing > 0 ? entropy_in_place<T, true> : entropy_in_place<T, false>;
  cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) bytes);
  cudaFuncSetAttribute (kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                        cudaSharedmemCarveoutMaxShared);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor (&together, kernel, threads, bytes);
  int64_t max = (int64_t) launch->device->multiprocessors * (together > 0 ? together : 1);
  kernel<<<(unsigned) min (rows.count, max), threads, bytes, stream (launch)>>> (x, rows);
  return LIG_LAUNCHED (launch);
}

static LigStatus
losses (LigLaunch *launch, LigOperand logits, LigOperand targets, float *values, float *part)
{
  const LigCrossEntropyParams *params = (const LigCrossEntropyParams *) launch->params;
  LigCrossEntropyParams own = params ? *params : LigCrossEntropyParams{-100, 0};
  Rows rows = {(const int32_t *) targets.data,
               values,
               targets.size,
               lig_shown_classes (&own, 0, logits.columns),
               logits.columns,
               lig_joint_stride (logits.columns, logits.dtype, LIG_BACKEND_CUDA),
               0,
               own};
  LigStatus status = LIG_OK;
  if (logits.size > 0)
    status = dispatch (launch, logits.dtype, [=] (auto one) {
      return replace_logits (launch, (decltype (one) *) logits.data, rows);
    });
  if (status != LIG_OK)
    return status;
  add_losses<<<1, MAX_THREADS, 0, stream (launch)>>> (rows, part);
  return LIG_LAUNCHED (launch);
}

/* Sums the means and counts of the chunks in order; there are few chunks. */
__global__ void
add_parts_of_loss (const float *parts, int64_t chunks, Target y, Target count)
{
  double sum = 0, counted = 0;
  for (int64_t i = 0; i < chunks; i++) {
    sum += (double) parts[2 * i] * (double) parts[2 * i + 1];
    counted += (double) parts[2 * i + 1];
  }
  if (y.data)
    y.set (0, counted > 0 ? (float) (sum / counted) : 0);
  if (count.data)
    count.set (0, (float) counted);
}

static LigStatus
reduce_chunks (LigLaunch *launch, const float *parts, int64_t chunks)
{
  const LigOperand *o = launch->operands;
  add_parts_of_loss<<<1, 1, 0, stream (launch)>>> (parts, chunks, target (&o[LIG_JOINT_Y]),
                                                   target (&o[LIG_JOINT_COUNT]));
  return LIG_LAUNCHED (launch);
}

/* The matmuls of a chunk, whose row stride may exceed the number of logits. */
static bool
lies_apart (LigMatrix &logits)
{
  int64_t columns = logits.stride;
  logits.stride = lig_joint_stride (columns, logits.dtype, LIG_BACKEND_CUDA);
  return logits.stride > columns;
}

static LigStatus
multiply_logits (LigLaunch *launch)
{
  LigMatmul job = forward (launch, launch->operands[2]);
  lies_apart (job.result);
  return multiply (launch, job);
}

static LigStatus
multiply_logits_bias (LigLaunch *launch)
{
  LigMatmul job = forward (launch, launch->operands[3]);
  job.vector = matrix (launch->operands[2]);
  lies_apart (job.result);
  return multiply (launch, job);
}

static LigStatus
multiply_input (LigLaunch *launch)
{
  LigMatmul job = backward_input (launch, launch->operands[2]);
  lies_apart (job.left);
  return multiply (launch, job);
}

static LigStatus
multiply_weight (LigLaunch *launch)
{
  LigMatmul job = backward_weight (launch);
  lies_apart (job.left);
  return multiply (launch, job);
}

static LigStatus
multiply_weight_bias (LigLaunch *launch)
{
  LigMatmul job = backward_weight (launch);
  if (!lies_apart (job.left))
    return lig_cuda_linear_backward_weight_bias (launch);
  LigOperand logits = {job.left.data, job.depth * job.left.stride, job.left.stride, job.left.dtype};
  LigStatus status = job.result.data ? multiply (launch, job) : LIG_OK;
  return status == LIG_OK ? sum_rows (launch, &logits, &launch->operands[3]) : status;
}

/* y = g dy / count, plus the old y if ADDS. */
template <bool ADDS> struct Divide {
  Vector dy, count;
  float factor;
  Divide
  any () const
  {
    return *this;
  }
  __device__ void
  begin ()
  {
    float rows = count[0];
    factor = rows > 0 ? dy[0] / rows : 0;
  }
  template <int W>
  __device__ void
  apply (float (&g)[W], const float (&old)[W], int64_t) const
  {
#pragma unroll
    for (int i = 0; i < W; i++)
      g[i] = ADDS ? factor * g[i] + old[i] : factor * g[i];
  }
};

static LigStatus
scale_gradient (LigLaunch *launch, const LigOperand *g, const LigOperand *y, bool adds)
{
  const LigOperand *o = launch->operands;
  if (!g->data || !y->data)
    return LIG_OK;
  if (adds)
    return map<true> (launch, g, y, y, Divide<true>{vector (&o[0]), vector (&o[1]), 0});
  return map<false> (launch, g, nullptr, y, Divide<false>{vector (&o[0]), vector (&o[1]), 0});
}
} /* namespace lig */

using namespace lig;

/* Computes y, count and gx, gweight, gbias, the gradients of the sum of the losses. */
extern "C" LigStatus
lig_cuda_linear_cross_entropy (LigLaunch *launch)
{
  static const LigJointCalls calls = {
    multiply_logits,
    multiply_logits_bias,
    nullptr, /* entropy */
    nullptr, /* entropy_backward */
    multiply_input,
    multiply_weight,
    multiply_weight_bias,
    nullptr,
    losses,
    reduce_chunks,
  };
  return lig_joint_loss (launch, &calls, LIG_BACKEND_CUDA);
}

/* Computes dx, dweight, dbias from dy, count and the gradients of the sum of the losses. */
extern "C" LigStatus
lig_cuda_linear_cross_entropy_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  LigStatus status = scale_gradient (launch, &o[2], &o[5], false);
  if (status == LIG_OK)
    status = scale_gradient (launch, &o[3], &o[6], launch->accumulate);
  if (status == LIG_OK)
    status = scale_gradient (launch, &o[4], &o[7], launch->accumulate);
  return status;
}
