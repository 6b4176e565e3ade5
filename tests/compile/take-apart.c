/* SPDX-License-Identifier: MIT */
/* A macro that was taken apart computes the same, whatever channels are around it. */
#include "tests/plan/case.h"

#include <ligature/lowering.h>

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

/* A layer with a channel of its own, one from outside, a macro, and a block that reads both. */
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

/* Returns all results; the parameters of the second sequence are those of the first, in order. */
static Results *
compute_like (LigSequence *sequence, LigState *like)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  options.training = TRUE;
  g_autoptr (LigState) state = new_state (sequence, &options);
  const char *const *from = lig_state_get_paths (like), *const *to = lig_state_get_paths (state);
  g_assert_cmpuint (g_strv_length ((GStrv) from), ==, g_strv_length ((GStrv) to));
  for (; *from; from++, to++) {
    g_autoptr (LigTensor) value = lig_state_get (like, LIG_STATE_PARAMETERS, *from, &error);
    g_assert_no_error (error);
    lig_state_set (state, LIG_STATE_PARAMETERS, *to, value, &error);
    g_assert_no_error (error);
  }
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  feed_inputs (program);
  feed_gradients (program);
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  return read_results (program, TRUE);
}

/* The results have the same order; only the paths in their names differ. */
static void
check_same (LigSequence *whole, LigSequence *apart)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = TRUE;
  g_autoptr (LigState) state = new_state (whole, &options);
  g_autoptr (Results) want = compute_like (whole, state), got = compute_like (apart, state);
  g_assert_cmpuint (got->names->len, ==, want->names->len);
  for (guint i = 0; i < want->names->len; i++) {
    double distance = distance_between (got->tensors->pdata[i], want->tensors->pdata[i]);
    if (distance != 0)
      g_error ("%s, apart %s, differs by %g", (char *) want->names->pdata[i],
               (char *) got->names->pdata[i], distance);
  }
}

static void
take_apart (LigSequence *sequence, int index)
{
  g_autoptr (GError) error = NULL;
  gboolean fine = lig_sequence_take_apart (sequence, index, 8, &error);
  g_assert_no_error (error);
  g_assert_true (fine);
}

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
  take_apart (apart, -1);
  take_apart (apart, 2);
  check_text (apart,
              "make-extra-output(s) ! make-extra-output(r) ! make-extra-output(r-3) ! layer-norm ! "
              "linear(16) ! gelu ! linear(8) ! add-extra-input(r-3) ! add-extra-input(s) ! "
              "block(2) { add-extra-input(../r-3) ! add-extra-input(../s) } ! add-extra-input(r) ! "
              "make-extra-output(r-2) ! layer-norm ! linear(16) ! gelu ! linear(8) ! "
              "add-extra-input(r-2) ! add-extra-input(s) ! "
              "block(2) { add-extra-input(../r-2) ! add-extra-input(../s) }");
  check_same (whole, apart);
}

/* In a block, the macro's own name stays where it is free in the block's body. */
static void
test_block (void)
{
  g_autoptr (LigSequence) whole =
    new_sequence ("make-extra-output(r) ! block(2) { make-extra-output(s) ! test-layer ! "
                  "add-extra-input(../r) }",
                  "4x8");
  g_autoptr (LigSequence) apart = lig_sequence_copy (whole);
  take_apart (lig_op_get_body (lig_sequence_get (apart, 1, NULL)), 1);
  check_text (apart, "make-extra-output(r) ! block(2) { make-extra-output(s) ! "
                     "make-extra-output(r) ! layer-norm ! linear(16) ! gelu ! linear(8) ! "
                     "add-extra-input(r) ! add-extra-input(s) ! block(2) { add-extra-input(../r) "
                     "! add-extra-input(../s) } ! add-extra-input(../r) }");
  check_same (whole, apart);
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
  take_apart (sequence, 1);
  g_assert_true (lig_op_get_fence (lig_sequence_get (sequence, 1, NULL)));
  g_assert_false (lig_op_get_fence (lig_sequence_get (sequence, 2, NULL)));
  for (int i = 1; i < 9; i++) {
    LigOp *part = lig_sequence_get (sequence, i, NULL);
    g_assert_true (g_strv_equal (lig_op_get_forbidden (part), forbidden));
    g_assert_cmpuint (g_strv_length ((GStrv) lig_op_get_forced (part)), ==, i == 3);
  }
}

static void
test_refused (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("gelu ! linear(8)", "4x8");
  g_assert_false (lig_sequence_take_apart (sequence, 0, 8, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
  g_assert_cmpstr (error->message, ==,
                   "gelu at 0: it has no parts; only a macro can be taken apart");
  g_clear_error (&error);
  g_assert_false (lig_sequence_take_apart (sequence, 2, 8, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
  g_clear_error (&error);
  g_autoptr (LigOp) unset = lig_op_new ("linear", NULL);
  g_assert_true (lig_sequence_append (sequence, unset, NULL));
  g_assert_false (lig_sequence_take_apart (sequence, 2, 8, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
  g_assert_true (g_str_has_prefix (error->message, "linear at 2: "));
  check_text (sequence, "gelu ! linear(8) ! linear");
}

/* The example of each macro computes the same bits when all its macros are taken apart. */
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
        take_apart (apart, k);
      else
        k++;
    check_same (whole, apart);
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
  g_test_add_func ("/take-apart/channels", test_channels);
  g_test_add_func ("/take-apart/block", test_block);
  g_test_add_func ("/take-apart/wishes", test_wishes);
  g_test_add_func ("/take-apart/refused", test_refused);
  g_test_add_func ("/take-apart/examples", test_examples);
  g_test_add_func ("/take-apart/counts", test_counts);
  return g_test_run ();
}
