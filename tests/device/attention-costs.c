/* SPDX-License-Identifier: MIT */
/* Tests the costs of attention and of epilogues with an fp32 bias: times between measured ones,
 * device descriptions with and without them. */
#include "tests/device/costs-case.h"

#include <math.h>
#include <string.h>

/* Returns the seconds of causal attention at that sequence length. */
static double
causal (const LigDeviceFacts *facts,
        LigAttentionCost cost,
        double batch,
        double heads,
        double length,
        double features)
{
  gboolean backward = cost == LIG_ATTENTION_BACKWARD || cost == LIG_ATTENTION_BUILT_IN_BACKWARD;
  LigAttentionWork work = {.flops =
                             (backward ? 5 : 2) * batch * heads * features * length * (length + 1),
                           .features = features,
                           .length = length,
                           .blocks = batch * heads * ceil (length / LIG_ATTENTION_BLOCK)};
  return lig_cost_of_attention (facts, cost, &work);
}

/* The measured problems take the measured times; larger ones take longer, without a jump. */
static void
test_between (void)
{
  LigDeviceFacts facts = read_facts ("h200");
  for (LigAttentionCost cost = 0; cost < LIG_N_ATTENTION_COSTS; cost++) {
    double before = 0;
    for (int i = 0; i < LIG_ATTENTION_SIZES; i++) {
      double length =
        exp2 (LIG_ATTENTION_FIRST_LENGTH + LIG_ATTENTION_LENGTH_STEP * (i % LIG_ATTENTION_LENGTHS));
      double features = LIG_ATTENTION_FEATURES * (1 + i / LIG_ATTENTION_LENGTHS);
      double want = facts.costs.attention[cost * LIG_ATTENTION_SIZES + i];
      double batch = LIG_ATTENTION_ROWS / length;
      g_assert_cmpfloat_with_epsilon (
        causal (&facts, cost, batch, LIG_ATTENTION_HEADS, length, features), want, 0.01 * want);
      double little = causal (&facts, cost, batch, LIG_ATTENTION_HEADS, length, features * 1.001);
      g_assert_cmpfloat (fabs (little - want), <, 0.02 * want);
    }
    for (double length = 16; length <= 65536; length *= 2) {
      double seconds = causal (&facts, cost, 65536 / length, 16, length, 96);
      g_assert_cmpfloat (seconds, >=, before * 0.95);
      before = seconds;
    }
    /* Smaller head dims take as long as 64. */
    g_assert_cmpfloat_with_epsilon (causal (&facts, cost, 64, 12, 1024, 16),
                                    causal (&facts, cost, 64, 12, 1024, 64), 1e-9);
  }
}

/* Isolated launches on an H200, the sources of the figures. */
static void
test_measured (void)
{
  LigDeviceFacts facts = read_facts ("h200");
  const struct {
    LigAttentionCost cost;
    double batch, heads, length, features, seconds;
  } cases[] = {
    {LIG_ATTENTION_FORWARD, 64, 12, 1024, 64, 305e-6},
    {LIG_ATTENTION_BACKWARD, 64, 12, 1024, 64, 1.13e-3},
    {LIG_ATTENTION_BUILT_IN_FORWARD, 64, 12, 1024, 64, 536e-6},
    {LIG_ATTENTION_BUILT_IN_BACKWARD, 64, 12, 1024, 64, 1.79e-3},
    {LIG_ATTENTION_FORWARD, 8, 32, 2048, 128, 492e-6},
    {LIG_ATTENTION_BUILT_IN_FORWARD, 8, 32, 2048, 128, 1.09e-3},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    double got = causal (&facts, cases[i].cost, cases[i].batch, cases[i].heads, cases[i].length,
                         cases[i].features);
    if (fabs (got / cases[i].seconds - 1) > 0.05)
      g_error ("case %u takes %g s, measured %g s", i, got, cases[i].seconds);
  }
  /* Few sequences do not fill the device. */
  g_assert_cmpfloat (causal (&facts, LIG_ATTENTION_FORWARD, 1, 1, 1024, 64), >,
                     causal (&facts, LIG_ATTENTION_FORWARD, 64, 12, 1024, 64) / 64);
}

/* Descriptions keep the figures; without them they are unknown, and an fp32 bias costs as much as
 * one of the result's type. */
static void
test_optional (void)
{
  static const char *const names[] = {"h200", "h100", "a100"};
  for (guint k = 0; k < G_N_ELEMENTS (names); k++) {
    g_autoptr (GError) error = NULL;
    LigDeviceFacts facts = read_facts (names[k]), again;
    g_autofree char *text = lig_device_facts_to_json (&facts);
    g_assert_true (lig_device_facts_from_json (text, &again, &error));
    for (guint i = 0; i < G_N_ELEMENTS (facts.costs.attention); i++) {
      g_assert_cmpfloat (facts.costs.attention[i], >, 0);
      g_assert_cmpfloat_with_epsilon (again.costs.attention[i], facts.costs.attention[i],
                                      1e-3 * facts.costs.attention[i]);
    }
    for (guint i = 0; i < G_N_ELEMENTS (facts.costs.mixed); i++)
      g_assert_cmpfloat_with_epsilon (again.costs.mixed[i], facts.costs.mixed[i],
                                      1e-3 * facts.costs.mixed[i]);
    double mixed = lig_cost_of_mixed (&facts.costs, LIG_COST_MATMUL_ADD, 1 << 27);
    g_assert_cmpfloat (mixed, ==, facts.costs.mixed[3 * LIG_COST_SIZES - 1]);
    memset (again.costs.attention, 0, sizeof again.costs.attention);
    memset (again.costs.mixed, 0, sizeof again.costs.mixed);
    g_autofree char *older = lig_device_facts_to_json (&again);
    g_assert_null (strstr (older, "attention"));
    g_assert_null (strstr (older, "mixed"));
    g_assert_true (lig_device_facts_from_json (older, &facts, &error));
    g_assert_true (facts.costs.known);
    g_assert_cmpfloat (causal (&facts, LIG_ATTENTION_FORWARD, 64, 12, 1024, 64), ==, 0);
    g_assert_cmpfloat (lig_cost_of_mixed (&facts.costs, LIG_COST_MATMUL_ADD, 1 << 20), ==,
                       lig_cost_of_bytes (&facts.costs, LIG_COST_MATMUL_ADD, 1 << 20));
  }
  LigDeviceFacts facts = read_facts ("h200");
  g_assert_cmpfloat (lig_cost_of_mixed (&facts.costs, LIG_COST_MATMUL_SUMS, 1 << 20), ==,
                     lig_cost_of_bytes (&facts.costs, LIG_COST_MATMUL_SUMS, 1 << 20));
}

static void
test_rejected (void)
{
  check_rejected ("\"built-in-forward\": [", "\"built-in-forward\": [1e-6, ",
                  "length of built-in-forward is 7, expected 6");
  check_rejected ("\"built-in-backward\": [", "\"ownbackward\": [",
                  "length of built-in-backward is 0, expected 6");
  check_rejected ("\"bias\": [2", "\"bias\": [-2", "bias contains -2");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/device/attention-costs/between", test_between);
  g_test_add_func ("/device/attention-costs/measured", test_measured);
  g_test_add_func ("/device/attention-costs/optional", test_optional);
  g_test_add_func ("/device/attention-costs/rejected", test_rejected);
  return g_test_run ();
}
