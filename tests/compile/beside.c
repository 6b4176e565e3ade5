/* SPDX-License-Identifier: MIT */
/* Tests kernels of an op that run concurrently with later ones: these wait only for the kernels
 * whose results they read. */
#include "engine/graph/awaits.h"
#include "tests/plan/case.h"

#include "engine/compile/compilation.h"
#include "engine/device/backend.h"
#include <ligature/compile.h>
#include <ligature/lowering.h>
#include <ligature/params-matmul.h>
#include <ligature/register.h>

#include <string.h>

enum { BESIDE, OTHER, AGAIN, FIRST, LAST, N_STEPS };

/* Copies so late that a kernel that did not wait would read zeros. */
static LigStatus
run_late (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  size_t bytes = (size_t) x->size * sizeof (float);
  memset (y->data, 0, bytes);
  g_usleep (20000);
  memcpy (y->data, x->data, bytes);
  return LIG_OK;
}

static const LigKernel late_copy = {.size = sizeof (LigKernel),
                                    .name = "late_copy",
                                    .signature = "x -> y",
                                    .work = 1,
                                    .types = LIG_FLOATING_TYPES,
                                    .functions = {[LIG_BACKEND_CPU] = run_late}};

/* y = 4 x; two of the terms are copied concurrently with the others. */
static void
lower_with (LigLowering *lowering, const char *copy)
{
  static const char *const names[] = {"one", "two", "twice", "thrice"};
  const LigScaleParams factor = {2};
  LigShape shape;
  lig_shape_init (&shape, 2, 64, 32);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    lig_lower_value (lowering, names[i], &shape, LIG_FP32);
  lig_lower_beside (lowering, copy, "y=one", NULL, 0);
  lig_lower_kernel (lowering, "scale", "y=twice", &factor, sizeof factor);
  lig_lower_beside (lowering, copy, "x=one y=two", NULL, 0);
  lig_lower_kernel (lowering, "add", "a=twice b=one y=thrice", NULL, 0);
  lig_lower_kernel (lowering, "add", "a=thrice b=two", NULL, 0);
}

static void
lower_late (LigLowering *lowering)
{
  lower_with (lowering, "late_copy");
}

static void
lower_copy (LigLowering *lowering)
{
  lower_with (lowering, "convert");
}

static void
pass_back (LigLowering *lowering)
{
  lig_lower_alias (lowering, "dx", "dy");
}

#define OP(op, function, ...) \
  static const LigOpInfo op = {LIG_OP_INFO_SIZES,           .title = "Test", \
                               .category = "Other",         .summary = "Tests", \
                               .formula = "y = 4 x",        .lower_forward = function, \
                               .lower_backward = pass_back, __VA_ARGS__}
OP (late, lower_late, .name = "late", .example = "late @ 64x32");
OP (copied, lower_copy, .name = "copied", .example = "copied @ 64x32");

/* With `free`, collectives take no SMs of the device. */
static LigGraph *
new_graph (const char *expression, const char *device, gboolean free)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) opened = lig_device_open (device, &error);
  g_assert_no_error (error);
  LigDeviceFacts facts = *lig_device_get_facts (opened);
  facts.fabric.multiprocessors = free ? 0 : facts.fabric.multiprocessors;
  lig_device_set_facts (opened, &facts);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = FALSE;
  g_autoptr (LigSequence) sequence = new_sequence (expression, "64x32");
  LigGraph *graph = lig_graph_new (sequence, opened, &options, 0, &error);
  g_assert_no_error (error);
  return graph;
}

/* The results are correct despite the delay, on a single process and on one with a communication
 * stream. */
static void
test_results (gconstpointer joined)
{
  LigDevice *device = cpu_device ();
  if (joined && !device->streams[LIG_LANE_COMMUNICATION])
    g_assert_cmpint (
      device->calls->stream_new (device->handle, &device->streams[LIG_LANE_COMMUNICATION]), ==,
      LIG_OK);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = FALSE;
  g_autoptr (LigSequence) beside = new_sequence ("late ! late", "64x32");
  g_autoptr (LigSequence) plain = new_sequence ("constant-scale (16)", "64x32");
  g_autoptr (Results) got = compute (beside, &options);
  g_autoptr (Results) want = compute (plain, &options);
  compare_results (got, want, 0, "beside");
}

/* Each step waits for one collective, the memory that the collective reads is kept until then, and
 * the second collective may write where the first one read. */
static void
test_waits (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigGraph) graph = new_graph ("copied", "cpu", FALSE);
  lig_graph_compile (graph, &error);
  g_assert_no_error (error);
  const int awaits[N_STEPS] = {-1, -1, -1, BESIDE, AGAIN};
  g_assert_cmpint (graph->steps->len, ==, N_STEPS);
  for (int i = 0; i < N_STEPS; i++) {
    const LigGraphStep *step = lig_step (graph, i);
    g_assert_cmpint (step->plan.awaits, ==, awaits[i]);
    g_assert_cmpint (step->plan.lane == LIG_LANE_COMMUNICATION, ==, i == BESIDE || i == AGAIN);
  }
  g_assert_cmpint (lig_end_of_step (graph, BESIDE), ==, OTHER);
  g_assert_cmpint (lig_end_of_step (graph, OTHER), ==, OTHER);
  g_assert_cmpint (lig_end_of_step (graph, AGAIN), ==, FIRST);
}

/* The prediction places each wait correctly. A collective that takes SMs starts at the end of the
 * kernel that starts with it. */
static void
test_prediction (gconstpointer free)
{
  guint count;
  g_autoptr (GError) error = NULL;
  LigGraph *graph = new_graph ("copied", "null:h200", free != NULL);
  lig_graph_compile (graph, &error);
  g_assert_no_error (error);
  g_autoptr (LigPlan) plan = lig_plan_finish (graph);
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  g_assert_cmpint (count, ==, N_STEPS);
  for (int i = 0; i < N_STEPS; i++)
    g_assert_cmpfloat (steps[i].lasts, >, 0);
  double first = steps[BESIDE].starts + steps[BESIDE].lasts;
  double second = steps[AGAIN].starts + steps[AGAIN].lasts;
  double other = steps[OTHER].starts + steps[OTHER].lasts;
  g_assert_cmpfloat_with_epsilon (steps[BESIDE].starts, free ? steps[OTHER].starts : other, 1e-15);
  g_assert_cmpfloat (steps[AGAIN].starts, >=, first);
  g_assert_cmpfloat (steps[FIRST].starts, >=, first);
  g_assert_cmpfloat (steps[LAST].starts, >=, second);
  g_assert_cmpfloat (steps[LAST].starts, >=, steps[FIRST].starts + steps[FIRST].lasts);
  double waited = steps[LAST].starts - steps[FIRST].starts - steps[FIRST].lasts;
  g_assert_cmpfloat_with_epsilon (steps[AGAIN].waited, waited, 1e-15);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_test_init (&argc, &argv, NULL);
  lig_register_kernel (&late_copy, &error);
  g_assert_no_error (error);
  lig_register_op (&late, &error);
  g_assert_no_error (error);
  lig_register_op (&copied, &error);
  g_assert_no_error (error);
  g_test_add_data_func ("/compile/beside/alone", NULL, test_results);
  g_test_add_data_func ("/compile/beside/results", "", test_results);
  g_test_add_func ("/compile/beside/waits", test_waits);
  g_test_add_data_func ("/compile/beside/prediction", NULL, test_prediction);
  g_test_add_data_func ("/compile/beside/free", "", test_prediction);
  return g_test_run ();
}
