/* SPDX-License-Identifier: MIT */
/* Channels of a document: connecting into blocks, renaming all ends, disconnecting, and the ends
 * that lead nowhere; and the fixes of its problems. */
#include "tests/document/case.h"
#include "ui/document/edit.h"
#include "ui/document/ends.h"

static LigOp *
open_at (LigDocument *doc, const char *path)
{
  LigOp *op = lig_sequence_find (lig_document_get_sequence (doc), path, NULL);
  g_assert_nonnull (op);
  return op;
}

/* A reader in a block reads a channel from outside; a block's own channel stays inside. */
static void
test_into_block (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f->doc, "make-extra-output ! block(2) { make-extra-output ! block(2) { add-extra-input } } "
                "! add-extra-input");
  lig_document_set_open (f->doc, open_at (f->doc, "1"), TRUE);
  lig_document_set_open (f->doc, open_at (f->doc, "1.0.1"), TRUE);
  LigOp *outer = open_at (f->doc, "0"), *inner = open_at (f->doc, "1.0.0");
  LigOp *deep = open_at (f->doc, "1.0.1.0.0"), *last = open_at (f->doc, "2");
  g_assert_true (lig_edit_can_connect (f->doc, outer, deep));
  g_assert_true (lig_edit_can_connect (f->doc, inner, deep));
  g_assert_false (lig_edit_can_connect (f->doc, inner, last));
  g_assert_false (lig_edit_can_connect (f->doc, deep, last));
  g_assert_true (lig_edit_connect (f->doc, outer, deep, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (lig_op_get_extra_input_channel (deep, 0), ==, "../../residual");
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
  g_assert_true (lig_ends_find_producer (f->doc, deep, 0) == outer);
  g_assert_false (lig_edit_connect (f->doc, inner, last, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_CHANNEL);
}

/* All ends have the new name, in one edit. */
static void
test_rename (DocumentFixture *f, gconstpointer data)
{
  const char *const text = "make-extra-output(r) ! block(2) { add-extra-input(../r) } ! "
                           "add-extra-input(r) ! make-extra-output(s) ! add-extra-input(s)";
  g_autoptr (GError) error = NULL;
  fill (f->doc, text);
  LigOp *from = open_at (f->doc, "0");
  g_assert_true (lig_edit_rename_channel (f->doc, from, "r", "skip", &error));
  assert_text (f->doc, "make-extra-output(skip) ! block(2) { add-extra-input(../skip) } ! "
                       "add-extra-input(skip) ! make-extra-output(s) ! add-extra-input(s)");
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Rename “r” to “skip”");
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
  lig_document_undo (f->doc);
  assert_text (f->doc, text);
  /* Rejected names leave the sequence unchanged. */
  const char *const wrong[] = {"", "s", "../r", "a/b"};
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_assert_false (lig_edit_rename_channel (f->doc, open_at (f->doc, "0"), "r", wrong[i], &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_CHANNEL);
    g_clear_error (&error);
    assert_text (f->doc, text);
  }
}

/* A copied branch gets its own channel; the rows below keep theirs. */
static void
test_copies (DocumentFixture *f, gconstpointer data)
{
  const char *const text = "make-extra-output(r) ! gelu ! add-extra-input(r) ! add-extra-input(r)";
  fill (f->doc, text);
  for (int i = 0; i < 3; i++) {
    g_autofree char *path = g_strdup_printf ("%d", i);
    lig_document_select (f->doc, open_at (f->doc, path), LIG_SELECT_TOGGLE);
  }
  g_assert_cmpuint (lig_edit_duplicate (f->doc), ==, 3);
  assert_text (f->doc, "make-extra-output(r) ! gelu ! add-extra-input(r) ! "
                       "make-extra-output(r-2) ! gelu ! add-extra-input(r-2) ! "
                       "add-extra-input(r)");
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
  /* Pasted once more; ops that were cut keep their names. */
  g_autofree char *copied = lig_edit_copy (f->doc);
  g_assert_true (lig_edit_paste (f->doc, copied, NULL));
  g_assert_cmpstr (lig_op_get_extra_output_channel (open_at (f->doc, "6"), 0), ==, "r-3");
  g_autofree char *cut = lig_edit_copy (f->doc);
  lig_edit_delete (f->doc);
  g_assert_true (lig_edit_paste (f->doc, cut, NULL));
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
}

/* Disconnecting the last reader removes the branch. */
static void
test_disconnect (DocumentFixture *f, gconstpointer data)
{
  fill (f->doc, "make-extra-output(r) ! add-extra-input(r) ! add-extra-input(r)");
  lig_edit_disconnect_channel (f->doc, open_at (f->doc, "0"), open_at (f->doc, "1"), "r");
  assert_text (f->doc, "make-extra-output(r) ! add-extra-input ! add-extra-input(r)");
  lig_edit_disconnect_channel (f->doc, open_at (f->doc, "0"), open_at (f->doc, "2"), "r");
  assert_text (f->doc, "make-extra-output ! add-extra-input ! add-extra-input");
  lig_document_undo (f->doc);
  assert_text (f->doc, "make-extra-output(r) ! add-extra-input ! add-extra-input(r)");
}

static void
expect_end (LigDocument *doc, const char *path, LigEnd end, const char *expected)
{
  g_autofree char *text = NULL;
  g_assert_cmpint (lig_ends_find (doc, open_at (doc, path), &text), ==, end);
  g_assert_cmpstr (text, ==, expected);
}

static void
test_ends (DocumentFixture *f, gconstpointer data)
{
  fill (f->doc, "make-extra-output(r) ! add-extra-input(r) ! make-extra-output(lost) ! "
                "make-extra-output ! add-extra-input ! add-extra-input(none) ! mean-squared-error");
  expect_end (f->doc, "0", LIG_END_FINE, NULL);
  expect_end (f->doc, "1", LIG_END_FINE, NULL);
  expect_end (f->doc, "2", LIG_END_UNREAD, "nothing reads “lost”");
  expect_end (f->doc, "3", LIG_END_CALLER, "to the caller");
  /* A data set cannot feed it. */
  expect_end (f->doc, "4", LIG_END_OPEN, "no branch");
  expect_end (f->doc, "5", LIG_END_MISSING, "nothing above writes “none”");
  /* A data set feeds the targets. */
  expect_end (f->doc, "6", LIG_END_FINE, NULL);
  fill (f->doc, "gelu ! add-extra-input");
  expect_end (f->doc, "1", LIG_END_CALLER, "from the caller");
  g_assert_null (lig_ends_find_open (f->doc));
}

/* The second of a pair finds the open end of the first, and the other way round. */
static void
test_partners (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f->doc, "make-extra-output(lost) ! make-extra-output(r) ! add-extra-input(r) ! "
                "block() { add-extra-input } ! linear(768) ! multi-head-attention(4) ! "
                "mean-squared-error");
  lig_document_set_open (f->doc, open_at (f->doc, "3"), TRUE);
  LigOp *start = open_at (f->doc, "0"), *reader = open_at (f->doc, "3.0.0");
  g_assert_true (lig_edit_find_partner (f->doc, start) == reader);
  g_assert_true (lig_edit_find_partner (f->doc, reader) == start);
  g_assert_true (lig_ends_find_open (f->doc) == reader);
  for (const char *const *path = (const char *const[]){"1", "2", "4", "5", "6", NULL}; *path;
       path++)
    g_assert_null (lig_edit_find_partner (f->doc, open_at (f->doc, *path)));
  g_assert_true (lig_edit_connect_selection (f->doc, reader, &error));
  g_assert_no_error (error);
  g_assert_null (lig_ends_find_open (f->doc));
  g_assert_null (lig_edit_find_partner (f->doc, start));
  expect_end (f->doc, "0", LIG_END_FINE, NULL);
}

/* All problems are listed in row order, and each fix is one edit that can be undone. */
static void
test_problems (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  const char *const text = "linear(8, in-features=9) ! gelu ! add-extra-input(none) ! "
                           "layer-norm([5])";
  const char *const paths[] = {"0", "2", "3"};
  fill (f->doc, text);
  wait_for_plan (f->doc);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    const LigProblem *problem = lig_document_get_problem (f->doc, i);
    g_assert_nonnull (problem);
    g_assert_cmpstr (problem->path, ==, paths[i]);
    g_assert_cmpuint (problem->fixes->len, >, 0);
    g_assert_true (lig_document_find_problem (f->doc, open_at (f->doc, paths[i])) == problem);
  }
  g_assert_null (lig_document_get_problem (f->doc, 3));
  g_assert_null (lig_document_find_problem (f->doc, open_at (f->doc, "1")));
  for (guint left = 3; left > 0; left--) {
    const LigProblem *problem = lig_document_get_problem (f->doc, 0);
    g_autoptr (LigProblemFix) fix = lig_problem_fix_copy (problem->fixes->pdata[0]);
    g_assert_true (lig_edit_fix_problem (f->doc, fix, &error));
    g_assert_no_error (error);
    wait_for_plan (f->doc);
    g_assert_true ((lig_document_get_problem (f->doc, left - 1) == NULL));
  }
  assert_text (f->doc, "linear(8, in-features=768) ! gelu ! add-extra-input ! layer-norm");
  lig_document_undo (f->doc);
  lig_document_undo (f->doc);
  lig_document_undo (f->doc);
  assert_text (f->doc, text);
}

/* A plan that does not fit its device offers a batch size that fits. */
static void
test_memory (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  lig_document_set_device (f->doc, "null:h200");
  fill_with (f->doc, "linear(65536) ! gelu ! linear(65536) ! gelu", "4000000x64:fp32", NULL);
  wait_for_plan (f->doc);
  const LigProblem *problem = lig_document_get_problem (f->doc, 0);
  g_assert_nonnull (problem);
  g_assert_true (problem->whole);
  g_assert_cmpuint (problem->fixes->len, ==, 1);
  g_autoptr (LigProblemFix) fix = lig_problem_fix_copy (problem->fixes->pdata[0]);
  g_assert_true (lig_edit_fix_problem (f->doc, fix, &error));
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
}

/* A folded block has the problems of its ops. */
static void
test_folded (DocumentFixture *f, gconstpointer data)
{
  fill (f->doc, "gelu ! block(3) { relu ! layer-norm([5]) }");
  wait_for_plan (f->doc);
  LigOp *block = open_at (f->doc, "1"), *norm = open_at (f->doc, "1.0.1");
  lig_document_set_open (f->doc, block, FALSE);
  g_assert_nonnull (lig_document_find_problem (f->doc, block));
  lig_document_set_open (f->doc, block, TRUE);
  g_assert_null (lig_document_find_problem (f->doc, block));
  g_assert_nonnull (lig_document_find_problem (f->doc, norm));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/document/channel/into-block", test_into_block);
  ADD_DOCUMENT_TEST ("/document/channel/rename", test_rename);
  ADD_DOCUMENT_TEST ("/document/channel/copies", test_copies);
  ADD_DOCUMENT_TEST ("/document/channel/disconnect", test_disconnect);
  ADD_DOCUMENT_TEST ("/document/channel/ends", test_ends);
  ADD_DOCUMENT_TEST ("/document/channel/partners", test_partners);
  ADD_DOCUMENT_TEST ("/document/channel/problems", test_problems);
  ADD_DOCUMENT_TEST ("/document/channel/memory", test_memory);
  ADD_DOCUMENT_TEST ("/document/channel/folded", test_folded);
  return g_test_run ();
}
