/* SPDX-License-Identifier: MIT */
/* Prints the share of a copy's bandwidth that permutations reach in the same run, and the rate of
 * grouped matmuls, at 16,384 tokens that have 8 of 64 experts, in bf16. Only that they run is
 * tested. */
#include "tests/gpu/case.h"

#include <ligature/kernels.h>
#include <ligature/params-experts.h>

#include <math.h>
#include <stdlib.h>

enum { TOKENS = 16384, TOP_K = 8, EXPERTS = 64, FEATURES = 2048, HIDDEN = 2816 };
enum { SORTED = TOKENS * TOP_K, ROUNDS = 7, LAUNCHES = 4 };

/* The device memory of a run. */
typedef struct {
  const Gpu *gpu;
  void *workspace, *begin, *end;
  LigOperand x, y, hidden, weight, gradient, experts, weights, offsets, places, scales;
} Bench;

static LigOperand
operand (const Gpu *gpu, LigDtype dtype, int64_t rows, int64_t columns)
{
  LigOperand o = {NULL, rows * columns, columns, dtype};
  o.data = gpu_memory (gpu, (size_t) o.size * lig_dtype_size (dtype));
  return o;
}

/* Fills an operand with random numbers between -1 and 1, a million of which repeat. */
static void
fill (const Gpu *gpu, const LigOperand *o)
{
  enum { POOL = 1 << 20 };
  g_autofree float *values = g_new (float, POOL);
  g_autofree char *narrow = g_malloc ((gsize) POOL * sizeof (float));
  g_autoptr (GRand) random = g_rand_new_with_seed (3);
  size_t element = lig_dtype_size (o->dtype);
  for (int i = 0; i < POOL; i++)
    values[i] = (float) g_rand_double_range (random, -1, 1);
  lig_narrow (o->dtype, values, narrow, POOL);
  for (int64_t at = 0; at < o->size; at += POOL)
    gpu_copy (gpu, (char *) o->data + (size_t) at * element, narrow,
              (size_t) MIN (POOL, o->size - at) * element);
  gpu_wait (gpu, "filling");
}

/* Fills in different experts for each token. */
static void
fill_experts (const Gpu *gpu, const LigOperand *o)
{
  g_autofree int32_t *experts = g_new (int32_t, SORTED);
  g_autoptr (GRand) random = g_rand_new_with_seed (4);
  for (int token = 0; token < TOKENS; token++) {
    gboolean taken[EXPERTS] = {FALSE};
    for (int j = 0; j < TOP_K;) {
      int expert = g_rand_int_range (random, 0, EXPERTS);
      if (taken[expert])
        continue;
      taken[expert] = TRUE;
      experts[token * TOP_K + j++] = expert;
    }
  }
  gpu_copy (gpu, o->data, experts, SORTED * sizeof *experts);
  gpu_wait (gpu, "filling");
}

static Bench
bench_new (const Gpu *gpu)
{
  Bench b = {.gpu = gpu};
  b.workspace = gpu_memory (gpu, LIG_WORKSPACE_SIZE);
  b.x = operand (gpu, LIG_BF16, TOKENS, FEATURES);
  b.y = operand (gpu, LIG_BF16, SORTED, FEATURES);
  b.hidden = operand (gpu, LIG_BF16, SORTED, HIDDEN);
  b.weight = operand (gpu, LIG_BF16, EXPERTS * HIDDEN, FEATURES);
  b.gradient = operand (gpu, LIG_FP32, EXPERTS * HIDDEN, FEATURES);
  b.experts = operand (gpu, LIG_INT32, TOKENS, TOP_K);
  b.weights = operand (gpu, LIG_FP32, TOKENS, TOP_K);
  b.offsets = operand (gpu, LIG_INT32, 1, EXPERTS + 1);
  b.places = operand (gpu, LIG_INT32, TOKENS, TOP_K);
  b.scales = operand (gpu, LIG_FP32, 1, SORTED);
  fill (gpu, &b.x);
  fill (gpu, &b.weight);
  fill (gpu, &b.weights);
  fill_experts (gpu, &b.experts);
  gpu_check (gpu, gpu->calls->event_new (gpu->handle, &b.begin), "event");
  gpu_check (gpu, gpu->calls->event_new (gpu->handle, &b.end), "event");
  return b;
}

static int
by_value (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* Returns the median of the seconds of a launch; no kernel: of a copy of x's size. */
static double
time_of (const Bench *b, const char *name, const LigOperand *operands, const void *params)
{
  const Gpu *gpu = b->gpu;
  double seconds[ROUNDS];
  LigLaunch launch = {.operands = operands,
                      .params = params,
                      .workspace = b->workspace,
                      .stream = gpu->stream,
                      .device = gpu->handle};
  for (int round = -1; round < ROUNDS; round++) {
    double elapsed = 0;
    gpu_check (gpu, gpu->calls->record (gpu->handle, b->begin, gpu->stream), "event");
    for (int i = 0; i < LAUNCHES; i++)
      if (name)
        g_assert_cmpint (lig_kernel_find (name)->functions[LIG_BACKEND_CUDA](&launch), ==, LIG_OK);
      else
        gpu_copy (gpu, operands[1].data, operands[0].data, (size_t) operands[0].size * 2);
    gpu_check (gpu, gpu->calls->record (gpu->handle, b->end, gpu->stream), "event");
    gpu_wait (gpu, name ? name : "copying");
    gpu_check (gpu, gpu->calls->elapsed (gpu->handle, b->begin, b->end, &elapsed), "event");
    if (round >= 0)
      seconds[round] = elapsed / LAUNCHES;
  }
  qsort (seconds, ROUNDS, sizeof *seconds, by_value);
  return seconds[ROUNDS / 2];
}

/* Prints the shares of the permutations. */
static void
time_moves (const Bench *b)
{
  static const LigOperand absent;
  const LigPermuteParams params = {EXPERTS, 1, 0};
  const LigOperand copied[] = {b->y, b->hidden};
  const double row = FEATURES * 2.0, bytes = (TOKENS + SORTED) * row, both = bytes + SORTED * row;
  const double copy = 2 * SORTED * row / time_of (b, NULL, copied, NULL);
  const struct {
    const char *name;
    LigOperand operands[7];
    double bytes;
  } all[] = {
    {"permute", {b->x, b->experts, b->weights, b->y, b->offsets, b->places, b->scales}, bytes},
    {"unpermute", {b->y, b->places, b->weights, b->x}, bytes},
    {"permute_backward", {b->y, b->scales, b->places, b->x, b->weights}, bytes},
    {"unpermute_backward", {b->x, absent, b->places, b->weights, b->y, absent}, bytes},
    {"unpermute_backward", {b->x, b->hidden, b->places, b->weights, b->y, b->weights}, both},
  };
  g_test_message ("copy: %.0f GB/s", copy * 1e-9);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    LigOperand operands[7];
    memcpy (operands, all[i].operands, sizeof operands);
    if (i == 4) { /* as many rows as y has */
      operands[1].columns = FEATURES;
      operands[1].size = b->y.size;
      operands[5] = b->scales;
    }
    double seconds = time_of (b, all[i].name, operands, &params);
    g_test_message ("%s: %.1f us, %.1f %% of the copy's bandwidth", all[i].name, seconds * 1e6,
                    100 * all[i].bytes / seconds / copy);
  }
}

/* Prints the rates of the matmuls. */
static void
time_matmuls (const Bench *b)
{
  static const LigOperand absent;
  const double flops = 2.0 * SORTED * FEATURES * HIDDEN;
  const struct {
    const char *name;
    LigOperand operands[8];
  } all[] = {
    {"grouped_linear", {b->y, b->weight, b->offsets, absent, absent, b->hidden}},
    {"grouped_backward_input", {b->hidden, b->weight, b->offsets, b->y}},
    {"grouped_backward_weight",
     {b->hidden, b->y, b->offsets, absent, absent, b->gradient, absent, absent}},
  };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    double seconds = time_of (b, all[i].name, all[i].operands, NULL);
    g_test_message ("%s: %.2f ms, %.0f TFLOP/s", all[i].name, seconds * 1e3,
                    flops / seconds * 1e-12);
  }
}

static void
test_speed (void)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  if (quick ()) {
    g_test_skip ("it is large");
    return;
  }
  Bench b = bench_new (gpu);
  time_moves (&b);
  time_matmuls (&b);
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  g_test_add_func ("/gpu/experts-speed", test_speed);
  return g_test_run ();
}
