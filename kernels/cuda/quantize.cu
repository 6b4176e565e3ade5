/* SPDX-License-Identifier: MIT */
/* Quantized copies of a matrix, and the histories of scales. */
#include "kernels/cuda/quantize-groups.cuh"
#include "kernels/cuda/quantize-source.cuh"

namespace lig
{
/* Advances the histories by one step, one threadblock per quantizer, as lig_quantizer_update does;
 * not if the norm of the gradients is not finite. */
__global__ void
__launch_bounds__ (THREADS)
  move_histories (float *quantizers, int64_t columns, const float *norm, LigHistoryParams params)
{
#if LIG_QUANTIZES
  float *entry = quantizers + blockIdx.x * columns, *history = entry + 2;
  int64_t length = columns - 2;
  float last = entry[1], max = last;
  if (!(last > 0))
    return;
  if (norm && !isfinite (*norm)) {
    __syncthreads ();
    if (threadIdx.x == 0)
      entry[1] = 0;
    return;
  }
  for (int64_t first = 0; first < length; first += THREADS) {
    int64_t i = first + threadIdx.x;
    float old = i < length ? history[i] : 0, next = i + 1 < length ? history[i + 1] : last;
    if (!params.newest_only)
      max = fmaxf (max, old);
    __syncthreads ();
    if (i < length)
      history[i] = next;
  }
  max = fold_block (max, 0.0f, Larger{});
  if (threadIdx.x == 0)
    lig_quantizer_set (entry, max, lig_quantize_largest ((LigDtype) params.formats[blockIdx.x % 3]),
                       params.margin);
#endif
}

Quantization
quantization (const LigLaunch *launch,
              const LigQuantizeParams *params,
              const LigOperand *x,
              const LigOperand *scale,
              int first)
{
  const LigOperand *outputs = launch->operands + first;
  Quantization q = {};
  q.source = x->dtype;
  q.rows = rows (x);
  q.columns = x->columns;
  q.scale = (const float *) scale->data;
  q.row = (uint8_t *) outputs[0].data;
  q.row_scale = (float *) outputs[1].data;
  q.transposed = (uint8_t *) outputs[2].data;
  q.transposed_scale = (float *) outputs[3].data;
  q.recorded = (uint32_t *) outputs[4].data;
  q.rounded = target (&outputs[5]);
  q.row_kind = params->row;
  q.transposed_kind = params->transposed;
  q.largest = lig_quantize_largest ((LigDtype) params->format);
  q.overflow = lig_quantize_overflow (x->dtype);
  q.limit = lig_quantize_limit (x->dtype);
  q.powers = params->powers;
  q.narrow_exponent = params->format == LIG_FP8_E4M3;
  if (q.row_kind == LIG_SCALES_TILE)
    clear (launch, q.row_scale, (size_t) outputs[1].size * sizeof (float));
  if (q.transposed_kind == LIG_SCALES_TILE)
    clear (launch, q.transposed_scale, (size_t) outputs[3].size * sizeof (float));
  return q;
}

LigStatus
place_lines (LigLaunch *launch, Quantization *q, bool sums, Lines *lines)
{
  bool row = q->row || q->rounded.data;
  bool whole = !q->scale && ((row && q->row_kind == LIG_SCALES_TENSOR) ||
                             (q->transposed && q->transposed_kind == LIG_SCALES_TENSOR));
  bool rows = row && q->row_kind == LIG_SCALES_ROW;
  bool columns = q->transposed && q->transposed_kind == LIG_SCALES_ROW;
  char *begin = (char *) launch->workspace, *at = begin + (whole ? AMAX_BYTES : 0);
  q->row_bits = q->columns < LONG_ROW ? 0 : SPREAD_BITS;
  q->row_step = (q->rows + (1 << q->row_bits) - 1) >> q->row_bits;
  size_t of_rows = rows ? (size_t) (q->row_amaxes_count () + 3) / 4 * 16 : 0;
  size_t of_columns = columns ? (size_t) (q->columns + 3) / 4 * 16 : 0;
  size_t used = (size_t) (at - begin) + of_rows + of_columns;
  size_t band = (size_t) q->columns * sizeof (float);
  q->bands = INT32_MAX;
  if (used > LIG_WORKSPACE_SIZE || (sums && used + band > LIG_WORKSPACE_SIZE))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "quantize: too many rows or columns; reduce them");
  lines->of_all = whole ? (uint32_t *) begin : nullptr;
  lines->of_rows = rows ? (uint32_t *) at : nullptr;
  lines->of_columns = columns ? (uint32_t *) (at + of_rows) : nullptr;
  q->amax = (const float *) lines->of_all;
  q->row_amaxes = lines->of_rows;
  q->column_amaxes = lines->of_columns;
  if (sums) {
    size_t max = (LIG_WORKSPACE_SIZE - used) / band;
    q->sums = (float *) (begin + used);
    q->bands = max < INT32_MAX ? (int) max : INT32_MAX;
  }
  clear (launch, used > 0 ? begin : nullptr, used);
  q->uniform = (!row || q->row_kind == LIG_SCALES_TENSOR) &&
               (!q->transposed || q->transposed_kind == LIG_SCALES_TENSOR);
  return LIG_OK;
}
} /* namespace lig */

using namespace lig;

/* Writes the quantized copies of x and their scales, and dbias, its sum over rows. */
extern "C" LigStatus
lig_cuda_quantize (LigLaunch *launch)
{
  if (reject_older (launch) != LIG_OK)
    return LIG_UNSUPPORTED;
  const LigOperand *o = launch->operands, *x = &o[0], *dbias = &o[8];
  const LigQuantizeParams *params = (const LigQuantizeParams *) launch->params;
  if (params->groups > 1)
    return quantize_groups (launch, params);
  Quantization q = quantization (launch, params, x, &o[1], 2);
  const LigOperand none = {};
  Lines lines = {};
  LigStatus status = place_lines (launch, &q, dbias->data, &lines);
  return status == LIG_OK ? quantize_function (launch, q, lines, Plain{target (x)}, &none, dbias,
                                               streams_pack ({x}, q.columns))
                          : status;
}

/* Advances all histories by one step, and sets the scales for the next step. */
extern "C" LigStatus
lig_cuda_update_scales (LigLaunch *launch)
{
  if (reject_older (launch) != LIG_OK)
    return LIG_UNSUPPORTED;
  const LigOperand *norm = &launch->operands[0], *quantizers = &launch->operands[1];
  move_histories<<<(unsigned) rows (quantizers), THREADS, 0, stream (launch)>>> (
    (float *) quantizers->data, quantizers->columns, (const float *) norm->data,
    *(const LigHistoryParams *) launch->params);
  return LIG_LAUNCHED (launch);
}
