/* SPDX-License-Identifier: MIT */
/* Tests a document's savings: found for each plan, tried without an edit, applied as one. */
#include "ui/document/savings.h"

#include "tests/document/case.h"
#include "ui/document/edit.h"
#include "ui/document/preview.h"
#include "ui/document/ranks.h"
#include <ligature/comparison.h>
#include <ligature/figures.h>
#include <ligature/plan-memory.h>
#include <ligature/plan.h>

#include <math.h>
#include <string.h>

#define EXPRESSION "block(6) { layer-norm ! linear(3072) ! | ! gelu ! linear(768) } ! cross-entropy"

static void
begin (DocumentFixture *f, const char *expression)
{
  lig_document_set_device (f->doc, "null:h200");
  lig_document_set_policy (f->doc, LIG_POLICY_ALL);
  fill_with (f->doc, expression, "4096x768:bf16", NULL);
  lig_document_want_savings (f->doc, FALSE);
  wait_for_plan (f->doc);
  WAIT_FOR (lig_document_get_savings (f->doc));
}

static const LigSaving *
find (LigDocument *doc, LigSavingKind kind, const char *value)
{
  GPtrArray *savings = lig_document_get_savings (doc);
  for (guint i = 0; i < savings->len; i++) {
    const LigSaving *saving = savings->pdata[i];
    if (saving->kind == kind && (!value || g_str_equal (saving->value, value)))
      return saving;
  }
  return NULL;
}

static double
get_step (LigPlan *plan)
{
  LigFigures step;
  lig_figures_of_step (&(LigTimedPlan){.plan = plan}, NULL, &step);
  return step.seconds;
}

/* The header then shows the promised figures. */
static void
check_applied (DocumentFixture *f, LigSavingKind kind, const char *value)
{
  g_autoptr (GError) error = NULL;
  const LigSaving *saving = find (f->doc, kind, value);
  g_assert_nonnull (saving);
  double step = saving->step, needed = saving->needed;
  g_autofree char *label = lig_document_label_saving (saving);
  g_assert_true (lig_edit_apply_saving (f->doc, saving, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, label);
  g_assert_true (g_unichar_isupper (g_utf8_get_char (label)) || kind == LIG_SAVING_BATCH);
  wait_for_plan (f->doc);
  LigPlan *plan = lig_document_get_plan (f->doc);
  g_assert_cmpfloat_with_epsilon (get_step (plan), step, 1e-12);
  g_assert_cmpfloat_with_epsilon (lig_plan_get_needed_memory (plan), needed, 0.5);
  lig_document_undo (f->doc);
  wait_for_plan (f->doc);
  WAIT_FOR (lig_document_get_savings (f->doc));
}

static void
test_apply (DocumentFixture *f, gconstpointer data)
{
  begin (f, EXPRESSION);
  check_applied (f, LIG_SAVING_FIX, NULL);
  check_applied (f, LIG_SAVING_RECIPE, "fp8-current");
  check_applied (f, LIG_SAVING_RECOMPUTE, "all");
  check_applied (f, LIG_SAVING_BATCH, NULL);
}

static void
test_policy (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  LigSaving saving = {.kind = LIG_SAVING_POLICY, .title = "choose", .value = "measured"};
  begin (f, EXPRESSION);
  g_assert_true (lig_edit_apply_saving (f->doc, &saving, &error));
  g_assert_cmpint (lig_document_get_policy (f->doc), ==, LIG_POLICY_MEASURED);
}

/* Trying changes neither the sequence nor the plan. */
static void
test_try (DocumentFixture *f, gconstpointer data)
{
  LigPlanChange total;
  begin (f, EXPRESSION);
  LigPlan *plan = lig_document_get_plan (f->doc);
  const LigSaving *saving = find (f->doc, LIG_SAVING_RECOMPUTE, "all");
  double seconds = saving->seconds, memory = saving->memory;
  g_autofree char *before = lig_sequence_to_json (lig_document_get_sequence (f->doc));
  lig_document_try_saving (f->doc, saving);
  WAIT_FOR (lig_document_get_preview (f->doc));
  lig_plan_comparison_get_total (lig_document_get_preview (f->doc), LIG_PASS_JOINT, &total);
  g_assert_cmpfloat_with_epsilon (total.after.seconds - total.before.seconds, seconds, 1e-12);
  g_assert_cmpfloat_with_epsilon (total.after.memory - total.before.memory, memory, 0.5);
  g_autofree char *after = lig_sequence_to_json (lig_document_get_sequence (f->doc));
  g_assert_cmpstr (before, ==, after);
  g_assert_true (lig_document_get_plan (f->doc) == plan);
}

/* An edit makes the list unknown until the new plan's is found. */
static void
test_edit (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  begin (f, EXPRESSION);
  LigSaving old = {.kind = LIG_SAVING_RECOMPUTE, .title = "recompute", .value = "all"};
  lig_edit_set_batch (f->doc, 8192);
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_savings (f->doc));
  g_assert_false (lig_edit_apply_saving (f->doc, &old, &error));
  g_assert_nonnull (error);
  WAIT_FOR (lig_document_get_savings (f->doc));
  const LigSaving *batch = find (f->doc, LIG_SAVING_BATCH, NULL);
  g_assert_cmpstr (batch->value, ==, "16384");
}

/* A sequence with a problem has no savings; a repaired one has. */
static void
test_problem (DocumentFixture *f, gconstpointer data)
{
  begin (f, EXPRESSION);
  fill_with (f->doc, "linear(8) ! attention(3)", "4096x768:bf16", NULL);
  wait_for_plan (f->doc);
  g_assert_nonnull (lig_document_get_problem (f->doc, 0));
  g_assert_null (lig_document_get_savings (f->doc));
  lig_document_undo (f->doc);
  wait_for_plan (f->doc);
  WAIT_FOR (lig_document_get_savings (f->doc));
}

static void
test_capacity (DocumentFixture *f, gconstpointer data)
{
  LigPlanMemory memory;
  begin (f, EXPRESSION);
  g_assert_null (lig_document_get_capacity (f->doc, LIG_CAPACITY_BATCH));
  lig_document_want_capacity (f->doc);
  WAIT_FOR (lig_document_get_capacity (f->doc, LIG_CAPACITY_BATCH));
  g_assert_null (lig_document_get_capacity (f->doc, LIG_CAPACITY_POSITIONS));
  /* The optimizer of a training run takes memory, too: adamw has two fp32 values per parameter, at
   * least as many bytes as a parameter and its gradient. */
  const LigCapacity *found = lig_document_get_capacity (f->doc, LIG_CAPACITY_BATCH);
  lig_plan_get_memory (lig_document_get_plan (f->doc), NULL, &memory);
  for (guint i = 0; i < found->points->len; i++) {
    const LigCapacityPoint *point = &g_array_index (found->points, LigCapacityPoint, i);
    if (point->length == found->present)
      g_assert_cmpfloat (point->memory, >=, memory.needed + memory.state);
    g_assert_true (point->fits == (point->length <= found->largest));
  }
  g_assert_cmpint (found->largest, >, found->present);
}

/* A document that is closed during the search. */
static void
test_closed (DocumentFixture *f, gconstpointer data)
{
  lig_document_set_device (f->doc, "null:h200");
  fill_with (f->doc, EXPRESSION, "4096x768:bf16", NULL);
  lig_document_want_capacity (f->doc);
  wait_for_plan (f->doc);
  gint64 end = g_get_monotonic_time () + 300000;
  while (g_get_monotonic_time () < end)
    g_main_context_iteration (NULL, FALSE);
}

/* Ranks that cannot share the batch have the plan of one rank, and so do its savings. */
static void
test_unshared (DocumentFixture *f, gconstpointer data)
{
  begin (f, EXPRESSION);
  g_autoptr (GPtrArray) alone = g_ptr_array_ref (lig_document_get_savings (f->doc));
  lig_ranks_set (f->doc, 3); /* 4,096 rows */
  wait_for_plan (f->doc);
  WAIT_FOR (lig_document_get_savings (f->doc) && lig_document_get_savings (f->doc) != alone);
  GPtrArray *shared = lig_document_get_savings (f->doc);
  const LigProblem *problem = lig_document_get_problem (f->doc, 0);
  g_assert_nonnull (problem);
  g_assert_cmpuint (shared->len, ==, alone->len);
  for (guint i = 0; i < shared->len; i++) {
    const LigSaving *one = alone->pdata[i], *other = shared->pdata[i];
    g_assert_cmpint (one->kind, ==, other->kind);
    g_assert_cmpstr (one->value, ==, other->value);
    g_assert_cmpfloat (one->step, ==, other->step);
    g_assert_cmpfloat (one->needed, ==, other->needed);
    g_assert_cmpint (other->kind, !=, LIG_SAVING_SHARD);
  }
  /* The batch of ranks that share it doubles as a whole. */
  lig_ranks_set (f->doc, 2);
  wait_for_plan (f->doc);
  WAIT_FOR (lig_document_get_savings (f->doc) && lig_document_get_savings (f->doc) != shared);
  g_assert_nonnull (find (f->doc, LIG_SAVING_BATCH, "8192"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/document/savings/apply", test_apply);
  ADD_DOCUMENT_TEST ("/document/savings/policy", test_policy);
  ADD_DOCUMENT_TEST ("/document/savings/try", test_try);
  ADD_DOCUMENT_TEST ("/document/savings/edit", test_edit);
  ADD_DOCUMENT_TEST ("/document/savings/problem", test_problem);
  ADD_DOCUMENT_TEST ("/document/savings/capacity", test_capacity);
  ADD_DOCUMENT_TEST ("/document/savings/closed", test_closed);
  ADD_DOCUMENT_TEST ("/document/savings/unshared", test_unshared);
  return g_test_run ();
}
