/* SPDX-License-Identifier: MIT */
/* Tests capacities: the largest length fits and the next one does not, by plans of their own; and
 * tokens per second and MFU against a calculation by hand. */
#include <ligature/capacity.h>
#include <ligature/compile.h>
#include <ligature/figures.h>
#include <ligature/plan-memory.h>

#include <math.h>
#include <string.h>

static LigPlan *
compile (const char *model, const char *input, const char *device_name)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype = LIG_BF16;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (model, &error);
  g_assert_no_error (error);
  g_assert_true (lig_shape_parse (input, &shape, &dtype, &error));
  lig_sequence_set_input (sequence, &shape, dtype);
  lig_sequence_set_types (sequence, LIG_BF16, -1);
  g_autoptr (LigDevice) device = lig_device_open (device_name, &error);
  g_assert_no_error (error);
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static void
find_use (LigPlan *plan, LigUse *use)
{
  LigFigures step;
  lig_figures_of_step (&(LigTimedPlan){.plan = plan}, NULL, &step);
  lig_figures_of_use (plan, &step, use);
}

#define MODEL "linear(4096) ! gelu ! linear(768) ! cross-entropy"

static gboolean
fits (gint64 batch)
{
  LigPlanMemory memory;
  g_autofree char *input = g_strdup_printf ("%" G_GINT64_FORMAT "x768:bf16", batch);
  g_autoptr (LigPlan) plan = compile (MODEL, input, "null:h200");
  lig_plan_get_memory (plan, NULL, &memory);
  return memory.fits;
}

static void
test_largest (void)
{
  g_autoptr (LigPlan) plan = compile (MODEL, "1000x768:bf16", "null:h200");
  g_autoptr (LigCapacity) batch =
    lig_capacity_find (plan, LIG_CAPACITY_BATCH, NULL, NULL, NULL, NULL);
  g_assert_nonnull (batch);
  g_assert_cmpint (batch->present, ==, 1000);
  g_assert_cmpint (batch->largest, >, 1000);
  g_assert_true (fits (batch->largest));
  g_assert_false (fits (batch->largest + 1));
  g_assert_null (batch->limit);
  gboolean present = FALSE, largest = FALSE;
  gint64 last = 0;
  for (guint i = 0; i < batch->points->len; i++) {
    const LigCapacityPoint *point = &g_array_index (batch->points, LigCapacityPoint, i);
    g_assert_cmpint (point->length, >, last);
    g_assert_true (point->fits == (point->length <= batch->largest));
    g_assert_cmpfloat_with_epsilon (point->per_row * (double) point->length, point->seconds, 1e-9);
    last = point->length;
    present |= last == batch->present;
    largest |= last == batch->largest;
  }
  g_assert_true (present && largest);
  g_assert_cmpint (last, >, batch->largest);
  g_assert_null (lig_capacity_find (plan, LIG_CAPACITY_POSITIONS, NULL, NULL, NULL, NULL));
}

/* A position embedding limits the context. */
static void
test_limit (void)
{
  g_autoptr (LigPlan) plan =
    compile ("embedding(64, vocabulary=100) ! position-embedding(length=48) ! linear(100) ! "
             "cross-entropy",
             "8x32:int32", "null:h200");
  g_autoptr (LigCapacity) context =
    lig_capacity_find (plan, LIG_CAPACITY_POSITIONS, NULL, NULL, NULL, NULL);
  g_assert_nonnull (context);
  g_assert_true (context->tokens);
  g_assert_cmpint (context->largest, ==, 48);
  g_assert_nonnull (strstr (context->limit, "48"));
}

/* Ranks share the positions in pairs of blocks, and the tokens of all of them are counted. */
static void
test_context_ranks (void)
{
  LigUse one, two;
  LigLayout layout;
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigPlan) single =
    compile ("embedding(64, vocabulary=100) ! transformer-layer(2) ! linear(100) ! cross-entropy",
             "4x64:int32", "null:h200");
  LigSequence *sequence = lig_plan_get_sequence (single);
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_true (lig_layout_parse (&layout, "context=2", 2, &error));
  lig_device_assume_ranks (device, 0, &layout);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  find_use (single, &one);
  find_use (plan, &two);
  g_assert_cmpfloat (one.rows, ==, 4 * 64);
  g_assert_cmpfloat (two.rows, ==, 4 * 64);
  g_autoptr (LigCapacity) context =
    lig_capacity_find (plan, LIG_CAPACITY_POSITIONS, NULL, NULL, NULL, NULL);
  g_assert_cmpint (context->largest, >, 64);
  g_assert_cmpint (context->largest % 4, ==, 0);
}

/* A device whose memory is unknown. */
static void
test_endless (void)
{
  g_autoptr (LigPlan) plan = compile ("gelu", "4x8:bf16", "null");
  g_autoptr (LigCapacity) batch =
    lig_capacity_find (plan, LIG_CAPACITY_BATCH, NULL, NULL, NULL, NULL);
  g_assert_nonnull (batch->limit);
}

static void
test_nothing_fits (void)
{
  g_autoptr (LigPlan) plan =
    compile ("linear(400000) ! linear(400000) ! cross-entropy", "8x400000:bf16", "null:h200");
  g_autoptr (LigCapacity) batch =
    lig_capacity_find (plan, LIG_CAPACITY_BATCH, NULL, NULL, NULL, NULL);
  g_assert_cmpint (batch->largest, ==, 0);
  g_assert_cmpuint (batch->points->len, >, 0);
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (LigPlan) plan = compile (MODEL, "1000x768:bf16", "null:h200");
  g_cancellable_cancel (cancellable);
  g_autoptr (LigCapacity) batch =
    lig_capacity_find (plan, LIG_CAPACITY_BATCH, NULL, NULL, NULL, cancellable);
  g_assert_cmpuint (batch->points->len, ==, 0);
  g_assert_null (batch->limit);
}

/* One matmul forward, two backward but for the first layer's input: 2 M N K each. */
static void
test_use (void)
{
  LigUse use;
  LigFigures step;
  g_autoptr (LigPlan) plan =
    compile ("linear(4096, bias=false) ! linear(1024, bias=false) ! mean-squared-error",
             "2048x1024:bf16", "null:h200");
  const LigTimedPlan timed = {.plan = plan};
  lig_figures_of_step (&timed, NULL, &step);
  lig_figures_of_use (plan, &step, &use);
  double peak = lig_device_get_facts (lig_plan_get_device (plan))->matmul[LIG_BF16];
  double flops = (2 + 3) * 2.0 * 2048 * 4096 * 1024;
  g_assert_false (use.tokens);
  g_assert_cmpfloat (use.rows, ==, 2048);
  g_assert_cmpfloat_with_epsilon (use.per_second * step.seconds, 2048, 1e-6);
  g_assert_cmpfloat_with_epsilon (use.mfu, flops / step.seconds / peak, 0.01 * use.mfu);
  g_autofree char *text = lig_figures_use_text (&use);
  g_assert_nonnull (strstr (text, "rows/s"));
  g_assert_nonnull (strstr (text, "MFU"));
}

/* Recomputed operations are not useful ones. */
static void
test_use_recomputed (void)
{
  LigUse plain, again;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) plan = compile ("block(4) { layer-norm ! linear(4096) ! gelu ! linear(768) } "
                                      "! cross-entropy",
                                      "8192x768:bf16", "null:h200");
  g_autoptr (LigPlan) recomputed = lig_plan_with_recompute (plan, LIG_RECOMPUTE_ALL, &error);
  g_assert_no_error (error);
  find_use (plan, &plain);
  find_use (recomputed, &again);
  g_assert_cmpfloat (again.per_second, <, plain.per_second);
  g_assert_cmpfloat_with_epsilon (again.mfu / plain.mfu, again.per_second / plain.per_second, 0.02);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/capacity/largest", test_largest);
  g_test_add_func ("/plan/capacity/limit", test_limit);
  g_test_add_func ("/plan/capacity/context-ranks", test_context_ranks);
  g_test_add_func ("/plan/capacity/endless", test_endless);
  g_test_add_func ("/plan/capacity/nothing-fits", test_nothing_fits);
  g_test_add_func ("/plan/capacity/cancelled", test_cancelled);
  g_test_add_func ("/plan/capacity/use", test_use);
  g_test_add_func ("/plan/capacity/use-recomputed", test_use_recomputed);
  return g_test_run ();
}
