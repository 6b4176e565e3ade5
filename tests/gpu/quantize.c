/* SPDX-License-Identifier: MIT */
/* Quantized copies and scales have the same bytes on the GPU as on the CPU, for random and for
 * adversarial data; matmuls of quantized operands agree within tolerances, and histories advance
 * identically. */
#include "tests/gpu/case.h"
#include "tests/kernels/quantize-case.h"
#include <ligature/params-matmul.h>

/* Launches a kernel on copies of the operands in device memory, and copies them back. */
static gboolean
launch_there (const Gpu *gpu,
              const char *name,
              const LigOperand *operands,
              int count,
              const void *params,
              gboolean accumulate,
              void **results)
{
  static void *workspace;
  const LigKernel *kernel = lig_kernel_find (name);
  LigOperand there[LIG_MAX_OPERANDS] = {0};
  if (!workspace)
    workspace = gpu_memory (gpu, LIG_WORKSPACE_SIZE);
  gpu_fill (gpu, workspace, 0xff, LIG_WORKSPACE_SIZE);
  for (int i = 0; i < count; i++) {
    size_t bytes = (size_t) operands[i].size * lig_dtype_size (operands[i].dtype);
    there[i] = operands[i];
    if (!operands[i].data)
      continue;
    /* An operand without elements is nevertheless present. */
    there[i].data = gpu_memory (gpu, MAX (bytes, 1));
    gpu_copy (gpu, there[i].data, operands[i].data, bytes);
  }
  LigLaunch launch = {.operands = there,
                      .params = params,
                      .workspace = workspace,
                      .stream = gpu->stream,
                      .device = gpu->handle,
                      .accumulate = accumulate};
  LigStatus status = kernel->functions[LIG_BACKEND_CUDA](&launch);
  for (int i = 0; i < count; i++) {
    size_t bytes = (size_t) operands[i].size * lig_dtype_size (operands[i].dtype);
    results[i] = scratch (bytes);
    if (operands[i].data)
      gpu_copy (gpu, results[i], there[i].data, bytes);
  }
  gpu_wait (gpu, name);
  for (int i = 0; i < count; i++)
    if (there[i].data)
      gpu->calls->release (gpu->handle, there[i].data);
  if (status == LIG_OK)
    return TRUE;
  g_test_fail_printf ("%s: status %d, %s", name, (int) status,
                      launch.where ? launch.where : "no reason");
  return FALSE;
}

static void
compare_bytes (const LigOperand *want, const void *got, int operand, const char *what)
{
  size_t bytes = (size_t) want->size * lig_dtype_size (want->dtype);
  const uint8_t *a = want->data, *b = got;
  for (size_t i = 0; want->data && i < bytes; i++)
    if (a[i] != b[i]) {
      g_test_fail_printf ("%s: operand %d differs at byte %zu of %zu: %02x, expected %02x", what,
                          operand, i, bytes, b[i], a[i]);
      return;
    }
}

/* Compares sums over rows, whose order differs. */
static void
check_sums (LigOperand want, void *data, const char *what)
{
  LigOperand got = want;
  got.data = data;
  const double *a = wide (want), *b = wide (got);
  for (int64_t i = 0; i < got.size; i++)
    if (!(fabs (a[i] - b[i]) <= (got.dtype == LIG_FP32 ? 1e-4 : 2e-2) * (1 + fabs (a[i])))) {
      g_test_fail_printf ("%s: dbias %g, expected %g at %ld", what, b[i], a[i], (long) i);
      return;
    }
}

static void
check_copies (const Gpu *gpu,
              Content content,
              LigDtype dtype,
              LigDtype format,
              const LigScales kind[2],
              const int64_t shape[2],
              unsigned variation)
{
  LigOperand x = content_of (content, dtype, shape[0], shape[1]);
  LigQuantizeParams params = {(int32_t) format, (int32_t) kind[0], (int32_t) kind[1], variation & 1,
                              0};
  g_autofree char *what =
    g_strdup_printf ("content %d, %s to %s, scales %d and %d, %ld x %ld, variation %u",
                     (int) content, lig_dtype_name (dtype), lig_dtype_name (format), (int) kind[0],
                     (int) kind[1], (long) shape[0], (long) shape[1], variation);
  void *results[LIG_MAX_OPERANDS];
  Quantizing q = quantizing (x, params, variation & 2 ? 24 : 0, 1.5f);
  if (variation & 4)
    q.operands[2].data = q.operands[3].data = q.operands[7].data = NULL;
  if (variation & 8)
    q.operands[4].data = q.operands[5].data = q.operands[6].data = NULL;
  /* Scales of copies that are not written. */
  if (variation & 16)
    q.operands[2].data = q.operands[7].data = NULL;
  if (variation & 32)
    q.operands[4].data = NULL;
  if (content == RANDOM)
    q.operands[8] = blank (dtype, 1, shape[1]);
  /* The GPU begins with the same memory as the CPU. */
  gboolean fine = launch_there (gpu, "quantize", q.operands, 9, &params, FALSE, results);
  run ("quantize", q.operands, &params, FALSE);
  for (int i = 2; i < 7 && fine; i++)
    compare_bytes (&q.operands[i], results[i], i, what);
  if (fine && q.operands[8].data)
    check_sums (q.operands[8], results[8], what);
  LigOperand y = q.operands[7];
  if (!y.data || !fine)
    return;
  const double *want = wide (y);
  y.data = results[7];
  const double *got = wide (y);
  for (int64_t i = 0; i < y.size; i++)
    if (got[i] != want[i] && !(isnan (got[i]) && isnan (want[i]))) {
      g_test_fail_printf ("%s: y is %g, expected %g at %ld", what, got[i], want[i], (long) i);
      return;
    }
}

static void
test_copies (void)
{
  static const LigDtype formats[] = {LIG_FP8_E4M3, LIG_FP8_E5M2};
  /* Without rows the per-tensor scale and the sums are written nevertheless. */
  static const int64_t larger[][2] = {{1024, 768}, {2048, 4096}, {4096, 304}, {0, 256}, {0, 30}};
  const Gpu *gpu = gpu_that_quantizes_or_skip ();
  unsigned n = 0;
  if (!gpu)
    return;
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    for (guint m = 0; m < G_N_ELEMENTS (matrices) + G_N_ELEMENTS (larger); m++)
      for (int content = 0; content < (quick () ? 2 : N_CONTENTS); content++) {
        gboolean large = m >= G_N_ELEMENTS (matrices);
        const int64_t *shape = large ? larger[m - G_N_ELEMENTS (matrices)] : matrices[m];
        static const unsigned variations[] = {0, 1, 2, 4, 8, 5, 9, 0, 3, 16, 32, 18, 34};
        if (large && content != RANDOM && content != NOT_NUMBERS)
          continue;
        n++;
        case_begin ();
        check_copies (gpu, (Content) content, floating[n % 3], formats[n / 2 % 2], kinds[k], shape,
                      variations[n % G_N_ELEMENTS (variations)]);
        case_end ();
      }
}

/* Rows with more column vectors than a GPU has threads for an amax pass. */
static void
test_wide_rows (void)
{
  static const int64_t shape[] = {16, 1 << 21};
  const Gpu *gpu = gpu_that_quantizes_or_skip ();
  for (unsigned k = 0; gpu && k < (quick () ? 1 : 3); k++) {
    case_begin ();
    check_copies (gpu, RANDOM, LIG_BF16, LIG_FP8_E4M3, kinds[k], shape, k == 0 ? 8 : 0);
    case_end ();
  }
}

/* Scales up a few elements, so that most others cannot raise the amax: a later one is the
 * largest. */
static void
add_outliers (const LigOperand *x)
{
  for (int i = 1; i < 4; i++) {
    float value;
    void *at = (char *) x->data + x->size * i / 4 * (int64_t) lig_dtype_size (x->dtype);
    lig_widen (x->dtype, at, &value, 1);
    value *= (float) (10 * (1 + i));
    lig_narrow (x->dtype, &value, at, 1);
  }
}

/* Makes rows small and columns negative, or all elements small: if no argument of an activation is
 * large, its amax is not the value of the largest. */
static void
lower_lines (const LigOperand *x, gboolean all)
{
  for (int64_t i = 0; i < x->size; i++) {
    float value;
    void *at = (char *) x->data + i * (int64_t) lig_dtype_size (x->dtype);
    lig_widen (x->dtype, at, &value, 1);
    if (i % x->columns % 5 == 1)
      value = -fabsf (value);
    if (all || i / x->columns % 7 == 3)
      value *= 0.05f;
    lig_narrow (x->dtype, &value, at, 1);
  }
}

/* A fused quantizing kernel writes the bytes of the GPU's two unfused kernels; the CPU's values
 * differ in their last bits. */
static void
check_producer (const Gpu *gpu,
                const Producer *p,
                LigDtype dtype,
                const LigScales kind[2],
                const int64_t shape[2],
                unsigned n)
{
  void *results[LIG_MAX_OPERANDS], *there[LIG_MAX_OPERANDS], *quantized[LIG_MAX_OPERANDS];
  Producing q = producing (p, dtype, kind, shape, n);
  int inputs = p->backward ? 2 : 1;
  LigOperand alone[4], sum[3];
  g_autofree char *what = g_strdup_printf (
    "%s of %s, %s, scales %d and %d, %ld x %ld, %u", p->kernel, p->alone, lig_dtype_name (dtype),
    (int) kind[0], (int) kind[1], (long) shape[0], (long) shape[1], n);
  if (n % 2)
    add_outliers (&q.operands[0]);
  if (n / 2 % 2)
    lower_lines (&q.operands[0], n % 5 == 0);
  if (n % 3 == 0)
    q.operands[q.values].data = NULL;
  if (n % 7 == 0)
    q.operands[q.copies].data = q.operands[q.copies + 1].data = NULL;
  if (n % 11 == 0)
    q.operands[q.copies + 2].data = q.operands[q.copies + 3].data = NULL;
  gboolean biased = producing_sum (&q, sum);
  if (biased && !launch_there (gpu, "bias", sum, 3, NULL, FALSE, there))
    return;
  if (biased)
    sum[2].data = there[2];
  int count = producing_alone (p, &q, biased ? &sum[2] : NULL, alone);
  if (!launch_there (gpu, p->kernel, q.operands, q.count, &q.params, FALSE, results) ||
      !launch_there (gpu, p->alone, alone, count, &q.params.gated, FALSE, there))
    return;
  for (int i = inputs; i < count; i++)
    alone[i].data = there[i];
  if (q.operands[q.values].data)
    compare_bytes (&alone[inputs], results[q.values], 0, what);
  if (biased && !p->backward && q.operands[q.values - 1].data)
    compare_bytes (&sum[2], results[q.values - 1], q.values - 1, what);
  if (p->backward)
    check_sums (alone[3], results[q.values + 1], what);
  Quantizing copies = quantizing (alone[inputs], q.params.quantize, q.scale, 0.5f);
  for (int i = 0; i < 4; i++)
    if (!q.operands[q.copies + i].data)
      copies.operands[2 + i].data = NULL;
  if (!launch_there (gpu, "quantize", copies.operands, 9, &q.params.quantize, FALSE, quantized))
    return;
  for (int i = 2; i < 8; i++) {
    LigOperand want = copies.operands[i];
    want.data = want.data ? quantized[i] : NULL;
    compare_bytes (&want, results[q.copies + i - 2], i, what);
  }
}

static void
test_producers (void)
{
  static const int64_t larger[][2] = {{256, 512}, {512, 768}, {1040, 2048}, {2048, 3072}};
  const Gpu *gpu = gpu_that_quantizes_or_skip ();
  unsigned n = 0;
  if (!gpu)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (producers); i++)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
      for (guint m = 0; m < G_N_ELEMENTS (matrices) + G_N_ELEMENTS (larger); m++, n++) {
        gboolean large = m >= G_N_ELEMENTS (matrices);
        const int64_t *shape = large ? larger[m - G_N_ELEMENTS (matrices)] : matrices[m];
        if ((i + m) % 3 != 0 && !large)
          continue;
        case_begin ();
        check_producer (gpu, &producers[i], large && n % 2 ? LIG_BF16 : floating[n % 3], kinds[k],
                        shape, n);
        case_end ();
      }
}

/* A norm with fused quantization has the bytes of the GPU's two unfused kernels. */
static void
check_norm (const Gpu *gpu,
            gboolean centered,
            LigDtype dtype,
            const LigScales kind[2],
            const int64_t shape[2],
            unsigned n)
{
  void *results[LIG_MAX_OPERANDS], *there[LIG_MAX_OPERANDS], *quantized[LIG_MAX_OPERANDS];
  LigOperand alone[6];
  const LigNormParams params = {1e-3f, n / 5 % 2};
  int count = norm_alone (centered, dtype, shape, n, alone), first = centered ? 3 : 2;
  g_autofree char *what = g_strdup_printf ("norm %d of %s, scales %d and %d, %ld x %ld, %u",
                                           centered, lig_dtype_name (dtype), (int) kind[0],
                                           (int) kind[1], (long) shape[0], (long) shape[1], n);
  if (!launch_there (gpu, centered ? "layer_norm" : "rms_norm", alone, count, &params, FALSE,
                     there))
    return;
  for (int i = first; i < count; i++)
    alone[i].data = there[i];
  Producing q = norming (centered, alone, kind, n);
  if (n % 3 == 0)
    q.operands[q.values].data = NULL;
  if (!launch_there (gpu, "norm_quantize", q.operands, q.count, &q.params, FALSE, results))
    return;
  if (q.operands[q.values].data)
    compare_bytes (&alone[first], results[q.values], 0, what);
  Quantizing copies = quantizing (alone[first], q.params.quantize, q.scale, 0.5f);
  if (!launch_there (gpu, "quantize", copies.operands, 9, &q.params.quantize, FALSE, quantized))
    return;
  for (int i = 2; i < 8; i++) {
    LigOperand want = copies.operands[i];
    want.data = quantized[i];
    compare_bytes (&want, results[q.copies + i - 2], i, what);
  }
}

static void
test_norms (void)
{
  static const int64_t larger[][2] = {{512, 768}, {1040, 2048}, {2048, 4096}};
  const Gpu *gpu = gpu_that_quantizes_or_skip ();
  unsigned n = 0;
  if (!gpu)
    return;
  for (int centered = 0; centered < 2; centered++)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
      for (guint m = 0; m < G_N_ELEMENTS (matrices) + G_N_ELEMENTS (larger); m++, n++) {
        gboolean large = m >= G_N_ELEMENTS (matrices);
        case_begin ();
        check_norm (gpu, centered, large && n % 2 ? LIG_BF16 : floating[n % 3], kinds[k],
                    large ? larger[m - G_N_ELEMENTS (matrices)] : matrices[m], n);
        case_end ();
      }
}

/* Compares elements that are computed in another order, relative to the largest. */
static void
check_near (LigOperand want, void *data, const char *name, const char *what)
{
  LigOperand got = want;
  got.data = data;
  const double *a = wide (want), *b = wide (got);
  double largest = 1e-3;
  for (int64_t i = 0; i < want.size; i++)
    largest = MAX (largest, fabs (a[i]));
  for (int64_t i = 0; i < want.size; i++)
    if (!(fabs (a[i] - b[i]) <= (want.dtype == LIG_FP32 ? 1e-5 : 1e-2) * largest)) {
      g_test_fail_printf ("%s: %s is %g, expected %g at %ld", what, name, b[i], a[i], (long) i);
      return;
    }
}

/* A norm's gradient with fused quantization has the quantized copies of the dx that it wrote. */
static void
check_norm_gradient (const Gpu *gpu,
                     gboolean centered,
                     LigDtype dtype,
                     const LigScales kind[2],
                     const int64_t shape[2],
                     unsigned n)
{
  static const char *const names[] = {"dx", "dweight", "dbias"};
  void *results[LIG_MAX_OPERANDS], *there[LIG_MAX_OPERANDS], *quantized[LIG_MAX_OPERANDS];
  NormGradient g = norm_gradient (centered, dtype, kind, shape, n);
  g_autofree char *what =
    g_strdup_printf ("%s of %s, scales %d and %d, %ld x %ld, %u", g.kernel, lig_dtype_name (dtype),
                     (int) kind[0], (int) kind[1], (long) shape[0], (long) shape[1], n);
  if (n % 7 == 0)
    g.q.operands[OF_COPIES].data = g.q.operands[OF_COPIES + 1].data = NULL;
  if (n % 11 == 0)
    g.q.operands[OF_COPIES + 2].data = g.q.operands[OF_COPIES + 3].data = NULL;
  if (!launch_there (gpu, g.kernel, g.alone, g.count, &g.q.params.norm, FALSE, there) ||
      !launch_there (gpu, "norm_backward_quantize", g.q.operands, g.q.count, &g.q.params, FALSE,
                     results))
    return;
  for (int i = g.dx; i < g.count; i++) {
    LigOperand want = g.alone[i];
    want.data = there[i];
    check_near (want, results[OF_DX + i - g.dx], names[i - g.dx], what);
  }
  LigOperand dx = g.alone[g.dx];
  dx.data = results[OF_DX];
  Quantizing copies = quantizing (dx, g.q.params.quantize, g.q.scale, 0.5f);
  copies.operands[8] = g.q.operands[OF_DLAST];
  if (!launch_there (gpu, "quantize", copies.operands, 9, &g.q.params.quantize, FALSE, quantized))
    return;
  for (int i = 2; i < 8; i++) {
    LigOperand want = copies.operands[i];
    want.data = g.q.operands[OF_COPIES + i - 2].data ? quantized[i] : NULL;
    compare_bytes (&want, results[OF_COPIES + i - 2], i, what);
  }
  LigOperand dlast = copies.operands[8];
  if (!dlast.data)
    return;
  dlast.data = quantized[8];
  check_near (dlast, results[OF_DLAST], "dlast", what);
}

static void
test_norm_gradients (void)
{
  static const int64_t larger[][2] = {{1024, 256},  {1040, 512},  {4112, 768},  {2048, 1024},
                                      {1088, 1600}, {2048, 2048}, {1040, 4096}, {1024, 8192}};
  const Gpu *gpu = gpu_that_quantizes_or_skip ();
  unsigned n = 0;
  if (!gpu)
    return;
  for (int centered = 0; centered < 2; centered++)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
      for (guint m = 0; m < G_N_ELEMENTS (matrices) + G_N_ELEMENTS (larger); m++, n++) {
        gboolean large = m >= G_N_ELEMENTS (matrices);
        const int64_t *shape = large ? larger[m - G_N_ELEMENTS (matrices)] : matrices[m];
        if (large && (quick () ? n % 3 : n / 2 % 2))
          continue;
        case_begin ();
        check_norm_gradient (gpu, centered, large ? (n % 2 ? LIG_BF16 : LIG_FP16) : floating[n % 3],
                             kinds[k], shape, n);
        case_end ();
      }
}

/* Returns a quantized random matrix with its scales, as operands 2 and 3. */
static Quantizing
quantized (LigDtype format, LigScales kind, int64_t rows, int64_t columns)
{
  LigQuantizeParams params = {(int32_t) format, (int32_t) kind, (int32_t) kind, FALSE, 0};
  Quantizing q = quantizing (random_tensor (LIG_BF16, rows, columns), params, 0, 0);
  run ("quantize", q.operands, &params, FALSE);
  return q;
}

static void
check_matmul (const Gpu *gpu,
              const LigScales kind[2],
              LigDtype format,
              LigDtype dtype,
              const int64_t sides[3],
              unsigned variation)
{
  Quantizing a = quantized (format, kind[0], sides[0], sides[2]);
  Quantizing b = quantized (LIG_FP8_E4M3, kind[1], sides[1], sides[2]);
  LigFp8Params params = {variation & 1 ? -1.5f : 1, (int32_t) kind[0], (int32_t) kind[1],
                         kind[0] < LIG_SCALES_BLOCK && (variation & 2)};
  gboolean accumulate = variation & 4;
  LigOperand y = random_tensor (dtype, sides[0], sides[1]);
  LigOperand bias = random_tensor (LIG_BF16, 1, sides[1]);
  LigOperand extra = random_tensor (dtype, sides[0], sides[1]);
  if (accumulate || dtype != LIG_BF16)
    bias.data = NULL;
  if (accumulate || !(variation & 1))
    extra.data = NULL;
  LigOperand operands[] = {
    a.operands[2], b.operands[2], a.operands[3], b.operands[3], bias, extra, y};
  void *results[LIG_MAX_OPERANDS];
  g_autofree char *what = g_strdup_printf (
    "%ld x %ld x %ld, scales %d and %d, %s, variation %u", (long) sides[0], (long) sides[1],
    (long) sides[2], (int) kind[0], (int) kind[1], lig_dtype_name (dtype), variation);
  if (!launch_there (gpu, "linear_fp8", operands, 7, &params, accumulate, results)) {
    g_test_message ("%s", what);
    return;
  }
  run ("linear_fp8", operands, &params, accumulate);
  LigOperand got = y;
  got.data = results[6];
  const double *want = wide (y), *there = wide (got);
  double error = 0, length = 0;
  for (int64_t i = 0; i < y.size; i++) {
    error += (there[i] - want[i]) * (there[i] - want[i]);
    length += want[i] * want[i];
  }
  /* Fast accumulation keeps about 14 bits of a partial sum; otherwise sums of 128 terms do. */
  double allowed = dtype == LIG_BF16 ? 4e-3 : params.fast ? 2e-3 : 2e-4;
  if (!(sqrt (error) <= allowed * sqrt (length)))
    g_test_fail_printf ("%s: off by %g, allowed %g", what, sqrt (error / length), allowed);
}

/* cuBLASLt's gelu has an error of up to 0.0005, and a bias of another type is rounded to bf16: some
 * bytes are adjacent. */
static void
check_gelu (const Gpu *gpu, LigDtype dtype, const int64_t sides[3], unsigned variation)
{
  Quantizing a = quantized (LIG_FP8_E4M3, LIG_SCALES_TENSOR, sides[0], sides[2]);
  Quantizing b = quantized (LIG_FP8_E4M3, LIG_SCALES_TENSOR, sides[1], sides[2]);
  LigFp8Params params = {1 / sqrtf ((float) sides[2]), LIG_SCALES_TENSOR, LIG_SCALES_TENSOR,
                         variation & 1};
  LigOperand bias = random_tensor (dtype, 1, sides[1]);
  LigOperand row = blank (LIG_FP8_E4M3, sides[0], sides[1]);
  LigOperand row_scale = blank (LIG_FP32, 1, 1);
  double scale = variation & 4 ? 1000 : 57;
  double error = dtype == LIG_BF16 || variation & 2 ? 1e-3 : 2e-2;
  if (variation & 2)
    bias.data = NULL;
  LigOperand operands[] = {a.operands[2], b.operands[2],  a.operands[3], b.operands[3],
                           bias,          number (scale), row,           row_scale};
  void *results[LIG_MAX_OPERANDS];
  if (!launch_there (gpu, "linear_fp8_gelu", operands, 8, &params, FALSE, results))
    return;
  run ("linear_fp8_gelu", operands, &params, FALSE);
  LigOperand got = row;
  got.data = results[6];
  const double *want = wide (row), *there = wide (got);
  int64_t other = 0;
  for (int64_t i = 0; i < row.size; i++) {
    other += want[i] != there[i];
    if (!(fabs (there[i] - want[i]) <= fabs (want[i]) / 7 + scale * error + ldexp (1, -9))) {
      g_test_fail_printf ("%ld x %ld x %ld, variation %u: %g, expected %g", (long) sides[0],
                          (long) sides[1], (long) sides[2], variation, there[i], want[i]);
      return;
    }
  }
  g_assert_cmpint (10 * other, <=, row.size);
  g_assert_true (*(float *) results[7] == *(float *) row_scale.data);
}

static void
test_gelu_matmuls (void)
{
  static const int64_t sides[][3] = {
    {16, 16, 16}, {128, 128, 128}, {272, 400, 144}, {1024, 3072, 768}};
  const Gpu *gpu = gpu_that_quantizes_or_skip ();
  if (!gpu)
    return;
  for (guint j = 0; j < G_N_ELEMENTS (sides); j++)
    for (unsigned variation = 0; variation < 8; variation++) {
      case_begin ();
      check_gelu (gpu, floating[variation % 3], sides[j], variation);
      case_end ();
    }
}

static void
test_matmuls (void)
{
  static const LigScales pairs[][2] = {{LIG_SCALES_TENSOR, LIG_SCALES_TENSOR},
                                       {LIG_SCALES_ROW, LIG_SCALES_ROW},
                                       {LIG_SCALES_BLOCK, LIG_SCALES_TILE},
                                       {LIG_SCALES_BLOCK, LIG_SCALES_BLOCK}};
  static const int64_t sides[][3] = {
    {16, 16, 16}, {128, 128, 128}, {272, 400, 144}, {1024, 768, 3072}};
  const Gpu *gpu = gpu_that_quantizes_or_skip ();
  if (!gpu)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    for (guint j = 0; j < G_N_ELEMENTS (sides); j++)
      for (unsigned variation = 0; variation < 6; variation++) {
        case_begin ();
        check_matmul (gpu, pairs[i], variation % 2 ? LIG_FP8_E5M2 : LIG_FP8_E4M3,
                      variation & 4 ? LIG_FP32 : LIG_BF16, sides[j], variation);
        case_end ();
      }
}

static void
test_histories (void)
{
  const Gpu *gpu = gpu_that_quantizes_or_skip ();
  if (!gpu)
    return;
  for (int variation = 0; variation < 6; variation++) {
    case_begin ();
    enum { COUNT = 45, LENGTH = 33 };
    LigHistoryParams params = {
      variation, variation & 1, {LIG_FP8_E4M3, LIG_FP8_E4M3, LIG_FP8_E5M2}};
    LigOperand quantizers = random_tensor (LIG_FP32, COUNT, 1 + LENGTH);
    void *results[LIG_MAX_OPERANDS];
    LigOperand operands[] = {number (variation == 1   ? (double) INFINITY
                                     : variation == 2 ? (double) NAN
                                                      : 2),
                             quantizers};
    float *numbers = quantizers.data;
    for (int64_t i = 0; i < quantizers.size; i++)
      numbers[i] = i % 89 == 1 ? INFINITY : i % 17 == 1 ? 0 : fabsf (numbers[i]);
    if (variation == 3)
      operands[0].data = NULL;
    if (launch_there (gpu, "update_scales", operands, 2, &params, FALSE, results)) {
      run ("update_scales", operands, &params, FALSE);
      compare_bytes (&quantizers, results[1], 1, "update_scales");
    }
    case_end ();
  }
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  g_test_add_func ("/gpu/quantize/copies", test_copies);
  g_test_add_func ("/gpu/quantize/wide-rows", test_wide_rows);
  g_test_add_func ("/gpu/quantize/producers", test_producers);
  g_test_add_func ("/gpu/quantize/norms", test_norms);
  g_test_add_func ("/gpu/quantize/norm-gradients", test_norm_gradients);
  g_test_add_func ("/gpu/quantize/matmuls", test_matmuls);
  g_test_add_func ("/gpu/quantize/gelu-matmuls", test_gelu_matmuls);
  g_test_add_func ("/gpu/quantize/histories", test_histories);
  return g_test_run ();
}
