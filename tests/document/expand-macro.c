/* SPDX-License-Identifier: MIT */
/* Expanding and folding macros, as edits and as rows of a document. */
#include "tests/document/case.h"
#include "ui/document/edit.h"

#include <ligature/lowering.h>
#include <ligature/register.h>

static void
expand_layer (LigOp *self, LigParts *parts)
{
  LigOp *branch = lig_op_new ("make-extra-output", NULL);
  LigOp *join = lig_op_new ("add-extra-input", NULL);
  g_assert_true (lig_op_set_extra_output_channel (branch, 0, "r", FALSE, NULL));
  g_assert_true (lig_op_set_extra_input_channel (join, 0, "r", NULL));
  lig_parts_add (parts, NULL, branch);
  lig_parts_add (parts, "norm", lig_op_new ("layer-norm", NULL));
  lig_parts_add (parts, NULL, lig_op_new ("gelu", NULL));
  lig_parts_add (parts, NULL, join);
}

static const LigOpInfo layer = {
  LIG_OP_INFO_SIZES,
  .name = "test-layer",
  .title = "Test layer",
  .category = "Other",
  .summary = "Stands for several",
  .example = "test-layer @ 4x8",
  .expand = expand_layer,
};

static void
select_at (LigDocument *doc, const char *path)
{
  lig_document_select (doc, op_at (doc, path), LIG_SELECT_ONLY);
}

static void
test_edit (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f->doc, "make-extra-output(r) ! test-layer ! add-extra-input(r)");
  select_at (f->doc, "1");
  g_assert_true (lig_edit_ungroup (f->doc, &error));
  assert_text (f->doc, "make-extra-output(r) ! make-extra-output(r-2) ! layer-norm ! gelu ! "
                       "add-extra-input(r-2) ! add-extra-input(r)");
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Expand Test layer");
  for (int i = 0; i < 6; i++) {
    g_autofree char *path = g_strdup_printf ("%d", i);
    g_assert_cmpint (lig_document_is_selected (f->doc, op_at (f->doc, path)), ==, i > 0 && i < 5);
  }
  lig_document_undo (f->doc);
  assert_text (f->doc, "make-extra-output(r) ! test-layer ! add-extra-input(r)");
  lig_document_redo (f->doc);
  select_at (f->doc, "2");
  g_assert_false (lig_edit_ungroup (f->doc, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
  g_assert_cmpstr (error->message, ==, "only a block or a macro can be expanded");
}

/* A macro with few parts does not fold, one with many starts folded; edits keep opened rows open.
 */
static void
test_folding (DocumentFixture *f, gconstpointer data)
{
  guint count;
  g_autoptr (GError) error = NULL;
  fill (f->doc, "linear(768) ! block(2) { test-layer ! gelu }");
  g_assert_false (lig_row_folds (op_at (f->doc, "0")));
  lig_document_set_open (f->doc, op_at (f->doc, "0"), TRUE);
  g_assert_false (lig_document_get_rows (f->doc, &count)[0].open);
  g_assert_cmpuint (count, ==, 2);
  lig_document_open_blocks (f->doc);
  const LigRow *rows = lig_document_get_rows (f->doc, &count);
  g_assert_cmpuint (count, ==, 4);
  g_assert_true (rows[1].open && rows[2].folds && !rows[2].open);
  lig_document_set_open (f->doc, op_at (f->doc, "1.0.0"), TRUE);
  g_assert_true (lig_document_get_rows (f->doc, &count)[2].open);
  g_assert_cmpuint (count, ==, 4);
  select_at (f->doc, "0");
  g_assert_true (lig_edit_add (f->doc, "gelu", &error));
  lig_document_undo (f->doc);
  rows = lig_document_get_rows (f->doc, &count);
  g_assert_true (rows[1].open && rows[2].open);
  lig_document_set_all_open (f->doc, FALSE);
  lig_document_get_rows (f->doc, &count);
  g_assert_cmpuint (count, ==, 2);
  lig_document_set_all_open (f->doc, TRUE);
  g_assert_true (lig_document_get_rows (f->doc, &count)[2].open);
}

/* The fence moves to the first part, and the parts compile. */
static void
test_fence (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f->doc, "gelu ! test-layer");
  lig_edit_set_fence (f->doc, op_at (f->doc, "1"), TRUE);
  select_at (f->doc, "1");
  g_assert_true (lig_edit_ungroup (f->doc, &error));
  assert_text (f->doc, "gelu ! | ! make-extra-output(r) ! layer-norm ! gelu ! add-extra-input(r)");
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_test_init (&argc, &argv, NULL);
  lig_register_op (&layer, &error);
  g_assert_no_error (error);
  ADD_DOCUMENT_TEST ("/document/expand-macro/edit", test_edit);
  ADD_DOCUMENT_TEST ("/document/expand-macro/folding", test_folding);
  ADD_DOCUMENT_TEST ("/document/expand-macro/fence", test_fence);
  return g_test_run ();
}
