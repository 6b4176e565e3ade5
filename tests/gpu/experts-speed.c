/* SPDX-License-Identifier: MIT */
/* Prints the share of a copy's bandwidth that permutations reach in the same run, and the rate of
 * grouped matmuls next to dense ones, at 16,384 tokens that have 8 of 64 experts, in bf16. Only
 * that they run is tested. */
#include "tests/gpu/case.h"

#include "kernels/functions.h"
#include <ligature/kernels.h>
#include <ligature/params-grouped.h>
#include <ligature/params-matmul.h>
#include <ligature/params-quantize.h>
#include <ligature/scales.h>

#include <math.h>
#include <stdlib.h>

enum { TOKENS = 16384, TOP_K = 8, EXPERTS = 64, FEATURES = 2048, HIDDEN = 2816 };
enum { SORTED = TOKENS * TOP_K, ROUNDS = 5, LAUNCHES = 4 };

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

/* Returns the median of the seconds of a launch; no kernel: of a copy of the first operand, or of
 * filling the second one if the first is absent. */
static double
time_of (const Bench *b, const char *name, const LigOperand *operands, const void *params)
{
  const Gpu *gpu = b->gpu;
  double seconds[ROUNDS];
  LigLaunch launch = {.operands = operands,
                      .params = params,
                      .workspace = b->workspace,
                      .stream = gpu->stream,
                      .device = gpu->handle,
                      .autotune = true};
  int64_t scratch =
    name ? lig_kernel_scratch (lig_kernel_find (name), &launch, LIG_BACKEND_CUDA) : 0;
  launch.scratch = scratch > 0 ? gpu_memory (gpu, (size_t) scratch) : NULL;
  for (int round = -1; round < ROUNDS; round++) {
    double elapsed = 0;
    gpu_check (gpu, gpu->calls->record (gpu->handle, b->begin, gpu->stream), "event");
    for (int i = 0; i < LAUNCHES; i++)
      if (name)
        g_assert_cmpint (lig_kernel_find (name)->functions[LIG_BACKEND_CUDA](&launch), ==, LIG_OK);
      else if (operands[0].data)
        gpu_copy (gpu, operands[1].data, operands[0].data, (size_t) operands[0].size * 2);
      else
        gpu_fill (gpu, operands[1].data, round, (size_t) operands[1].size * 2);
    gpu_check (gpu, gpu->calls->record (gpu->handle, b->end, gpu->stream), "event");
    gpu_wait (gpu, name ? name : "copying");
    gpu_check (gpu, gpu->calls->elapsed (gpu->handle, b->begin, b->end, &elapsed), "event");
    if (round >= 0)
      seconds[round] = elapsed / LAUNCHES;
  }
  if (launch.scratch)
    gpu->calls->release (gpu->handle, launch.scratch);
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
  const LigOperand filled[] = {absent, b->y};
  const double copy = 2 * SORTED * row / time_of (b, NULL, copied, NULL);
  const double fill = SORTED * row / time_of (b, NULL, filled, NULL);
  const struct {
    const char *name;
    LigOperand operands[8];
    double bytes;
  } all[] = {
    {"permute", {b->x, b->experts, b->weights, b->y, b->offsets, b->places, b->scales}, bytes},
    {"unpermute", {b->y, b->places, b->weights, b->x}, bytes},
    {"permute_backward", {b->y, b->scales, b->places, b->x, b->weights}, bytes},
    {"unpermute_backward", {b->x, absent, b->places, b->weights, b->y, absent}, bytes},
    {"unpermute_backward", {b->x, b->hidden, b->places, b->weights, b->y, b->weights}, both},
  };
  g_test_message ("copy: %.0f GB/s, fill: %.0f GB/s", copy * 1e-9, fill * 1e-9);
  LigOperand sorted[8] = {b->x, b->experts, b->weights, absent, b->offsets, b->places};
  g_test_message ("sort: %.1f us", time_of (b, "permute", sorted, &params) * 1e6);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    LigOperand operands[8];
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

/* Prints the time of a router that selects from bf16 logits. */
static void
time_router (const Bench *b)
{
  static const LigOperand absent;
  const LigRouterParams params = {
    .top_k = TOP_K, .groups = 1, .group_top_k = 1, .normalize = 1, .scale = 1};
  LigOperand logits = b->x, load = b->scales, losses = b->scales;
  logits.columns = EXPERTS;
  logits.size = (int64_t) TOKENS * EXPERTS;
  load.columns = load.size = EXPERTS;
  losses.columns = losses.size = 2;
  losses.data = (float *) b->scales.data + EXPERTS;
  const LigOperand operands[] = {logits, absent, b->weights, b->experts, load, losses};
  g_test_message ("router: %.1f us", time_of (b, "router", operands, &params) * 1e6);
}

/* A matmul of many rows by a matrix per group, or all three of a training step. */
typedef struct {
  const char *name;
  int groups, columns, depth, rows;
  double skew; /* the rows of group g are proportional to 1 / (g + 1)^skew */
} Shape;

static const Shape shapes[] = {
  {"first matmul, even", 64, 2816, 2048, SORTED, 0},
  {"first matmul, uneven", 64, 2816, 2048, SORTED, 0.5},
  {"first matmul, zipf", 64, 2816, 2048, SORTED, 1},
  {"second matmul, uneven", 64, 2048, 1408, SORTED, 0.5},
  {"8 groups of 4096", 8, 2048, 768, 8 * 4096, 0},
  {"8 groups of 4096, uneven", 8, 2048, 768, 8 * 4096, 0.5},
  {"small", 8, 384, 192, 4096, 0.5},
  {"few rows", 64, 2816, 2048, 64 * 4, 0},
  {"one token", 64, 2816, 2048, 8, 0},
};

/* The operands of a shape: grouped and dense matmuls of the same operands, where the dense ones
 * have one matrix. */
typedef struct {
  LigOperand x, y, weight, gradient, offsets, one, one_gradient;
} Matmuls;

static void
fill_offsets (const Gpu *gpu, const Shape *shape, const LigOperand *to)
{
  g_autofree int32_t *offsets = g_new0 (int32_t, shape->groups + 1);
  double total = 0, before = 0;
  for (int g = 0; g < shape->groups; g++)
    total += pow (g + 1, -shape->skew);
  for (int g = 0; g < shape->groups; g++) {
    before += pow (g + 1, -shape->skew);
    offsets[g + 1] = (int32_t) lround (before / total * shape->rows);
  }
  gpu_copy (gpu, to->data, offsets, (size_t) to->size * sizeof *offsets);
  gpu_wait (gpu, "filling");
}

static LigOperand
resized (LigOperand o, int64_t rows, int64_t columns)
{
  g_assert_cmpint (rows * columns, <=, o.size);
  o.size = rows * columns;
  o.columns = columns;
  return o;
}

static Matmuls
matmuls_of (const Bench *b, const Shape *shape)
{
  int64_t groups = shape->groups, n = shape->columns, k = shape->depth;
  fill_offsets (b->gpu, shape, &b->offsets);
  return (Matmuls){resized (b->y, shape->rows, k),      resized (b->hidden, shape->rows, n),
                   resized (b->weight, groups * n, k),  resized (b->gradient, groups * n, k),
                   resized (b->offsets, 1, groups + 1), resized (b->weight, n, k),
                   resized (b->gradient, n, k)};
}

/* Prints the rates of the three grouped matmuls of a shape next to those of dense ones with the
 * same number of operations, timed alternately. Returns how much longer the grouped ones take. */
static double
time_shape (const Bench *b, const Shape *shape)
{
  static const LigOperand absent;
  const Matmuls m = matmuls_of (b, shape);
  const double flops = 2.0 * shape->rows * shape->columns * shape->depth;
  double sums[2] = {0, 0};
  const struct {
    const char *name, *dense;
    LigOperand operands[8], others[3];
  } all[] = {
    {"grouped_linear",
     "linear",
     {m.x, m.weight, m.offsets, absent, absent, m.y},
     {m.x, m.one, m.y}},
    {"grouped_backward_input",
     "linear_backward_input",
     {m.y, m.weight, m.offsets, m.x},
     {m.y, m.one, m.x}},
    {"grouped_backward_weight",
     "linear_backward_weight",
     {m.y, m.x, m.offsets, absent, absent, m.gradient, absent, absent},
     {m.y, m.x, m.one_gradient}},
  };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    double seconds[2][ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      seconds[0][round] = time_of (b, all[i].name, all[i].operands, NULL);
      seconds[1][round] = time_of (b, all[i].dense, all[i].others, NULL);
    }
    for (int side = 0; side < 2; side++) {
      qsort (seconds[side], ROUNDS, sizeof (double), by_value);
      sums[side] += seconds[side][ROUNDS / 2];
    }
    g_test_message ("%s: %s: %.3f ms, %.0f TFLOP/s; dense %.0f; ratio %.3f", shape->name,
                    all[i].name, seconds[0][ROUNDS / 2] * 1e3,
                    flops / seconds[0][ROUNDS / 2] * 1e-12, flops / seconds[1][ROUNDS / 2] * 1e-12,
                    seconds[0][ROUNDS / 2] / seconds[1][ROUNDS / 2]);
  }
  g_test_message ("%s: all: %.3f ms, ratio %.3f", shape->name, sums[0] * 1e3, sums[0] / sums[1]);
  return sums[0] / sums[1];
}

/* Prints the times of a pair of kernels and of the one that computes both, timed alternately: the
 * first matmul of experts with SwiGLU, and the gradient of SwiGLU with the input gradient of the
 * second one. */
static void
time_gated (const Bench *b)
{
  static const LigOperand absent;
  enum { HALF = HIDDEN / 2 };
  const LigGroupedGatedParams params = {.gated = {.interleave = 32}, .unit = LIG_FUNCTION_swiglu};
  const Shape shape = {"", EXPERTS, HIDDEN, FEATURES, SORTED, 0};
  const Matmuls m = matmuls_of (b, &shape);
  const LigOperand sum = m.y, half = operand (b->gpu, LIG_BF16, SORTED, HALF);
  const LigOperand dx = operand (b->gpu, LIG_BF16, SORTED, HIDDEN);
  const LigOperand last = resized (b->weight, EXPERTS * FEATURES, HALF);
  const struct {
    const char *kernels[3];
    LigOperand first[6], second[5], both[8];
  } all[] = {
    {{"grouped_linear", "scaled_swiglu", "grouped_linear_gated"},
     {m.x, m.weight, m.offsets, absent, absent, sum},
     {sum, b->scales, half},
     {m.x, m.weight, m.offsets, absent, absent, b->scales, sum, half}},
    {{"grouped_linear", "scaled_swiglu", "grouped_linear_gated"},
     {m.x, m.weight, m.offsets, absent, absent, sum},
     {sum, b->scales, half},
     {m.x, m.weight, m.offsets, absent, absent, b->scales, absent, half}},
    {{"grouped_backward_input", "scaled_swiglu_backward", "grouped_gated_backward_input"},
     {m.x, last, m.offsets, half},
     {half, sum, b->scales, dx, b->scales},
     {m.x, last, m.offsets, sum, b->scales, dx, b->scales}},
    {{"grouped_backward_input", "swiglu_backward", "grouped_gated_backward_input"},
     {m.x, last, m.offsets, half},
     {half, sum, dx},
     {m.x, last, m.offsets, sum, absent, dx, absent}},
  };
  fill (b->gpu, &b->scales);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    double seconds[3][ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      seconds[0][round] = time_of (b, all[i].kernels[0], all[i].first, NULL);
      seconds[1][round] = time_of (b, all[i].kernels[1], all[i].second, &params.gated);
      seconds[2][round] = time_of (b, all[i].kernels[2], all[i].both, &params);
    }
    for (int side = 0; side < 3; side++)
      qsort (seconds[side], ROUNDS, sizeof (double), by_value);
    double matmul = seconds[0][ROUNDS / 2], unit = seconds[1][ROUNDS / 2];
    double both = seconds[2][ROUNDS / 2];
    g_test_message ("%s%s: %.3f ms; %s %.3f + %s %.3f = %.3f ms; ratio %.3f", all[i].kernels[2],
                    i == 1 ? " without the sum" : "", both * 1e3, all[i].kernels[0], matmul * 1e3,
                    all[i].kernels[1], unit * 1e3, (matmul + unit) * 1e3, both / (matmul + unit));
  }
}

static void
test_gated (void)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  if (quick ()) {
    g_test_skip ("it is large");
    return;
  }
  Bench b = bench_new (gpu);
  fill (gpu, &b.y);
  time_gated (&b);
}

/* A recipe for the matmuls of groups: the scales of rows and of matrices, and the format of
 * gradients. */
typedef struct {
  const char *name;
  LigScales row, matrix;
  LigDtype gradient;
  gboolean fast; /* in the forward pass */
} Recipe;

static const Recipe recipes[] = {
  {"fp8-block", LIG_SCALES_BLOCK, LIG_SCALES_TILE, LIG_FP8_E4M3, FALSE},
  {"fp8-rows", LIG_SCALES_ROW, LIG_SCALES_ROW, LIG_FP8_E5M2, TRUE},
};

/* A quantized copy and its scales. */
typedef struct {
  LigOperand data, scales;
} Copy;

static Copy
copy_of (
  const Gpu *gpu, LigDtype format, int64_t count, int64_t rows, int64_t columns, LigScales kind)
{
  int64_t blocks = (columns + 127) / 128;
  Copy copy = {.data = operand (gpu, format, count * rows, columns)};
  copy.scales = kind == LIG_SCALES_ROW ? operand (gpu, LIG_FP32, 1, count * rows)
                : kind == LIG_SCALES_BLOCK
                  ? operand (gpu, LIG_FP32, blocks, rows)
                  : operand (gpu, LIG_FP32, count * ((rows + 127) / 128), (blocks + 3) / 4 * 4);
  return copy;
}

/* Quantizes a matrix; returns the seconds. */
static double
quantize (const Bench *b,
          const LigOperand *x,
          const Copy *row,
          const Copy *transposed,
          LigQuantizeParams params)
{
  const LigOperand none = {0};
  const LigOperand operands[] = {*x,
                                 none,
                                 row->data,
                                 row->scales,
                                 transposed ? transposed->data : none,
                                 transposed ? transposed->scales : none,
                                 none,
                                 none,
                                 none};
  return time_of (b, "quantize", operands, &params);
}

/* Times a matmul of quantized operands and its 16-bit counterpart alternately. */
static void
compare_times (const Bench *b,
               const LigOperand *quantized,
               const LigGroupedFp8Params *params,
               const char *name,
               const LigOperand *plain,
               double median[2])
{
  double seconds[2][ROUNDS];
  for (int round = 0; round < ROUNDS; round++) {
    seconds[0][round] = time_of (b, "grouped_fp8", quantized, params);
    seconds[1][round] = time_of (b, name, plain, NULL);
  }
  for (int side = 0; side < 2; side++) {
    qsort (seconds[side], ROUNDS, sizeof (double), by_value);
    median[side] = seconds[side][ROUNDS / 2];
  }
}

/* Prints the rates of the forward matmul and of the input gradient with a recipe, and the time of
 * all three matmuls with all that is quantized for them, next to those in 16 bits. */
static double
time_recipe (const Bench *b, const Shape *shape, const Recipe *r)
{
  const LigOperand absent = {0};
  const Matmuls m = matmuls_of (b, shape);
  const Gpu *gpu = b->gpu;
  int64_t groups = shape->groups, n = shape->columns, k = shape->depth, rows = shape->rows;
  const Copy x = copy_of (gpu, LIG_FP8_E4M3, 1, rows, k, r->row);
  const Copy dy = copy_of (gpu, r->gradient, 1, rows, n, r->row);
  const Copy weight = copy_of (gpu, LIG_FP8_E4M3, groups, n, k, r->matrix);
  const Copy turned = copy_of (gpu, LIG_FP8_E4M3, groups, k, n, r->matrix);
  const LigQuantizeParams of_rows = {.format = LIG_FP8_E4M3, .row = (int32_t) r->row};
  const LigQuantizeParams of_gradient = {.format = (int32_t) r->gradient, .row = (int32_t) r->row};
  const LigQuantizeParams of_matrices = {.format = LIG_FP8_E4M3,
                                         .row = (int32_t) r->matrix,
                                         .transposed = (int32_t) r->matrix,
                                         .groups = (int32_t) groups};
  const double flops = 2.0 * shape->rows * shape->columns * shape->depth;
  const double copied[] = {quantize (b, &m.x, &x, NULL, of_rows),
                           quantize (b, &m.y, &dy, NULL, of_gradient),
                           quantize (b, &m.weight, &weight, &turned, of_matrices)};
  const LigGroupedFp8Params forward = {.fp8 = {1, (int32_t) r->row, (int32_t) r->matrix, r->fast}};
  const LigGroupedFp8Params backward = {.fp8 = {1, (int32_t) r->row, (int32_t) r->matrix, FALSE}};
  double y[2], dx[2];
  compare_times (
    b, (LigOperand[]){x.data, weight.data, x.scales, weight.scales, m.offsets, absent, absent, m.y},
    &forward, "grouped_linear", (LigOperand[]){m.x, m.weight, m.offsets, absent, absent, m.y}, y);
  compare_times (
    b,
    (LigOperand[]){dy.data, turned.data, dy.scales, turned.scales, m.offsets, absent, absent, m.x},
    &backward, "grouped_backward_input", (LigOperand[]){m.y, m.weight, m.offsets, m.x}, dx);
  const double rest =
    time_of (b, "grouped_backward_weight",
             (LigOperand[]){m.y, m.x, m.offsets, absent, absent, m.gradient, absent, absent}, NULL);
  g_test_message ("%s: %s: forward %.3f ms, %.0f TFLOP/s, %.3f of bf16; input %.3f ms, %.0f "
                  "TFLOP/s, %.3f of bf16",
                  shape->name, r->name, y[0] * 1e3, flops / y[0] * 1e-12, y[0] / y[1], dx[0] * 1e3,
                  flops / dx[0] * 1e-12, dx[0] / dx[1]);
  double quantizing = copied[0] + copied[1] + copied[2];
  double ratio = (y[0] + dx[0] + rest + quantizing) / (y[1] + dx[1] + rest);
  g_test_message ("%s: %s: quantizing x %.3f, dy %.3f, weights %.3f ms; weight gradient %.3f ms; "
                  "all %.3f of bf16",
                  shape->name, r->name, copied[0] * 1e3, copied[1] * 1e3, copied[2] * 1e3,
                  rest * 1e3, ratio);
  const Copy all[] = {x, dy, weight, turned};
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    gpu->calls->release (gpu->handle, all[i].data.data);
    gpu->calls->release (gpu->handle, all[i].scales.data);
  }
  return ratio;
}

static void
test_recipes (void)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  if (quick ()) {
    g_test_skip ("it is large");
    return;
  }
  Bench b = bench_new (gpu);
  for (guint i = 0; i < G_N_ELEMENTS (shapes) - 2; i++) {
    /* Results become operands: without new ones they would grow from shape to shape. */
    fill (gpu, &b.y);
    fill (gpu, &b.hidden);
    for (guint k = 0; k < G_N_ELEMENTS (recipes); k++)
      g_assert_cmpfloat (time_recipe (&b, &shapes[i], &recipes[k]), >, 0);
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
  time_router (&b);
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    g_assert_cmpfloat (time_shape (&b, &shapes[i]), >, 0);
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  g_test_add_func ("/gpu/experts-speed/matmuls", test_speed);
  g_test_add_func ("/gpu/experts-speed/gated", test_gated);
  g_test_add_func ("/gpu/experts-speed/recipes", test_recipes);
  return g_test_run ();
}
