/* SPDX-License-Identifier: MIT */
/* Every op of the registry, run from its own example: shapes, gradients against central
 * differences, agreement of the types, evaluation, writing and reading of parameters, and its
 * descriptions. */
#include "tests/plan/case.h"

#include <ligature/check.h>
#include <ligature/compile.h>

typedef void (*Example) (const LigOpInfo *info, LigSequence *sequence);

static LigSequence *
example_of (const LigOpInfo *info)
{
  g_auto (GStrv) parts = g_strsplit (info->example, " @ ", 2);
  g_assert_cmpuint (g_strv_length (parts), ==, 2);
  return new_sequence (parts[0], parts[1]);
}

static void
each_example (gconstpointer data)
{
  Example function = *(const Example *) data;
  const LigOpInfo *info;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    g_autoptr (LigSequence) sequence = example_of (info);
    g_test_message ("%s", info->example);
    function (info, sequence);
  }
}

/* --- Shapes and words ---------------------------------------------------------------------- */

static void
check_words (const LigOpInfo *info, LigSequence *sequence)
{
  const char *const texts[] = {info->title, info->category, info->summary, info->formula};
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_assert_true (texts[i] && *texts[i]);
    g_assert_false (g_str_has_suffix (texts[i], "."));
  }
  g_assert_true (g_str_has_prefix (info->example, info->name));
  for (const LigParam *param = info->params; param && param->name; param++) {
    g_assert_true (param->label && *param->label);
    g_assert_true (param->help && *param->help);
    g_assert_false (g_str_has_suffix (param->help, "."));
    g_assert_true (g_ascii_isupper (*param->label));
  }
  g_assert_true (lig_op_info_find (info->name) == info);
}

/* The inferred shapes are the shapes of a run. */
static void
check_shapes (const LigOpInfo *info, LigSequence *sequence)
{
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_autoptr (Results) results = compute (sequence, &options);
  LigShape shape;
  LigDtype dtype;
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  lig_plan_get_output (plan, &shape, &dtype);
  const LigTensor *output = results_find (results, "output");
  g_assert_true (lig_shape_equal (&shape, &output->shape));
  g_assert_true (lig_shape_equal (&shape, &ops[count - 1].y));
  g_assert_cmpint (dtype, ==, output->dtype);
  for (guint i = 0; i < results->tensors->len; i++) {
    const LigTensor *tensor = results->tensors->pdata[i];
    for (gint64 j = 0; j < tensor->size; j++)
      g_assert_true (isfinite (lig_tensor_get (tensor, j)));
  }
  if (info->flags & (LIG_OP_ACTIVATION | LIG_OP_TRANSPARENT))
    g_assert_true (lig_shape_equal (&ops[0].x, &ops[0].y));
  if (info->flags & LIG_OP_GATED)
    g_assert_cmpint (2 * lig_shape_size (&ops[0].y), ==, lig_shape_size (&ops[0].x));
  if (info->flags & LIG_OP_LOSS)
    g_assert_cmpint (shape.n_axes, ==, 0);
}

static void
check_instance (const LigOpInfo *info, LigSequence *sequence)
{
  LigOp *op = g_object_new (G_OBJECT_TYPE (lig_sequence_get (sequence, 0, NULL)), NULL);
  g_assert_cmpstr (lig_op_get_name (op), ==, info->name);
  g_assert_finalize_object (op);
  LigOp *copy = lig_op_copy (lig_sequence_get (sequence, 0, NULL));
  g_assert_true (lig_op_check (copy, NULL));
  g_assert_finalize_object (copy);
}

/* --- Gradients ----------------------------------------------------------------------------- */

static void
check_gradients (const LigOpInfo *info, LigSequence *sequence)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigGradientCheck) worst = NULL;
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  /* Integers have no derivatives. */
  if (info->flags & LIG_OP_INTEGER_INPUT && !info->parameters)
    return;
  lig_check_gradients (sequence, cpu_device (), &options, 3e-3, &worst, &error);
  g_assert_no_error (error);
  g_test_message ("%s: %g", worst->name, worst->distance);
}

/* --- Types, and evaluation ----------------------------------------------------------------- */

static void
check_types (const LigOpInfo *info, LigSequence *sequence)
{
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  options.compute = LIG_FP32;
  g_autoptr (Results) exact = compute (sequence, &options);
  for (int wide = 0; wide < 2; wide++)
    for (int i = 1; i < 3; i++) {
      LigDtype dtype = floating_types[i];
      options.compute = (int) dtype;
      options.parameters = wide ? (int) LIG_FP32 : -1;
      g_autoptr (Results) rounded = compute (sequence, &options);
      g_autofree char *what = g_strdup_printf ("%s in %s", info->example, lig_dtype_name (dtype));
      compare_results (rounded, exact, plan_tolerance (dtype), what);
    }
}

static void
check_evaluation (const LigOpInfo *info, LigSequence *sequence)
{
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  g_autoptr (Results) training = compute (sequence, &options);
  options = plan_options (LIG_POLICY_NONE, FALSE);
  g_autoptr (Results) evaluation = compute (sequence, &options);
  const LigTensor *output = results_find (evaluation, "output");
  if (g_str_equal (info->name, "dropout") || g_str_equal (info->name, "drop-path")) {
    g_autoptr (LigTensor) x = named_tensor ("input", LIG_FP32, &output->shape, 2);
    g_assert_cmpmem (x->data, lig_tensor_bytes (x), output->data, lig_tensor_bytes (output));
    g_assert_cmpfloat (distance_between (output, results_find (training, "output")), >, 0.1);
    return;
  }
  for (guint i = 0; i < evaluation->names->len; i++) {
    const LigTensor *a = evaluation->tensors->pdata[i];
    const LigTensor *b = results_find (training, evaluation->names->pdata[i]);
    g_assert_cmpmem (a->data, lig_tensor_bytes (a), b->data, lig_tensor_bytes (b));
  }
}

/* --- Parameters ---------------------------------------------------------------------------- */

static LigOp *
fresh (LigSequence *sequence)
{
  return lig_op_copy (lig_sequence_get (sequence, 0, NULL));
}

static gboolean
set_to (LigOp *op, const LigParam *param, double number, GError **error)
{
  g_auto (GValue) value = G_VALUE_INIT;
  if (param->kind == LIG_PARAM_INT) {
    g_value_init (&value, G_TYPE_INT64);
    g_value_set_int64 (&value, (gint64) number);
  } else if (param->kind == LIG_PARAM_FLOAT) {
    g_value_init (&value, G_TYPE_DOUBLE);
    g_value_set_double (&value, number);
  } else {
    g_value_init (&value, G_TYPE_BOOLEAN);
    g_value_set_boolean (&value, number != 0);
  }
  return lig_op_set_value (op, param->name, &value, error);
}

/* Both the expression and the file of an op give the same op. */
static void
check_round_trip (LigOp *op)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_new ();
  lig_sequence_append (sequence, op, NULL);
  g_autofree char *expression = lig_sequence_to_expression (sequence);
  g_autofree char *json = lig_sequence_to_json (sequence);
  g_autoptr (LigSequence) first = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) second = lig_sequence_from_json (json, -1, NULL, &error);
  g_assert_no_error (error);
  g_autofree char *first_json = lig_sequence_to_json (first);
  g_autofree char *second_json = lig_sequence_to_json (second);
  g_assert_cmpstr (first_json, ==, json);
  g_assert_cmpstr (second_json, ==, json);
  const LigOpInfo *info = lig_op_get_info (op);
  LigOp *back = lig_sequence_get (second, 0, NULL);
  if (!(info->flags & LIG_OP_BLOCK))
    g_assert_cmpmem (lig_op_get_params (back), info->params_size, lig_op_get_params (op),
                     info->params_size);
}

static void
check_range (LigSequence *sequence, const LigParam *param)
{
  gboolean whole = param->kind == LIG_PARAM_INT;
  double outside[] = {whole ? param->minimum - 1 : param->minimum - 1e-3 - fabs (param->minimum),
                      whole ? param->maximum + 1 : param->maximum + 1e-3 + fabs (param->maximum)};
  const double inside[] = {param->minimum, param->maximum, param->initial};
  for (guint i = 0; i < G_N_ELEMENTS (inside); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigOp) op = fresh (sequence);
    if (i == 2 && inside[i] < param->minimum && !(param->flags & LIG_PARAM_INFERRED))
      continue;
    /* The largest repetition count with more than one op would exceed the limit of ops. */
    if (lig_op_get_body (op) && i == 1)
      g_assert_true (lig_sequence_remove (lig_op_get_body (op), -1, NULL));
    g_assert_true (set_to (op, param, inside[i], &error));
    g_assert_no_error (error);
    check_round_trip (op);
  }
  for (guint i = 0; i < G_N_ELEMENTS (outside); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigOp) op = fresh (sequence);
    g_autoptr (LigOp) untouched = fresh (sequence);
    if (param->flags & LIG_PARAM_INFERRED && outside[i] == param->initial)
      continue;
    g_assert_false (set_to (op, param, outside[i], &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
    gboolean open = param->flags & LIG_PARAM_INFERRED && param->initial < param->minimum;
    g_autofree char *wanted = g_strdup_printf (
      "%s: %s is %.15g, expected %.15g to %.15g%s", lig_op_get_name (op), param->name, outside[i],
      param->minimum, param->maximum, open ? ", or 0 to omit it" : "");
    g_assert_cmpstr (error->message, ==, wanted);
    g_assert_cmpmem (lig_op_get_params (op), lig_op_get_info (op)->params_size,
                     lig_op_get_params (untouched), lig_op_get_info (op)->params_size);
  }
}

static void
check_parameters (const LigOpInfo *info, LigSequence *sequence)
{
  g_autoptr (LigOp) original = fresh (sequence);
  check_round_trip (original);
  for (const LigParam *param = info->params; param && param->name; param++) {
    if (param->kind == LIG_PARAM_FLOAT || param->kind == LIG_PARAM_INT) {
      check_range (sequence, param);
    } else if (param->kind == LIG_PARAM_BOOL || param->kind == LIG_PARAM_CALLER) {
      for (int on = 0; on < 2; on++) {
        g_autoptr (LigOp) op = fresh (sequence);
        g_assert_true (set_to (op, param, on, NULL));
        check_round_trip (op);
      }
    }
    g_assert_nonnull (g_object_class_find_property (G_OBJECT_GET_CLASS (original), param->name));
  }
  g_auto (GValue) value = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;
  g_value_init (&value, G_TYPE_INT64);
  g_assert_false (lig_op_set_value (original, "nothing", &value, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
}

/* --- Wrong inputs --------------------------------------------------------------------------- */

static const struct {
  const char *expression, *input;
  int code;
  const char *message;
} misfits[] = {
  {"gelu ! gelu ! gelu ! linear(8, in-features=4095)", "2x4096", LIG_ERROR_SHAPE,
   "linear at 3: input has 4096 features, expected 4095"},
  {"basic-linear(8, in-features=7)", "2x8", LIG_ERROR_SHAPE,
   "basic-linear at 0: input has 8 features, expected 7"},
  {"block(2) { linear(4, in-features=8) }", "2x8", LIG_ERROR_SHAPE,
   "linear at 0.1.0: input has 4 features, expected 8"},
  {"bias(7)", "2x8", LIG_ERROR_SHAPE, "bias at 0: input has 8 features, expected 7"},
  {"swiglu", "2x7", LIG_ERROR_SHAPE, "swiglu at 0: input has 7 features, expected an even number"},
  {"layer-norm([7, 2])", "3x2x7", LIG_ERROR_SHAPE,
   "layer-norm at 0: input is 3x2x7, expected its last axes to be 7x2"},
  {"reshape([4, -1])", "3x5", LIG_ERROR_SHAPE, NULL},
  {"reshape([4, 4])", "3x5", LIG_ERROR_SHAPE, NULL},
  {"embedding(4)", "2x3", LIG_ERROR_DTYPE, "embedding at 0: input is fp32, expected int32"},
  {"gelu", "2x3:int32", LIG_ERROR_DTYPE, "gelu at 0: input is int32, expected fp32, fp16 or bf16"},
  {"make-extra-output(a) ! linear(4) ! add-extra-input(a)", "2x8", LIG_ERROR_SHAPE,
   "add-extra-input at 2: extra input is 2x8, expected 2x4"},
  {"swiglu(interleave=3)", "2x8", LIG_ERROR_SHAPE,
   "swiglu at 0: interleave is 3, expected a divisor of 4"},
  {"permute(4, offsets=o) ! grouped-linear(8, groups=8, offsets=o)", "6x8", LIG_ERROR_SHAPE,
   "grouped-linear at 1: groups is 8, that of its offsets is 4; give both the same number"},
  {"router(2, experts=e) ! permute(4, experts=e)", "6x8", LIG_ERROR_VALUE,
   "permute at 1: groups is 4, the number of experts of its channel is 8; give both the same "
   "number"},
  {"router(9)", "6x8", LIG_ERROR_VALUE,
   "router at 0: top-k is 9, expected at most the number of experts, 8"},
  {"router(4, groups=3)", "6x8", LIG_ERROR_VALUE,
   "router at 0: groups is 3, expected a divisor of the number of experts, 8"},
  {"router(4, groups=4, group-top-k=3)", "6x8", LIG_ERROR_VALUE,
   "router at 0: group-top-k is 3, expected a divisor of top-k, 4"},
  {"router(6, groups=4, group-top-k=2)", "6x8", LIG_ERROR_VALUE,
   "router at 0: top-k is 6, expected at most the experts of the selected groups, 4"},
  {"router(2, balance=0.001)", "6x8", LIG_ERROR_VALUE,
   "router at 0: score is softmax, with a correction expected sigmoid or sqrt-softplus; set one of "
   "them, or omit balance"},
  {"router(2, aux=0.01)", "6x8", LIG_ERROR_OP,
   "router at 0: it adds to the loss, but the sequence ends in none; end it with one, such as "
   "cross-entropy"},
  {"grouped-linear(8, groups=2, bias=false, scales=caller)", "6x8", LIG_ERROR_CHANNEL,
   "grouped-linear at 0: it has scales, but no bias that they multiply; omit scales"},
};

static void
test_misfits (void)
{
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (misfits); i++) {
    g_autoptr (LigSequence) sequence = new_sequence (misfits[i].expression, misfits[i].input);
    g_autoptr (GError) error = NULL;
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
    g_assert_null (plan);
    g_assert_error (error, LIG_ERROR, misfits[i].code);
    g_test_message ("%s", error->message);
    if (misfits[i].message)
      g_assert_cmpstr (error->message, ==, misfits[i].message);
  }
}

/* --- The reference's cases ----------------------------------------------------------------- */

/* Gradients and shapes are checked for each expression at each input. */
static const struct {
  const char *expression, *input, *output;
} cases[] = {
  {"reshape([2, 12])", "1x2x3x4", "2x12"},
  {"reshape([-1, 6])", "5x4x3x2", "20x6"},
  {"reshape([2, 3, -1])", "30", "2x3x5"},
  {"reshape([3, -1, 7])", "6x7", "3x2x7"},
  {"bias", "1", "1"},
  {"bias(7)", "1x3x7", "1x3x7"},
  {"bias(32)", "4x3x8x32", "4x3x8x32"},
  {"basic-linear(64)", "32", "64"},
  {"basic-linear(3)", "5x1x5", "5x1x3"},
  {"basic-linear(3, in-features=5)", "4x2x4x5", "4x2x4x3"},
  {"linear(3, bias=false)", "8x5", "8x3"},
  {"layer-norm([7, 2], eps=0.3)", "7x2", "7x2"},
  {"layer-norm([7, 2], eps=0.3, zero-centered-gamma=true)", "6x16x7x2", "6x16x7x2"},
  {"layer-norm(32, eps=0.3)", "32", "32"},
  {"layer-norm(32, eps=0.3, zero-centered-gamma=true)", "6x2x32", "6x2x32"},
  {"rms-norm(19, eps=0.3)", "19", "19"},
  {"rms-norm(19, eps=0.3, zero-centered-gamma=true)", "6x4x19", "6x4x19"},
  {"rms-norm([2, 19])", "6x2x19", "6x2x19"},
  {"l2-normalization", "32", "32"},
  {"l2-normalization", "6x2x16", "6x2x16"},
  {"add-extra-input", "16x16", "16x16"},
  {"make-extra-output", "16x16", "16x16"},
  {"clamped-swiglu(limit=0.75, glu-linear-offset=1)", "13x16", "13x8"},
  {"clamped-swiglu(limit=0.75, glu-linear-offset=0)", "32x1x8", "32x1x4"},
  {"constant-scale(1)", "scalar", "scalar"},
  {"constant-scale(0)", "1x13", "1x13"},
  {"constant-scale(-2.5)", "4x4x2", "4x4x2"},
  {"constant-scale(3.5)", "1x13", "1x13"},
  {"cross-entropy(ignored=3, label-smoothing=0.2)", "6x10", "scalar"},
  {"cross-entropy(ignored=2)", "2x3x10", "scalar"},
  {"mean-squared-error", "2x3x5", "scalar"},
  {"embedding(4, vocabulary=8)", "3x2:int32", "3x2x4"},
  {"situ-glu(beta1=3, beta2=12)", "17x192", "17x96"},
  {"situ-glu(interleave=32)", "17x192", "17x96"},
  {"swiglu(interleave=32)", "32x192", "32x96"},
  {"scaled-swiglu(interleave=4)", "2x3x16", "2x3x8"},
  {"scaled-clamped-swiglu(limit=0.75)", "13x16", "13x8"},
  {"scaled-situ-glu", "16", "8"},
  {"scaled-srelu", "5x7", "5x7"},
  {"row-gate", "2x3x16", "2x3x16"},
  {"mixture-of-experts(8, top-k=3, expert-features=6, interleave=2, bias=true)", "2x3x8", "2x3x8"},
  {"mixture-of-experts(4, expert-features=6, weights-at=output, activation=gelu, "
   "shared-features=4, router-bias=true)",
   "7x8", "7x8"},
  {"mixture-of-experts(4, expert-features=6, shared-features=10, shared-gate=true)", "2x7x8",
   "2x7x8"},
  {"mixture-of-experts(4, top-k=1, score=sigmoid, normalize=false, scale=2)", "7x8", "7x8"},
  {"mixture-of-experts(6, score=sqrt-softplus, groups=3, group-top-k=2, activation=situ-glu)",
   "7x8", "7x8"},
  {"mixture-of-experts(4, capacity=0.75, first=score, activation=srelu)", "9x8", "9x8"},
  {"transformer-layer(2, experts=4, expert-features=6, activation=swiglu)", "2x3x8", "2x3x8"},
};

static void
test_cases (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gboolean scalar = g_str_equal (cases[i].input, "scalar");
    g_autoptr (LigSequence) sequence =
      new_sequence (cases[i].expression, scalar ? "1" : cases[i].input);
    LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
    LigShape shape = {0};
    LigDtype dtype;
    if (scalar)
      lig_sequence_set_input (sequence, &shape, LIG_FP32);
    g_test_message ("%s @ %s", cases[i].expression, cases[i].input);
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    lig_plan_get_output (plan, &shape, &dtype);
    g_autofree char *output = lig_shape_to_string (&shape);
    g_assert_cmpstr (output, ==, cases[i].output);
    const LigOpInfo *info = lig_op_get_info (lig_sequence_get (sequence, 0, NULL));
    check_types (info, sequence);
    check_evaluation (info, sequence);
    /* A scalar output of an op that is not a loss also has the cotangent 1. */
    if (!scalar)
      check_gradients (info, sequence);
  }
}

/* Activations at the reference's output shapes. */
static void
test_activations (void)
{
  static const char *const shapes[][2] = {{"37", "74"}, {"2x13", "2x26"}, {"32x1x32", "32x1x64"}};
  const LigOpInfo *info;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    gboolean gated = (info->flags & LIG_OP_GATED) != 0;
    if (!gated && !(info->flags & LIG_OP_ACTIVATION))
      continue;
    for (guint j = 0; j < G_N_ELEMENTS (shapes); j++) {
      g_autoptr (LigSequence) sequence = new_sequence (info->name, shapes[j][gated]);
      g_test_message ("%s @ %s", info->name, shapes[j][gated]);
      check_types (info, sequence);
      if (j < 2)
        check_gradients (info, sequence);
    }
  }
}

/* --- Dropout ------------------------------------------------------------------------------- */

/* y is x mask / (1 - p), dx is dy mask / (1 - p), and the fraction of zeros is about p. */
static void
check_dropout (double p, const char *input)
{
  g_autofree char *expression = g_strdup_printf ("dropout(%g)", p);
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  g_autoptr (Results) results = compute (sequence, &options);
  const LigTensor *y = results_find (results, "output"), *dx = results_find (results, "grad.input");
  g_autoptr (LigTensor) x = named_tensor ("input", LIG_FP32, &y->shape, 2);
  g_autoptr (LigTensor) dy = named_tensor ("gradient", LIG_FP32, &y->shape, 1);
  double dropped = 0, size = (double) y->size;
  for (gint64 i = 0; i < y->size; i++) {
    gboolean kept = lig_tensor_get (y, i) != 0;
    double factor = kept ? 1 / (1 - p) : 0;
    g_assert_cmpfloat_with_epsilon ((double) lig_tensor_get (y, i),
                                    factor * (double) lig_tensor_get (x, i), 1e-5);
    g_assert_cmpfloat_with_epsilon ((double) lig_tensor_get (dx, i),
                                    factor * (double) lig_tensor_get (dy, i), 1e-5);
    dropped += !kept;
  }
  double z =
    p * (1 - p) > 0 ? (dropped - size * p) / sqrt (size * p * (1 - p)) : dropped - size * p;
  g_assert_cmpfloat (fabs (z), <, 2.5758);
}

static void
test_dropout (void)
{
  static const double chances[] = {0, 0.0625, 0.1, 0.5, 0.75};
  static const char *const inputs[] = {"101", "2x4x16", "128x128"};
  for (guint i = 0; i < G_N_ELEMENTS (chances); i++)
    for (guint j = 0; j < G_N_ELEMENTS (inputs); j++)
      check_dropout (chances[i], inputs[j]);
}

/* With p = 1 the output is zero, not infinity times zero. */
static void
test_dropout_all (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("dropout(1)", "8x8");
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  g_autoptr (Results) results = compute (sequence, &options);
  for (guint i = 0; i < results->tensors->len; i++) {
    const LigTensor *tensor = results->tensors->pdata[i];
    for (gint64 j = 0; j < tensor->size; j++)
      g_assert_cmpfloat ((double) lig_tensor_get (tensor, j), ==, 0);
  }
}

/* --- Trained parameters at the start ------------------------------------------------------- */

static void
check_start (const char *expression, const char *path, double mean, double std)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (expression, "2x64");
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  if (g_str_has_prefix (expression, "embedding"))
    set_sequence_input (sequence, "2x64:int32");
  g_autoptr (LigState) state = lig_state_new (sequence, cpu_device (), &options, 1, &error);
  g_assert_no_error (error);
  g_autoptr (LigTensor) tensor = lig_state_get (state, LIG_STATE_PARAMETERS, path, &error);
  g_assert_no_error (error);
  double sum = 0, squares = 0, size = (double) tensor->size;
  for (gint64 i = 0; i < tensor->size; i++) {
    double value = (double) lig_tensor_get (tensor, i);
    sum += value;
    squares += (value - mean) * (value - mean);
  }
  g_assert_cmpfloat (fabs (sum / size - mean), <=, 4 * std / sqrt (size));
  g_assert_cmpfloat (fabs (sqrt (squares / size) - std), <=, 0.1 * std);
}

static void
test_start (void)
{
  check_start ("linear(64)", "0.weight", 0, 0.023);
  check_start ("linear(64)", "0.bias", 0, 0);
  check_start ("basic-linear(64, init-std=1)", "0.weight", 0, 1);
  check_start ("basic-linear(64, init-std=0)", "0.weight", 0, 0);
  check_start ("embedding(64)", "0.weight", 0, 0.02);
  check_start ("grouped-linear(64, groups=3)", "0.weight", 0, 0.023);
  check_start ("mixture-of-experts(4)", "0.router.weight", 0, 0.023);
  check_start ("mixture-of-experts(4, init-std=0.5)", "0.experts-fc1.weight", 0, 0.5);
  check_start ("mixture-of-experts(4, output-init-std=0.25)", "0.experts-fc2.weight", 0, 0.25);
  check_start ("transformer-layer(2, experts=4, init-std=0.125)", "0.experts-fc1.weight", 0, 0.125);
  check_start ("transformer-layer(2, experts=4)", "0.experts-fc2.weight", 0, 0.023);
  check_start ("layer-norm", "0.weight", 1, 0);
  check_start ("layer-norm", "0.bias", 0, 0);
  check_start ("rms-norm(zero-centered-gamma=true)", "0.weight", 0, 0);
}

int
main (int argc, char **argv)
{
  static const Example words = check_words, shapes = check_shapes, instance = check_instance,
                       gradients = check_gradients, types = check_types,
                       evaluation = check_evaluation, parameters = check_parameters;
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/ops/words", &words, each_example);
  g_test_add_data_func ("/ops/shapes", &shapes, each_example);
  g_test_add_data_func ("/ops/instance", &instance, each_example);
  g_test_add_data_func ("/ops/gradients", &gradients, each_example);
  g_test_add_data_func ("/ops/types", &types, each_example);
  g_test_add_data_func ("/ops/evaluation", &evaluation, each_example);
  g_test_add_data_func ("/ops/parameters", &parameters, each_example);
  g_test_add_func ("/ops/misfits", test_misfits);
  g_test_add_func ("/ops/cases", test_cases);
  g_test_add_func ("/ops/activations", test_activations);
  g_test_add_func ("/ops/dropout", test_dropout);
  g_test_add_func ("/ops/dropout-all", test_dropout_all);
  g_test_add_func ("/ops/start", test_start);
  return g_test_run ();
}
