/* SPDX-License-Identifier: MIT */
/* Losses of logits with a large common offset, norms of rows whose mean is far from 0, and
 * attention with large scores, on the GPU against the CPU, which tests/kernels/far.c compares with
 * double. */
#include "tests/gpu/shaped.h"
#include <ligature/params-attention.h>
#include <ligature/params-loss.h>
#include <ligature/params-norm.h>

static const double offsets[] = {1e4, 1e6, 1e8, -1e8};
static const struct {
  double mean, std;
} places[] = {{1234.567, 0}, {-1e5, 0}, {101325, 0.05}, {1e5, 3}, {-3e7, 100}};
/* Rows of few and of many, held by one warp, by several, and read again. */
static const struct {
  int64_t rows, columns;
} sizes[] = {{5, 768}, {2000, 768}, {300, 1000}, {300, 1001}, {64, 4096}, {3000, 64}, {20, 40000}};

static float *
around (int64_t rows, int64_t columns, double offset, double std)
{
  float *values = g_new (float, rows *columns);
  for (int64_t i = 0; i < rows * columns; i++)
    values[i] = (float) (offset + (i / columns % 7 == 3 ? 0 : std * (double) next_number ()));
  return values;
}

static void
run_loss (const Gpu *gpu, int64_t rows, int64_t classes, double offset, float smoothing)
{
  g_autofree float *values = around (rows, classes, offset, 5), *lse = g_new (float, 2 * rows);
  g_autofree int32_t *targets = g_new (int32_t, rows);
  float dy = (float) rows, count = (float) rows;
  LigCrossEntropyParams params = {.ignored = -100, .label_smoothing = smoothing};
  Part x = {LIG_FP32, rows, classes, values}, number = {LIG_FP32, 1, 1, NULL};
  for (int64_t i = 0; i < rows; i++)
    targets[i] = (int32_t) (i * 37 % classes);
  Part chosen = {LIG_INT32, 1, rows, targets};
  Problem loss = {"cross_entropy", &params, {x, chosen, number, {LIG_FP32, rows, 2, NULL}, number},
                  FALSE,           FALSE,   "the loss"};
  run_problem (gpu, &loss);
  memcpy (lse, loss.parts[3].values, (size_t) (2 * rows) * sizeof *lse);
  Problem slopes = {"cross_entropy_backward",
                    &params,
                    {{LIG_FP32, 1, 1, &dy},
                     x,
                     chosen,
                     {LIG_FP32, rows, 2, lse},
                     {LIG_FP32, 1, 1, &count},
                     {LIG_FP32, rows, classes, NULL}},
                    FALSE,
                    FALSE,
                    "the gradient of the loss"};
  run_problem (gpu, &slopes);
  keep (NULL);
}

static void
test_losses (void)
{
  const Gpu *gpu = gpu_or_skip ();
  for (size_t i = 0; gpu && i < G_N_ELEMENTS (offsets); i++)
    for (int smooth = 0; smooth < 2; smooth++) {
      run_loss (gpu, 300, 96, offsets[i], smooth ? 0.1f : 0);
      run_loss (gpu, 40, 5003, offsets[i], smooth ? 0.1f : 0);
    }
}

/* Returns numbers in a type (transfer full). */
static void *
narrowed (LigDtype dtype, const float *values, int64_t count)
{
  void *to = g_malloc ((gsize) count * lig_dtype_size (dtype));
  lig_narrow (dtype, values, to, (size_t) count);
  return to;
}

static void
run_norm (const Gpu *gpu, LigDtype dtype, int64_t rows, int64_t columns, double mean, double std)
{
  const LigNormParams params = {.eps = 1e-5f};
  g_autofree float *wide = around (rows, columns, mean, std);
  g_autofree void *values = narrowed (dtype, wide, rows * columns);
  g_autofree float *means = g_new (float, rows), *rstds = g_new (float, rows);
  Part x = {dtype, rows, columns, values}, one = {LIG_FP32, 1, columns, NULL};
  Part whole = {dtype, rows, columns, NULL}, statistic = {LIG_FP32, rows, 1, NULL};
  Problem forward = {"layer_norm", &params, {x, one, one, {0}, statistic, statistic},
                     FALSE,        FALSE,   "the statistics of a norm"};
  run_problem (gpu, &forward);
  memcpy (means, forward.parts[4].values, (size_t) rows * sizeof *means);
  memcpy (rstds, forward.parts[5].values, (size_t) rows * sizeof *rstds);
  Problem backward = {
    "layer_norm_backward",
    &params,
    {whole, x, one, {LIG_FP32, rows, 1, means}, {LIG_FP32, rows, 1, rstds}, whole, one, one},
    FALSE,
    FALSE,
    "the gradients of a norm"};
  run_problem (gpu, &backward);
  keep (NULL);
}

static void
test_norms (void)
{
  const Gpu *gpu = gpu_or_skip ();
  for (size_t i = 0; gpu && i < G_N_ELEMENTS (places); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (sizes); j++)
      run_norm (gpu, LIG_FP32, sizes[j].rows, sizes[j].columns, places[i].mean, places[i].std);
  for (size_t j = 0; gpu && j < G_N_ELEMENTS (sizes); j++) {
    run_norm (gpu, LIG_BF16, sizes[j].rows, sizes[j].columns, 3000, 40);
    run_norm (gpu, LIG_FP16, sizes[j].rows, sizes[j].columns, -1000, 3);
  }
}

/* Queries of 1 and keys of 4e6 in one feature: all scores are equal, and the gradients of the keys
 * are 0. Those of the queries, which are rounding errors of large sums, are not compared. */
static void
run_attention (const Gpu *gpu, LigDtype dtype, int32_t features, int32_t length, float softcap)
{
  enum { BATCH = 2, HEADS = 3 };
  float large = dtype == LIG_FP16 ? 4096 : 4194304;
  const LigAttentionParams params = {.heads = HEADS,
                                     .kv_heads = HEADS,
                                     .features = features,
                                     .length = length,
                                     .memory_length = length,
                                     .mask = LIG_MASK_CAUSAL,
                                     .scale = 4194304 / large,
                                     .softcap = softcap};
  int64_t rows = BATCH * length, queries = HEADS * features;
  g_autofree float *keys = around (rows, 2 * queries, 0, 1), *ones = around (rows, queries, 0, 0);
  for (int64_t i = 0; i < rows * queries; i++) {
    ones[i] = 1;
    keys[i / queries * 2 * queries + i % queries] = i % features == 0 ? large : 0;
  }
  g_autofree void *x_values = narrowed (dtype, ones, rows * queries);
  g_autofree void *memory_values = narrowed (dtype, keys, rows * 2 * queries);
  Part x = {dtype, rows, queries, x_values}, y = {dtype, rows, queries, NULL}, none = {0};
  Part memory = {dtype, rows, 2 * queries, memory_values}, dmemory = memory;
  Part lse = {LIG_FP32, 2 * BATCH * HEADS, length, NULL};
  Problem forward = {"attention", &params, {x, memory, none, none, y, lse},
                     FALSE,       FALSE,   "large scores"};
  run_problem (gpu, &forward);
  const Part *f = forward.parts;
  Problem backward = {"attention_backward",
                      &params,
                      {y, x, memory, none, none, f[4], f[5], none, dmemory},
                      FALSE,
                      FALSE,
                      "the gradients of large scores"};
  run_problem (gpu, &backward);
  keep (NULL);
}

static void
test_attention (void)
{
  const Gpu *gpu = gpu_or_skip ();
  for (int i = 0; gpu && i < 12; i++) {
    run_attention (gpu, floats[i % 3], i / 3 % 2 ? 128 : 64, 200, i < 6 ? 0 : 50);
    run_attention (gpu, floats[i % 3], 40, 70, i < 6 ? 0 : 50);
  }
}

int
main (int argc, char **argv)
{
  /* cuDNN does not report the rounding error of its log-sum-exps. */
  g_setenv ("LIGATURE_CUDNN", "none", TRUE);
  gpu_test_init (argc, argv);
  g_test_add_func ("/gpu/far/losses", test_losses);
  g_test_add_func ("/gpu/far/norms", test_norms);
  g_test_add_func ("/gpu/far/attention", test_attention);
  return g_test_run ();
}
