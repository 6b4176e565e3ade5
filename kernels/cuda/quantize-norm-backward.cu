/* SPDX-License-Identifier: MIT */
/* Gradients of norms with quantized copies: in one pass over memory if the scale is known; if
 * scales are per row or per tensor, that pass finds the amaxes, and a second pass reads dx. Other
 * scales, types other than bf16 and rows that a threadblock cannot hold use the unfused kernels one
 * after the other. */
#include "kernels/cuda/norm-sums.cuh"
#include "kernels/cuda/quantize-norm-backward.cuh"
#include "kernels/cuda/quantize-source.cuh"

namespace lig
{
enum { DY, BRANCH, X, WEIGHT, MEAN, RSTD, SCALE, DX, DWEIGHT, DBIAS, DLAST, ROW };

/* The strategy of a launch. */
enum Way { APART, AMAXES, COPIES };

/* Returns the strategy for the scales of the copies. */
static Way
way_of (const Quantization &q)
{
  bool row = q.row || q.rounded.data, tensor = q.row_kind == LIG_SCALES_TENSOR;
  if ((row && !tensor && q.row_kind != LIG_SCALES_ROW) ||
      (q.transposed && q.transposed_kind != LIG_SCALES_TENSOR))
    return APART;
  return q.scale && (!row || tensor) && !q.rounded.data ? COPIES : AMAXES;
}

/* Computes dx with the unfused kernel, and then its copies. */
static LigStatus
run_apart (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigProducerParams *params = (const LigProducerParams *) launch->params;
  LigOperand centered[] = {o[DY],   o[BRANCH], o[X],       o[WEIGHT], o[MEAN],
                           o[RSTD], o[DX],     o[DWEIGHT], o[DBIAS]};
  LigOperand plain[] = {o[DY], o[BRANCH], o[X], o[WEIGHT], o[RSTD], o[DX], o[DWEIGHT]};
  LigOperand copies[] = {o[DX],      o[SCALE],   o[ROW],     o[ROW + 1], o[ROW + 2],
                         o[ROW + 3], o[ROW + 4], o[ROW + 5], o[DLAST]};
  LigLaunch gradient = *launch, quantize = *launch;
  bool has_mean = o[MEAN].data != nullptr;
  gradient.operands = has_mean ? centered : plain;
  gradient.params = &params->norm;
  LigStatus status = has_mean ? lig_cuda_layer_norm_backward_add (&gradient)
                              : lig_cuda_rms_norm_backward_add (&gradient);
  quantize.operands = copies;
  quantize.params = &params->quantize;
  if (status == LIG_OK)
    status = lig_cuda_quantize (&quantize);
  launch->where = gradient.where ? gradient.where : quantize.where;
  return status;
}

/* Fills in the part of a launch's layout that does not depend on its rows; false if shared memory
 * cannot hold it. */
template <class T, int LANES, int N, bool CENTERED>
static bool
lay_out (
  const LigLaunch *launch, int rows_of_chunk, int groups, QuantizedBackward<T> *s, size_t *shared)
{
  int space = 0, packs = (int) s->b.norm.length / SIDE, lanes = s->b.lanes;
  cudaDeviceGetAttribute (&space, cudaDevAttrMaxSharedMemoryPerBlockOptin, launch->device->number);
  space -= 1024; /* for the kernel's static shared memory */
  s->stride = (packs + 15) / 16 * 16;
  int gains = N > 1 ? N * 2 * lanes * 16 : 0, stage = 3 * N * 16 * lanes * groups;
  int bytes = s->q.transposed ? rows_of_chunk * s->stride * 8 : 0;
  int stages = (space - gains - bytes) / stage;
  s->b.stages = stages < 4 ? stages : 4;
  s->b.groups = groups;
  s->chunk_rows = rows_of_chunk;
  for (s->turns = 0; groups << s->turns < rows_of_chunk;)
    s->turns++;
  s->chunks = (int) ((s->b.norm.rows + rows_of_chunk - 1) / rows_of_chunk);
  *shared = (size_t) (gains + bytes + s->b.stages * stage);
  return stages >= 2;
}

/* Chooses the layout: chunks of two parts if these are enough for all SMs and leave room for many
 * threads. */
template <class T, int LANES, int N, bool CENTERED>
static bool
choose_layout (const LigLaunch *launch, QuantizedBackward<T> *s, size_t *shared)
{
  int packs = (int) s->b.norm.length / SIDE, max = 1;
  s->b.lanes = LANES ? LANES : (packs + 32 * N - 1) / (32 * N) * 32;
  if (s->b.lanes > quantizing_threads<N, CENTERED>)
    return false;
  while (max * 2 * s->b.lanes <= quantizing_threads<N, CENTERED> && max < PART)
    max *= 2;
  bool many = s->b.norm.rows / (2 * PART) >= launch->device->multiprocessors;
  for (int groups = max; many && groups >= 1 && groups * s->b.lanes >= 256; groups /= 2)
    if (lay_out<T, LANES, N, CENTERED> (launch, 2 * PART, groups, s, shared))
      return true;
  for (int groups = max; groups >= 1; groups /= 2)
    if (lay_out<T, LANES, N, CENTERED> (launch, PART, groups, s, shared))
      return true;
  return false;
}

/* Launches gradient_quantized, and the sums over its threadblocks. */
template <class T, class S, bool CENTERED, bool WRITES>
static LigStatus
launch_quantized (LigLaunch *launch, QuantizedBackward<T> s, float *partials, bool *fits)
{
  auto kernel = gradient_quantized<T, S::LANES, S::PACKS, CENTERED, WRITES>;
  const LigOperand *o = launch->operands;
  int64_t length = s.b.norm.length;
  size_t shared = 0;
  *fits = choose_layout<T, S::LANES, S::PACKS, CENTERED> (launch, &s, &shared);
  if (!*fits)
    return LIG_OK;
  cudaError_t error =
    cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared);
  if (error != cudaSuccess)
    return lig_cuda_status (launch->device, error, "quantize: reserving shared memory");
  int max = max_parts (length, MAX_SUMS + 1);
  max = max < launch->device->multiprocessors ? max : launch->device->multiprocessors;
  int blocks = s.chunks < max ? s.chunks : max;
  s.b.dweights = o[DWEIGHT].data ? partials : nullptr;
  s.b.dbiases = o[DBIAS].data ? partials + blocks * length : nullptr;
  s.dlasts = WRITES && o[DLAST].data ? partials + 2 * blocks * length : nullptr;
  kernel<<<blocks, s.b.lanes * s.b.groups, shared, stream (launch)>>> (s);
  LigStatus status = LIG_LAUNCHED (launch);
  const NormSums sums = {{s.b.dweights, s.b.dbiases, s.dlasts},
                         {&o[DWEIGHT], &o[DBIAS], WRITES ? &o[DLAST] : nullptr}};
  return status == LIG_OK ? finish_sums (launch, sums, blocks, length) : status;
}

/* Calls `f` with the shape for rows of that many packs. */
template <class F>
static LigStatus
choose_quantized_shape (int64_t packs, F f)
{
  if (packs <= 32)
    return f (Shape<32, 1>{});
  if (packs <= 64)
    return f (Shape<32, 2>{});
  if (packs <= 96)
    return f (Shape<32, 3>{});
  if (packs <= 128)
    return f (Shape<32, 4>{});
  return f (Shape<0, 2>{});
}

/* Computes the gradients and the copies, or the amaxes and then the copies from dx. */
template <class T, bool CENTERED>
static LigStatus
run_together (LigLaunch *launch, const Norm &norm, Quantization q, Way way, bool *fits)
{
  const LigOperand *o = launch->operands;
  QuantizedBackward<T> s = {};
  s.b = {norm,
         (const T *) o[DY].data,
         (const T *) o[BRANCH].data,
         (const T *) o[X].data,
         vector (&o[WEIGHT]),
         (const float *) o[MEAN].data,
         (const float *) o[RSTD].data,
         (T *) o[DX].data};
  /* The column sums of the copies begin after the amaxes; those of the gradients come first. */
  LigStatus status = place_lines (launch, &q, true, &s.lines);
  if (status != LIG_OK)
    return status;
  /* The number of parts of the gradients' sums leaves room for one more vector. */
  float *partials = q.sums;
  *fits = (size_t) ((char *) partials - (char *) launch->workspace) <=
          LIG_WORKSPACE_SIZE / (MAX_SUMS + 1);
  q.sums = o[DLAST].data ? q.sums : nullptr;
  s.q = q;
  if (*fits)
    status = choose_quantized_shape (norm.length / SIDE, [&] (auto shape) {
      using S = decltype (shape);
      return way == COPIES ? launch_quantized<T, S, CENTERED, true> (launch, s, partials, fits)
                           : launch_quantized<T, S, CENTERED, false> (launch, s, partials, fits);
    });
  if (status != LIG_OK || !*fits || way == COPIES)
    return status;
  PackedSource<Plain, T> source = {Plain{target (&o[DX])}, nullptr};
  return quantize_from<true> (launch, q, Lines{}, source, &o[DLAST]);
}

/* Returns whether the launch's operands allow 16-byte accesses, and a kernel supports its types. */
static bool
fits_together (const LigLaunch *launch, const Norm &norm, const Quantization &q)
{
  const LigOperand *o = launch->operands;
  LigDtype dtype = o[X].dtype;
  return dtype == LIG_BF16 && norm.length == o[X].columns && norm.rows >= PART * 64 &&
         of_type (&o[DY], dtype) && of_type (&o[BRANCH], dtype) && of_type (&o[DX], dtype) &&
         streams_pack ({&o[X], &o[DY], &o[DX]}, q.columns) && aligned (&o[BRANCH]) &&
         weight_packs (&o[WEIGHT], dtype) && copies_pack (q) && norm.length / SIDE <= 2048;
}
} /* namespace lig */

using namespace lig;

/* Computes dx = norm gradient + branch, dweight, dbias and dlast, the sum of dx over rows, and the
 * quantized copies of dx. */
extern "C" LigStatus
lig_cuda_norm_backward_quantize (LigLaunch *launch)
{
  if (reject_older (launch) != LIG_OK)
    return LIG_UNSUPPORTED;
  const LigOperand *o = launch->operands;
  const LigProducerParams *params = (const LigProducerParams *) launch->params;
  LigLaunch of_norm = *launch;
  of_norm.params = &params->norm;
  Norm norm;
  LigStatus status = prepare (&norm, &of_norm, &o[X], &o[WEIGHT], o[MEAN].data != nullptr);
  launch->where = of_norm.where;
  if (status != LIG_OK)
    return status;
  if (!o[DX].data || !all_floating (launch, ROW))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: dx is absent or no floating type; bind it to fp32, fp16 or bf16");
  Quantization q = quantization (launch, &params->quantize, &o[X], &o[SCALE], ROW);
  Way way = way_of (q);
  bool fits = way != APART && fits_together (launch, norm, q);
  if (fits)
    status = norm.centered ? run_together<bf16, true> (launch, norm, q, way, &fits)
                           : run_together<bf16, false> (launch, norm, q, way, &fits);
  return fits || status != LIG_OK ? status : run_apart (launch);
}
