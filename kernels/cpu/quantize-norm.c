/* SPDX-License-Identifier: MIT */
/* Quantized copies of normalized rows, computed from known statistics as they are read. */
#include "kernels/cpu/quantize-source.h"

enum { X, WEIGHT, BIAS, MEAN, RSTD, SCALE, Y, ROW };

/* Normalizes a piece in place. */
LIG_PIECE_FUNCTION
normalize (float *x,
           int64_t count,
           float mean,
           float rstd,
           float offset,
           const float *gain,
           const float *bias)
{
  if (bias) {
    LIG_EACH_ELEMENT (i, count)
    x[i] = (x[i] - mean) * rstd * (gain[i] + offset) + bias[i];
  } else {
    LIG_EACH_ELEMENT (i, count)
    x[i] = (x[i] - mean) * rstd * (gain[i] + offset);
  }
}

static const float *
read (const LigSource *source, int64_t at, int64_t count, float *buffer)
{
  const LigOperand *o = source->launch->operands;
  const LigProducerParams *params = source->launch->params;
  float gains[LIG_PIECE], biases[LIG_PIECE];
  int64_t row = at / source->columns, column = at % source->columns;
  float mean = o[MEAN].data ? ((const float *) o[MEAN].data)[row] : 0;
  lig_load_into (&o[X], at, count, buffer);
  normalize (buffer, count, mean, ((const float *) o[RSTD].data)[row],
             params->norm.zero_centered ? 1 : 0, lig_load (&o[WEIGHT], column, count, gains),
             o[BIAS].data ? lig_load (&o[BIAS], column, count, biases) : NULL);
  lig_round_source (source, buffer, count);
  return buffer;
}

/* Writes the unquantized rows. */
static void
write_values (const LigSource *source, const LigOperand *y)
{
#pragma omp parallel for schedule(static) if (y->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < source->rows; row++)
    for (int64_t column = 0; column < source->columns; column += LIG_PIECE) {
      float buffer[LIG_PIECE];
      int64_t at = row * source->columns + column;
      int64_t count = lig_min (source->columns - column, LIG_PIECE);
      const float *values = read (source, at, count, buffer);
      lig_narrow (y->dtype, values, lig_at (y, at), (size_t) count);
    }
}

/* Writes the quantized copies of y = (x - mean) rstd gain + bias, and y if it is present. */
LigStatus
LIG_CPU (norm_quantize) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigProducerParams *params = launch->params;
  LigSource source = {read, launch, o[X].dtype, lig_rows (&o[X]), o[X].columns};
  LigCopies copies = lig_produced_copies (launch, SCALE, ROW);
  if (!lig_all_floating (launch, ROW))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: not a floating type; convert to fp32, fp16 or bf16");
  if (o[WEIGHT].size != o[X].columns)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: the norm extends over several axes; normalize the last one");
  LigStatus status = LIG_CPU (quantize_source) (launch, &source, &params->quantize, &copies);
  if (status == LIG_OK && o[Y].data)
    write_values (&source, &o[Y]);
  return status;
}
