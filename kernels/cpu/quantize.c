/* SPDX-License-Identifier: MIT */
/* Quantized copies of a matrix x [M, K] with their scales: untransposed, transposed, or both in one
 * pass over memory. A per-tensor scale is given or computed from all elements, the other scales are
 * computed from the elements that they cover. This is the reference: other backends write the same
 * bytes and the same scales. */
#include "kernels/cpu/quantize-source.h"

#define EDGE LIG_SCALES_EDGE

/* The operands of a launch, and everything that its tiles share. */
typedef struct {
  const LigSource *source;
  const LigCopies *copies;
  int64_t rows, columns, bands, tiles; /* bands of EDGE rows, tiles of EDGE columns in each */
  LigDtype format;
  LigScales row_kind, transposed_kind;
  float largest, overflow, limit;
  float tensor; /* the per-tensor scale */
  bool powers;
  float *column_amax; /* per column, if the transpose has per-row scales; else null */
} Job;

/* A tile of x as floats, and the amaxes from which its scales are computed. */
typedef struct {
  int64_t row, column, rows, columns;
  float values[EDGE][EDGE];
  float row_amax[EDGE], column_amax[EDGE], amax;
} Tile;

/* Returns the amax of a piece. */
LIG_PIECE_FUNCTION
find_amax (const float *values, int64_t count, float *amax)
{
  float largest = *amax;
#pragma omp simd reduction(max : largest)
  for (int64_t i = 0; i < count; i++) {
    float magnitude = fabsf (values[i]);
    largest = magnitude > largest ? magnitude : largest;
  }
  *amax = largest;
}

/* Returns the amax of elements of one row of a source. */
static float
amax_of_row (const LigSource *source, int64_t at, int64_t end)
{
  float buffer[LIG_PIECE], amax = 0;
  for (; at < end; at += LIG_PIECE) {
    int64_t count = lig_min (end - at, LIG_PIECE);
    find_amax (source->read (source, at, count, buffer), count, &amax);
  }
  return amax;
}

static float
scale_of (const Job *job, float amax)
{
  return lig_quantize_scale (amax, job->largest, job->overflow, job->powers);
}

/* Stores the inverse of a scale, if the operand is present. */
static void
put_inverse (const LigOperand *scales, int64_t at, float scale)
{
  if (scales->data)
    ((float *) scales->data)[at] = lig_quantize_inverse (scale);
}

/* Reads a tile and finds its amaxes. */
static void
read_tile (const Job *job, Tile *tile)
{
  float buffer[EDGE];
  memset (tile->row_amax, 0, sizeof tile->row_amax);
  memset (tile->column_amax, 0, sizeof tile->column_amax);
  tile->amax = 0;
  for (int64_t i = 0; i < tile->rows; i++) {
    int64_t at = (tile->row + i) * job->columns + tile->column;
    const float *from = job->source->read (job->source, at, tile->columns, buffer);
    memcpy (tile->values[i], from, (size_t) tile->columns * sizeof *from);
    find_amax (from, tile->columns, &tile->row_amax[i]);
    LIG_EACH_ELEMENT (j, tile->columns)
    tile->column_amax[j] = lig_quantize_amax (tile->column_amax[j], from[j]);
    tile->amax = lig_quantize_amax (tile->amax, tile->row_amax[i]);
  }
}

/* Rounds a row of a tile to the format, stores it, and stores its values for y. */
static void
store_row (const Job *job, const Tile *tile, int64_t i, float scale)
{
  float values[EDGE];
  uint8_t bytes[EDGE];
  int64_t at = (tile->row + i) * job->columns + tile->column;
  LIG_EACH_ELEMENT (j, tile->columns)
  values[j] = lig_quantize_scaled (tile->values[i][j], scale, job->limit);
  lig_narrow (job->format, values, bytes, (size_t) tile->columns);
  if (job->copies->row->data)
    memcpy (lig_at (job->copies->row, at), bytes, (size_t) tile->columns);
  if (!job->copies->y->data)
    return;
  float inverse = lig_quantize_inverse (scale);
  lig_widen (job->format, bytes, values, (size_t) tile->columns);
  LIG_EACH_ELEMENT (j, tile->columns)
  values[j] *= inverse;
  lig_narrow (job->copies->y->dtype, values, lig_at (job->copies->y, at), (size_t) tile->columns);
}

/* Writes a tile of the untransposed copy. `whole` has the amaxes of its whole rows. */
static void
write_rows (const Job *job, const Tile *tile, const float *whole)
{
  if (!job->copies->row->data && !job->copies->y->data)
    return;
  float of_tile = scale_of (job, tile->amax);
  int64_t block = tile->column / EDGE;
  for (int64_t i = 0; i < tile->rows; i++) {
    float scale = job->tensor;
    if (job->row_kind == LIG_SCALES_ROW)
      scale = scale_of (job, whole[i]);
    else if (job->row_kind == LIG_SCALES_BLOCK)
      scale = scale_of (job, tile->row_amax[i]);
    else if (job->row_kind == LIG_SCALES_TILE)
      scale = of_tile;
    store_row (job, tile, i, scale);
    if (job->row_kind == LIG_SCALES_ROW && tile->column == 0)
      put_inverse (job->copies->row_scale, tile->row + i, scale);
    if (job->row_kind == LIG_SCALES_BLOCK)
      put_inverse (job->copies->row_scale, block * job->rows + tile->row + i, scale);
  }
  if (job->row_kind == LIG_SCALES_TILE)
    put_inverse (job->copies->row_scale,
                 tile->row / EDGE * lig_scales_stride (job->columns) + block, of_tile);
}

/* Writes a tile of the transposed copy. */
static void
write_columns (const Job *job, const Tile *tile)
{
  if (!job->copies->transposed->data)
    return;
  float of_tile = scale_of (job, tile->amax), values[EDGE];
  int64_t block = tile->row / EDGE;
  for (int64_t j = 0; j < tile->columns; j++) {
    int64_t column = tile->column + j;
    float scale = job->tensor;
    if (job->transposed_kind == LIG_SCALES_ROW)
      scale = scale_of (job, job->column_amax[column]);
    else if (job->transposed_kind == LIG_SCALES_BLOCK)
      scale = scale_of (job, tile->column_amax[j]);
    else if (job->transposed_kind == LIG_SCALES_TILE)
      scale = of_tile;
    for (int64_t i = 0; i < tile->rows; i++)
      values[i] = lig_quantize_scaled (tile->values[i][j], scale, job->limit);
    lig_narrow (job->format, values,
                lig_at (job->copies->transposed, column * job->rows + tile->row),
                (size_t) tile->rows);
    if (job->transposed_kind == LIG_SCALES_ROW && tile->row == 0)
      put_inverse (job->copies->transposed_scale, column, scale);
    if (job->transposed_kind == LIG_SCALES_BLOCK)
      put_inverse (job->copies->transposed_scale, block * job->columns + column, scale);
  }
  if (job->transposed_kind == LIG_SCALES_TILE)
    put_inverse (job->copies->transposed_scale,
                 tile->column / EDGE * lig_scales_stride (job->rows) + block, of_tile);
}

/* Quantizes EDGE rows; returns their amax. */
static float
run_band (const Job *job, int64_t band)
{
  Tile tile = {.row = band * EDGE};
  float whole[EDGE], amax = 0;
  tile.rows = lig_min (EDGE, job->rows - tile.row);
  for (int64_t i = 0; i < tile.rows && job->row_kind == LIG_SCALES_ROW; i++) {
    int64_t at = (tile.row + i) * job->columns;
    whole[i] = amax_of_row (job->source, at, at + job->columns);
  }
  for (tile.column = 0; tile.column < job->columns; tile.column += EDGE) {
    tile.columns = lig_min (EDGE, job->columns - tile.column);
    read_tile (job, &tile);
    amax = lig_quantize_amax (amax, tile.amax);
    write_rows (job, &tile, whole);
    write_columns (job, &tile);
  }
  return amax;
}

/* Finds the amax of each column. */
static void
find_columns (const Job *job)
{
#pragma omp parallel for schedule(static) if (job->rows * job->columns > LIG_PARALLEL_FROM)
  for (int64_t tile = 0; tile < job->tiles; tile++) {
    float buffer[EDGE], *amax = job->column_amax + tile * EDGE;
    int64_t count = lig_min (EDGE, job->columns - tile * EDGE);
    memset (amax, 0, (size_t) count * sizeof *amax);
    for (int64_t row = 0; row < job->rows; row++) {
      const float *from =
        job->source->read (job->source, row * job->columns + tile * EDGE, count, buffer);
      LIG_EACH_ELEMENT (i, count)
      amax[i] = lig_quantize_amax (amax[i], from[i]);
    }
  }
}

/* Computes the per-tensor scale, if a copy has one, and writes its inverse. */
static void
find_tensor_scale (Job *job, const LigOperand *scale)
{
  bool row = job->row_kind == LIG_SCALES_TENSOR && (job->copies->row->data || job->copies->y->data);
  bool transposed = job->transposed_kind == LIG_SCALES_TENSOR && job->copies->transposed->data;
  float amax = 0;
  if (!row && !transposed)
    return;
  if (scale->data) {
    job->tensor = *(const float *) scale->data;
  } else {
#pragma omp parallel for schedule(static) \
  reduction(max \
            : amax) if (job->rows * job->columns > LIG_PARALLEL_FROM)
    for (int64_t i = 0; i < job->rows; i++)
      amax = fmaxf (amax, amax_of_row (job->source, i * job->columns, (i + 1) * job->columns));
    job->tensor = scale_of (job, amax);
  }
  if (row)
    put_inverse (job->copies->row_scale, 0, job->tensor);
  if (transposed)
    put_inverse (job->copies->transposed_scale, 0, job->tensor);
}

/* Clears tile scales, whose rows are padded. */
static void
clear_scales (const LigOperand *scales, LigScales kind)
{
  if (scales->data && kind == LIG_SCALES_TILE)
    memset (scales->data, 0, (size_t) scales->size * sizeof (float));
}

LigStatus
LIG_CPU (quantize_source) (LigLaunch *launch,
                           const LigSource *source,
                           const LigQuantizeParams *params,
                           const LigCopies *copies)
{
  Job job = {
    .source = source,
    .copies = copies,
    .rows = source->rows,
    .columns = source->columns,
    .format = (LigDtype) params->format,
    .row_kind = (LigScales) params->row,
    .transposed_kind = (LigScales) params->transposed,
    .powers = params->powers,
  };
  job.bands = lig_scales_blocks (job.rows);
  job.tiles = lig_scales_blocks (job.columns);
  job.largest = lig_quantize_largest (job.format);
  job.overflow = lig_quantize_overflow (source->dtype);
  job.limit = lig_quantize_limit (source->dtype);
  find_tensor_scale (&job, copies->scale);
  if (copies->transposed->data && job.transposed_kind == LIG_SCALES_ROW) {
    if (!lig_row_sum_fits (job.columns))
      return LIG_FAIL (launch, LIG_UNSUPPORTED, "quantize: a row is too long; reduce it");
    job.column_amax = launch->workspace;
    find_columns (&job);
  }
  clear_scales (copies->row_scale, job.row_kind);
  clear_scales (copies->transposed_scale, job.transposed_kind);
  float amax = 0;
#pragma omp parallel for schedule(static) \
  reduction(max \
            : amax) if (job.rows * job.columns > LIG_PARALLEL_FROM)
  for (int64_t band = 0; band < job.bands; band++)
    amax = fmaxf (amax, run_band (&job, band));
  if (copies->recorded->data) {
    float *recorded = copies->recorded->data;
    *recorded = lig_quantize_amax (*recorded, amax);
  }
  return LIG_OK;
}

static const float *
read_operand (const LigSource *source, int64_t at, int64_t count, float *buffer)
{
  return lig_load (&source->launch->operands[0], at, count, buffer);
}

/* Returns a part of an operand that begins with its element `at`; an absent one stays absent. */
static LigOperand
part_of (const LigOperand *operand, int64_t at, int64_t size, int64_t columns)
{
  return (LigOperand){operand->data ? lig_at (operand, at) : NULL, size, columns, operand->dtype};
}

/* Writes the copies of one matrix after the other. */
static LigStatus
quantize_groups (LigLaunch *launch, const LigQuantizeParams *params)
{
  const LigOperand *o = launch->operands;
  int64_t columns = o[0].columns, rows = lig_rows (&o[0]) / params->groups, size = rows * columns;
  int64_t of_row = lig_scales_count ((LigScales) params->row, rows, columns);
  int64_t of_column = lig_scales_count ((LigScales) params->transposed, columns, rows);
  LigStatus status = LIG_OK;
  if (o[1].data || o[6].data || o[7].data || o[8].data || lig_rows (&o[0]) % params->groups != 0)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: several matrices have only copies; omit the other operands");
  for (int64_t g = 0; g < params->groups && status == LIG_OK; g++) {
    LigOperand of_group[] = {part_of (&o[0], g * size, size, columns),
                             o[1],
                             part_of (&o[2], g * size, size, columns),
                             part_of (&o[3], g * of_row, of_row, o[3].columns),
                             part_of (&o[4], g * size, size, rows),
                             part_of (&o[5], g * of_column, of_column, o[5].columns),
                             o[6],
                             o[7]};
    LigLaunch group = *launch;
    group.operands = of_group;
    LigSource source = {read_operand, &group, o[0].dtype, rows, columns};
    LigCopies copies = lig_produced_copies (&group, 1, 2);
    status = LIG_CPU (quantize_source) (&group, &source, params, &copies);
    launch->where = group.where;
  }
  return status;
}

/* Writes the quantized copies of x and their scales, and dbias, its sum over rows. */
LigStatus
LIG_CPU (quantize) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  LigSource source = {read_operand, launch, o[0].dtype, lig_rows (&o[0]), o[0].columns};
  LigCopies copies = lig_produced_copies (launch, 1, 2);
  const LigQuantizeParams *params = launch->params;
  LigStatus status = LIG_OK;
  if (params->groups > 1)
    return quantize_groups (launch, params);
  if (o[8].data) { /* before y, which may be computed in place of x */
    LigOperand operands[] = {o[0], o[8]};
    LigLaunch sums = *launch;
    sums.operands = operands;
    status = LIG_CPU (bias_backward) (&sums);
  }
  return status == LIG_OK ? LIG_CPU (quantize_source) (launch, &source, params, &copies) : status;
}

/* Advances all histories by one step, and sets the scales for the next step. */
LigStatus
LIG_CPU (update_scales) (LigLaunch *launch)
{
  const LigOperand *norm = &launch->operands[0], *quantizers = &launch->operands[1];
  const LigHistoryParams *params = launch->params;
  bool moves = !norm->data || isfinite (*(const float *) norm->data);
  for (int64_t i = 0; i < lig_rows (quantizers); i++) {
    float *entry = (float *) quantizers->data + i * quantizers->columns;
    if (moves)
      lig_quantizer_update (entry, quantizers->columns - 2,
                            lig_quantize_largest ((LigDtype) params->formats[i % 3]),
                            params->margin, params->newest_only);
    else
      entry[1] = 0;
  }
  return LIG_OK;
}
