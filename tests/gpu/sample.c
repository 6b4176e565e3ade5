/* SPDX-License-Identifier: MIT */
/* Draws of tokens on the GPU against the CPU, from the same logits and settings. The exponential
 * functions of the two round differently, so that a draw may land next to the border between two
 * tokens. */
#include "tests/gpu/case.h"

#include "kernels/sample.h"
#include <ligature/kernels.h>

#include <math.h>

enum { ROWS = 24 };

typedef struct {
  int64_t vocabulary;
  LigDtype dtype;
  float spread; /* of the logits */
} Shape;

static const Shape shapes[] = {
  {1, LIG_FP32, 1},        {3, LIG_BF16, 1},         {257, LIG_FP32, 3},
  {50257, LIG_FP16, 2.5f}, {128256, LIG_BF16, 2.5f}, {32000, LIG_FP32, 0.01f},
  {8192, LIG_BF16, 200},
};

static const LigSampleSettings settings[] = {
  {.temperature = 0, .top_p = 1, .repetition = 1, .seen = -1},
  {.temperature = 1, .top_p = 1, .repetition = 1, .seen = -1},
  {.temperature = 0.7f, .top_p = 0.9f, .repetition = 1, .seen = -1},
  {.temperature = 1.5f, .top_p = 1, .top_k = 40, .repetition = 1, .seen = -1},
  {.temperature = 1, .top_p = 1, .min_p = 0.05f, .repetition = 1, .seen = -1},
  {.temperature = 0.8f, .top_p = 0.5f, .top_k = 7, .min_p = 0.1f, .repetition = 1.3f, .seen = 1},
  {.temperature = 0, .top_p = 1, .repetition = 2, .seen = 0},
  {.temperature = 0.01f, .top_p = 0.99f, .top_k = 1000, .repetition = 1, .seen = -1},
};

/* The operands of both: logits, settings, seen, chances, tokens. */
enum { OPERANDS = 5 };

typedef struct {
  LigOperand operands[OPERANDS];
} Problem;

static Problem
make_problem (const Shape *shape)
{
  int64_t size = ROWS * shape->vocabulary;
  g_autofree float *values = g_new (float, size);
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  for (int64_t i = 0; i < size; i++)
    values[i] = shape->spread * (float) (g_rand_double (random) + g_rand_double (random) +
                                         g_rand_double (random) - 1.5);
  values[shape->vocabulary / 2] = NAN;
  void *logits = g_malloc0 ((gsize) size * lig_dtype_size (shape->dtype));
  lig_narrow (shape->dtype, values, logits, (size_t) size);
  LigSampleSettings *rows = g_new0 (LigSampleSettings, ROWS);
  uint8_t *seen = g_new0 (uint8_t, 2 * shape->vocabulary);
  for (int64_t i = 0; i < 2 * shape->vocabulary; i++)
    seen[i] = i % 3 == 0;
  for (int i = 0; i < ROWS; i++) {
    rows[i] = settings[i % G_N_ELEMENTS (settings)];
    rows[i].seed = (uint64_t) i * 77;
    rows[i].position = (uint64_t) i;
  }
  return (Problem){{
    {logits, size, shape->vocabulary, shape->dtype},
    {rows, ROWS * LIG_SAMPLE_SETTINGS, LIG_SAMPLE_SETTINGS, LIG_INT32},
    {seen, 2 * shape->vocabulary, shape->vocabulary, LIG_UINT8},
    {g_malloc0 (ROWS * LIG_SAMPLE_CHANCES * 4), ROWS * LIG_SAMPLE_CHANCES, LIG_SAMPLE_CHANCES,
     LIG_INT32},
    {g_malloc0 (ROWS * 4), ROWS, 1, LIG_INT32},
  }};
}

/* Draws on the device; returns the chances. */
static LigSampleChance *
draw_there (const Gpu *gpu, const LigKernel *kernel, const Problem *problem)
{
  LigOperand there[OPERANDS];
  for (int i = 0; i < OPERANDS; i++) {
    size_t bytes = (size_t) problem->operands[i].size * lig_dtype_size (problem->operands[i].dtype);
    there[i] = problem->operands[i];
    there[i].data = gpu_memory (gpu, bytes);
    gpu_copy (gpu, there[i].data, problem->operands[i].data, bytes);
  }
  LigLaunch launch = {.operands = there, .stream = gpu->stream, .device = gpu->handle};
  g_assert_cmpint (kernel->functions[LIG_BACKEND_CUDA](&launch), ==, LIG_OK);
  LigSampleChance *chances = g_new0 (LigSampleChance, ROWS * (1 + LIG_SAMPLE_ALTERNATIVES));
  int32_t tokens[ROWS];
  gpu_copy (gpu, chances, there[3].data, ROWS * LIG_SAMPLE_CHANCES * 4);
  gpu_copy (gpu, tokens, there[4].data, sizeof tokens);
  gpu_wait (gpu, "sample");
  for (int i = 0; i < ROWS; i++)
    g_assert_cmpint (tokens[i], ==, chances[i * (1 + LIG_SAMPLE_ALTERNATIVES)].token);
  for (int i = 0; i < OPERANDS; i++)
    gpu->calls->release (gpu->handle, there[i].data);
  return chances;
}

/* Compares the rows: the drawn tokens may differ in one of them. */
static void
compare (const LigSampleChance *got, const LigSampleChance *want)
{
  int differ = 0;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j <= LIG_SAMPLE_ALTERNATIVES; j++) {
      const LigSampleChance *a = &got[i * (1 + LIG_SAMPLE_ALTERNATIVES) + j];
      const LigSampleChance *b = &want[i * (1 + LIG_SAMPLE_ALTERNATIVES) + j];
      if (j == 0 && a->token != b->token) {
        differ++;
        continue;
      }
      g_assert_cmpint (a->token, ==, b->token);
      g_assert_cmpfloat_with_epsilon ((double) a->probability, (double) b->probability, 2e-6);
    }
  g_assert_cmpint (differ, <=, 1);
}

static void
test_shape (gconstpointer data)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  const LigKernel *kernel = lig_kernel_find ("sample");
  Problem problem = make_problem (data);
  LigLaunch launch = {.operands = problem.operands};
  g_assert_cmpint (kernel->functions[LIG_BACKEND_CPU](&launch), ==, LIG_OK);
  g_autofree LigSampleChance *got = draw_there (gpu, kernel, &problem);
  compare (got, problem.operands[3].data);
  g_autofree LigSampleChance *again = draw_there (gpu, kernel, &problem);
  g_assert_cmpmem (got, ROWS * LIG_SAMPLE_CHANCES * 4, again, ROWS * LIG_SAMPLE_CHANCES * 4);
  for (int i = 0; i < OPERANDS; i++)
    g_free (problem.operands[i].data);
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autofree char *path = g_strdup_printf ("/gpu/sample/%s/%d", lig_dtype_name (shapes[i].dtype),
                                             (int) shapes[i].vocabulary);
    g_test_add_data_func (path, &shapes[i], test_shape);
  }
  return g_test_run ();
}
