/* SPDX-License-Identifier: MIT */
/* The check of a document's plan: its findings belong to the groups that were checked, and a fusion
 * that computes wrong numbers is found. */
#include "ui/document/check.h"

#include "tests/document/case.h"
#include "ui/document/edit.h"
#include <ligature/fusion.h>
#include <ligature/kernels.h>
#include <ligature/lowering.h>

/* x + bias is correct, but y is a 128th of it instead of gelu. */
static LigStatus
run_wrong (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const float *x = o[0].data, *bias = o[1].data;
  float *sum = o[2].data, *y = o[3].data;
  for (int64_t i = 0; i < o[0].size; i++) {
    float value = x[i] + bias[i % o[1].size];
    if (sum)
      sum[i] = value;
    y[i] = 0x1p-7F * value;
  }
  return LIG_OK;
}

static const LigKernel wrong_kernel = {.size = sizeof (LigKernel),
                                       .name = "wrong",
                                       .signature = "x bias -> sum y",
                                       .work = 1,
                                       .types = LIG_FLOATING_TYPES,
                                       .functions = {[LIG_BACKEND_CPU] = run_wrong}};

static void
lower_wrong (LigLowering *lowering)
{
  lig_lower_custom (lowering, &wrong_kernel, "x=0.x bias=0.bias sum=1.x y=1.y", NULL, 0);
}

static const LigFusion wrong = {.size = sizeof (LigFusion),
                                .name = "forward-wrong",
                                .pass = LIG_PASS_FORWARD,
                                .summary = "Wrong numbers",
                                .pattern = "bias qgelu",
                                .lower = lower_wrong};

static void
set_up (DocumentFixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "cpu");
}

static void
tear_down (DocumentFixture *f, gconstpointer data)
{
  free_document (f->folder, f->session, f->doc);
}

static void
open_sequence (DocumentFixture *f, const char *expression)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_shape_init (&shape, 2, (gint64) 16, (gint64) 8);
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  lig_document_replace (f->doc, sequence, "Open");
  WAIT_FOR (!lig_document_is_stale (f->doc) && lig_document_get_plan (f->doc));
}

static void
check_plan (DocumentFixture *f)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) again = NULL;
  g_assert_true (lig_document_check_plan (f->doc, &error));
  g_assert_no_error (error);
  g_assert_true (lig_document_is_checking (f->doc));
  g_assert_false (lig_document_check_plan (f->doc, &again));
  g_assert_error (again, LIG_ERROR, LIG_ERROR_VALUE);
  WAIT_FOR (!lig_document_is_checking (f->doc));
}

/* Findings belong to their groups: an edit hides them, and undoing the edit shows them again. */
static void
test_right (DocumentFixture *f, gconstpointer data)
{
  open_sequence (f, "layer-norm ! linear(16) ! gelu ! linear(4)");
  check_plan (f);
  g_autofree char *text = lig_document_describe_check (f->doc);
  g_assert_nonnull (strstr (text, "groups agree up to rounding"));
  guint count;
  LigPlan *plan = lig_document_get_plan (f->doc);
  lig_plan_get_groups (plan, LIG_PASS_FORWARD, &count);
  for (guint i = 0; i < count; i++)
    g_assert_cmpint (lig_document_get_group_check (f->doc, LIG_PASS_FORWARD, i), ==,
                     LIG_CHECK_INSIDE);
  open_sequence (f, "layer-norm ! linear(16) ! relu ! linear(4)");
  g_assert_null (lig_document_get_check (f->doc));
  g_assert_cmpint (lig_document_get_group_check (f->doc, LIG_PASS_FORWARD, 0), ==,
                   LIG_CHECK_UNKNOWN);
  lig_document_undo (f->doc);
  WAIT_FOR (!lig_document_is_stale (f->doc) && lig_document_get_check (f->doc));
}

static void
test_wrong (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_assert_true (lig_register_fusion (&wrong, TRUE, &error));
  g_assert_no_error (error);
  open_sequence (f, "layer-norm ! bias ! qgelu ! linear(4)");
  check_plan (f);
  g_autofree char *text = lig_document_describe_check (f->doc);
  g_test_message ("%s", text);
  guint count;
  const LigPlanGroup *groups =
    lig_plan_get_groups (lig_document_get_plan (f->doc), LIG_PASS_FORWARD, &count);
  for (guint i = 0; i < count; i++) {
    LigCheck found = lig_document_get_group_check (f->doc, LIG_PASS_FORWARD, i);
    /* The matmul after it is correct, but reads wrong numbers, so it is outside, too. */
    if (groups[i].first == 0)
      g_assert_cmpint (found, ==, LIG_CHECK_INSIDE);
    if (groups[i].fusion && g_str_equal (groups[i].fusion->name, "forward-wrong"))
      g_assert_cmpint (found, ==, LIG_CHECK_OUTSIDE);
  }
  g_assert_nonnull (strstr (text, "(forward-wrong) is outside"));
}

static void
test_rejected (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  lig_document_set_device (f->doc, "null:h200");
  WAIT_FOR (!lig_document_is_stale (f->doc));
  g_assert_false (lig_document_check_plan (f->doc, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_null (lig_document_describe_check (f->doc));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/document-check/right", DocumentFixture, NULL, set_up, test_right, tear_down);
  g_test_add ("/document-check/wrong", DocumentFixture, NULL, set_up, test_wrong, tear_down);
  g_test_add ("/document-check/rejected", DocumentFixture, NULL, set_up, test_rejected, tear_down);
  return g_test_run ();
}
