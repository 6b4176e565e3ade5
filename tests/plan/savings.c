/* SPDX-License-Identifier: MIT */
/* Tests savings: every figure is that of the plan that the change leads to, compiled separately. */
#include <ligature/compile.h>
#include <ligature/figures.h>
#include <ligature/plan-memory.h>
#include <ligature/savings.h>

#include <math.h>
#include <string.h>

#define MODEL \
  "block(12) { layer-norm ! linear(3072) ! | ! gelu ! linear(768) } ! linear(512) ! cross-entropy"

typedef struct {
  LigSequence *sequence;
  LigDevice *device;
  LigPlanOptions options;
  LigPlan *plan;
  GPtrArray *savings;
} Fixture;

static void
prepare (Fixture *self, const char *model, const char *input, const char *device)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype = LIG_BF16;
  self->options = (LigPlanOptions) LIG_PLAN_OPTIONS_INIT;
  self->options.policy = LIG_POLICY_ALL;
  self->sequence = lig_sequence_from_expression (model, &error);
  g_assert_no_error (error);
  g_assert_true (lig_shape_parse (input, &shape, &dtype, &error));
  lig_sequence_set_input (self->sequence, &shape, dtype);
  self->device = lig_device_open (device, &error);
  g_assert_no_error (error);
  self->plan = lig_plan_compile (self->sequence, self->device, &self->options, &error);
  g_assert_no_error (error);
  self->savings = lig_saving_list (self->plan, NULL, NULL, NULL);
}

static void
clear (Fixture *self)
{
  g_ptr_array_unref (self->savings);
  lig_plan_unref (self->plan);
  g_object_unref (self->device);
  g_object_unref (self->sequence);
}

static double
get_step (LigPlan *plan)
{
  LigFigures step;
  lig_figures_of_step (&(LigTimedPlan){.plan = plan}, NULL, &step);
  return step.predicted;
}

static const LigSaving *
find (const Fixture *self, LigSavingKind kind, const char *value)
{
  for (guint i = 0; i < self->savings->len; i++) {
    const LigSaving *saving = self->savings->pdata[i];
    if (saving->kind == kind && (!value || g_str_equal (saving->value, value)))
      return saving;
  }
  return NULL;
}

/* Returns the plan with a saving, compiled from the edited sequence or with its option. */
static LigPlan *
compile_with (const Fixture *self, const LigSaving *saving)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) edited = lig_sequence_copy (self->sequence);
  LigPlanOptions options = self->options;
  if (lig_saving_is_edit (saving)) {
    g_assert_true (lig_saving_apply (saving, self->plan, edited, &error));
    g_assert_no_error (error);
  } else {
    g_assert_false (lig_saving_apply (saving, self->plan, edited, &error));
    g_clear_error (&error);
    g_assert_true (lig_policy_from_name (saving->value, &options.policy));
  }
  LigPlan *plan = lig_plan_compile (edited, self->device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

/* The difference and the figures of the step with each change are those of its own plan. */
static void
test_figures (void)
{
  Fixture self;
  unsigned kinds = 0;
  prepare (&self, MODEL, "4096x768:bf16", "null:h200");
  double before = get_step (self.plan), memory = lig_plan_get_needed_memory (self.plan);
  for (guint i = 0; i < self.savings->len; i++) {
    const LigSaving *saving = self.savings->pdata[i];
    g_autoptr (LigPlan) plan = compile_with (&self, saving);
    double step = get_step (plan), needed = lig_plan_get_needed_memory (plan);
    double share = saving->kind == LIG_SAVING_BATCH ? 0.5 : 1;
    kinds |= 1u << saving->kind;
    g_assert_cmpfloat_with_epsilon (saving->step, step, 1e-12);
    g_assert_cmpfloat_with_epsilon (saving->needed, needed, 0.5);
    if (saving->seconds != 0)
      g_assert_cmpfloat_with_epsilon (saving->seconds, step * share - before, 1e-12);
    else
      g_assert_cmpfloat (fabs (step * share - before), <=, 0.001 * before);
    if (saving->memory != 0)
      g_assert_cmpfloat_with_epsilon (saving->memory, needed - memory, 0.5);
    g_assert_false (saving->measured);
    g_assert_true (saving->fits);
    g_assert_true (saving->seconds < 0 || saving->memory < 0);
  }
  g_assert_cmpuint (kinds & (1u << LIG_SAVING_FIX | 1u << LIG_SAVING_RECIPE |
                             1u << LIG_SAVING_RECOMPUTE | 1u << LIG_SAVING_BATCH),
                    ==,
                    1u << LIG_SAVING_FIX | 1u << LIG_SAVING_RECIPE | 1u << LIG_SAVING_RECOMPUTE |
                      1u << LIG_SAVING_BATCH);
  clear (&self);
}

/* Those that save time come first, the most first; a fix in a block names all its groups. */
static void
test_order (void)
{
  Fixture self;
  double last = -INFINITY;
  prepare (&self, MODEL, "4096x768:bf16", "null:h200");
  for (guint i = 0; i < self.savings->len; i++) {
    const LigSaving *saving = self.savings->pdata[i];
    double seconds = MIN (saving->seconds, 0);
    g_assert_cmpfloat (seconds, >=, last);
    last = seconds;
  }
  const LigSaving *fence = find (&self, LIG_SAVING_FIX, NULL);
  g_assert_nonnull (fence);
  g_assert_nonnull (strstr (fence->title, "12 groups"));
  clear (&self);
}

/* Recomputation takes longer and needs less memory; it is offered only if it does. */
static void
test_recompute (void)
{
  Fixture self;
  prepare (&self, MODEL, "65536x768:bf16", "null:h200");
  const LigSaving *all = find (&self, LIG_SAVING_RECOMPUTE, "all");
  g_assert_nonnull (all);
  g_assert_cmpfloat (all->seconds, >, 0);
  g_assert_cmpfloat (all->memory, <, 0);
  g_autofree char *time = lig_saving_time_text (all), *memory = lig_saving_memory_text (all);
  g_assert_true (g_str_has_prefix (time, "≈ +"));
  g_assert_true (g_str_has_prefix (memory, "−"));
  g_assert_null (find (&self, LIG_SAVING_RECOMPUTE, "none"));
  clear (&self);
}

/* If the plan does not fit, the changes with which it does come first, and no larger batch. */
static void
test_too_large (void)
{
  Fixture self;
  gboolean beyond = FALSE;
  prepare (&self, MODEL, "4194304x768:bf16", "null:h200");
  g_assert_cmpuint (self.savings->len, >, 0);
  g_assert_null (find (&self, LIG_SAVING_BATCH, NULL));
  for (guint i = 0; i < self.savings->len; i++) {
    const LigSaving *saving = self.savings->pdata[i];
    g_assert_false (beyond && saving->fits);
    beyond |= !saving->fits;
  }
  clear (&self);
}

/* The joint head is rejected as too small unless it is forced: forcing it is a fix, and a saving.
 */
static void
test_forced (void)
{
  Fixture self;
  g_autoptr (GError) error = NULL;
  gboolean found = FALSE;
  prepare (&self, "embedding(768, vocabulary=50304) ! linear(50304, bias=false) ! cross-entropy",
           "8x1024:int32", "null:h200");
  for (guint i = 0; i < self.savings->len; i++) {
    const LigSaving *saving = self.savings->pdata[i];
    if (saving->kind != LIG_SAVING_FIX || !strstr (saving->title, "joint-linear-cross-entropy"))
      continue;
    g_autoptr (LigPlan) plan = compile_with (&self, saving);
    guint count;
    const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &count);
    for (guint k = 0; k < count; k++)
      found |=
        groups[k].fusion && g_str_equal (groups[k].fusion->name, "joint-linear-cross-entropy");
    g_assert_cmpfloat (saving->memory, <, 0);
  }
  g_assert_true (found);
  clear (&self);
}

/* A sequence without anything to save, and a device without known rates. */
static void
test_none (void)
{
  Fixture self;
  prepare (&self, "gelu", "4x8:bf16", "null");
  for (guint i = 0; i < self.savings->len; i++) {
    const LigSaving *saving = self.savings->pdata[i];
    g_autofree char *time = lig_saving_time_text (saving);
    g_assert_true (isnan (saving->seconds));
    g_assert_cmpstr (time, ==, "–");
  }
  clear (&self);
}

static void
test_cancelled (void)
{
  Fixture self;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  prepare (&self, MODEL, "4096x768:bf16", "null:h200");
  g_cancellable_cancel (cancellable);
  g_autoptr (GPtrArray) none = lig_saving_list (self.plan, NULL, NULL, cancellable);
  g_assert_cmpuint (none->len, ==, 0);
  clear (&self);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/savings/figures", test_figures);
  g_test_add_func ("/plan/savings/order", test_order);
  g_test_add_func ("/plan/savings/recompute", test_recompute);
  g_test_add_func ("/plan/savings/too-large", test_too_large);
  g_test_add_func ("/plan/savings/forced", test_forced);
  g_test_add_func ("/plan/savings/none", test_none);
  g_test_add_func ("/plan/savings/cancelled", test_cancelled);
  return g_test_run ();
}
