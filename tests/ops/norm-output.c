/* SPDX-License-Identifier: MIT */
/* The norm output of the layer macros: against float64 and its central differences, and against the
 * same ops written separately. */
#include "tests/compile/apart-case.h"
#include "tests/ops/reference.h"

#include <ligature/expand-macro.h>
#include <ligature/lowering.h>

/* --- Mathematics ----------------------------------------------------------------------------- */

static Matrix *
matrix_of (const LigTensor *tensor)
{
  int columns = (int) lig_shape_columns (&tensor->shape);
  Matrix matrix = {(int) tensor->size / columns, columns, g_new (double, (gsize) tensor->size)};
  for (gint64 i = 0; i < tensor->size; i++)
    matrix.at[i] = (double) lig_tensor_get (tensor, i);
  return g_memdup2 (&matrix, sizeof matrix);
}

static void
free_matrix (gpointer data)
{
  g_free (((Matrix *) data)->at);
  g_free (data);
}

/* Returns the weighted sum of the layer's and the norm's outputs. */
static double
weigh (Model *model, const LigTensor *of_output, const LigTensor *of_norm)
{
  double sum = 0;
  model->garbage = g_ptr_array_new_with_free_func (g_free);
  Matrix norm = model_norm (model, model->x, "norm");
  Matrix y = strstr (model->text, "mlp") ? model_mlp (model, norm, model_first (model))
                                         : model_linear (model, norm, "linear", 8);
  for (gint64 i = 0; i < of_output->size; i++)
    sum += y.at[i] * (double) lig_tensor_get (of_output, i);
  for (gint64 i = 0; i < of_norm->size; i++)
    sum += norm.at[i] * (double) lig_tensor_get (of_norm, i);
  g_ptr_array_unref (model->garbage);
  return sum;
}

static void
check_gradient (Model *model,
                Matrix *of,
                const LigTensor *of_output,
                const LigTensor *of_norm,
                const LigTensor *got,
                const char *name)
{
  double difference = 0, length = 0, h = 1e-5;
  g_assert_nonnull (got);
  for (int i = 0; i < of->rows * of->columns; i++) {
    double old = of->at[i];
    of->at[i] = old + h;
    double above = weigh (model, of_output, of_norm);
    of->at[i] = old - h;
    double slope = (above - weigh (model, of_output, of_norm)) / (2 * h);
    of->at[i] = old;
    difference += pow ((double) lig_tensor_get (got, i) - slope, 2);
    length += slope * slope;
  }
  if (!(sqrt (difference) <= 2e-5 * MAX (sqrt (length), 1)))
    g_error ("%s: the gradient of %s is off by %g", model->text, name, sqrt (difference / length));
}

/* Checks the gradients of a layer; the first of its outputs is the layer's output. */
static void
check_layer (const char *layer, const char *after, const char *norm_gradient)
{
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  g_autoptr (GError) error = NULL;
  g_autofree char *expression = g_strconcat (layer, after, NULL);
  g_autoptr (LigSequence) sequence = new_sequence (expression, "5x8");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (Results) results = compute (sequence, &options);
  LigShape shape = results_find (results, "output")->shape;
  g_autoptr (LigTensor) x = named_tensor ("input", LIG_FP32, &shape, 2);
  g_autoptr (LigTensor) of_output = named_tensor ("gradient", LIG_FP32, &shape, 1);
  g_autoptr (LigTensor) of_norm = named_tensor (norm_gradient, LIG_FP32, &shape, 1);
  Matrix *input = matrix_of (x);
  Model model = {.text = layer, .x = *input, .batch = 5};
  model.weights = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_matrix);
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    g_autoptr (LigTensor) value = lig_state_get (state, LIG_STATE_PARAMETERS, *path, &error);
    g_assert_no_error (error);
    g_hash_table_insert (model.weights, g_strdup (*path + strlen ("0.")), matrix_of (value));
  }
  check_gradient (&model, input, of_output, of_norm, results_find (results, "grad.input"), "input");
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    g_autofree char *name = g_strdup_printf ("grad.%s", *path);
    check_gradient (&model, g_hash_table_lookup (model.weights, *path + strlen ("0.")), of_output,
                    of_norm, results_find (results, name), *path);
  }
  g_hash_table_unref (model.weights);
  free_matrix (input);
}

/* The sum of both has the gradient of both. */
static void
test_gradients (void)
{
  static const char *const layers[] = {
    "layer-norm-linear(8, norm-output=%s)",
    "layer-norm-linear(8, normalization=rms-norm, bias=false, eps=0.25, norm-output=%s)",
    "layer-norm-mlp(6, norm-output=%s)",
    "layer-norm-mlp(6, activation=swiglu, zero-centered-gamma=true, norm-output=%s)",
  };
  for (guint i = 0; i < G_N_ELEMENTS (layers); i++)
    for (int caller = 0; caller < 2; caller++) {
      g_auto (GStrv) halves = g_strsplit (layers[i], "%s", 2);
      g_autofree char *layer = g_strjoinv (caller ? "caller" : "n", halves);
      check_layer (layer, caller ? "" : " ! add-extra-input(n)",
                   caller ? "gradient of extra 0" : "gradient");
    }
}

/* --- The same ops, one by one ------------------------------------------------------------------
 */

typedef struct {
  const char *macros, *ops;
} Pair;

#define PLUS " ! add-extra-input(n)"
#define NORM "layer-norm ! make-extra-output(n)"
static const Pair pairs[] = {
  {"layer-norm-linear(8, norm-output=n)" PLUS, NORM " ! linear(8)" PLUS},
  {"layer-norm-linear(8, norm-output=caller)", "layer-norm ! make-extra-output ! linear(8)"},
  {"layer-norm-linear(8, norm-output=n) ! gelu" PLUS PLUS, NORM " ! linear(8) ! gelu" PLUS PLUS},
  {"layer-norm-linear(8, norm-output=n)", NORM " ! linear(8)"},
  {"layer-norm-mlp(norm-output=n)" PLUS " ! make-extra-output ! load-branch(n) ! linear(3)", NORM
   " ! linear(32) ! gelu ! linear(8)" PLUS " ! make-extra-output ! load-branch(n) ! linear(3)"},
  {"layer-norm-mlp(norm-output=n, recompute=all)" PLUS,
   NORM " ! linear(32) ! gelu ! linear(8)" PLUS},
  {"block(3) { layer-norm-mlp(5, activation=geglu, norm-output=n)" PLUS " }",
   "block(3) { " NORM " ! linear(10) ! geglu ! linear(8)" PLUS " }"},
  {"multi-head-attention(2, input-layer-norm=true, norm-output=n)" PLUS,
   NORM " ! linear(24) ! attention(2) ! linear(8)" PLUS},
  {"layer-norm-linear(8, norm-output=n) ! block(2) { gelu ! add-extra-input(../n) }",
   NORM " ! linear(8) ! block(2) { gelu ! add-extra-input(../n) }"},
  {"layer-norm-linear(8, norm-output=n) ! layer-norm-linear(8, norm-output=m) ! "
   "add-extra-input(m)" PLUS,
   NORM " ! linear(8) ! layer-norm ! make-extra-output(m) ! linear(8) ! add-extra-input(m)" PLUS},
};

static void
test_same (void)
{
  static const LigPolicy policies[] = {LIG_POLICY_NONE, LIG_POLICY_ALL};
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    for (guint k = 0; k < G_N_ELEMENTS (policies); k++) {
      LigPlanOptions options = plan_options (policies[k], TRUE);
      g_autoptr (LigSequence) macros = new_sequence (pairs[i].macros, "5x8");
      g_autoptr (LigSequence) ops = new_sequence (pairs[i].ops, "5x8");
      g_autoptr (LigState) state = new_state (ops, &options);
      g_autoptr (Results) want = compute (ops, &options);
      g_autoptr (Results) got = compute_like (macros, state, &options);
      compare_in_order (got, want, 1e-5, pairs[i].macros);
    }
}

static void
take_macros_apart (LigSequence *sequence)
{
  for (int i = (int) lig_sequence_get_length (sequence) - 1; i >= 0; i--) {
    LigOp *op = lig_sequence_get (sequence, i, NULL);
    if (lig_op_get_body (op))
      take_macros_apart (lig_op_get_body (op));
    if (!g_str_has_prefix (lig_op_get_name (op), "layer-norm-") &&
        !g_str_equal (lig_op_get_name (op), "multi-head-attention"))
      continue;
    expand_macro (sequence, i, 8);
  }
}

/* Expansion keeps the branch, its name and its readers. */
static void
test_apart (void)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    g_autoptr (LigSequence) whole = new_sequence (pairs[i].macros, "5x8");
    g_autoptr (LigSequence) apart = new_sequence (pairs[i].macros, "5x8");
    g_autoptr (LigState) state = new_state (whole, &options);
    g_autoptr (Results) want = compute (whole, &options);
    take_macros_apart (apart);
    g_autoptr (Results) got = compute_like (apart, state, &options);
    compare_in_order (got, want, 1e-5, pairs[i].macros);
  }
  g_autoptr (LigSequence) one = new_sequence (pairs[0].macros, "5x8");
  take_macros_apart (one);
  g_autoptr (LigSequence) written = new_sequence (pairs[0].ops, "5x8");
  LigOp *branch = lig_sequence_get (one, 1, NULL);
  g_assert_cmpstr (lig_op_get_extra_output_channel (branch, 0), ==, "n");
  g_assert_false (lig_op_get_extra_output_to_caller (branch, 0));
  g_assert_cmpuint (lig_sequence_get_length (one), ==, lig_sequence_get_length (written));
}

/* --- The port --------------------------------------------------------------------------------- */

static void
test_port (void)
{
  g_autoptr (GError) error = NULL;
  const LigOpInfo *mlp = lig_op_info_find ("layer-norm-mlp");
  g_autoptr (LigOp) op = lig_op_new ("layer-norm-mlp", &error);
  g_assert_no_error (error);
  g_assert_true (lig_op_info_is_optional_output (mlp, 0));
  g_assert_false (lig_op_info_is_optional_output (mlp, 1));
  g_assert_false (lig_op_info_is_optional_output (lig_op_info_find ("make-extra-output"), 0));
  g_assert_false (lig_op_get_extra_output_to_caller (op, 0));
  lig_op_set_extra_output_channel (op, 0, "n", FALSE, &error);
  g_assert_no_error (error);
  g_assert_false (lig_op_get_extra_output_to_caller (op, 0));
  g_assert_cmpstr (lig_op_get_extra_output_channel (op, 0), ==, "n");
  lig_op_set_extra_output_channel (op, 0, "caller", FALSE, &error);
  g_assert_true (lig_op_get_extra_output_to_caller (op, 0));
  g_assert_null (lig_op_get_extra_output_channel (op, 0));
}

/* Duplicate names are rejected under the name as written; omitted ones are not outputs. */
static void
test_rejected (void)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) twice =
    new_sequence ("layer-norm-linear(8, norm-output=n) ! layer-norm-mlp(norm-output=n)", "5x8");
  g_autoptr (LigSequence) normless = new_sequence ("multi-head-attention(2, norm-output=n)", "5x8");
  g_autoptr (LigSequence) absent = new_sequence ("layer-norm-mlp ! add-extra-input(n)", "5x8");
  g_assert_null (lig_state_new (twice, cpu_device (), &options, 7, &error));
  g_assert_cmpstr (error->message, ==,
                   "branch 'n' is written twice (layer-norm-linear at 0 and "
                   "layer-norm-mlp at 1)");
  g_clear_error (&error);
  g_assert_null (lig_state_new (absent, cpu_device (), &options, 7, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_CHANNEL);
  g_clear_error (&error);
  g_assert_null (lig_state_new (normless, cpu_device (), &options, 7, &error));
  g_assert_cmpstr (error->message, ==,
                   "multi-head-attention at 0: norm-output is n, expected input-layer-norm=true "
                   "with it");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/norm-output/gradients", test_gradients);
  g_test_add_func ("/norm-output/same", test_same);
  g_test_add_func ("/norm-output/apart", test_apart);
  g_test_add_func ("/norm-output/port", test_port);
  g_test_add_func ("/norm-output/rejected", test_rejected);
  return g_test_run ();
}
