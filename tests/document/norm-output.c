/* SPDX-License-Identifier: MIT */
/* The optional output of a macro in a document: its ends, and the edits that connect it. */
#include "tests/document/case.h"
#include "ui/document/edit.h"
#include "ui/document/ends.h"

static void
expect_end (LigDocument *doc, const char *path, LigEnd end, const char *expected)
{
  g_autofree char *text = NULL;
  g_assert_cmpint (lig_ends_find (doc, op_at (doc, path), &text), ==, end);
  g_assert_cmpstr (text, ==, expected);
}

/* An unnamed output is not a channel end; a reader of the caller's value does not read it. */
static void
test_ends (DocumentFixture *f, gconstpointer data)
{
  fill (f->doc, "layer-norm-mlp ! layer-norm-mlp(norm-output=n) ! add-extra-input(n) ! "
                "layer-norm-mlp(norm-output=lost) ! layer-norm-mlp(norm-output=caller) ! "
                "multi-head-attention(2, memory=caller, mask=none)");
  expect_end (f->doc, "0", LIG_END_FINE, NULL);
  expect_end (f->doc, "1", LIG_END_FINE, NULL);
  expect_end (f->doc, "2", LIG_END_FINE, NULL);
  expect_end (f->doc, "3", LIG_END_UNREAD, "nothing reads “lost”");
  expect_end (f->doc, "4", LIG_END_CALLER, "to the caller");
  expect_end (f->doc, "5", LIG_END_CALLER, "from the caller");
  g_assert_null (lig_ends_find_producer (f->doc, op_at (f->doc, "5"), 2));
}

/* A reader is connected to a free branch, not to a macro that could start one; connected by hand,
 * the macro starts the branch, and drops it with its last reader. */
static void
test_edits (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f->doc, "make-extra-output ! layer-norm-mlp ! add-extra-input ! add-extra-input");
  g_assert_true (lig_edit_connect_selection (f->doc, op_at (f->doc, "2"), &error));
  assert_text (f->doc, "make-extra-output(residual) ! layer-norm-mlp ! add-extra-input(residual) ! "
                       "add-extra-input");
  g_assert_true (lig_edit_connect (f->doc, op_at (f->doc, "1"), op_at (f->doc, "3"), &error));
  assert_text (f->doc, "make-extra-output(residual) ! layer-norm-mlp(norm-output=residual-2) ! "
                       "add-extra-input(residual) ! add-extra-input(residual-2)");
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
  lig_edit_disconnect_channel (f->doc, op_at (f->doc, "1"), op_at (f->doc, "3"), "residual-2");
  assert_text (f->doc, "make-extra-output(residual) ! layer-norm-mlp ! add-extra-input(residual) ! "
                       "add-extra-input");
}

/* A macro that reads channels is a reader unless its own output is named. */
static void
test_start (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f->doc, "make-extra-output ! layer-norm-mlp ! multi-head-attention(2, mask=none) ! "
                "multi-head-attention(2, input-layer-norm=true, norm-output=n) ! "
                "multi-head-attention(2, input-layer-norm=true, norm-output=caller) ! gelu");
  const gboolean starts[] = {TRUE, TRUE, FALSE, TRUE, TRUE, FALSE};
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++) {
    g_autofree char *path = g_strdup_printf ("%u", i);
    g_assert_cmpint (lig_ends_can_start (op_at (f->doc, path)), ==, starts[i]);
  }
  g_assert_true (lig_edit_connect_selection (f->doc, op_at (f->doc, "2"), &error));
  g_assert_cmpstr (lig_op_get_extra_input_channel (op_at (f->doc, "2"), 0), ==, "residual");
}

/* After expansion, the branch keeps the name that its readers use; the fix for a duplicate name is
 * a new name. */
static void
test_apart (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f->doc, "layer-norm-linear(768, norm-output=n) ! add-extra-input(n)");
  wait_for_plan (f->doc);
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  g_assert_true (lig_edit_ungroup (f->doc, &error));
  assert_text (f->doc, "layer-norm ! make-extra-output(n) ! linear(768) ! add-extra-input(n)");
  fill (f->doc, "layer-norm-mlp(norm-output=n) ! layer-norm-mlp(norm-output=n) ! "
                "add-extra-input(n)");
  wait_for_plan (f->doc);
  const LigProblem *problem = lig_document_get_problem (f->doc, 0);
  g_assert_nonnull (problem);
  g_autoptr (LigProblemFix) fix = lig_problem_fix_copy (problem->fixes->pdata[0]);
  g_assert_true (lig_edit_fix_problem (f->doc, fix, &error));
  assert_text (f->doc, "layer-norm-mlp(norm-output=n) ! layer-norm-mlp(norm-output=n-2) ! "
                       "add-extra-input(n-2)");
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/document/norm-output/ends", test_ends);
  ADD_DOCUMENT_TEST ("/document/norm-output/edits", test_edits);
  ADD_DOCUMENT_TEST ("/document/norm-output/start", test_start);
  ADD_DOCUMENT_TEST ("/document/norm-output/apart", test_apart);
  return g_test_run ();
}
