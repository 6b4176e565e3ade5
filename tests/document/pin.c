/* SPDX-License-Identifier: MIT */
/* Tests pinned plans: the current one, a preview's, another device's; titles; following edits. */
#include "ui/document/pin.h"

#include "tests/document/case.h"
#include "ui/document/edit.h"
#include "ui/document/preview.h"
#include <ligature/row-changes.h>

#define EXPRESSION "layer-norm ! linear(96) ! gelu ! linear(48)"

static void
begin (DocumentFixture *f)
{
  lig_document_set_device (f->doc, "null:h200");
  lig_document_set_policy (f->doc, LIG_POLICY_ALL);
  fill_with (f->doc, EXPRESSION, "128x48:bf16", NULL);
  wait_for_plan (f->doc);
}

static gboolean
is_same (LigDocument *doc)
{
  LigPlanChange total;
  lig_plan_comparison_get_total (lig_document_get_pinned (doc), LIG_PASS_JOINT, &total);
  return total.same;
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
  g_assert_false (lig_document_pin (f->doc));
  begin (f);
  g_signal_connect (f->doc, "pinned", G_CALLBACK (count), &calls);
  g_assert_null (lig_document_get_pinned_title (f->doc));
  LigPlan *plan = lig_document_get_plan (f->doc);
  g_assert_true (lig_document_pin (f->doc));
  g_assert_cmpuint (calls, ==, 1);
  g_assert_true (is_same (f->doc));
  lig_edit_set_fence (f->doc, op_at (f->doc, "2"), TRUE);
  wait_for_plan (f->doc);
  g_assert_cmpuint (calls, ==, 2);
  g_assert_false (is_same (f->doc));
  LigPlanComparison *comparison = lig_document_get_pinned (f->doc);
  g_assert_true (lig_plan_comparison_get_before (comparison) == plan);
  g_assert_true (lig_plan_comparison_get_after (comparison) == lig_document_get_plan (f->doc));
  lig_plan_comparison_get_total (comparison, LIG_PASS_JOINT, &total);
  g_assert_cmpint (lig_plan_change_get_sign (&total), ==, 1);
  g_assert_cmpstr (lig_document_get_pinned_title (f->doc), ==, "before");
  g_assert_cmpstr (lig_document_get_present_title (f->doc), ==, "after");
  lig_document_unpin (f->doc);
  g_assert_cmpuint (calls, ==, 3);
  g_assert_false (lig_document_is_pinned (f->doc));
  g_assert_null (lig_document_get_pinned (f->doc));
  lig_document_unpin (f->doc);
  g_assert_cmpuint (calls, ==, 3);
}

static void
test_preview (DocumentFixture *f, gconstpointer data)
{
  begin (f);
  LigSequence *copy = lig_sequence_copy (lig_document_get_sequence (f->doc));
  lig_op_set_fence (lig_sequence_find (copy, "2", NULL), TRUE);
  lig_document_preview (f->doc, copy, NULL, LIG_POLICY_ALL, "Add a fence");
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_true (lig_document_pin (f->doc));
  g_assert_null (lig_document_get_preview_label (f->doc));
  g_assert_false (is_same (f->doc));
  g_assert_cmpstr (lig_document_get_pinned_title (f->doc), ==, "Add a fence");
  g_assert_cmpstr (lig_document_get_present_title (f->doc), ==, "current");
  /* Actually making the same edit leaves no difference. */
  lig_edit_set_fence (f->doc, op_at (f->doc, "2"), TRUE);
  wait_for_plan (f->doc);
  g_assert_true (is_same (f->doc));
}

static void
test_device (DocumentFixture *f, gconstpointer data)
{
  begin (f);
  lig_document_pin_device (f->doc, "null:a100", "NVIDIA A100");
  g_assert_false (lig_document_is_pinned (f->doc));
  WAIT_FOR (lig_document_is_pinned (f->doc));
  g_assert_null (lig_document_get_preview_label (f->doc));
  g_assert_nonnull (strstr (lig_document_get_pinned_title (f->doc), "A100"));
  g_assert_nonnull (strstr (lig_document_get_present_title (f->doc), "H200"));
  /* An ordinary preview is not pinned. */
  lig_document_preview (f->doc, NULL, NULL, LIG_POLICY_NONE, "No fusions");
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_nonnull (strstr (lig_document_get_pinned_title (f->doc), "A100"));
  /* Nor is a device's plan if its preview was ended before it arrived. */
  lig_document_unpin (f->doc);
  lig_document_pin_device (f->doc, "null:a100", "NVIDIA A100");
  lig_document_end_preview (f->doc);
  lig_document_preview (f->doc, NULL, "null:a100", LIG_POLICY_ALL, "NVIDIA A100");
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_false (lig_document_is_pinned (f->doc));
}

/* Another sequence is compared on this document's device. */
static void
test_sequence (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  begin (f);
  LigPlan *plan = lig_document_get_plan (f->doc);
  LigSequence *other = lig_sequence_copy (lig_document_get_sequence (f->doc));
  g_autoptr (LigOp) added = lig_op_new ("relu", &error);
  g_assert_true (lig_sequence_insert (other, -1, added, &error));
  lig_document_pin_sequence (f->doc, other, "other.lig");
  WAIT_FOR (lig_document_is_pinned (f->doc));
  g_assert_cmpstr (lig_document_get_pinned_title (f->doc), ==, "other.lig");
  g_assert_true (lig_document_get_plan (f->doc) == plan);
  g_autoptr (GPtrArray) rows = lig_row_change_list (lig_document_get_pinned (f->doc));
  g_assert_cmpuint (rows->len, ==, 1);
  g_assert_cmpint (((LigRowChange *) rows->pdata[0])->kind, ==, LIG_ROW_REMOVED);
  /* A sequence without a plan is not pinned, nor is the next preview in its place. */
  lig_document_unpin (f->doc);
  LigSequence *broken = lig_sequence_from_expression ("linear(8) ! attention(3)", &error);
  lig_document_pin_sequence (f->doc, broken, "broken.lig");
  WAIT_FOR (lig_document_get_preview_problem (f->doc));
  lig_document_preview (f->doc, NULL, NULL, LIG_POLICY_NONE, "No fusions");
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_false (lig_document_is_pinned (f->doc));
}

static void
test_policy (DocumentFixture *f, gconstpointer data)
{
  begin (f);
  g_assert_true (lig_document_pin (f->doc));
  lig_document_set_policy (f->doc, LIG_POLICY_NONE);
  wait_for_plan (f->doc);
  g_assert_cmpstr (lig_document_get_pinned_title (f->doc), ==, "All fusions");
  g_assert_cmpstr (lig_document_get_present_title (f->doc), ==, "No fusions");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/document/pin/edit", test_edit);
  ADD_DOCUMENT_TEST ("/document/pin/preview", test_preview);
  ADD_DOCUMENT_TEST ("/document/pin/device", test_device);
  ADD_DOCUMENT_TEST ("/document/pin/sequence", test_sequence);
  ADD_DOCUMENT_TEST ("/document/pin/policy", test_policy);
  return g_test_run ();
}
