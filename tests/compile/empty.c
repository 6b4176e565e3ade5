/* SPDX-License-Identifier: MIT */
/* Tests tensors without elements: zero input rows give zero output rows, and every sum over them is
 * zero. */
#include "tests/plan/case.h"

#include <ligature/dataset.h>
#include <ligature/optimizer.h>
#include <ligature/tensor-file.h>

#include <glib/gstdio.h>

static void
check_zeros (const LigTensor *tensor)
{
  for (gint64 i = 0; i < tensor->size; i++)
    g_assert_cmpfloat ((double) lig_tensor_get (tensor, i), ==, 0);
}

/* Checks that outputs have no rows, are the mean over none or count them, and that every
 * parameter's gradient is zero. */
static void
check_results (const Results *results)
{
  for (guint i = 0; i < results->names->len; i++) {
    const LigTensor *tensor = results->tensors->pdata[i];
    const char *name = results->names->pdata[i];
    gboolean parameter = g_str_has_prefix (name, "grad.") && g_ascii_isdigit (name[5]);
    g_assert_true (tensor->shape.n_axes == 0 || parameter || tensor->size == 0 ||
                   tensor->dtype == LIG_INT32);
    check_zeros (tensor);
  }
}

/* Returns the sequence of an op's example with an input whose first axis is empty. */
static LigSequence *
empty_example (const LigOpInfo *info)
{
  g_auto (GStrv) halves = g_strsplit (info->example, " @ ", 2);
  const char *rest = strchr (halves[1], 'x');
  if (!rest)
    return NULL;
  g_autofree char *input = g_strconcat ("0", rest, NULL);
  return new_sequence (halves[0], input);
}

static void
test_ops (void)
{
  const LigOpInfo *info;
  guint tried = 0;
  for (guint n = 0; (info = lig_op_info_nth (n)); n++)
    for (LigPolicy policy = LIG_POLICY_NONE; policy <= LIG_POLICY_ALL; policy++) {
      LigPlanOptions options = plan_options (policy, TRUE);
      /* The shape of its example determines the number of elements. */
      g_autoptr (LigSequence) sequence = g_str_equal (info->name, "reshape")
                                           ? new_sequence ("reshape([-1, 8])", "0x4x2")
                                           : empty_example (info);
      if (!sequence)
        continue;
      g_test_message ("%s", info->name);
      g_autoptr (Results) training = compute (sequence, &options);
      check_results (training);
      options.training = FALSE;
      g_autoptr (Results) evaluation = compute (sequence, &options);
      check_results (evaluation);
      tried++;
    }
  g_assert_cmpuint (tried, >=, 50);
}

/* Expressions to run fused and unfused, in each type, with a second pass that accumulates. */
static const char *const expressions[] = {
  "linear(256)",
  "layer-norm ! linear(32) ! gelu ! linear(16)",
  "layer-norm ! linear(32) ! swiglu ! dropout ! linear(16)",
  "make-extra-output(to=r) ! rms-norm ! linear(64) ! gelu ! linear(64) ! add-extra-input(from=r) ! "
  "layer-norm",
  "linear(32) ! constant-scale(2) ! add-extra-input",
  "make-extra-output ! linear(10) ! cross-entropy",
  "linear(8) ! mean-squared-error",
};

static void
check_sequence (const char *expression, LigDtype dtype, LigPolicy policy)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *input = g_strdup_printf ("0x64:%s", lig_dtype_name (dtype));
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  LigPlanOptions options = plan_options (policy, TRUE);
  options.accumulate = TRUE;
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  feed_inputs (program);
  feed_gradients (program);
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  g_autoptr (Results) results = read_results (program, TRUE);
  check_results (results);
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    g_autoptr (LigTensor) old = lig_state_get (state, LIG_STATE_GRADIENTS, *path, &error);
    g_autoptr (LigTensor) ones = lig_tensor_new (LIG_FP32, &old->shape, &error);
    for (gint64 i = 0; i < ones->size; i++)
      lig_tensor_set (ones, i, 1);
    lig_state_set (state, LIG_STATE_GRADIENTS, *path, ones, &error);
    g_assert_no_error (error);
  }
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_ACCUMULATE);
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    g_autoptr (LigTensor) sum = lig_state_get (state, LIG_STATE_GRADIENTS, *path, &error);
    g_assert_no_error (error);
    for (gint64 i = 0; i < sum->size; i++)
      g_assert_cmpfloat ((double) lig_tensor_get (sum, i), ==, 1);
  }
}

static void
test_sequences (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (expressions); i++)
    for (guint type = 0; type < G_N_ELEMENTS (floating_types); type++)
      for (LigPolicy policy = LIG_POLICY_NONE; policy <= LIG_POLICY_MEASURED; policy++)
        check_sequence (expressions[i], floating_types[type], policy);
}

/* Inputs without a token: no sequence, and sequences of length 0. */
static void
test_tokens (void)
{
  static const char *const inputs[] = {"0:int32", "3x0:int32", "0x5:int32"};
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++) {
    LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
    g_autoptr (LigSequence) sequence =
      new_sequence ("embedding(16) ! layer-norm ! linear(256) ! cross-entropy", inputs[i]);
    options.accuracy = TRUE;
    g_autoptr (Results) results = compute (sequence, &options);
    check_results (results);
  }
}

/* An update after a pass over zero rows changes only parameters with weight decay, and all stay
 * finite. */
static void
test_update (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  optimizer.adamw.weight_decay = 0;
  options.optimizer = &optimizer;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(8) ! mean-squared-error", "0x8");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigTensor) before = lig_state_get (state, LIG_STATE_PARAMETERS, "0.weight", &error);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  feed_inputs (program);
  lig_program_set_rate (program, 0.1, 1);
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
  g_autoptr (LigTensor) after = lig_state_get (state, LIG_STATE_PARAMETERS, "0.weight", &error);
  g_assert_no_error (error);
  g_assert_cmpmem (before->data, lig_tensor_bytes (before), after->data, lig_tensor_bytes (after));
}

static void
test_rejected (void)
{
  static const struct {
    const char *expression, *input, *message;
  } rejected[] = {
    {"linear(8)", "4x0", "linear at 0: input has 0 features, expected at least 1"},
    {"gelu", "0", "gelu at 0: input has 0 features, expected at least 1"},
    {"layer-norm", "0x0", "layer-norm at 0: input has 0 features, expected at least 1"},
    {"reshape([-1]) ! gelu", "0x8", "gelu at 1: input has 0 features, expected at least 1"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (rejected); i++) {
    LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
    g_autoptr (LigSequence) sequence = new_sequence (rejected[i].expression, rejected[i].input);
    check_rejected (sequence, &options, LIG_ERROR_SHAPE, rejected[i].message);
  }
}

/* Training needs samples. */
static void
test_data (void)
{
  static const struct {
    const char *input;
    int axis;
  } inputs[] = {{"0x8", 0}, {"4x0", 1}, {"4x0x8", 1}};
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++) {
    g_autoptr (GError) error = NULL;
    LigShape shape;
    LigDtype dtype = LIG_FP32;
    g_assert_true (lig_shape_parse (inputs[i].input, &shape, &dtype, &error));
    g_assert_null (lig_dataset_open ("synthetic", &shape, dtype, 0, 1, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_SHAPE);
    g_autofree char *words = g_strdup_printf (
      "axis %d of the input has length 0, a sample needs at least 1", inputs[i].axis);
    g_assert_true (g_str_has_suffix (error->message, words));
  }
}

/* A file may contain such tensors before and after others. */
static void
test_file (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("ligature-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "empty.safetensors", NULL);
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  for (guint i = 0; i < 5; i++) {
    LigShape shape;
    g_autofree char *name = g_strdup_printf ("t%u", i);
    lig_shape_init (&shape, 2, (gint64) (i % 2 ? 3 : 0), (gint64) 4);
    g_autoptr (LigTensor) tensor = named_tensor (name, LIG_FP32, &shape, 1);
    lig_tensor_file_add (file, name, tensor);
  }
  g_assert_true (lig_tensor_file_save (file, path, &error));
  g_assert_no_error (error);
  g_autoptr (LigTensorFile) read = lig_tensor_file_load (path, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 5; i++) {
    g_autofree char *name = g_strdup_printf ("t%u", i);
    g_autoptr (LigTensor) tensor = lig_tensor_file_get (read, name, &error);
    g_assert_no_error (error);
    g_assert_cmpint (tensor->size, ==, i % 2 ? 12 : 0);
    g_assert_cmpint (tensor->shape.axes[1], ==, 4);
  }
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/empty/ops", test_ops);
  g_test_add_func ("/empty/sequences", test_sequences);
  g_test_add_func ("/empty/tokens", test_tokens);
  g_test_add_func ("/empty/update", test_update);
  g_test_add_func ("/empty/rejected", test_rejected);
  g_test_add_func ("/empty/data", test_data);
  g_test_add_func ("/empty/file", test_file);
  return g_test_run ();
}
