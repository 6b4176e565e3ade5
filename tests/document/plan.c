/* SPDX-License-Identifier: MIT */
/* Tests documents whose plan is partial or does not fit its device. */
#include "tests/document/case.h"
#include "ui/document/edit.h"

static void
test_problems (DocumentFixture *f, gconstpointer data)
{
  fill (f->doc, "layer-norm ! linear(64) ! linear(32, in-features=65) ! gelu");
  wait_for_plan (f->doc);
  const LigProblem *problem = lig_document_get_problem (f->doc, 0);
  g_assert_nonnull (problem);
  g_assert_cmpstr (problem->path, ==, "2");
  g_assert_nonnull (strstr (problem->text, "65"));
  guint count;
  lig_plan_get_ops (lig_document_get_plan (f->doc), &count);
  g_assert_cmpuint (count, ==, 3);
  lig_document_undo (f->doc);
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
}

/* A plan that cannot run is shown in full, with the reason. */
static void
test_too_large (DocumentFixture *f, gconstpointer data)
{
  LigShape shape;
  guint count;
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (1000000), G_GINT64_CONSTANT (1000000));
  lig_document_set_device (f->doc, "null:h200");
  fill (f->doc, "linear(2000000) ! linear(4) ! mean-squared-error");
  lig_edit_set_input (f->doc, &shape, LIG_FP32);
  wait_for_plan (f->doc);
  const LigProblem *problem = lig_document_get_problem (f->doc, 0);
  g_assert_nonnull (problem);
  g_assert_true (problem->whole && !problem->path);
  g_assert_nonnull (strstr (problem->text, "does not fit null:h200"));
  g_assert_nonnull (strstr (problem->text, "0.weight 8.00 TB"));
  lig_plan_get_ops (lig_document_get_plan (f->doc), &count);
  g_assert_cmpuint (count, ==, 5);
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (10), G_GINT64_CONSTANT (10));
  lig_edit_set_input (f->doc, &shape, LIG_FP32);
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/document/plan/problems", test_problems);
  ADD_DOCUMENT_TEST ("/document/plan/too-large", test_too_large);
  return g_test_run ();
}
