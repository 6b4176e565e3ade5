/* SPDX-License-Identifier: MIT */
/* Fusions of a matmul with the collective of its rows: on each rank, they cover every piece once,
 * wait for one collective each, and are rejected if there is no communication. train/layouts.py
 * tests with real ranks that they compute the same as the unfused ops. */
#include "tests/plan/case.h"

#include "engine/plan/plan-private.h"
#include <ligature/compile.h>

#include <string.h>

#define MODEL \
  "shard-rows ! linear(48, parallel=column, sequence-parallel=true) ! gelu ! " \
  "linear(32, parallel=row, sequence-parallel=true) ! all-gather(gradient=part)"

static LigPlan *
compile_rank (const char *device, int rank, int ranks, const LigPlanOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) opened = lig_device_open (device, &error);
  g_assert_no_error (error);
  LigLayout layout = {
    .sizes = {[LIG_GROUP_DATA] = 1, [LIG_GROUP_CONTEXT] = 1, [LIG_GROUP_TENSOR] = ranks}};
  lig_device_assume_ranks (opened, rank, &layout);
  g_autoptr (LigSequence) sequence = new_sequence (MODEL, "48x32");
  LigPlan *plan = lig_plan_compile (sequence, opened, options, &error);
  g_assert_no_error (error);
  return plan;
}

/* Returns the first step of the group of a fusion. */
static const LigPlanGroup *
find_group (const LigPlan *plan, const char *fusion)
{
  for (int pass = 0; pass < 2; pass++)
    for (guint i = 0; i < plan->groups[pass]->len; i++) {
      const LigPlanGroup *group = lig_plan_group (plan, pass, i);
      if (group->fusion && g_str_equal (group->fusion->name, fusion))
        return group;
    }
  g_error ("%s is not in the plan", fusion);
}

/* Checks that the steps with this kernel write each piece of a value once. */
static void
check_pieces (
  const LigPlan *plan, const LigPlanGroup *group, const char *kernel, int output, int pieces)
{
  guint64 seen = 0;
  int count = 0;
  for (int i = 0; i < group->n_steps; i++) {
    const LigPlanStep *step = lig_plan_step (plan, group->steps[i]);
    if (!g_str_equal (step->kernel->name, kernel))
      continue;
    const LigPlanValue *value =
      lig_plan_value (plan, step->operands[step->n_inputs + output].value);
    g_assert_cmpint (value->alias, >=, 0);
    g_assert_cmpint (value->alias_offset % value->bytes, ==, 0);
    seen |= G_GUINT64_CONSTANT (1) << (value->alias_offset / value->bytes);
    count++;
  }
  g_assert_cmpint (count, ==, pieces);
  g_assert_cmpuint (seen, <, G_GUINT64_CONSTANT (1) << 48);
  g_assert_cmpint (__builtin_popcountll (seen), ==, MIN (pieces, count));
}

static gboolean
has_step (const LigPlanGroup *group, int step)
{
  int i = 0;
  while (i < group->n_steps && group->steps[i] != step)
    i++;
  return i < group->n_steps;
}

/* Checks that each collective of the group is in the communication lane, and that the group or the
 * first later step that needs it waits for it. */
static void
check_lanes (const LigPlan *plan, const LigPlanGroup *group, int collectives)
{
  int count = 0, awaited = 0;
  for (int i = 0; i < (int) plan->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    gboolean inside = has_step (group, i);
    gboolean collective = lig_kernel_is_collective (step->kernel);
    if (inside)
      g_assert_cmpint (collective, ==, step->lane == LIG_LANE_COMMUNICATION);
    count += inside && collective;
    awaited += has_step (group, step->awaits);
    g_assert_cmpint (step->awaits, <, i);
  }
  g_assert_cmpint (count, ==, collectives);
  g_assert_cmpint (awaited, >, 0);
}

static void
test_pieces (void)
{
  const LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  static const int counts[] = {2, 3, 4, 8};
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    for (int rank = 0; rank < counts[i]; rank++) {
      int n = counts[i];
      g_autoptr (LigPlan) plan = compile_rank ("cpu", rank, n, &options);
      const LigPlanGroup *group = find_group (plan, "forward-all-gather-linear");
      check_pieces (plan, group, "linear_bias_gelu", 1, n);
      check_pieces (plan, group, "ring_exchange", 0, n - 1);
      check_lanes (plan, group, n - 1);
      group = find_group (plan, "forward-linear-reduce-scatter");
      check_pieces (plan, group, "linear", 0, n);
      check_pieces (plan, group, "ring_exchange", 0, n - 1);
      check_lanes (plan, group, n - 1);
      group = find_group (plan, "backward-all-gather-linear");
      check_pieces (plan, group, "linear_backward_input", 0, n);
      check_pieces (plan, group, "ring_exchange", 0, n - 1);
      check_lanes (plan, group, n - 1);
      check_lanes (plan, find_group (plan, "backward-linear-reduce-scatter"), 1);
    }
}

static const char *const names[] = {"forward-all-gather-linear", "forward-linear-reduce-scatter",
                                    "backward-linear-reduce-scatter", "backward-all-gather-linear"};

/* A matmul waits only for the piece that it reads. */
static void
test_waits (void)
{
  const LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigPlan) plan = compile_rank ("cpu", 1, 4, &options);
  const LigPlanGroup *group = find_group (plan, "forward-all-gather-linear");
  int first = group->steps[0];
  /* 3 transfers, a copy of the local rows, and 4 matmuls. */
  const int awaits[] = {-1, -1, -1, -1, -1, first, first + 1, first + 2};
  g_assert_cmpint (group->n_steps, ==, G_N_ELEMENTS (awaits));
  for (int i = 0; i < group->n_steps; i++)
    g_assert_cmpint (lig_plan_step (plan, first + i)->awaits, ==, awaits[i]);
}

/* If transfers slow down matmuls or have a high latency, a single one would be the fastest. */
static void
lighten (LigDevice *device)
{
  LigDeviceFacts facts = *lig_device_get_facts (device);
  facts.fabric.start = facts.fabric.multiprocessors = 0;
  lig_device_set_facts (device, &facts);
}

/* The predicted step time is lower, because collectives are hidden. */
static void
test_prediction (void)
{
  double waited[2] = {0}, end[2] = {0};
  for (int alone = 0; alone < 2; alone++) {
    guint count;
    g_autoptr (GError) error = NULL;
    g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
    g_assert_no_error (error);
    LigLayout layout = {
      .sizes = {[LIG_GROUP_DATA] = 1, [LIG_GROUP_CONTEXT] = 1, [LIG_GROUP_TENSOR] = 4}};
    lighten (device);
    lig_device_assume_ranks (device, 0, &layout);
    g_autoptr (LigSequence) sequence = new_sequence (
      "shard-rows ! linear(16384, parallel=column, sequence-parallel=true) ! gelu ! "
      "linear(4096, parallel=row, sequence-parallel=true) ! all-gather(gradient=part)",
      "8192x4096");
    const char *const none[] = {NULL};
    lig_sequence_set_forbidden (sequence, none);
    if (alone) {
      const char *const all[] = {names[0], names[1], names[2], names[3], NULL};
      lig_sequence_set_forbidden (sequence, all);
    }
    LigPlanOptions options = plan_options (LIG_POLICY_MEASURED, TRUE);
    options.compute = LIG_BF16;
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
    g_assert_no_error (error);
    const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
    for (guint i = 0; i < count; i++) {
      waited[alone] += steps[i].waited;
      end[alone] = MAX (end[alone], steps[i].starts + steps[i].lasts);
    }
    for (guint i = 0; i < G_N_ELEMENTS (names) && !alone; i++)
      find_group (plan, names[i]);
  }
  g_assert_cmpfloat (waited[0], <, 0.6 * waited[1]);
  g_assert_cmpfloat (end[0], <, end[1]);
}

/* Returns the predicted step time in seconds if each rank's rows are sent in this many parts; 0
 * parts: the fastest number, which some verdicts name. */
static double
predict_pieces (const char *pieces)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  const LigLayout layout = {.sizes = {1, 1, 4}};
  LigPlanOptions options = plan_options (LIG_POLICY_MEASURED, TRUE);
  guint count, several = 0;
  double end = 0;
  options.compute = LIG_BF16;
  lighten (device);
  lig_device_assume_ranks (device, 0, &layout);
  g_autoptr (LigSequence) sequence = new_sequence (
    "shard-rows ! transformer-layer(32, parallel=sequence) ! all-gather(gradient=part)",
    "16x4096x4096");
  if (pieces)
    g_setenv ("LIGATURE_PIECES", pieces, TRUE);
  else
    g_unsetenv ("LIGATURE_PIECES");
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  g_unsetenv ("LIGATURE_PIECES");
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    end = MAX (end, steps[i].starts + steps[i].lasts);
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++) {
    several += verdicts[i].pieces > 1;
    g_assert_cmpint (verdicts[i].pieces > 0, <=, verdicts[i].fusion->min_pieces);
    g_assert_cmpint (verdicts[i].pieces > 1, ==, strstr (verdicts[i].text, " parts") != NULL);
  }
  g_assert_cmpint (several > 0, ==, g_strcmp0 (pieces, "1") != 0);
  return end;
}

/* Policy measured chooses the number of parts, here more than one. */
static void
test_parts (void)
{
  double best = predict_pieces (NULL), one = predict_pieces ("1");
  g_assert_cmpfloat (best, <, one);
  g_assert_cmpfloat (best, <=, 1.002 * predict_pieces ("2"));
  g_assert_cmpfloat (best, <=, 1.002 * predict_pieces ("4"));
  /* It does not divide a rank's rows, or is not a number. */
  g_assert_cmpfloat (predict_pieces ("3"), ==, best);
  g_assert_cmpfloat (predict_pieces ("2x"), ==, best);
}

#define REDUCING \
  "linear(32, bias=false, parallel=none) ! linear(48, parallel=column) ! gelu ! " \
  "linear(32, parallel=row)"

static LigPlan *
compile_reducing (const char *input)
{
  g_autoptr (GError) error = NULL;
  const LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigDevice) device = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
  const LigLayout layout = {.sizes = {1, 1, 2}};
  lig_device_assume_ranks (device, 1, &layout);
  g_autoptr (LigSequence) sequence = new_sequence (REDUCING, input);
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

/* Returns the verdicts on a fusion with a matching pattern: the accepted or the rejected ones. */
static guint
count_verdicts (LigPlan *plan, const char *fusion, gboolean taken, const char *text)
{
  guint count, found = 0;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++)
    found += g_str_equal (verdicts[i].fusion->name, fusion) && verdicts[i].fits &&
             verdicts[i].taken == taken && (taken || strstr (verdicts[i].text, text));
  return found;
}

/* Parts of the rows are reduced while the next are multiplied: only outputs in the forward pass,
 * gradients in the backward pass. */
static void
test_reducing (void)
{
  static const char *const fusions[] = {"forward-linear-all-reduce", "backward-linear-all-reduce"};
  static const char *const matmuls[] = {"linear", "linear_backward_input"};
  g_autoptr (LigPlan) plan = compile_reducing ("48x32"), odd = compile_reducing ("47x32");
  for (guint i = 0; i < G_N_ELEMENTS (fusions); i++) {
    const LigPlanGroup *group = find_group (plan, fusions[i]);
    check_pieces (plan, group, matmuls[i], 0, 2);
    check_pieces (plan, group, "all_reduce", 0, 2);
    check_lanes (plan, group, 2);
    g_assert_cmpuint (count_verdicts (plan, fusions[i], TRUE, NULL), ==, 1);
    g_assert_cmpuint (count_verdicts (odd, fusions[i], TRUE, NULL), ==, 0);
    g_assert_cmpuint (count_verdicts (odd, fusions[i], FALSE, "an odd number of rows"), >=, 1);
  }
  g_assert_cmpuint (count_verdicts (plan, fusions[0], FALSE, "expected of=output"), ==, 1);
}

/* Returns the parts of the groups of both passes, and their steps. */
static char *
describe_parts (const LigPlan *plan)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int pass = 0; pass < 2; pass++)
    for (guint i = 0; i < plan->groups[pass]->len; i++) {
      const LigPlanGroup *group = lig_plan_group (plan, pass, i);
      g_string_append_printf (text, "%s %d %d\n", group->fusion ? group->fusion->name : "-",
                              group->pieces, group->n_steps);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Other ranks, and resumed runs, use the number of parts that was chosen: they only get the choices
 * of a plan. */
static void
test_choices (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  const LigLayout layout = {.sizes = {1, 1, 4}};
  LigPlanOptions options = plan_options (LIG_POLICY_MEASURED, TRUE);
  options.compute = LIG_BF16;
  lighten (device);
  lig_device_assume_ranks (device, 0, &layout);
  g_autoptr (LigSequence) sequence = new_sequence (
    "shard-rows ! transformer-layer(32, parallel=sequence) ! all-gather(gradient=part)",
    "16x4096x4096");
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  g_autofree char *choices = lig_plan_get_choices (plan);
  g_assert_nonnull (strchr (choices, '/'));
  lig_device_assume_ranks (device, 3, &layout);
  options.choices = choices;
  g_autoptr (LigPlan) other = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  g_autofree char *again = lig_plan_get_choices (other);
  g_assert_cmpstr (again, ==, choices);
  g_autofree char *before = describe_parts (plan), *after = describe_parts (other);
  g_assert_cmpstr (after, ==, before);
  const char *const bad[] = {"/3", "/0", "/x", "/-2", "/"};
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *wrong = g_strndup (choices, strcspn (choices, "/"));
    g_autofree char *text =
      g_strconcat (strrchr (wrong, ' ') ? strrchr (wrong, ' ') + 1 : wrong, bad[i], NULL);
    options.choices = text;
    g_assert_null (lig_plan_compile (sequence, device, &options, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FUSION);
    g_assert_nonnull (strstr (error->message, text));
    g_clear_error (&error);
  }
}

#define QUANTIZED \
  "linear(64, bias=false, parallel=none) ! linear(96, parallel=column) ! gelu ! " \
  "linear(64, parallel=row) ! shard-rows ! " \
  "linear(96, parallel=column, sequence-parallel=true) ! gelu ! " \
  "linear(64, parallel=row, sequence-parallel=true) ! all-gather(gradient=part)"

static LigPlan *
compile_quantized (const char *recipe, const char *input)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigDevice) device = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
  const LigLayout layout = {.sizes = {1, 1, 2}};
  options.compute = LIG_BF16;
  options.recipe = recipe;
  lig_device_assume_ranks (device, 1, &layout);
  g_autoptr (LigSequence) sequence = new_sequence (QUANTIZED, input);
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

/* Matmuls read their quantized copies by parts of rows if each row has its own scale or that of the
 * tensor; matmuls whose operand is quantized after the collective overlap nothing. */
static void
test_recipes (void)
{
  static const char *const recipes[] = {"fp8-delayed", "fp8-current", "fp8-rows"};
  for (guint i = 0; i < G_N_ELEMENTS (recipes); i++) {
    g_autoptr (LigPlan) plan = compile_quantized (recipes[i], "64x64");
    const LigPlanGroup *group = find_group (plan, "forward-linear-all-reduce");
    check_pieces (plan, group, "linear_fp8", 0, 2);
    check_pieces (plan, group, "all_reduce", 0, 2);
    check_lanes (plan, group, 2);
    check_lanes (plan, find_group (plan, "backward-linear-all-reduce"), 2);
    check_lanes (plan, find_group (plan, "forward-linear-reduce-scatter"), 1);
    check_lanes (plan, find_group (plan, "backward-linear-reduce-scatter"), 1);
    g_assert_cmpuint (count_verdicts (plan, "forward-all-gather-linear", TRUE, NULL), ==, 0);
    g_assert_cmpuint (count_verdicts (plan, "backward-all-gather-linear", TRUE, NULL), ==, 0);
  }
}

/* Block scales are not row scales, and parts of rows need the multiple that the recipe requires. */
static void
test_rejected_recipes (void)
{
  static const char *const fusions[] = {"forward-linear-all-reduce", "backward-linear-all-reduce"};
  g_autoptr (LigPlan) blocks = compile_quantized ("fp8-block", "64x64");
  g_autoptr (LigPlan) few = compile_quantized ("fp8-rows", "48x64");
  for (guint i = 0; i < G_N_ELEMENTS (fusions); i++) {
    g_assert_cmpuint (count_verdicts (blocks, fusions[i], TRUE, NULL), ==, 0);
    g_assert_cmpuint (count_verdicts (blocks, fusions[i], FALSE, "a matmul with recipe fp8-block"),
                      >, 0);
    g_assert_cmpuint (count_verdicts (few, fusions[i], TRUE, NULL), ==, 0);
    g_assert_cmpuint (count_verdicts (few, fusions[i], FALSE,
                                      "48 as the number of rows, expected a multiple of 32"),
                      >, 0);
  }
}

/* On one rank, there is no communication. */
static void
test_alone (void)
{
  const LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) sequence =
    new_sequence ("all-gather ! basic-linear(8) ! reduce-scatter", "4x8");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    gboolean gathers = strstr (lig_fusion_find (names[i])->pattern, "all-gather") != NULL;
    const LigVerdict *verdict = find_verdict (plan, names[i], gathers ? 0 : 1);
    g_assert_false (verdict->taken);
    g_assert_cmpint (verdict->reason, ==, LIG_REASON_PARALLEL);
    g_assert_nonnull (strstr (verdict->text, "one rank"));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fusions/overlapping/pieces", test_pieces);
  g_test_add_func ("/fusions/overlapping/waits", test_waits);
  g_test_add_func ("/fusions/overlapping/prediction", test_prediction);
  g_test_add_func ("/fusions/overlapping/parts", test_parts);
  g_test_add_func ("/fusions/overlapping/reducing", test_reducing);
  g_test_add_func ("/fusions/overlapping/choices", test_choices);
  g_test_add_func ("/fusions/overlapping/recipes", test_recipes);
  g_test_add_func ("/fusions/overlapping/rejected-recipes", test_rejected_recipes);
  g_test_add_func ("/fusions/overlapping/alone", test_alone);
  return g_test_run ();
}
