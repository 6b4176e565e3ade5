/* SPDX-License-Identifier: MIT */
/* Quantizing kernels on the CPU, which are the bitwise reference for others, against a plain
 * reference that computes each element's scale separately; the matmuls of quantized operands
 * against sums in double precision; histories against TransformerEngine's rule. */
#include "tests/kernels/quantize-case.h"

#include "kernels/quantize.h"
#include <ligature/params-matmul.h>

/* --- Scales ------------------------------------------------------------------------------- */

static void
test_scales (void)
{
  const float largest[] = {448, 57344};
  for (int i = 0; i < 2; i++) {
    float max = largest[i];
    g_assert_true (lig_quantize_scale (0, max, FLT_MAX, FALSE) == 1);
    g_assert_true (lig_quantize_scale (INFINITY, max, FLT_MAX, FALSE) == 1);
    g_assert_true (lig_quantize_scale (NAN, max, FLT_MAX, FALSE) == 1);
    g_assert_true (lig_quantize_scale (0x1p-140f, max, FLT_MAX, FALSE) == FLT_MAX);
    g_assert_true (lig_quantize_scale (0x1p-140f, max, 65504, FALSE) == 65504);
    g_assert_true (lig_quantize_scale (3, max, FLT_MAX, FALSE) == max / 3);
    g_assert_true (lig_quantize_scale (3, max, FLT_MAX, TRUE) == exp2f (floorf (log2f (max / 3))));
    g_assert_true (lig_quantize_scale (max, max, FLT_MAX, TRUE) == 1);
  }
  g_assert_true (lig_quantize_amax (2, NAN) == 2);
  g_assert_true (lig_quantize_amax (2, -INFINITY) == INFINITY);
}

/* Returns the amax of a rectangle. */
static float
amax_of (const float *x, int64_t columns, int64_t row, int64_t rows, int64_t column, int64_t width)
{
  float amax = 0;
  for (int64_t i = row; i < row + rows; i++)
    for (int64_t j = column; j < column + width; j++)
      if (fabsf (x[i * columns + j]) > amax)
        amax = fabsf (x[i * columns + j]);
  return amax;
}

/* The amax of the elements that shared a scale with the last element, and their place. */
typedef struct {
  int64_t place;
  float amax;
} Known;

/* Returns the scale of the element at (i, j) of a matrix [rows, columns], and the place of its
 * inverse among the scales. */
static float
scale_at (const Quantizing *q,
          Known *known,
          LigScales kind,
          const float *x,
          int64_t rows,
          int64_t columns,
          int64_t i,
          int64_t j,
          float tensor,
          int64_t *place)
{
  int64_t edge = LIG_SCALES_EDGE, bi = i / edge, bj = j / edge;
  int64_t across = (columns + edge - 1) / edge;
  int64_t width = MIN (edge, columns - bj * edge), height = MIN (edge, rows - bi * edge);
  float max = q->params.format == LIG_FP8_E4M3 ? 448 : 57344;
  float overflow = q->operands[0].dtype == LIG_FP16   ? 65504.0f
                   : q->operands[0].dtype == LIG_BF16 ? 0x1.fep127f
                                                      : FLT_MAX;
  *place = 0;
  if (kind == LIG_SCALES_TENSOR)
    return tensor;
  *place = kind == LIG_SCALES_ROW     ? i
           : kind == LIG_SCALES_BLOCK ? bj * rows + i
                                      : bi * ((across + 3) / 4 * 4) + bj;
  if (known->place != *place)
    known->amax = kind == LIG_SCALES_ROW ? amax_of (x, columns, i, 1, 0, columns)
                  : kind == LIG_SCALES_BLOCK
                    ? amax_of (x, columns, i, 1, bj * edge, width)
                    : amax_of (x, columns, bi * edge, height, bj * edge, width);
  known->place = *place;
  return lig_quantize_scale (known->amax, max, overflow, q->params.powers);
}

/* Returns the byte of a value of a type, times its scale. NaN has no sign; infinity is one in fp16,
 * and saturated in other types. */
static uint8_t
byte_of (LigDtype format, LigDtype type, float value, float scale)
{
  if (isnan (value) || (type == LIG_FP16 && isinf (value)))
    return 0x7f;
  value *= scale;
  return format == LIG_FP8_E4M3 ? lig_e4m3_from_float (value) : lig_e5m2_from_float (value);
}

/* Checks one copy: each byte, and the inverse of each scale. */
static void
check_copy (const Quantizing *q,
            gboolean transposed,
            const float *x,
            int64_t rows,
            int64_t columns,
            float tensor)
{
  LigDtype format = (LigDtype) q->params.format;
  LigScales kind = (LigScales) (transposed ? q->params.transposed : q->params.row);
  const uint8_t *bytes = q->operands[transposed ? 4 : 2].data;
  const float *inverses = q->operands[transposed ? 5 : 3].data;
  Known known = {.place = -1};
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      int64_t place;
      float scale = scale_at (q, &known, kind, x, rows, columns, i, j, tensor, &place);
      uint8_t expected = byte_of (format, q->operands[0].dtype, x[i * columns + j], scale);
      if (bytes[i * columns + j] != expected || inverses[place] != 1 / scale)
        g_error ("%s copy, kind %d, %ld x %ld at %ld, %ld: byte %02x of %g, expected %02x; inverse "
                 "%g, expected %g",
                 transposed ? "transposed" : "row", (int) kind, (long) rows, (long) columns,
                 (long) i, (long) j, bytes[i * columns + j], (double) x[i * columns + j], expected,
                 (double) inverses[place], (double) (1 / scale));
    }
}

/* Checks the sums over rows, if they are computed. */
static void
check_sums (LigOperand dbias, const float *x, int64_t rows, int64_t columns)
{
  if (!dbias.data)
    return;
  const double *got = wide (dbias);
  for (int64_t j = 0; j < columns; j++) {
    double sum = 0;
    for (int64_t i = 0; i < rows; i++)
      sum += (double) x[i * columns + j];
    g_assert_cmpfloat_with_epsilon (got[j], sum, 2e-2 * (1 + fabs (sum)));
  }
}

static void
check_case (Content content,
            LigDtype dtype,
            LigDtype format,
            const LigScales kind[2],
            const int64_t shape[2],
            gboolean powers,
            gboolean given)
{
  int64_t rows = shape[0], columns = shape[1];
  LigOperand x = content_of (content, dtype, rows, columns);
  LigQuantizeParams params = {(int32_t) format, (int32_t) kind[0], (int32_t) kind[1], powers, 0};
  g_autofree float *values = g_new (float, x.size);
  g_autofree float *turned = g_new (float, x.size);
  lig_widen (dtype, x.data, values, (size_t) x.size);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      turned[j * rows + i] = values[i * columns + j];
  float max = amax_of (values, columns, 0, rows, 0, columns);
  Quantizing q = quantizing (x, params, given ? 24 : 0, 1.5f);
  if (content == RANDOM)
    q.operands[8] = blank (dtype, 1, columns);
  run ("quantize", q.operands, &q.params, FALSE);
  check_sums (q.operands[8], values, rows, columns);
  int64_t place;
  float overflow = dtype == LIG_FP16 ? 65504.0f : dtype == LIG_BF16 ? 0x1.fep127f : FLT_MAX;
  float tensor =
    given ? 24 : lig_quantize_scale (max, format == LIG_FP8_E4M3 ? 448 : 57344, overflow, powers);
  check_copy (&q, FALSE, values, rows, columns, tensor);
  check_copy (&q, TRUE, turned, columns, rows, tensor);
  g_assert_true (*(float *) q.operands[6].data == fmaxf (1.5f, max));
  const double *y = wide (q.operands[7]);
  Known known = {.place = -1};
  for (int64_t i = 0; i < x.size; i++) {
    float scale = scale_at (&q, &known, kind[0], values, rows, columns, i / columns, i % columns,
                            tensor, &place);
    uint8_t byte = byte_of (format, dtype, values[i], scale);
    float back =
      (format == LIG_FP8_E4M3 ? lig_e4m3_to_float (byte) : lig_e5m2_to_float (byte)) * (1 / scale);
    g_autofree void *narrow = g_malloc (8);
    lig_narrow (dtype, &back, narrow, 1);
    lig_widen (dtype, narrow, &back, 1);
    g_assert_true (y[i] == (double) back || (isnan (y[i]) && isnan (back)));
  }
}

static void
test_copies (void)
{
  static const LigDtype formats[] = {LIG_FP8_E4M3, LIG_FP8_E5M2};
  guint n = 0;
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    for (guint m = 0; m < G_N_ELEMENTS (matrices); m++)
      for (int content = 0; content < N_CONTENTS; content++) {
        n++;
        case_begin ();
        check_case ((Content) content, floating[n % 3], formats[n / 2 % 2], kinds[k], matrices[m],
                    n / 3 % 2, n % 5 == 0);
        case_end ();
      }
}

/* The row copy can be written without the transposed one and vice versa, with the same bytes. */
static void
test_alone (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    case_begin ();
    LigOperand x = content_of (RANDOM, LIG_BF16, 160, 272);
    LigQuantizeParams params = {LIG_FP8_E4M3, (int32_t) kinds[k][0], (int32_t) kinds[k][1], FALSE,
                                0};
    Quantizing both = quantizing (x, params, 0, 0);
    run ("quantize", both.operands, &params, FALSE);
    for (int only = 0; only < 2; only++) {
      Quantizing one = quantizing (x, params, 0, 0);
      for (int i = 2; i < 8; i++)
        if (i != 2 + 2 * only && i != 3 + 2 * only)
          one.operands[i].data = NULL;
      run ("quantize", one.operands, &params, FALSE);
      for (int i = 2 + 2 * only; i < 4 + 2 * only; i++)
        g_assert_cmpmem (one.operands[i].data,
                         (gsize) one.operands[i].size * lig_dtype_size (one.operands[i].dtype),
                         both.operands[i].data,
                         (gsize) both.operands[i].size * lig_dtype_size (both.operands[i].dtype));
    }
    case_end ();
  }
}

/* --- Producers ---------------------------------------------------------------------------- */

static void
check_bytes (LigOperand want, LigOperand got, const char *kernel, int operand)
{
  gsize bytes = (gsize) want.size * lig_dtype_size (want.dtype);
  const guint8 *a = want.data, *b = got.data;
  for (gsize i = 0; i < bytes; i++)
    if (a[i] != b[i])
      g_error ("%s: operand %d differs at byte %zu of %zu: %02x, expected %02x", kernel, operand, i,
               bytes, b[i], a[i]);
}

/* Returns the elements of an operand. */
static float *
wide_floats (LigOperand x)
{
  float *values = scratch ((gsize) x.size * sizeof *values);
  lig_widen (x.dtype, x.data, values, (size_t) x.size);
  return values;
}

/* A fused quantizing kernel writes the same bytes as the two unfused kernels. */
static void
check_producer (
  const Producer *p, LigDtype dtype, const LigScales kind[2], const int64_t shape[2], unsigned n)
{
  case_begin ();
  Producing q = producing (p, dtype, kind, shape, n);
  LigOperand *o = q.operands, alone[4], sum[3];
  run (p->kernel, o, &q.params, FALSE);
  gboolean biased = producing_sum (&q, sum);
  if (biased)
    run ("bias", sum, NULL, FALSE);
  if (biased && !p->backward && o[q.values - 1].data)
    check_bytes (sum[2], o[q.values - 1], p->kernel, q.values - 1);
  int count = producing_alone (p, &q, biased ? &sum[2] : NULL, alone);
  run (p->alone, alone, &q.params.gated, FALSE);
  for (int i = p->backward ? 2 : 1; i < count; i++)
    if (biased && i == 3)
      check_sums (o[q.values + 1], wide_floats (alone[2]), shape[0], alone[2].columns);
    else
      check_bytes (alone[i], o[q.values + i - (p->backward ? 2 : 1)], p->alone, i);
  Quantizing copies = quantizing (alone[p->backward ? 2 : 1], q.params.quantize, q.scale, 0.5f);
  run ("quantize", copies.operands, &q.params.quantize, FALSE);
  for (int i = 2; i < 8; i++)
    check_bytes (copies.operands[i], o[q.copies + i - 2], p->kernel, i);
  case_end ();
}

static void
test_producers (void)
{
  unsigned n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (producers); i++)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
      for (guint m = 0; m < G_N_ELEMENTS (matrices); m++, n++)
        check_producer (&producers[i], floating[n % 3], kinds[k], matrices[m], n);
}

static void
check_norm (
  gboolean centered, LigDtype dtype, const LigScales kind[2], const int64_t shape[2], unsigned n)
{
  case_begin ();
  LigOperand alone[6];
  norm_alone (centered, dtype, shape, n, alone);
  LigNormParams params = {1e-3f, n / 5 % 2};
  run (centered ? "layer_norm" : "rms_norm", alone, &params, FALSE);
  LigOperand y = alone[centered ? 3 : 2];
  Producing q = norming (centered, alone, kind, n);
  run ("norm_quantize", q.operands, &q.params, FALSE);
  check_bytes (y, q.operands[q.values], "norm_quantize", q.values);
  Quantizing copies = quantizing (y, q.params.quantize, q.scale, 0.5f);
  run ("quantize", copies.operands, &q.params.quantize, FALSE);
  for (int i = 2; i < 8; i++)
    check_bytes (copies.operands[i], q.operands[q.copies + i - 2], "norm_quantize", i);
  case_end ();
}

/* A norm with fused quantization has the bytes of the two unfused kernels. */
static void
test_norms (void)
{
  unsigned n = 0;
  for (int centered = 0; centered < 2; centered++)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
      for (guint m = 0; m < G_N_ELEMENTS (matrices); m++, n++)
        check_norm (centered, floating[n % 3], kinds[k], matrices[m], n);
}

static void
check_norm_gradient (
  gboolean centered, LigDtype dtype, const LigScales kind[2], const int64_t shape[2], unsigned n)
{
  case_begin ();
  NormGradient g = norm_gradient (centered, dtype, kind, shape, n);
  LigOperand *o = g.q.operands, *alone = g.alone;
  run (g.kernel, alone, &g.q.params.norm, FALSE);
  run ("norm_backward_quantize", o, &g.q.params, FALSE);
  for (int i = g.dx; i < g.count; i++)
    check_bytes (alone[i], o[OF_DX + i - g.dx], g.kernel, i);
  Quantizing copies = quantizing (alone[g.dx], g.q.params.quantize, g.q.scale, 0.5f);
  copies.operands[8] = o[OF_DLAST];
  if (o[OF_DLAST].data)
    copies.operands[8] = blank (o[OF_DLAST].dtype, 1, shape[1]);
  run ("quantize", copies.operands, &g.q.params.quantize, FALSE);
  for (int i = 2; i < 8; i++)
    if (o[OF_COPIES + i - 2].data)
      check_bytes (copies.operands[i], o[OF_COPIES + i - 2], "norm_backward_quantize", i);
  if (o[OF_DLAST].data)
    check_bytes (copies.operands[8], o[OF_DLAST], "norm_backward_quantize", OF_DLAST);
  case_end ();
}

/* A norm's gradient with fused quantization has the bytes of the two unfused kernels. */
static void
test_norm_gradients (void)
{
  unsigned n = 0;
  for (int centered = 0; centered < 2; centered++)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
      for (guint m = 0; m < G_N_ELEMENTS (matrices); m++, n++)
        check_norm_gradient (centered, floating[n % 3], kinds[k], matrices[m], n);
}

/* --- Matmuls ----------------------------------------------------------------------------- */

/* Returns the values of a quantized copy. */
static double *
values_of (const Quantizing *q, LigScales kind, int64_t rows, int64_t columns)
{
  double *values = wide (q->operands[2]);
  const float *inverses = q->operands[3].data;
  int64_t edge = LIG_SCALES_EDGE, across = ((columns + edge - 1) / edge + 3) / 4 * 4;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      int64_t place = kind == LIG_SCALES_ROW     ? i
                      : kind == LIG_SCALES_BLOCK ? j / edge * rows + i
                      : kind == LIG_SCALES_TILE  ? i / edge * across + j / edge
                                                 : 0;
      values[i * columns + j] *= (double) inverses[place];
    }
  return values;
}

static Quantizing
quantized (LigDtype format, LigScales kind, int64_t rows, int64_t columns)
{
  LigQuantizeParams params = {(int32_t) format, (int32_t) kind, (int32_t) kind, FALSE, 0};
  Quantizing q = quantizing (content_of (HUGE_ROW, LIG_BF16, rows, columns), params, 0, 0);
  run ("quantize", q.operands, &params, FALSE);
  return q;
}

static void
check_matmul (LigScales left, LigScales right, LigDtype format, LigDtype dtype, gboolean accumulate)
{
  enum { M = 80, N = 272, K = 400 };
  case_begin ();
  Quantizing a = quantized (format, left, M, K), b = quantized (LIG_FP8_E4M3, right, N, K);
  LigFp8Params params = {-1.5f, (int32_t) left, (int32_t) right, FALSE};
  LigOperand y = random_tensor (dtype, M, N), bias = random_tensor (LIG_FP32, 1, N);
  LigOperand extra = random_tensor (dtype, M, N);
  double *va = values_of (&a, left, M, K), *vb = values_of (&b, right, N, K);
  const double *old = wide (y), *added = wide (extra), *biases = wide (bias);
  if (accumulate)
    bias.data = extra.data = NULL;
  LigOperand operands[] = {
    a.operands[2], b.operands[2], a.operands[3], b.operands[3], bias, extra, y};
  run ("linear_fp8", operands, &params, accumulate);
  const double *result = wide (y);
  double error = 0, size = 0;
  for (int64_t i = 0; i < M; i++)
    for (int64_t j = 0; j < N; j++) {
      double sum = 0;
      for (int64_t k = 0; k < K; k++)
        sum += va[i * K + k] * vb[j * K + k];
      sum = -1.5 * sum + (accumulate ? old[i * N + j] : biases[j] + added[i * N + j]);
      error += (result[i * N + j] - sum) * (result[i * N + j] - sum);
      size += sum * sum;
    }
  g_assert_cmpfloat (sqrt (error / size), <,
                     dtype == LIG_FP32   ? 1e-6
                     : dtype == LIG_FP16 ? 1e-3
                                         : 4e-3);
  case_end ();
}

/* Returns gelu by its definition in double precision. */
static double
exact_gelu (double x)
{
  return 0.5 * x * (1 + tanh (sqrt (2 / G_PI) * (x + 0.044715 * x * x * x)));
}

/* The quantized gelu of a matmul is rounded once, by the given scale; larger values saturate. */
static void
check_gelu (LigDtype dtype, float scale)
{
  enum { M = 48, N = 144, K = 80 };
  case_begin ();
  Quantizing a = quantized (LIG_FP8_E4M3, LIG_SCALES_TENSOR, M, K);
  Quantizing b = quantized (LIG_FP8_E4M3, LIG_SCALES_TENSOR, N, K);
  LigFp8Params params = {0.25f, LIG_SCALES_TENSOR, LIG_SCALES_TENSOR, FALSE};
  LigOperand bias = random_tensor (dtype, 1, N), row = blank (LIG_FP8_E4M3, M, N);
  LigOperand row_scale = blank (LIG_FP32, 1, 1);
  double *va = values_of (&a, LIG_SCALES_TENSOR, M, K);
  double *vb = values_of (&b, LIG_SCALES_TENSOR, N, K), *biases = wide (bias);
  LigOperand operands[] = {a.operands[2], b.operands[2],           a.operands[3], b.operands[3],
                           bias,          number ((double) scale), row,           row_scale};
  run ("linear_fp8_gelu", operands, &params, FALSE);
  const double *result = wide (row);
  for (int64_t i = 0; i < M; i++)
    for (int64_t j = 0; j < N; j++) {
      double sum = 0;
      for (int64_t k = 0; k < K; k++)
        sum += va[i * K + k] * vb[j * K + k];
      double want = exact_gelu (0.25 * sum + biases[j]) * (double) scale, got = result[i * N + j];
      want = CLAMP (want, -448, 448);
      if (!(fabs (got - want) <= fabs (want) / 16 + ldexp (1, -10) + 1e-4 * (double) scale))
        g_error ("row %d, column %d: %g, expected %g", (int) i, (int) j, got, want);
    }
  g_assert_true (*(float *) row_scale.data == 1 / scale);
  case_end ();
}

static void
test_gelu_matmuls (void)
{
  static const float scales[] = {1, 0.37f, 64, 4096};
  for (guint i = 0; i < G_N_ELEMENTS (scales); i++) {
    check_gelu (LIG_BF16, scales[i]);
    check_gelu (LIG_FP32, scales[i]);
  }
}

static void
test_matmuls (void)
{
  static const LigScales pairs[][2] = {{LIG_SCALES_TENSOR, LIG_SCALES_TENSOR},
                                       {LIG_SCALES_ROW, LIG_SCALES_ROW},
                                       {LIG_SCALES_BLOCK, LIG_SCALES_TILE},
                                       {LIG_SCALES_BLOCK, LIG_SCALES_BLOCK}};
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    for (int j = 0; j < 4; j++)
      check_matmul (pairs[i][0], pairs[i][1], j % 2 ? LIG_FP8_E5M2 : LIG_FP8_E4M3,
                    j < 2 ? LIG_FP32 : LIG_BF16, j % 2);
}

/* --- Histories ---------------------------------------------------------------------------- */

/* The amaxes of steps; one of zero did not run. */
static const float steps[] = {3, 5, 0, 2, 0.5f, 1, INFINITY, 7, 0.25f, 0.125f, 0.125f};

/* TransformerEngine's rule as documented: a history of `length` whose first entry is that of this
 * step. A step whose gradients have a norm that is not finite does not change it; a negative norm
 * means absent. */
static void
check_history (int64_t length, gboolean newest_only, int margin, const float norms[3])
{
  g_autofree float *history = g_new0 (float, length);
  float scale[3] = {1, 1, 1};
  const float largest[] = {448, 448, 57344};
  case_begin ();
  LigOperand quantizers = blank (LIG_FP32, 3, 1 + length);
  float *entries = memset (quantizers.data, 0, (gsize) quantizers.size * sizeof (float));
  LigHistoryParams params = {margin, newest_only, {LIG_FP8_E4M3, LIG_FP8_E4M3, LIG_FP8_E5M2}};
  LigOperand operands[] = {absent (LIG_FP32, 1, 1), quantizers};
  for (int i = 0; i < 3; i++)
    entries[i * (1 + length)] = 1;
  for (guint n = 0; n < G_N_ELEMENTS (steps); n++) {
    float last = steps[n], amax = last;
    operands[0] = number ((double) norms[n % 3]);
    if (norms[n % 3] < 0)
      operands[0].data = NULL;
    for (int i = 0; i < 3; i++)
      entries[i * (1 + length) + 1] = last;
    run ("update_scales", operands, &params, FALSE);
    if (last > 0 && isfinite (norms[n % 3])) {
      for (int64_t i = 1; i < length && !newest_only; i++)
        amax = fmaxf (amax, history[i]);
      for (int64_t i = 1; i + 1 < length; i++)
        history[i] = history[i + 1];
      if (length > 1)
        history[length - 1] = last;
      for (int i = 0; i < 3 && isfinite (amax); i++)
        scale[i] = largest[i] * exp2f ((float) -margin) / amax;
    }
    for (int i = 0; i < 3; i++) {
      const float *entry = entries + i * (1 + length);
      g_assert_true (entry[0] == scale[i]);
      g_assert_true (entry[1] == 0);
      for (int64_t j = 1; j < length; j++)
        g_assert_true (entry[1 + j] == history[j]);
    }
  }
  case_end ();
}

static void
test_histories (void)
{
  const int64_t lengths[] = {1, 2, 3, 8, 31, 1024};
  static const float norms[][3] = {{-1, -1, -1}, {1, INFINITY, -1}, {NAN, 0, 2}};
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    for (int j = 0; j < 12; j++)
      check_history (lengths[i], j % 2, j / 2 % 2 * 2, norms[j / 4]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/quantize/scales", test_scales);
  g_test_add_func ("/kernels/quantize/copies", test_copies);
  g_test_add_func ("/kernels/quantize/alone", test_alone);
  g_test_add_func ("/kernels/quantize/producers", test_producers);
  g_test_add_func ("/kernels/quantize/norms", test_norms);
  g_test_add_func ("/kernels/quantize/norm-gradients", test_norm_gradients);
  g_test_add_func ("/kernels/quantize/matmuls", test_matmuls);
  g_test_add_func ("/kernels/quantize/gelu-matmuls", test_gelu_matmuls);
  g_test_add_func ("/kernels/quantize/histories", test_histories);
  return g_test_run ();
}
