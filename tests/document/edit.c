/* SPDX-License-Identifier: MIT */
/* Tests that each edit of a document can be made and undone. */
#include "ui/document/edit.h"
#include "tests/document/case.h"

static void
test_insert (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_assert_true (lig_edit_add (f->doc, "layer-norm", &error));
  g_assert_true (lig_edit_add (f->doc, "linear", &error));
  wait_for_plan (f->doc);
  assert_text (f->doc, "layer-norm ! linear(768)");
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Add Linear");
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  g_assert_true (lig_edit_add (f->doc, "gelu", &error));
  assert_text (f->doc, "layer-norm ! gelu ! linear(768)");
  g_assert_true (lig_document_is_selected (f->doc, op_at (f->doc, "1")));
  g_assert_false (lig_edit_add (f->doc, "gelo", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
  lig_document_undo (f->doc);
  lig_document_undo (f->doc);
  assert_text (f->doc, "layer-norm");
  lig_document_redo (f->doc);
  assert_text (f->doc, "layer-norm ! linear(768)");
  g_assert_cmpstr (lig_document_get_redo_label (f->doc), ==, "Add GELU");
}

static void
test_move (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f->doc, "gelu ! relu ! silu ! identity");
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  lig_document_select (f->doc, op_at (f->doc, "2"), LIG_SELECT_TOGGLE);
  g_assert_true (lig_edit_move (f->doc, lig_document_get_sequence (f->doc), 4, &error));
  assert_text (f->doc, "relu ! identity ! gelu ! silu");
  lig_edit_move_by (f->doc, -1);
  assert_text (f->doc, "relu ! gelu ! silu ! identity");
  lig_edit_move_by (f->doc, 1);
  lig_edit_move_by (f->doc, 1);
  assert_text (f->doc, "relu ! identity ! gelu ! silu");
  g_assert_cmpuint (lig_edit_duplicate (f->doc), ==, 2);
  assert_text (f->doc, "relu ! identity ! gelu ! silu ! gelu ! silu");
  g_assert_cmpuint (lig_edit_delete (f->doc), ==, 2);
  assert_text (f->doc, "relu ! identity ! gelu ! silu");
  for (int i = 0; i < 6; i++)
    lig_document_undo (f->doc);
  assert_text (f->doc, "");
}

static void
test_block (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f->doc, "layer-norm ! gelu ! relu ! silu");
  lig_document_select (f->doc, op_at (f->doc, "1"), LIG_SELECT_ONLY);
  lig_document_select (f->doc, op_at (f->doc, "2"), LIG_SELECT_RANGE);
  g_assert_true (lig_edit_group (f->doc, 3, &error));
  assert_text (f->doc, "layer-norm ! block(3) { gelu ! relu } ! silu");
  guint count;
  lig_document_get_rows (f->doc, &count);
  g_assert_cmpuint (count, ==, 5);
  LigOp *block = op_at (f->doc, "1");
  g_assert_true (op_at (f->doc, "1.2.1") == op_at (f->doc, "1.0.1"));
  lig_document_select (f->doc, block, LIG_SELECT_ONLY);
  g_assert_false (lig_edit_move (f->doc, lig_op_get_body (block), 0, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
  g_clear_error (&error);
  wait_for_plan (f->doc);
  lig_document_find_parts (f->doc, "1", &count);
  g_assert_cmpuint (count, ==, 6);
  lig_document_set_open (f->doc, block, FALSE);
  g_assert_true (op_at (f->doc, "1.0.1") == block);
  /* The repetitions become blocks, so the sequence computes the same. */
  g_assert_true (lig_edit_ungroup (f->doc, &error));
  assert_text (f->doc, "layer-norm ! block() { gelu ! relu } ! block() { gelu ! relu } ! "
                       "block() { gelu ! relu } ! silu");
  for (int i = 3; i > 0; i--) {
    g_autofree char *path = g_strdup_printf ("%d", i);
    lig_document_select (f->doc, op_at (f->doc, path), LIG_SELECT_ONLY);
    g_assert_true (lig_edit_ungroup (f->doc, &error));
  }
  assert_text (f->doc, "layer-norm ! gelu ! relu ! gelu ! relu ! gelu ! relu ! silu");
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  lig_document_select (f->doc, op_at (f->doc, "2"), LIG_SELECT_TOGGLE);
  g_assert_false (lig_edit_group (f->doc, 2, &error));
}

/* Keys move rows into and out of blocks; a block that moves remains open. */
static void
test_into_block (DocumentFixture *f, gconstpointer data)
{
  guint count;
  g_autoptr (GError) error = NULL;
  fill (f->doc, "gelu ! block(2) { relu } ! silu");
  LigOp *block = op_at (f->doc, "1");
  lig_document_set_open (f->doc, block, TRUE);
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  lig_edit_move_by (f->doc, 1);
  assert_text (f->doc, "block(2) { gelu ! relu } ! silu");
  lig_document_get_rows (f->doc, &count);
  g_assert_cmpuint (count, ==, 4);
  lig_edit_move_by (f->doc, 1);
  lig_edit_move_by (f->doc, 1);
  assert_text (f->doc, "block(2) { relu } ! gelu ! silu");
  lig_edit_move_by (f->doc, -1);
  lig_edit_move_by (f->doc, -1);
  lig_edit_move_by (f->doc, -1);
  assert_text (f->doc, "gelu ! block(2) { relu } ! silu");
  lig_document_undo (f->doc);
  lig_document_get_rows (f->doc, &count);
  g_assert_cmpuint (count, ==, 4);
  lig_document_select (f->doc, op_at (f->doc, "0.0.0"), LIG_SELECT_ONLY);
  lig_document_select (f->doc, op_at (f->doc, "0.0.1"), LIG_SELECT_TOGGLE);
  lig_edit_delete (f->doc);
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  lig_document_set_open (f->doc, op_at (f->doc, "0"), FALSE);
  g_assert_true (lig_edit_add (f->doc, "gelu", &error));
  assert_text (f->doc, "block(2) { gelu } ! silu");
  g_assert_true (lig_document_is_selected (f->doc, op_at (f->doc, "0.0.0")));
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  lig_edit_set_fence (f->doc, op_at (f->doc, "0"), TRUE);
  g_assert_true (lig_edit_ungroup (f->doc, &error));
  g_assert_true (lig_op_get_fence (op_at (f->doc, "0")));
}

/* When a block is expanded, its ops inherit its settings. */
static void
test_block_settings (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *own = NULL, *inherited = NULL;
  fill (f->doc,
        "block(1, recipe=fp8-rows, trained=false) { linear(16) ! linear(16, recipe=none) }");
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  g_assert_true (lig_edit_ungroup (f->doc, &error));
  g_object_get (op_at (f->doc, "0"), "recipe", &inherited, NULL);
  g_object_get (op_at (f->doc, "1"), "recipe", &own, NULL);
  g_assert_cmpstr (inherited, ==, "fp8-rows");
  g_assert_cmpstr (own, ==, "none");
  g_assert_false (lig_op_get_trained (op_at (f->doc, "0")));
  g_assert_false (lig_op_get_trained (op_at (f->doc, "1")));
}

static void
test_wishes (DocumentFixture *f, gconstpointer data)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;
  fill (f->doc, "linear(64) ! gelu ! linear(32)");
  g_value_init (&value, G_TYPE_INT64);
  for (int i = 100; i < 104; i++) {
    g_value_set_int64 (&value, i);
    g_assert_true (
      lig_edit_set_value (f->doc, op_at (f->doc, "0"), "out-features", &value, &error));
  }
  assert_text (f->doc, "linear(103) ! gelu ! linear(32)");
  lig_document_undo (f->doc);
  assert_text (f->doc, "linear(64) ! gelu ! linear(32)");
  lig_edit_set_fence (f->doc, op_at (f->doc, "1"), TRUE);
  assert_text (f->doc, "linear(64) ! | ! gelu ! linear(32)");
  lig_edit_move_fence (f->doc, op_at (f->doc, "1"), op_at (f->doc, "2"));
  assert_text (f->doc, "linear(64) ! gelu ! | ! linear(32)");
  lig_edit_forbid (f->doc, NULL, "forward-linear-bias-activation", TRUE);
  lig_edit_set_batch (f->doc, 17);
  wait_for_plan (f->doc);
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (lig_document_get_plan (f->doc), &shape, &dtype);
  g_assert_cmpint (shape.axes[0], ==, 17);
  g_value_set_int64 (&value, -4);
  g_assert_false (lig_edit_set_value (f->doc, op_at (f->doc, "0"), "out-features", &value, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
}

static void
test_connect (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f->doc, "make-extra-output ! gelu ! add-extra-input");
  LigOp *from = op_at (f->doc, "0"), *to = op_at (f->doc, "2");
  g_assert_false (lig_edit_connect (f->doc, to, from, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_CHANNEL);
  g_clear_error (&error);
  g_assert_true (lig_edit_connect (f->doc, from, to, &error));
  assert_text (f->doc, "make-extra-output(residual) ! gelu ! add-extra-input(residual)");
  lig_edit_disconnect (f->doc, to);
  lig_document_undo (f->doc);
  assert_text (f->doc, "make-extra-output(residual) ! gelu ! add-extra-input(residual)");
}

static void
test_by_key (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f->doc, "make-extra-output ! linear(768) ! add-extra-input");
  wait_for_plan (f->doc);
  g_assert_true (lig_edit_connect_selection (f->doc, op_at (f->doc, "2"), &error));
  g_assert_cmpstr (lig_op_get_extra_input_channel (op_at (f->doc, "2"), 0), ==, "residual");
  g_assert_false (lig_edit_connect_selection (f->doc, op_at (f->doc, "0"), &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_CHANNEL);
  g_clear_error (&error);
  g_assert_false (lig_edit_connect_selection (f->doc, op_at (f->doc, "1"), &error));
  g_clear_error (&error);
  wait_for_plan (f->doc);
  g_assert_true (lig_edit_toggle_forbidden (f->doc, op_at (f->doc, "1"), &error));
  g_assert_cmpstr (lig_op_get_forbidden (op_at (f->doc, "1"))[0], ==, "forward-linear-bias-add");
  g_assert_true (lig_edit_toggle_forbidden (f->doc, op_at (f->doc, "1"), &error));
  g_assert_null (lig_op_get_forbidden (op_at (f->doc, "1"))[0]);
  g_assert_false (lig_edit_toggle_forbidden (f->doc, op_at (f->doc, "2"), &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FUSION);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/document/edit/insert", test_insert);
  ADD_DOCUMENT_TEST ("/document/edit/move", test_move);
  ADD_DOCUMENT_TEST ("/document/edit/block", test_block);
  ADD_DOCUMENT_TEST ("/document/edit/into-block", test_into_block);
  ADD_DOCUMENT_TEST ("/document/edit/block-settings", test_block_settings);
  ADD_DOCUMENT_TEST ("/document/edit/wishes", test_wishes);
  ADD_DOCUMENT_TEST ("/document/edit/connect", test_connect);
  ADD_DOCUMENT_TEST ("/document/edit/by-key", test_by_key);
  return g_test_run ();
}
