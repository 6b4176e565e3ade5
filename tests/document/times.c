/* SPDX-License-Identifier: MIT */
/* The measured times of a document: the plan that a profile belongs to, the unfused plan, and the
 * overrides for fusions with their removal. */
#include "ui/document/times.h"

#include "tests/document/case.h"
#include "ui/document/edit.h"
#include "ui/document/overrides.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>

static void
set_up (DocumentFixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "null:h200");
}

static void
tear_down (DocumentFixture *f, gconstpointer data)
{
  free_document (f->folder, f->session, f->doc);
}

/* Waits for the plan and for the unfused plan. */
static gboolean
has_times (DocumentFixture *f, LigTimedPlan *timed, LigTimedPlan *unfused)
{
  lig_document_get_timed (f->doc, timed, unfused);
  return !lig_document_is_stale (f->doc) && timed->plan && unfused->plan;
}

static void
wait_for_times (DocumentFixture *f, LigTimedPlan *timed, LigTimedPlan *unfused)
{
  WAIT_FOR (has_times (f, timed, unfused));
}

static double *
invent (LigPlan *plan, double each)
{
  guint count;
  lig_plan_get_steps (plan, &count);
  double *steps = g_new (double, count + 1);
  for (guint i = 0; i < count; i++)
    steps[i] = each;
  return steps;
}

/* A profile's plan also updates parameters, so its steps are numbered differently. */
static LigPlan *
compile_profiled (DocumentFixture *f, LigPlan *plan)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *choices = lig_plan_get_choices (plan);
  const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options;
  lig_document_get_options (f->doc, &options);
  options.optimizer = &optimizer;
  options.choices = choices;
  LigPlan *profiled = lig_plan_compile (lig_document_get_sequence (f->doc),
                                        lig_plan_get_device (plan), &options, &error);
  g_assert_no_error (error);
  return profiled;
}

static void
test_baseline (DocumentFixture *f, gconstpointer data)
{
  LigTimedPlan timed, unfused;
  fill (f->doc, "linear(3072) ! gelu");
  wait_for_times (f, &timed, &unfused);
  g_autofree char *none = lig_plan_get_choices (unfused.plan);
  g_assert_cmpstr (none, ==, "");
  LigOp *op = lig_sequence_get (lig_document_get_sequence (f->doc), 0, NULL);
  lig_edit_force (f->doc, op, "forward-linear-bias-activation", TRUE);
  wait_for_times (f, &timed, &unfused);
  g_autofree char *forced = lig_plan_get_choices (timed.plan);
  g_autofree char *still_none = lig_plan_get_choices (unfused.plan);
  g_assert_cmpstr (forced, !=, "");
  g_assert_cmpstr (still_none, ==, "");
}

static void
test_profile (DocumentFixture *f, gconstpointer data)
{
  LigTimedPlan timed, unfused;
  fill (f->doc, "linear(3072) ! gelu");
  wait_for_times (f, &timed, &unfused);
  g_autofree char *before = lig_document_describe_times (f->doc, 0);
  g_assert_cmpstr (before, ==, "predicted for NVIDIA H200");
  g_autoptr (LigPlan) plan = lig_plan_ref (timed.plan);
  g_autoptr (LigPlan) profiled = compile_profiled (f, plan);
  g_autoptr (LigPlan) apart = lig_plan_ref (unfused.plan);
  g_autofree double *steps = invent (profiled, 1e-5), *alone = invent (apart, 2e-5);
  const double passes[] = {3e-5, 6e-5, 1e-5};
  const LigTimedPlan profiles[] = {{profiled, steps, passes}, {apart, alone, NULL}};
  lig_document_set_profiles (f->doc, profiles, 2);
  lig_document_get_timed (f->doc, &timed, &unfused);
  g_assert_true (timed.plan == plan);
  g_assert_cmpfloat (timed.steps[0], ==, 1e-5);
  g_assert_cmpfloat (timed.passes[1], ==, 6e-5);
  g_assert_cmpfloat (unfused.steps[0], ==, 2e-5);
  gint64 when = lig_document_get_measured_at (f->doc);
  g_autofree char *soon = lig_document_describe_times (f->doc, when + 12 * G_USEC_PER_SEC);
  g_autofree char *later = lig_document_describe_times (f->doc, when + 180 * G_USEC_PER_SEC);
  g_assert_cmpstr (soon, ==, "measured on another NVIDIA H200, 12 s ago");
  g_assert_cmpstr (later, ==, "measured on another NVIDIA H200, 3 min ago");

  /* An edited sequence has no times of this profile; undo restores them. */
  LigOp *op = lig_sequence_get (lig_document_get_sequence (f->doc), 0, NULL);
  lig_edit_forbid (f->doc, op, "forward-linear-bias-activation", TRUE);
  wait_for_times (f, &timed, &unfused);
  g_assert_null (timed.steps);
  lig_document_undo (f->doc);
  wait_for_times (f, &timed, &unfused);
  g_assert_true (timed.plan != plan);
  g_assert_nonnull (timed.steps);
  lig_document_set_profiles (f->doc, NULL, 0);
  lig_document_get_timed (f->doc, &timed, &unfused);
  g_assert_null (timed.steps);
}

/* A change of the training data keeps the measured times. */
static void
test_train (DocumentFixture *f, gconstpointer data)
{
  LigTimedPlan timed, unfused;
  fill (f->doc, "linear(64) ! gelu");
  wait_for_times (f, &timed, &unfused);
  g_autofree double *steps = invent (timed.plan, 1e-5);
  const LigTimedPlan profile = {.plan = timed.plan, .steps = steps};
  lig_document_set_profiles (f->doc, &profile, 1);
  lig_edit_set_train (f->doc, "{\"data\":\"other.csv\"}");
  wait_for_times (f, &timed, &unfused);
  g_assert_nonnull (timed.steps);
}

/* --- Overrides --------------------------------------------------------------------------- */

static char *
describe_overrides (DocumentFixture *f)
{
  g_autoptr (GPtrArray) overrides = lig_document_list_overrides (f->doc);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < overrides->len; i++) {
    const LigOverride *override = overrides->pdata[i];
    g_string_append_printf (text, "%s%s %s@%s", text->len > 0 ? ", " : "",
                            override->forced ? "force" : "forbid", override->fusion,
                            override->path ? override->path : "*");
  }
  return g_string_free (text, FALSE);
}

static void
test_wishes (DocumentFixture *f, gconstpointer data)
{
  static const char forward[] = "forward-linear-bias-activation", add[] = "forward-add-norm";
  fill (f->doc, "gelu ! block(3) { linear(768) ! gelu }");
  LigSequence *sequence = lig_document_get_sequence (f->doc);
  LigSequence *body = lig_op_get_body (lig_sequence_get (sequence, 1, NULL));
  lig_edit_force (f->doc, lig_sequence_get (body, 0, NULL), forward, TRUE);
  lig_edit_forbid (f->doc, NULL, add, TRUE);
  g_autofree char *both = describe_overrides (f);
  g_assert_cmpstr (both, ==,
                   "forbid forward-add-norm@*, force forward-linear-bias-activation@1.0.0");
  lig_document_drop_override (f->doc, TRUE, "1.0.0", forward);
  lig_document_drop_override (f->doc, FALSE, NULL, add);
  g_autofree char *none = describe_overrides (f);
  g_assert_cmpstr (none, ==, "");
  lig_document_undo (f->doc);
  lig_document_undo (f->doc);
  g_autofree char *again = describe_overrides (f);
  g_assert_cmpstr (again, ==, both);
  /* Paths and fusions without an override change nothing. */
  const char *label = lig_document_get_undo_label (f->doc);
  lig_document_drop_override (f->doc, TRUE, "7.0.0", forward);
  lig_document_drop_override (f->doc, TRUE, "0", forward);
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, label);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) \
  g_test_add ("/times/" #name, DocumentFixture, NULL, set_up, test_##name, tear_down)
  ADD (baseline);
  ADD (profile);
  ADD (train);
  ADD (wishes);
  return g_test_run ();
}
