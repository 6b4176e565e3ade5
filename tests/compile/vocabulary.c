/* SPDX-License-Identifier: MIT */
/* Plans with vocabulary parallelism: the sharded embeddings and heads, a rank's rows and classes,
 * its collectives, and rejected fusions. */
#include "tests/plan/case.h"

#include "engine/plan/plan-private.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/params-loss.h>
#include <string.h>

/* Compiles for a rank of one TP group; null, with the error's text, if that is rejected. */
static LigPlan *
compile_part (const char *expression, int rank, int ranks, LigPlanOptions options, char **problem)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null", &error);
  g_assert_no_error (error);
  LigLayout layout;
  lig_layout_init (&layout, ranks);
  layout.sizes[LIG_GROUP_DATA] = 1;
  layout.sizes[LIG_GROUP_TENSOR] = ranks;
  lig_device_assume_ranks (device, rank, &layout);
  g_autoptr (LigSequence) sequence = new_sequence (expression, "4x8:int32");
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  if (problem)
    *problem = error ? g_strdup (error->message) : NULL;
  else if (error)
    g_error ("%s: %s", expression, error->message);
  return plan;
}

static LigPlanOptions
training (void)
{
  static const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &optimizer;
  options.training = TRUE;
  options.policy = LIG_POLICY_ALL;
  return options;
}

/* Returns the kernels of the plan in a pass, separated by spaces. */
static char *
list_kernels (const LigPlan *plan, LigPass pass)
{
  GString *names = g_string_new (NULL);
  for (guint i = 0; i < plan->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (plan, (int) i);
    if (step->pass == pass)
      g_string_append_printf (names, "%s%s", names->len > 0 ? " " : "", step->kernel->name);
  }
  return g_string_free (names, FALSE);
}

static const LigParameter *
find_parameter (const LigPlan *plan, const char *path)
{
  for (guint i = 0; i < plan->layout->parameters->len; i++) {
    const LigParameter *at = lig_plan_parameter (plan, i);
    if (g_str_equal (at->path, path))
      return at;
  }
  g_error ("no parameter %s", path);
}

#define BODY " ! layer-norm ! "

/* Whether the weights of the embedding and of the linear are sharded. */
static void
test_chosen (void)
{
  static const struct {
    const char *expression;
    int ranks;
    gboolean embedding; /* sharded */
    int head;           /* sharded; -1: it has no own weight */
  } cases[] = {
    {"embedding(8)" BODY "linear(256) ! cross-entropy", 2, TRUE, TRUE},
    {"embedding(8)" BODY "linear(256) ! cross-entropy", 1, FALSE, FALSE},
    {"embedding(8)" BODY "linear(256) ! cross-entropy", 3, FALSE, FALSE},
    {"embedding(8)" BODY "linear(255) ! cross-entropy", 2, TRUE, FALSE},
    {"embedding(8, vocabulary=99)" BODY "linear(256) ! cross-entropy", 4, FALSE, TRUE},
    {"embedding(8, parallel=none)" BODY "linear(256) ! cross-entropy", 2, FALSE, TRUE},
    {"embedding(8)" BODY "linear(256, parallel=none) ! cross-entropy", 2, TRUE, FALSE},
    /* Not a head: without a loss, before another op, or with section boundaries. */
    {"embedding(8)" BODY "linear(256)", 2, TRUE, FALSE},
    {"embedding(8)" BODY "linear(256) ! identity ! cross-entropy", 2, TRUE, FALSE},
    {"embedding(8)" BODY "linear(256, sections=[1, 1]) ! cross-entropy", 2, TRUE, FALSE},
    {"embedding(8)" BODY "basic-linear(256) ! cross-entropy", 2, TRUE, FALSE},
    /* Tied ops are sharded in the same way. */
    {"embedding(8)" BODY "linear(256, bias=false, tied=0) ! cross-entropy", 2, TRUE, -1},
    {"embedding(8)" BODY "linear(256, bias=false, tied=0)", 2, FALSE, -1},
    {"embedding(8)" BODY "linear(256, bias=false, tied=0) ! gelu ! cross-entropy", 2, FALSE, -1},
    {"embedding(8)" BODY "linear(256, bias=false, tied=0, parallel=none) ! cross-entropy", 2, FALSE,
     -1},
    {"embedding(8, parallel=none)" BODY "linear(256, bias=false, tied=0) ! cross-entropy", 2, FALSE,
     -1},
    {"embedding(8, parallel=vocabulary)" BODY
     "linear(256, bias=false, tied=0, parallel=column) ! cross-entropy",
     2, TRUE, -1},
    {"embedding(8, vocabulary=255)" BODY "linear(255, bias=false, tied=0) ! cross-entropy", 2,
     FALSE, -1},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    g_autoptr (LigPlan) plan = compile_part (cases[i].expression, 0, cases[i].ranks, options, NULL);
    g_test_message ("%s on %d ranks", cases[i].expression, cases[i].ranks);
    g_assert_cmpint (find_parameter (plan, "0.weight")->sharding.axis, ==,
                     cases[i].embedding ? 0 : -1);
    if (cases[i].head >= 0)
      g_assert_cmpint (find_parameter (plan, "2.weight")->sharding.axis, ==,
                       cases[i].head ? 0 : -1);
  }
}

/* An embedding that others share is sharded if all of them are, including those in blocks. */
static void
test_shared (void)
{
  static const struct {
    const char *expression;
    int axis;
  } cases[] = {
    {"embedding(8) ! make-extra-output(to=m) ! load-branch ! embedding(8, tied=0) ! "
     "add-extra-input(from=m) ! linear(256, bias=false, tied=3) ! cross-entropy",
     0},
    {"embedding(8) ! make-extra-output(to=m) ! load-branch ! embedding(8, tied=0, parallel=none) ! "
     "add-extra-input(from=m) ! linear(256, bias=false, tied=3) ! cross-entropy",
     -1},
    {"embedding(8) ! block(2) { linear(256, bias=false, tied=0) ! linear(8) } ! "
     "linear(256, bias=false, tied=0) ! cross-entropy",
     -1},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    g_autoptr (LigPlan) plan = compile_part (cases[i].expression, 0, 2, options, NULL);
    g_assert_cmpint (find_parameter (plan, "0.weight")->sharding.axis, ==, cases[i].axis);
  }
}

/* Rank t has rows [t V / T, (t + 1) V / T), and these classes. */
static void
test_parts (void)
{
  for (int rank = 0; rank < 4; rank++) {
    g_autoptr (LigPlan) plan =
      compile_part ("embedding(8)" BODY "linear(256, bias=false, tied=0) ! cross-entropy", rank, 4,
                    training (), NULL);
    const LigParameter *weight = find_parameter (plan, "0.weight");
    guint found = 0;
    g_assert_cmpint (weight->shape.axes[0], ==, 64);
    g_assert_cmpint (weight->whole.axes[0], ==, 256);
    g_assert_false (weight->summed);
    for (guint i = 0; i < plan->steps->len; i++) {
      const LigPlanStep *step = lig_plan_step (plan, (int) i);
      const char *name = step->kernel->name;
      LigVocabularyPart part = {-1, -1};
      if (g_str_has_prefix (name, "embedding"))
        part = *(const LigVocabularyPart *) (gconstpointer) lig_plan_code (plan, i)->params;
      else if (strstr (name, "entropy"))
        part =
          ((const LigCrossEntropyParams *) (gconstpointer) lig_plan_code (plan, i)->params)->part;
      else
        continue;
      g_assert_cmpint (part.first, ==, 64 * rank);
      g_assert_cmpint (part.count, ==, 256);
      found++;
    }
    g_assert_cmpuint (found, ==, 5);
  }
}

/* The collectives send one row of features per token, and four numbers per row. */
static void
test_kernels (void)
{
  LigPlanOptions options = training ();
  g_autoptr (LigPlan) plan =
    compile_part ("embedding(8) ! linear(256, bias=false) ! cross-entropy", 1, 2, options, NULL);
  g_autofree char *forward = list_kernels (plan, LIG_PASS_FORWARD);
  g_autofree char *backward = list_kernels (plan, LIG_PASS_BACKWARD);
  g_assert_cmpstr (forward, ==,
                   "embedding all_reduce linear cross_entropy_part all_gather cross_entropy_join");
  g_assert_true (g_str_has_prefix (backward,
                                   "cross_entropy_backward linear_backward_input all_reduce "
                                   "linear_backward_input all_reduce linear_backward_weight"));
  g_assert_true (g_str_has_suffix (backward, "embedding_backward"));
  for (guint i = 0; i < plan->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (plan, (int) i);
    if (step->pass != LIG_PASS_FORWARD || !g_str_equal (step->kernel->name, "all_gather"))
      continue;
    g_assert_cmpint (lig_shape_size (&lig_plan_value (plan, step->operands[0].value)->shape), ==,
                     32 * 4);
    g_assert_cmpint (lig_shape_size (&lig_plan_value (plan, step->operands[1].value)->shape), ==,
                     64 * 4);
  }
}

/* The accuracy also needs the parts of all ranks. */
static void
test_accuracy (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.accuracy = TRUE;
  g_autoptr (LigPlan) plan =
    compile_part ("embedding(8) ! linear(256, bias=false) ! cross-entropy", 1, 2, options, NULL);
  g_autofree char *kernels = list_kernels (plan, LIG_PASS_FORWARD);
  g_assert_true (g_str_has_suffix (
    kernels, "cross_entropy_part all_gather cross_entropy_join accuracy_part all_gather "
             "accuracy_join"));
}

/* Fusions that need whole rows of logits, or a whole table, are rejected with both layouts. */
static void
test_rejected (void)
{
  static const char *const names[] = {"joint-linear-cross-entropy", "forward-embedding-position"};
  for (int ranks = 1; ranks <= 2; ranks++) {
    guint found = 0;
    g_autoptr (LigPlan) plan =
      compile_part ("embedding(8) ! position-embedding(8) ! linear(256) ! cross-entropy", 0, ranks,
                    training (), NULL);
    guint count;
    const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
    for (guint i = 0; i < count; i++) {
      const LigVerdict *verdict = &verdicts[i];
      const char *name = verdict->fusion->name;
      gboolean ours = g_str_equal (name, names[0]) || g_str_equal (name, names[1]);
      if (!ours || verdict->reason == LIG_REASON_PATTERN)
        continue;
      g_assert_true ((verdict->reason == LIG_REASON_PARALLEL) == (ranks == 2));
      if (ranks == 2)
        g_assert_nonnull (
          strstr (verdict->text, "parallel is vocabulary with tensor=2, expected none"));
      found++;
    }
    g_assert_cmpuint (found, ==, 2);
  }
}

/* A vocabulary that cannot be sharded as requested is rejected with both numbers. */
static void
test_uneven (void)
{
  static const struct {
    const char *expression, *problem;
  } cases[] = {
    {"embedding(8, vocabulary=257, parallel=vocabulary)",
     "embedding at 0: vocabulary is 257, expected a multiple of the tensor-parallel size, 2"},
    {"embedding(8) ! linear(257, parallel=column) ! cross-entropy",
     "linear at 1: out-features is 257, expected a multiple of the tensor-parallel size, 2"},
    {"embedding(8, parallel=vocabulary) ! linear(256, bias=false, tied=0) ! gelu",
     "linear at 1: its weight and 0.weight, to which it is tied, are sharded differently; give "
     "both ops the same parallel"},
    {"embedding(8) ! linear(256, parallel=column, sections=[1, 3]) ! cross-entropy",
     "cross-entropy at 2: its input is sharded by columns (tensor=2); put linear with "
     "parallel=row before it"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    g_autofree char *problem = NULL;
    g_autoptr (LigPlan) plan = compile_part (cases[i].expression, 0, 2, options, &problem);
    g_assert_null (plan);
    g_assert_cmpstr (problem, ==, cases[i].problem);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile/vocabulary/chosen", test_chosen);
  g_test_add_func ("/compile/vocabulary/shared", test_shared);
  g_test_add_func ("/compile/vocabulary/parts", test_parts);
  g_test_add_func ("/compile/vocabulary/kernels", test_kernels);
  g_test_add_func ("/compile/vocabulary/accuracy", test_accuracy);
  g_test_add_func ("/compile/vocabulary/rejected", test_rejected);
  g_test_add_func ("/compile/vocabulary/uneven", test_uneven);
  return g_test_run ();
}
