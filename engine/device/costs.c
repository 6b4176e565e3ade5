/* SPDX-License-Identifier: MIT */
/* The kinds of kernels with measured costs, and interpolation between the measured times. */
#include "engine/device/costs.h"
#include <ligature/kernels.h>

#include <math.h>

/* The kinds in the order of LigCost. A kernel belongs to the first kind with a pattern that matches
 * its name; `sums` marks kernels that compute optional sums. The kinds of fp32 matmuls follow those
 * of other types in the same order. */
static const struct {
  const char *name, *probe;
  const char *patterns[4];
  gboolean sums;
} kinds[LIG_N_COSTS] = {
  {"norm", "layer_norm", {"*_norm", "l2_normalization*"}, FALSE},
  {"norm-gradient", "layer_norm_backward", {"*_norm_backward", "*_norm_backward_add"}, FALSE},
  {"sums", "bias_backward", {"bias_backward"}, FALSE},
  {"activation-sums", "bias_gelu_backward", {"bias_*_backward"}, FALSE},
  {"vector", "bias", {"bias", "bias_*"}, FALSE},
  {"loss",
   "cross_entropy",
   {"cross_entropy", "cross_entropy_part", "mean_squared_error", "accuracy*"},
   FALSE},
  {"loss-gradient",
   "cross_entropy_backward",
   {"cross_entropy_backward", "mean_squared_error_backward"},
   FALSE},
  {"gathered-sums", "embedding_backward", {"embedding_backward"}, FALSE},
  {"elements", "gelu", {NULL}, FALSE},
  {"matmul-bias", "linear_bias", {"linear_bias", "linear_bias_relu"}, FALSE},
  {"matmul-gelu", "linear_bias_gelu", {"linear_bias_gelu"}, FALSE},
  {"matmul-add", "linear_bias_add", {"linear_bias_add", "linear_backward_input_add"}, FALSE},
  {"matmul-gelu-gradient", "linear_backward_input_gelu", {"linear_backward_input_gelu*"}, FALSE},
  {"matmul-gelu-sums", "linear_backward_input_gelu", {"linear_backward_input_gelu*"}, TRUE},
  {"matmul-sums",
   "linear_backward_weight_bias",
   {"linear_backward_weight_bias", "linear_backward_input_bias"},
   FALSE},
  {"wide-bias", "linear_bias", {NULL}, FALSE},
  {"wide-gelu", "linear_bias_gelu", {NULL}, FALSE},
  {"wide-add", "linear_bias_add", {NULL}, FALSE},
  {"wide-gelu-gradient", "linear_backward_input_gelu", {NULL}, FALSE},
  {"wide-gelu-sums", "linear_backward_input_gelu", {NULL}, FALSE},
  {"wide-sums", "linear_backward_weight_bias", {NULL}, FALSE},
};

const char *
lig_attention_cost_name (LigAttentionCost cost)
{
  static const char *const names[] = {"forward", "backward", "built-in-forward",
                                      "built-in-backward"};
  G_STATIC_ASSERT (G_N_ELEMENTS (names) == LIG_N_ATTENTION_COSTS);
  return (guint) cost < LIG_N_ATTENTION_COSTS ? names[cost] : NULL;
}

const char *
lig_cost_name (LigCost cost)
{
  return (guint) cost < LIG_N_COSTS ? kinds[cost].name : NULL;
}

const LigKernel *
lig_cost_get_probe (LigCost cost)
{
  return lig_kernel_find (kinds[cost].probe);
}

static LigCost
find_kind (const LigKernel *kernel, gboolean sums)
{
  gboolean matmul = kernel->work < 0;
  LigCost other = matmul ? LIG_N_COSTS : LIG_COST_ELEMENTS, found = other;
  for (LigCost i = 0; i < LIG_N_COSTS; i++)
    for (guint j = 0; j < G_N_ELEMENTS (kinds[i].patterns) && kinds[i].patterns[j]; j++)
      if (matmul == (i > LIG_COST_ELEMENTS) && (found == other || (sums && kinds[i].sums)) &&
          g_pattern_match_simple (kinds[i].patterns[j], kernel->name))
        found = i;
  return found;
}

/* Returns cached kinds of the built-in kernels, without and with sums: compiling a plan of many ops
 * looks them up thousands of times. */
static GHashTable *const *
get_tables (void)
{
  static GHashTable *tables[2];
  static gsize made;
  if (g_once_init_enter (&made)) {
    for (int sums = 0; sums < 2; sums++) {
      tables[sums] = g_hash_table_new (NULL, NULL);
      const LigKernel *kernel;
      for (guint i = 0; (kernel = lig_kernel_nth (i)); i++)
        g_hash_table_insert (tables[sums], (gpointer) kernel,
                             GINT_TO_POINTER (find_kind (kernel, sums)));
    }
    g_once_init_leave (&made, 1);
  }
  return tables;
}

LigCost
lig_cost_of_kernel (const LigKernel *kernel, gboolean sums)
{
  gpointer kind;
  if (g_hash_table_lookup_extended (get_tables ()[sums != FALSE], kernel, NULL, &kind))
    return (LigCost) GPOINTER_TO_INT (kind);
  return find_kind (kernel, sums);
}

/* Locates a value in a table of `count` measured values at logarithmic steps from `first`: returns
 * the index of the value before it, and in `rest` the weight of the next. */
static int
find_place (double value, int first, int step, int count, double *rest)
{
  double at = (log2 (MAX (value, 1)) - first) / step;
  at = CLAMP (at, 0, count - 1);
  int number = MIN ((int) at, count - 2);
  *rest = at - number;
  return number;
}

/* Interpolates by a power law between two measured costs. */
static double
interpolate (double from, double to, double share)
{
  return from <= 0 || to <= 0 ? from + share * (to - from) : from * pow (to / from, share);
}

/* Returns the seconds for a number of bytes, interpolated between the measured ones. */
static double
at_bytes (const double *times, double bytes)
{
  double rest, largest = exp2 (LIG_COST_FIRST_SIZE + LIG_COST_SIZE_STEP * (LIG_COST_SIZES - 1));
  int at = find_place (bytes, LIG_COST_FIRST_SIZE, LIG_COST_SIZE_STEP, LIG_COST_SIZES, &rest);
  double seconds = interpolate (times[at], times[at + 1], rest);
  /* Beyond the largest size, times are proportional to it. */
  return seconds * MAX (bytes / largest, 1);
}

double
lig_cost_of_bytes (const LigDeviceCosts *self, LigCost cost, double bytes)
{
  return at_bytes (self->kernels + cost * LIG_COST_SIZES, bytes);
}

double
lig_cost_of_mixed (const LigDeviceCosts *self, LigCost cost, double bytes)
{
  int kind = (int) cost - LIG_COST_MATMUL_BIAS;
  const double *times = self->mixed + kind * LIG_COST_SIZES;
  if (kind < 0 || kind >= LIG_MIXED_COSTS || times[LIG_COST_SIZES - 1] <= 0)
    return lig_cost_of_bytes (self, cost, bytes);
  return at_bytes (times, bytes);
}

/* Returns the factor by which the last, partial wave of blocks lengthens the time. */
static double
idle_factor (const LigDeviceFacts *facts, double blocks)
{
  double width = facts->multiprocessors;
  return width > 0 && blocks > 0 ? ceil (blocks / width) * width / blocks : 1;
}

/* Returns the rate that follows from a measured time of attention. */
static double
attention_rate (const LigDeviceFacts *facts, LigAttentionCost cost, int wide, int row)
{
  double seconds =
    facts->costs.attention[cost * LIG_ATTENTION_SIZES + wide * LIG_ATTENTION_LENGTHS + row];
  double length = exp2 (LIG_ATTENTION_FIRST_LENGTH + LIG_ATTENTION_LENGTH_STEP * row);
  double features = LIG_ATTENTION_FEATURES << wide;
  gboolean backward = cost == LIG_ATTENTION_BACKWARD || cost == LIG_ATTENTION_BUILT_IN_BACKWARD;
  double heads = (double) LIG_ATTENTION_ROWS * LIG_ATTENTION_HEADS;
  double flops = (backward ? 5 : 2) * heads * features * (length + 1);
  return flops * idle_factor (facts, heads / LIG_ATTENTION_BLOCK) /
         MAX (seconds - facts->launch, seconds / 2);
}

double
lig_cost_of_attention (const LigDeviceFacts *facts,
                       LigAttentionCost cost,
                       const LigAttentionWork *work)
{
  double rest, min = exp2 (LIG_ATTENTION_FIRST_LENGTH), rates[2];
  /* A smaller head dim takes as long. */
  double features = MAX (work->features, LIG_ATTENTION_FEATURES);
  double flops = work->flops * features / MAX (work->features, 1);
  double wide = CLAMP (log2 (features / LIG_ATTENTION_FEATURES), 0, 1);
  if (facts->costs.attention[cost * LIG_ATTENTION_SIZES] <= 0)
    return 0;
  int row = find_place (work->length, LIG_ATTENTION_FIRST_LENGTH, LIG_ATTENTION_LENGTH_STEP,
                        LIG_ATTENTION_LENGTHS, &rest);
  for (int i = 0; i < 2; i++)
    rates[i] = interpolate (attention_rate (facts, cost, i, row),
                            attention_rate (facts, cost, i, row + 1), rest);
  /* Shorter sequences do not take less time per query. */
  double rate = interpolate (rates[0], rates[1], wide) * MIN (work->length / min, 1);
  return facts->launch + flops * idle_factor (facts, work->blocks) / MAX (rate, 1);
}

double
lig_cost_matmul_flops (int index)
{
  int row = index / LIG_COST_DEPTHS, column = index % LIG_COST_DEPTHS;
  return 2 * exp2 (LIG_COST_FIRST_AREA + LIG_COST_AREA_STEP * row + LIG_COST_FIRST_DEPTH +
                   LIG_COST_DEPTH_STEP * column);
}

/* Returns the seconds of a launch plus those of the operations at the device's rate. */
static double
ideal (const LigDeviceFacts *facts, LigDtype dtype, double area, double depth)
{
  return facts->launch + 2 * area * depth / facts->matmul[dtype];
}

/* Returns the ratio of a measured matmul's time to the ideal time. */
static double
get_multiple (const LigDeviceFacts *facts, LigDtype dtype, int row, int column)
{
  gboolean wide = dtype == LIG_FP32;
  const double *seconds = wide ? facts->costs.wide_matmuls : facts->costs.matmuls;
  double area = exp2 (LIG_COST_FIRST_AREA + LIG_COST_AREA_STEP * row);
  double depth = exp2 (LIG_COST_FIRST_DEPTH + LIG_COST_DEPTH_STEP * column);
  return seconds[row * LIG_COST_DEPTHS + column] /
         ideal (facts, wide ? LIG_FP32 : LIG_BF16, area, depth);
}

double
lig_cost_of_matmul (const LigDeviceFacts *facts, LigDtype dtype, double area, double depth)
{
  double down, right;
  /* Smaller problems are not faster. */
  area = MAX (area, exp2 (LIG_COST_FIRST_AREA));
  depth = MAX (depth, exp2 (LIG_COST_FIRST_DEPTH));
  int row = find_place (area, LIG_COST_FIRST_AREA, LIG_COST_AREA_STEP, LIG_COST_AREAS, &down);
  int column =
    find_place (depth, LIG_COST_FIRST_DEPTH, LIG_COST_DEPTH_STEP, LIG_COST_DEPTHS, &right);
  double upper = interpolate (get_multiple (facts, dtype, row, column),
                              get_multiple (facts, dtype, row, column + 1), right);
  double lower = interpolate (get_multiple (facts, dtype, row + 1, column),
                              get_multiple (facts, dtype, row + 1, column + 1), right);
  return interpolate (upper, lower, down) * ideal (facts, dtype, area, depth);
}
