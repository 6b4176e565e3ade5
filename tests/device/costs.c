/* SPDX-License-Identifier: MIT */
/* Tests the costs of kernels: their kinds, times between measured ones, and device descriptions. */
#include "tests/device/costs-case.h"
#include <ligature/kernels.h>

#include <math.h>
#include <string.h>

/* Each built-in kernel has a matching kind; no two kinds share a name. */
static void
test_kinds (void)
{
  const LigKernel *kernel;
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; (kernel = lig_kernel_nth ((int) i)); i++)
    for (int sums = 0; sums < 2; sums++) {
      LigCost cost = lig_cost_of_kernel (kernel, sums);
      if (kernel->work < 0)
        g_assert_cmpint (cost, >, LIG_COST_ELEMENTS);
      else
        g_assert_cmpint (cost, <=, LIG_COST_ELEMENTS);
    }
  for (LigCost i = 0; i < LIG_N_COSTS; i++) {
    g_assert_nonnull (lig_cost_get_probe (i));
    g_assert_true (g_hash_table_add (names, (gpointer) lig_cost_name (i)));
  }
  g_assert_null (lig_cost_name (LIG_N_COSTS));
  const struct {
    const char *kernel;
    gboolean sums;
    LigCost cost;
  } cases[] = {
    {"linear", FALSE, LIG_N_COSTS},
    {"linear_bias_relu", FALSE, LIG_COST_MATMUL_BIAS},
    {"linear_backward_input_bias", TRUE, LIG_COST_MATMUL_SUMS},
    {"linear_backward_input_gelu_bias", TRUE, LIG_COST_MATMUL_GELU_SUMS},
    {"linear_backward_input_add", TRUE, LIG_COST_MATMUL_ADD},
    {"linear_backward_input_gelu", FALSE, LIG_COST_MATMUL_GELU_GRADIENT},
    {"linear_backward_input_gelu", TRUE, LIG_COST_MATMUL_GELU_SUMS},
    {"rms_norm_backward_add", FALSE, LIG_COST_NORM_GRADIENT},
    {"add_layer_norm", FALSE, LIG_COST_NORM},
    {"bias_backward", FALSE, LIG_COST_SUMS},
    {"bias_swiglu_backward", FALSE, LIG_COST_ACTIVATION_SUMS},
    {"bias_swiglu", FALSE, LIG_COST_VECTOR},
    {"swiglu_backward", FALSE, LIG_COST_ELEMENTS},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (lig_cost_of_kernel (lig_kernel_find (cases[i].kernel), cases[i].sums), ==,
                     cases[i].cost);
}

/* Measured times are reproduced exactly; larger problems take longer, without a jump. */
static void
test_between (void)
{
  LigDeviceFacts facts = read_facts ("h200");
  for (int i = 0; i < LIG_COST_SIZES; i++)
    g_assert_cmpfloat_with_epsilon (
      lig_cost_of_bytes (&facts.costs, LIG_COST_SUMS,
                         exp2 (LIG_COST_FIRST_SIZE + LIG_COST_SIZE_STEP * i)),
      facts.costs.kernels[LIG_COST_SUMS * LIG_COST_SIZES + i], 1e-12);
  double largest = exp2 (LIG_COST_FIRST_SIZE + LIG_COST_SIZE_STEP * (LIG_COST_SIZES - 1));
  double end = lig_cost_of_bytes (&facts.costs, LIG_COST_SUMS, largest);
  g_assert_cmpfloat_with_epsilon (lig_cost_of_bytes (&facts.costs, LIG_COST_SUMS, 4 * largest),
                                  4 * end, 1e-12);
  g_assert_cmpfloat_with_epsilon (lig_cost_of_bytes (&facts.costs, LIG_COST_SUMS, 1),
                                  facts.costs.kernels[LIG_COST_SUMS * LIG_COST_SIZES], 1e-12);
  for (int i = 0; i < LIG_COST_AREAS; i++)
    for (int j = 0; j < LIG_COST_DEPTHS; j++) {
      double area = exp2 (LIG_COST_FIRST_AREA + LIG_COST_AREA_STEP * i);
      double depth = exp2 (LIG_COST_FIRST_DEPTH + LIG_COST_DEPTH_STEP * j);
      double seconds = facts.costs.matmuls[i * LIG_COST_DEPTHS + j];
      g_assert_cmpfloat_with_epsilon (lig_cost_of_matmul (&facts, LIG_BF16, area, depth), seconds,
                                      1e-9 * seconds);
      double little = lig_cost_of_matmul (&facts, LIG_FP32, area * 1.001, depth * 1.001);
      double same = lig_cost_of_matmul (&facts, LIG_FP32, area, depth);
      g_assert_cmpfloat (fabs (little - same), <, 0.01 * same);
    }
}

static void
test_round_trip (void)
{
  static const char *const names[] = {"h200", "h100", "a100"};
  for (guint k = 0; k < G_N_ELEMENTS (names); k++) {
    g_autoptr (GError) error = NULL;
    LigDeviceFacts facts = read_facts (names[k]), again;
    g_autofree char *text = lig_device_facts_to_json (&facts);
    g_assert_true (lig_device_facts_from_json (text, &again, &error));
    g_assert_true (again.costs.known);
    for (guint i = 0; i < G_N_ELEMENTS (facts.costs.kernels); i++)
      g_assert_cmpfloat_with_epsilon (again.costs.kernels[i], facts.costs.kernels[i],
                                      1e-12 + 1e-3 * facts.costs.kernels[i]);
    for (guint i = 0; i < G_N_ELEMENTS (facts.costs.matmuls); i++) {
      g_assert_cmpfloat_with_epsilon (again.costs.matmuls[i], facts.costs.matmuls[i],
                                      1e-3 * facts.costs.matmuls[i]);
      g_assert_cmpfloat_with_epsilon (again.costs.wide_matmuls[i], facts.costs.wide_matmuls[i],
                                      1e-3 * facts.costs.wide_matmuls[i]);
    }
    again.costs.known = FALSE;
    g_autofree char *without = lig_device_facts_to_json (&again);
    g_assert_null (strstr (without, "\"costs\": {\n    \"kernels\""));
    g_assert_true (lig_device_facts_from_json (without, &facts, &error));
    g_assert_false (facts.costs.known);
  }
}

static void
test_rejected (void)
{
  check_rejected ("\"norm\": [", "\"norm\": [1e-6, ", "length of norm is 5, expected 4");
  check_rejected ("\"sums\": [", "\"summe\": [", "length of sums is 0, expected 4");
  check_rejected ("\"matmuls\": [", "\"matmuls\": [-1, ", "length of matmuls is 26, expected 25");
  check_rejected ("\"costs\": {", "\"costs\": {}, \"rest\": {", "length of matmuls is 0");
  check_rejected ("\"vector\": [1", "\"vector\": [-1", "expected a number from 0 to 10");
  check_rejected ("\"vector\": [1", "\"vector\": [\"a\", 1", "length of vector is 5");
  check_rejected ("\"gathered-sums\": [2", "\"gathered-sums\": [1e9, 2", "is 5, expected 4");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/device/costs/kinds", test_kinds);
  g_test_add_func ("/device/costs/between", test_between);
  g_test_add_func ("/device/costs/round-trip", test_round_trip);
  g_test_add_func ("/device/costs/rejected", test_rejected);
  return g_test_run ();
}
