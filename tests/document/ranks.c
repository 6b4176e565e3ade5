/* SPDX-License-Identifier: MIT */
/* Tests documents that plan for several ranks: user settings that apply to all documents. */
#include "tests/document/case.h"

#include "ui/document/edit.h"
#include "ui/document/preview.h"
#include "ui/document/ranks.h"

#include <ligature/comparison.h>
#include <ligature/figures.h>
#include <ligature/plan.h>

#define MODEL "linear(1024) ! gelu ! linear(512) ! mean-squared-error"

static void
set_rows (LigDocument *doc, gint64 rows)
{
  LigShape shape;
  lig_shape_init (&shape, 2, rows, G_GINT64_CONSTANT (512));
  lig_edit_set_input (doc, &shape, LIG_BF16);
}

static void
begin (LigDocument *doc)
{
  lig_document_set_device (doc, "null:h200");
  fill (doc, MODEL);
  set_rows (doc, 4096);
  wait_for_plan (doc);
}

static LigCommunication
get_collective (LigDocument *doc)
{
  LigCommunication collective;
  lig_figures_of_communication (lig_document_get_plan (doc), &collective);
  return collective;
}

static gint64
get_rows (LigDocument *doc)
{
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (lig_document_get_plan (doc), &shape, &dtype);
  return shape.axes[0];
}

/* A described device may have more ranks than this machine has CPUs. */
static void
test_plan (DocumentFixture *f, gconstpointer data)
{
  begin (f->doc);
  g_assert_cmpint (get_collective (f->doc).ranks, ==, 1);
  g_assert_cmpint (get_rows (f->doc), ==, 4096);
  lig_ranks_set (f->doc, 64);
  wait_for_plan (f->doc);
  LigCommunication collective = get_collective (f->doc);
  g_assert_cmpint (collective.ranks, ==, 64);
  g_assert_cmpint (get_rows (f->doc), ==, 64);
  g_assert_cmpuint (collective.collectives, >, 0);
  g_assert_cmpfloat (collective.seconds, >, 0);
  g_autofree char *command = lig_document_to_command (f->doc, "fuse");
  g_assert_nonnull (strstr (command, " --ranks 64"));
  /* Another document has its own. */
  g_autoptr (LigDocument) other = lig_document_new (f->session);
  lig_document_set_device (other, lig_document_get_device (f->doc));
  g_assert_cmpint (lig_ranks_get (other), ==, 1);
  g_assert_cmpint (lig_ranks_get (f->doc), ==, 64);
  lig_ranks_set (f->doc, 1);
  wait_for_plan (f->doc);
  g_assert_cmpint (get_collective (f->doc).ranks, ==, 1);
  g_assert_cmpint (get_rows (f->doc), ==, 4096);
}

/* The ranks of a TP group have all rows and a shard of the weights. */
static void
test_layout (DocumentFixture *f, gconstpointer data)
{
  const LigLayout layout = {
    .sizes = {[LIG_GROUP_DATA] = 2, [LIG_GROUP_CONTEXT] = 1, [LIG_GROUP_TENSOR] = 2}};
  begin (f->doc);
  gint64 whole = lig_plan_get_state_bytes (lig_document_get_plan (f->doc));
  fill (f->doc, "linear(1024, parallel=column) ! gelu ! linear(512, parallel=row) ! "
                "mean-squared-error");
  lig_ranks_set (f->doc, 4);
  lig_ranks_set_layout (f->doc, &layout);
  wait_for_plan (f->doc);
  g_assert_cmpint (get_collective (f->doc).ranks, ==, 4);
  g_assert_cmpint (get_rows (f->doc), ==, 2048);
  g_assert_cmpint (lig_plan_get_state_bytes (lig_document_get_plan (f->doc)), <, whole * 2 / 3);
  g_autofree char *command = lig_document_to_command (f->doc, "plan");
  g_assert_nonnull (strstr (command, " --ranks 4 --parallel data=2,tensor=2"));
}

/* Ranks share the experts of a sequence that divides them; for another one they are data-parallel.
 */
static void
test_experts (DocumentFixture *f, gconstpointer data)
{
  const LigLayout layout = {.sizes = {4, 1, 1}, .expert = 2};
  begin (f->doc);
  g_assert_false (lig_ranks_share_experts (f->doc));
  fill (f->doc, "mixture-of-experts(8, expert-features=64, parallel=expert) ! mean-squared-error");
  g_assert_true (lig_ranks_share_experts (f->doc));
  wait_for_plan (f->doc);
  gint64 whole = lig_plan_get_state_bytes (lig_document_get_plan (f->doc));
  lig_ranks_set (f->doc, 4);
  lig_ranks_set_layout (f->doc, &layout);
  wait_for_plan (f->doc);
  g_assert_cmpint (get_collective (f->doc).ranks, ==, 4);
  g_assert_cmpint (lig_plan_get_state_bytes (lig_document_get_plan (f->doc)), <, whole * 2 / 3);
  g_autofree char *command = lig_document_to_command (f->doc, "plan");
  g_assert_nonnull (strstr (command, " --ranks 4 --parallel data=4,expert=2"));
  fill (f->doc, "mixture-of-experts(8, expert-features=64) ! mean-squared-error");
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
  g_autofree char *plain = lig_document_to_command (f->doc, "plan");
  g_assert_nonnull (strstr (plain, " --ranks 4"));
  g_assert_null (strstr (plain, "--parallel"));
}

/* A batch that the ranks cannot share is a problem; the plan is for one rank until it is fixed. */
static void
test_batch (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  begin (f->doc);
  lig_ranks_set (f->doc, 3);
  wait_for_plan (f->doc);
  const LigProblem *problem = lig_document_get_problem (f->doc, 0);
  g_assert_nonnull (problem);
  g_assert_true (problem->whole);
  g_assert_cmpstr (problem->text, ==,
                   "the batch size is 4096, expected a multiple of 3, the number of ranks");
  g_assert_cmpint (get_collective (f->doc).ranks, ==, 1);
  g_assert_cmpuint (problem->fixes->len, ==, 1);
  gboolean fixed = lig_edit_fix_problem (f->doc, problem->fixes->pdata[0], &error);
  g_assert_no_error (error);
  g_assert_true (fixed);
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
  g_assert_cmpint (get_rows (f->doc), ==, 1365);
  g_assert_cmpint (get_collective (f->doc).ranks, ==, 3);
}

/* A preview uses the same number of ranks. */
static void
test_preview (DocumentFixture *f, gconstpointer data)
{
  begin (f->doc);
  lig_ranks_set (f->doc, 8);
  wait_for_plan (f->doc);
  lig_document_preview (f->doc, NULL, NULL, LIG_POLICY_NONE, "no fusions");
  WAIT_FOR (lig_document_get_preview (f->doc) || lig_document_get_preview_problem (f->doc));
  g_assert_cmpstr (lig_document_get_preview_problem (f->doc), ==, NULL);
  LigPlan *plan = lig_plan_comparison_get_after (lig_document_get_preview (f->doc));
  LigCommunication collective;
  lig_figures_of_communication (plan, &collective);
  g_assert_cmpint (collective.ranks, ==, 8);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/document/ranks/plan", test_plan);
  ADD_DOCUMENT_TEST ("/document/ranks/layout", test_layout);
  ADD_DOCUMENT_TEST ("/document/ranks/experts", test_experts);
  ADD_DOCUMENT_TEST ("/document/ranks/batch", test_batch);
  ADD_DOCUMENT_TEST ("/document/ranks/preview", test_preview);
  return g_test_run ();
}
