/* SPDX-License-Identifier: MIT */
/* Tests previews: of an edit, a device and a policy; the newest wins; nothing else changes. */
#include "ui/document/preview.h"

#include "tests/document/case.h"
#include "ui/document/edit.h"
#include <ligature/comparison.h>
#include <ligature/plan.h>
#include <ligature/tuning.h>

#include <math.h>

#define EXPRESSION "layer-norm ! linear(96) ! gelu ! linear(48)"

static LigSequence *
copy_with_fence (LigDocument *doc, const char *path)
{
  LigSequence *copy = lig_sequence_copy (lig_document_get_sequence (doc));
  lig_op_set_fence (lig_sequence_find (copy, path, NULL), TRUE);
  return copy;
}

static guint
count_different (LigPlanComparison *comparison)
{
  guint count, different = 0;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (comparison, &count);
  for (guint i = 0; i < count; i++)
    different += !changes[i].same;
  return different;
}

static void
begin (DocumentFixture *f, const char *device)
{
  lig_document_set_device (f->doc, device);
  lig_document_set_policy (f->doc, LIG_POLICY_ALL);
  fill_with (f->doc, EXPRESSION, "128x48:bf16", NULL);
  wait_for_plan (f->doc);
}

static void
count (LigDocument *doc, guint *calls)
{
  (*calls)++;
}

static void
test_edit (DocumentFixture *f, gconstpointer data)
{
  guint calls = 0;
  LigPlanChange total;
  begin (f, "null:h200");
  LigPlan *plan = lig_document_get_plan (f->doc);
  g_autofree char *text = lig_sequence_to_json (lig_document_get_sequence (f->doc));
  g_signal_connect (f->doc, "previewed", G_CALLBACK (count), &calls);
  g_assert_null (lig_document_get_preview_label (f->doc));
  lig_document_preview (f->doc, copy_with_fence (f->doc, "2"), NULL, LIG_POLICY_ALL, "Add a fence");
  g_assert_cmpstr (lig_document_get_preview_label (f->doc), ==, "Add a fence");
  g_assert_null (lig_document_get_preview (f->doc));
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_cmpuint (calls, ==, 2);
  LigPlanComparison *comparison = lig_document_get_preview (f->doc);
  g_assert_true (lig_plan_comparison_get_before (comparison) == plan);
  g_assert_cmpuint (count_different (comparison), >=, 1);
  lig_plan_comparison_get_total (comparison, LIG_PASS_JOINT, &total);
  g_assert_cmpfloat (total.after.seconds, >, total.before.seconds);
  g_assert_null (lig_document_get_preview_device (f->doc));
  /* The document is unchanged. */
  g_autofree char *after = lig_sequence_to_json (lig_document_get_sequence (f->doc));
  g_assert_cmpstr (after, ==, text);
  g_assert_true (lig_document_get_plan (f->doc) == plan);
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Test");
  lig_document_end_preview (f->doc);
  g_assert_null (lig_document_get_preview (f->doc));
  g_assert_cmpuint (calls, ==, 3);
  lig_document_end_preview (f->doc);
  g_assert_cmpuint (calls, ==, 3);
}

static void
test_newest (DocumentFixture *f, gconstpointer data)
{
  begin (f, "null:h200");
  for (int i = 0; i < 20; i++)
    lig_document_preview (f->doc, copy_with_fence (f->doc, "2"), NULL, LIG_POLICY_ALL, "Fence");
  lig_document_preview (f->doc, NULL, NULL, LIG_POLICY_NONE, "No fusions");
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_cmpstr (lig_document_get_preview_label (f->doc), ==, "No fusions");
  LigPlan *plan = lig_plan_comparison_get_after (lig_document_get_preview (f->doc));
  g_assert_cmpint (lig_plan_get_policy (plan), ==, LIG_POLICY_NONE);
  /* An edit ends it, and no answer arrives later. */
  lig_document_preview (f->doc, NULL, NULL, LIG_POLICY_NONE, "No fusions");
  g_assert_true (lig_edit_add (f->doc, "gelu", NULL));
  g_assert_null (lig_document_get_preview_label (f->doc));
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_preview (f->doc));
}

static void
test_device (DocumentFixture *f, gconstpointer data)
{
  LigPlanChange total;
  begin (f, "null:h200");
  lig_document_preview (f->doc, NULL, "null:a100", LIG_POLICY_ALL, "NVIDIA A100");
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_cmpstr (lig_document_get_preview_device (f->doc), ==, "null:a100");
  g_assert_cmpstr (lig_document_get_device (f->doc), ==, "null:h200");
  g_assert_cmpuint (count_different (lig_document_get_preview (f->doc)), ==, 0);
  lig_plan_comparison_get_total (lig_document_get_preview (f->doc), LIG_PASS_FORWARD, &total);
  g_assert_cmpfloat (total.after.seconds, >, total.before.seconds);
}

static void
test_problem (DocumentFixture *f, gconstpointer data)
{
  begin (f, "null:h200");
  LigSequence *copy = lig_sequence_copy (lig_document_get_sequence (f->doc));
  const char *const forced[] = {"forward-add-norm", NULL};
  lig_op_set_forced (lig_sequence_find (copy, "1", NULL), forced);
  lig_document_preview (f->doc, copy, NULL, LIG_POLICY_ALL, "Force");
  WAIT_FOR (lig_document_get_preview_problem (f->doc));
  g_assert_nonnull (strstr (lig_document_get_preview_problem (f->doc), "forward-add-norm"));
  g_assert_null (lig_document_get_preview (f->doc));
}

static guint measurements;

static void
count_measurement (const char *what, double seconds, double share)
{
  measurements++;
}

/* With policy `measured`, nothing new is measured for either plan. */
static void
test_measures_nothing (DocumentFixture *f, gconstpointer data)
{
  lig_document_set_policy (f->doc, LIG_POLICY_MEASURED);
  fill_with (f->doc, EXPRESSION, "16x48:fp32", NULL);
  wait_for_plan (f->doc);
  lig_tuning_set_monitor (count_measurement);
  measurements = 0;
  LigShape shape;
  LigDtype dtype;
  LigSequence *wider =
    lig_sequence_from_expression ("layer-norm ! linear(80) ! gelu ! linear(48)", NULL);
  lig_sequence_get_input (lig_document_get_sequence (f->doc), &shape, &dtype);
  lig_sequence_set_input (wider, &shape, dtype);
  lig_document_preview (f->doc, wider, NULL, LIG_POLICY_MEASURED, "Wider");
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_cmpuint (measurements, ==, 0);
  lig_document_preview (f->doc, NULL, NULL, LIG_POLICY_NONE, "No fusions");
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_cmpuint (measurements, ==, 0);
  lig_tuning_set_monitor (NULL);
}

/* Freeing a document while a preview is being compiled does not wait for it. */
static void
test_disposed (DocumentFixture *f, gconstpointer data)
{
  begin (f, "null:h200");
  lig_document_preview (f->doc, NULL, NULL, LIG_POLICY_NONE, "No fusions");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/document/preview/edit", test_edit);
  ADD_DOCUMENT_TEST ("/document/preview/newest", test_newest);
  ADD_DOCUMENT_TEST ("/document/preview/device", test_device);
  ADD_DOCUMENT_TEST ("/document/preview/problem", test_problem);
  ADD_DOCUMENT_TEST ("/document/preview/measures-nothing", test_measures_nothing);
  ADD_DOCUMENT_TEST ("/document/preview/disposed", test_disposed);
  return g_test_run ();
}
