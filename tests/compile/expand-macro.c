/* SPDX-License-Identifier: MIT */
/* An expanded macro computes the same, whatever channels surround it. */
#include "tests/compile/apart-case.h"

#include <ligature/lowering.h>
#include <ligature/macro.h>
#include <ligature/register.h>

static LigOp *
new_op (const char *name, gint64 features)
{
  LigOp *op = lig_op_new (name, NULL);
  g_assert_nonnull (op);
  if (features > 0)
    g_object_set (op, "out-features", features, NULL);
  return op;
}

static LigOp *
new_branch (const char *channel)
{
  LigOp *op = new_op ("make-extra-output", 0);
  g_assert_true (lig_op_set_extra_output_channel (op, 0, channel, FALSE, NULL));
  return op;
}

static LigOp *
new_join (const char *channel)
{
  LigOp *op = new_op ("add-extra-input", 0);
  g_assert_true (lig_op_set_extra_input_channel (op, 0, channel, NULL));
  return op;
}

/* A layer with its own channel, one from outside, a macro, and a block that reads both. */
static void
expand_layer (LigOp *self, LigParts *parts)
{
  LigOp *block = new_op ("block", 0);
  g_autoptr (LigOp) inner = new_join ("../r"), outer = new_join ("../../s");
  g_object_set (block, "repeat", (gint64) 2, NULL);
  g_assert_true (lig_sequence_append (lig_op_get_body (block), inner, NULL));
  g_assert_true (lig_sequence_append (lig_op_get_body (block), outer, NULL));
  lig_parts_add (parts, NULL, new_branch ("r"));
  lig_parts_add (parts, "norm", new_op ("layer-norm", 0));
  lig_parts_add (parts, "fc1", new_op ("linear", 16));
  lig_parts_add (parts, NULL, new_op ("gelu", 0));
  lig_parts_add (parts, "fc2", new_op ("linear", 8));
  lig_parts_add (parts, NULL, new_join ("r"));
  lig_parts_add (parts, NULL, new_join ("../s"));
  lig_parts_add (parts, "body", block);
}

static const LigOpInfo layer = {
  LIG_OP_INFO_SIZES,
  .name = "test-layer",
  .title = "Layer",
  .category = "Other",
  .summary = "Stands for several",
  .example = "make-extra-output(s) ! test-layer @ 4x8",
  .expand = expand_layer,
};

static void
check_text (LigSequence *sequence, const char *text)
{
  g_autofree char *got = lig_sequence_to_expression (sequence);
  g_assert_cmpstr (got, ==, text);
}

static void
test_channels (void)
{
  g_autoptr (LigSequence) whole = new_sequence (
    "make-extra-output(s) ! make-extra-output(r) ! test-layer ! add-extra-input(r) ! test-layer",
    "4x8");
  g_autoptr (LigSequence) apart = lig_sequence_copy (whole);
  expand_macro (apart, -1, 8);
  expand_macro (apart, 2, 8);
  check_text (apart,
              "make-extra-output(s) ! make-extra-output(r) ! make-extra-output(r-3) ! layer-norm ! "
              "linear(16) ! gelu ! linear(8) ! add-extra-input(r-3) ! add-extra-input(s) ! "
              "block(2) { add-extra-input(../r-3) ! add-extra-input(../s) } ! add-extra-input(r) ! "
              "make-extra-output(r-2) ! layer-norm ! linear(16) ! gelu ! linear(8) ! "
              "add-extra-input(r-2) ! add-extra-input(s) ! "
              "block(2) { add-extra-input(../r-2) ! add-extra-input(../s) }");
  compare_apart (whole, apart);
}

/* In a block, the macro's own channel name is kept if it is unused in the block's body. */
static void
test_block (void)
{
  g_autoptr (LigSequence) whole =
    new_sequence ("make-extra-output(r) ! block(2) { make-extra-output(s) ! test-layer ! "
                  "add-extra-input(../r) }",
                  "4x8");
  g_autoptr (LigSequence) apart = lig_sequence_copy (whole);
  expand_macro (lig_op_get_body (lig_sequence_get (apart, 1, NULL)), 1, 8);
  check_text (apart, "make-extra-output(r) ! block(2) { make-extra-output(s) ! "
                     "make-extra-output(r) ! layer-norm ! linear(16) ! gelu ! linear(8) ! "
                     "add-extra-input(r) ! add-extra-input(s) ! block(2) { add-extra-input(../r) "
                     "! add-extra-input(../s) } ! add-extra-input(../r) }");
  compare_apart (whole, apart);
}

static void
test_wishes (void)
{
  static const char *const forbidden[] = {"backward-add-norm", NULL};
  static const char *const forced[] = {"forward-linear-bias-activation", NULL};
  g_autoptr (LigSequence) sequence = new_sequence ("make-extra-output(s) ! test-layer", "4x8");
  LigOp *macro = lig_sequence_get (sequence, 1, NULL);
  lig_op_set_fence (macro, TRUE);
  lig_op_set_forbidden (macro, forbidden);
  lig_op_set_forced (macro, forced);
  expand_macro (sequence, 1, 8);
  g_assert_true (lig_op_get_fence (lig_sequence_get (sequence, 1, NULL)));
  g_assert_false (lig_op_get_fence (lig_sequence_get (sequence, 2, NULL)));
  for (int i = 1; i < 9; i++) {
    LigOp *part = lig_sequence_get (sequence, i, NULL);
    g_assert_true (g_strv_equal (lig_op_get_forbidden (part), forbidden));
    g_assert_cmpuint (g_strv_length ((GStrv) lig_op_get_forced (part)), ==, i == 3);
  }
}

static void
test_rejected (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("gelu ! linear(8)", "4x8");
  g_assert_false (lig_sequence_expand_macro (sequence, 0, 8, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
  g_assert_cmpstr (error->message, ==, "gelu at 0: it has no parts; only a macro can be expanded");
  g_clear_error (&error);
  g_assert_false (lig_sequence_expand_macro (sequence, 2, 8, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
  g_clear_error (&error);
  g_autoptr (LigOp) unset = lig_op_new ("linear", NULL);
  g_assert_true (lig_sequence_append (sequence, unset, NULL));
  g_assert_false (lig_sequence_expand_macro (sequence, 2, 8, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
  g_assert_true (g_str_has_prefix (error->message, "linear at 2: "));
  check_text (sequence, "gelu ! linear(8) ! linear");
}

/* The example of each macro computes the same bits when all its macros are expanded. */
static void
test_examples (void)
{
  const LigOpInfo *info;
  guint count = 0;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    if (!info->expand)
      continue;
    g_auto (GStrv) halves = g_strsplit (info->example, " @ ", 2);
    g_autoptr (LigSequence) whole = new_sequence (halves[0], halves[1]);
    g_autoptr (LigSequence) apart = lig_sequence_copy (whole);
    for (int k = 0; k < (int) lig_sequence_get_length (apart);)
      if (lig_op_get_info (lig_sequence_get (apart, k, NULL))->expand)
        expand_macro (apart, k, 8);
      else
        k++;
    compare_apart (whole, apart);
    count++;
  }
  g_assert_cmpuint (count, >=, 2);
}

static void
test_counts (void)
{
  g_autoptr (LigOp) whole = lig_op_new ("test-layer", NULL);
  g_assert_cmpuint (lig_op_count_parts (whole), ==, 8);
  g_assert_cmpuint (lig_op_count_ops (whole), ==, 10);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_test_init (&argc, &argv, NULL);
  lig_register_op (&layer, &error);
  g_assert_no_error (error);
  g_test_add_func ("/expand-macro/channels", test_channels);
  g_test_add_func ("/expand-macro/block", test_block);
  g_test_add_func ("/expand-macro/wishes", test_wishes);
  g_test_add_func ("/expand-macro/rejected", test_rejected);
  g_test_add_func ("/expand-macro/examples", test_examples);
  g_test_add_func ("/expand-macro/counts", test_counts);
  return g_test_run ();
}
