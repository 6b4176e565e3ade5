/* SPDX-License-Identifier: MIT */
/* Each parameter of the layer macros that changes the mathematics, against float64 and its central
 * differences: outputs and all gradients, fused, unfused and expanded. */
#include "tests/compile/apart-case.h"
#include "tests/ops/reference.h"

#include <ligature/compile.h>
#include <ligature/lowering.h>

typedef struct {
  const char *before; /* ops in front of the macro, or null */
  const char *input, *macro;
} Case;

#define MEMORY \
  "make-extra-output(to=x) ! load-branch(shape=[2, 7, 12], dtype=fp32) ! " \
  "make-extra-output(to=m) ! load-branch(from=x)"
#define DECODER "transformer-layer(2, layer-type=decoder, memory=m"

static const Case cases[] = {
  {NULL, "5x8", "layer-norm-linear(12)"},
  {NULL, "5x8", "layer-norm-linear(12, bias=false, eps=0.5)"},
  {NULL, "5x8", "layer-norm-linear(12, normalization=rms-norm, eps=0.25)"},
  {NULL, "5x8", "layer-norm-linear(12, zero-centered-gamma=true)"},
  {NULL, "5x8", "layer-norm-mlp()"},
  {NULL, "5x8", "layer-norm-mlp(6, bias=false)"},
  {NULL, "5x8", "layer-norm-mlp(6, activation=qgelu, normalization=rms-norm)"},
  {NULL, "5x8", "layer-norm-mlp(6, activation=gelu-erf)"},
  {NULL, "5x8", "layer-norm-mlp(6, activation=relu, eps=0.5)"},
  {NULL, "5x8", "layer-norm-mlp(6, activation=srelu, zero-centered-gamma=true)"},
  {NULL, "5x8", "layer-norm-mlp(6, activation=silu)"},
  {NULL, "5x8", "layer-norm-mlp(6, activation=glu)"},
  {NULL, "5x8", "layer-norm-mlp(6, activation=geglu)"},
  {NULL, "5x8", "layer-norm-mlp(6, activation=qgeglu, bias=false)"},
  {NULL, "5x8", "layer-norm-mlp(6, activation=reglu)"},
  {NULL, "5x8", "layer-norm-mlp(6, activation=sreglu)"},
  {NULL, "5x8", "layer-norm-mlp(activation=swiglu)"},
  {NULL, "5x8",
   "layer-norm-mlp(6, activation=clamped-swiglu, activation-limit=1.5, activation-alpha=2, "
   "glu-linear-offset=0.5)"},
  {NULL, "2x5x8", "multi-head-attention(2)"},
  {NULL, "2x5x8", "multi-head-attention(4, kv-heads=2, bias=false)"},
  {NULL, "2x5x8", "multi-head-attention(4, kv-heads=1, mask=none)"},
  {NULL, "2x5x8", "multi-head-attention(2, head-features=6)"},
  {NULL, "2x5x8", "multi-head-attention(2, mask=causal-bottom-right)"},
  {NULL, "2x5x8", "multi-head-attention(2, window=2)"},
  {NULL, "2x5x8", "multi-head-attention(2, window=2, mask=none)"},
  {NULL, "2x5x8", "multi-head-attention(2, scale=0.2)"},
  {NULL, "2x5x8", "multi-head-attention(2, softcap=1.5)"},
  {NULL, "2x5x8", "multi-head-attention(4, kv-heads=2, sinks=true, window=3)"},
  {NULL, "2x5x8", "multi-head-attention(2, sinks=true, documents=caller)"},
  {MEMORY, "2x5x8", "multi-head-attention(2, sinks=true, memory=m)"},
  {NULL, "2x5x8", "transformer-layer(2, sinks=true, layer-type=decoder, memory=caller)"},
  {NULL, "2x5x8", "multi-head-attention(4, alibi=true, scale=0.1)"},
  {NULL, "2x5x12", "multi-head-attention(6, alibi=true, mask=none, scale=0.1)"},
  {NULL, "2x5x8", "multi-head-attention(2, attention-dropout=1)"},
  {NULL, "2x5x8", "multi-head-attention(2, input-layer-norm=true)"},
  {NULL, "2x5x8",
   "multi-head-attention(2, input-layer-norm=true, normalization=rms-norm, eps=0.5, "
   "zero-centered-gamma=true)"},
  {NULL, "2x5x8", "multi-head-attention(4, kv-heads=2, rotary=true, scale=0.2)"},
  {NULL, "2x5x16", "multi-head-attention(2, rotary=true, rotary-fraction=0.5, rotary-base=50)"},
  {NULL, "2x5x16", "multi-head-attention(2, rotary=true, rotary-interleaved=true, scale=0.1)"},
  {NULL, "2x5x16",
   "multi-head-attention(2, rotary=true, rotary-scaling=linear, rotary-factor=3, scale=0.1)"},
  {NULL, "2x5x16",
   "multi-head-attention(2, rotary=true, rotary-scaling=llama3, rotary-factor=4, rotary-low=2, "
   "rotary-high=8, rotary-original=100, scale=0.1)"},
  {NULL, "2x5x24",
   "multi-head-attention(2, rotary=true, rotary-scaling=yarn, rotary-factor=4, rotary-low=2, "
   "rotary-high=8, rotary-original=100, rotary-base=50, scale=0.1)"},
  {NULL, "2x5x24",
   "multi-head-attention(2, rotary=true, rotary-scaling=yarn, rotary-factor=4, rotary-low=2, "
   "rotary-high=8, rotary-original=100, rotary-base=50, rotary-truncate=false, "
   "rotary-magnitude=0.8, rotary-fraction=0.5, scale=0.1)"},
  {NULL, "2x5x8", "multi-head-attention(2, qk-norm=rms)"},
  {NULL, "2x5x8", "multi-head-attention(4, kv-heads=2, qk-norm=l2, qk-norm-eps=0.5)"},
  {NULL, "2x5x8", "multi-head-attention(2, qk-norm=layer, rotary=true, qk-norm-eps=0.25)"},
  {NULL, "2x5x8", "multi-head-attention(2, qk-norm=rms, rotary=true, qk-norm-before-rotary=false)"},
  {NULL, "2x5x8", "multi-head-attention(2, lengths=caller)"},
  {NULL, "2x5x8", "multi-head-attention(2, mask=none, lengths=caller, documents=caller)"},
  {NULL, "2x5x8", "multi-head-attention(4, kv-heads=2, documents=caller)"},
  {MEMORY, "2x5x8", "multi-head-attention(4, kv-heads=2, mask=none, memory=m)"},
  {MEMORY, "2x5x8", "multi-head-attention(2, memory=m, input-layer-norm=true, bias=false)"},
  {MEMORY, "2x5x8", "multi-head-attention(2, mask=causal-bottom-right, memory=m)"},
  {MEMORY, "2x5x8", "multi-head-attention(2, mask=none, memory=m, lengths=caller)"},
  {MEMORY, "2x5x8", "multi-head-attention(2, mask=none, memory=m, head-features=6, softcap=2)"},
  {NULL, "2x5x8", "multi-head-attention(2, mask=none, memory=caller)"},
  {NULL, "2x5x8", "transformer-layer(2)"},
  {NULL, "2x5x8", "transformer-layer(2, layer-type=decoder, memory=caller)"},
  {NULL, "2x5x8", "transformer-layer(2, bias=false, ffn-features=12)"},
  {NULL, "2x5x8",
   "transformer-layer(4, kv-heads=2, normalization=rms-norm, activation=swiglu, ffn-features=10, "
   "bias=false, rotary=true, eps=0.01)"},
  {NULL, "2x5x8", "transformer-layer(2, zero-centered-gamma=true, head-features=6)"},
  {NULL, "2x5x8", "transformer-layer(2, hidden-dropout=1)"},
  {NULL, "2x5x8", "transformer-layer(2, drop-path=1)"},
  {NULL, "2x5x8", "transformer-layer(2, attention-dropout=1)"},
  {NULL, "2x5x8", "transformer-layer(2, residual-post-norm=true)"},
  {NULL, "2x5x8", "transformer-layer(2, output-layer-norm=true, mask=none)"},
  {NULL, "2x5x8", "transformer-layer(2, residual-post-norm=true, output-layer-norm=true)"},
  {NULL, "2x5x8", "transformer-layer(2, parallel-attention-mlp=true)"},
  {NULL, "2x5x8", "transformer-layer(2, parallel-attention-mlp=true, hidden-dropout=1)"},
  {NULL, "2x5x8", "transformer-layer(2, qk-norm=rms, window=3, softcap=2, scale=0.5)"},
  {NULL, "2x5x8", "transformer-layer(4, alibi=true, mask=none, lengths=caller)"},
  {NULL, "2x5x8", "transformer-layer(2, documents=caller, lengths=caller)"},
  {NULL, "2x5x8",
   "transformer-layer(2, activation=clamped-swiglu, activation-limit=1.5, activation-alpha=2, "
   "glu-linear-offset=0.5)"},
  {NULL, "5x8", "mixture-of-experts(4)"},
  {NULL, "5x8", "mixture-of-experts(4, expert-features=6, activation=gelu)"},
  {NULL, "2x5x8", "mixture-of-experts(6, top-k=3, expert-features=6, interleave=2, bias=true)"},
  {NULL, "7x8",
   "mixture-of-experts(4, expert-features=6, weights-at=output, activation=gelu, "
   "shared-features=4, router-bias=true, bias=true)"},
  {NULL, "7x8",
   "mixture-of-experts(4, expert-features=6, shared-features=4, shared-gate=true, bias=true)"},
  {NULL, "2x5x8",
   "transformer-layer(2, experts=4, expert-features=6, activation=geglu, shared-features=10, "
   "shared-gate=true, bias=false)"},
  {NULL, "7x8", "mixture-of-experts(4, top-k=1, score=sigmoid, normalize=false, scale=2)"},
  {NULL, "7x8", "mixture-of-experts(5, score=sqrt-softplus, activation=situ-glu)"},
  {NULL, "7x8", "mixture-of-experts(5, score=sigmoid, top-k=3, activation=clamped-swiglu)"},
  {NULL, "9x8", "mixture-of-experts(4, first=score, normalize=false, activation=srelu)"},
  {NULL, "2x5x8",
   "transformer-layer(2, experts=4, expert-features=6, activation=swiglu, router-score=sigmoid, "
   "router-scale=1.5)"},
  {MEMORY, "2x5x8", DECODER ")"},
  {MEMORY, "2x5x8", DECODER ", kv-heads=1, bias=false, normalization=rms-norm)"},
  {MEMORY, "2x5x8", DECODER ", memory-lengths=caller)"},
  {MEMORY, "2x5x8", DECODER ", window=2, alibi=true)"},
  {MEMORY, "2x5x8", DECODER ", residual-post-norm=true, lengths=caller, memory-lengths=caller)"},
  {MEMORY, "2x5x8", DECODER ", hidden-dropout=1)"},
  {MEMORY, "2x5x8", DECODER ", rotary=true, output-layer-norm=true)"},
};

static LigSequence *
sequence_of (const Case *one)
{
  g_autofree char *expression =
    one->before ? g_strdup_printf ("%s ! %s", one->before, one->macro) : g_strdup (one->macro);
  return new_sequence (expression, one->input);
}

/* --- The float64 side ---------------------------------------------------------------------------
 */

static void
free_matrix (gpointer data)
{
  g_free (((Matrix *) data)->at);
  g_free (data);
}

static Matrix
matrix_of (const LigTensor *tensor)
{
  Matrix result = {(int) (tensor->size / lig_shape_columns (&tensor->shape)),
                   (int) lig_shape_columns (&tensor->shape), g_new (double, (gsize) tensor->size)};
  for (gint64 i = 0; i < tensor->size; i++)
    result.at[i] = (double) lig_tensor_get (tensor, i);
  return result;
}

static int *
integers_of (const LigTensor *tensor)
{
  int *result = g_new (int, (gsize) tensor->size);
  for (gint64 i = 0; i < tensor->size; i++)
    result[i] = (int) lig_tensor_get (tensor, i);
  return result;
}

/* Reads the caller's tensors; integer tensors come in the order of the parameters' names. */
static void
read_inputs (Model *model, LigPlan *plan, char **extra_gradient)
{
  static const char *const names[] = {"lengths", "documents", "memory-lengths"};
  const int **fields[] = {&model->lengths, &model->documents, &model->memory_lengths};
  LigShape shape;
  LigDtype dtype;
  guint next = 0;
  lig_plan_get_input (plan, &shape, &dtype);
  g_autoptr (LigTensor) x = named_tensor ("input", dtype, &shape, 2);
  model->x = matrix_of (x);
  model->batch = (int) shape.axes[0];
  for (guint i = 0; i < lig_plan_get_n_extra_inputs (plan); i++) {
    g_autofree char *name = g_strdup_printf ("extra input %u", i);
    lig_plan_get_extra_input (plan, i, &shape, &dtype);
    g_autoptr (LigTensor) extra = named_tensor (name, dtype, &shape, 2);
    if (dtype == LIG_FP32) {
      model->memory = matrix_of (extra);
      *extra_gradient = g_strdup_printf ("grad.extra.%u", i);
      continue;
    }
    while (!model_find (model, names[next]))
      next++;
    *fields[next++] = integers_of (extra);
  }
}

static Model *
new_model (const char *text, LigState *state, LigPlan *plan, char **extra_gradient)
{
  Model *model = g_new0 (Model, 1);
  g_autoptr (GError) error = NULL;
  model->text = text;
  model->weights = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_matrix);
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    g_autoptr (LigTensor) tensor = lig_state_get (state, LIG_STATE_PARAMETERS, *path, &error);
    g_assert_no_error (error);
    Matrix matrix = matrix_of (tensor);
    g_hash_table_insert (model->weights, g_strdup (strchr (*path, '.') + 1),
                         g_memdup2 (&matrix, sizeof matrix));
  }
  read_inputs (model, plan, extra_gradient);
  return model;
}

static void
free_model (Model *model)
{
  g_hash_table_unref (model->weights);
  g_free (model->x.at);
  g_free (model->memory.at);
  g_free ((int *) model->lengths);
  g_free ((int *) model->documents);
  g_free ((int *) model->memory_lengths);
  g_free (model);
}

/* Returns the weighted sum of the outputs. */
static double
weigh (Model *model, const LigTensor *weights)
{
  g_autofree double *y = model_run (model);
  double sum = 0;
  for (gint64 i = 0; i < weights->size; i++)
    sum += y[i] * (double) lig_tensor_get (weights, i);
  return sum;
}

/* Checks a gradient against central differences. A gradient with a true value of 0, like that of a
 * constant added to all keys, is compared with the other gradients' magnitude, about 1. */
static void
check_gradient (
  Model *model, const LigTensor *weights, const Matrix *of, const LigTensor *got, const char *name)
{
  double difference = 0, length = 0, h = 1e-5;
  g_assert_nonnull (got);
  g_assert_cmpint (got->size, ==, of->rows * of->columns);
  for (int i = 0; i < of->rows * of->columns; i++) {
    double old = of->at[i];
    of->at[i] = old + h;
    double above = weigh (model, weights);
    of->at[i] = old - h;
    double slope = (above - weigh (model, weights)) / (2 * h);
    of->at[i] = old;
    difference += pow ((double) lig_tensor_get (got, i) - slope, 2);
    length += slope * slope;
  }
  double distance = sqrt (difference) / MAX (sqrt (length), 1);
  if (!(distance <= 2e-5))
    g_error ("%s: the gradient of %s is off by %g", model->text, name, distance);
}

static void
check_output (Model *model, const LigTensor *got)
{
  g_autofree double *y = model_run (model);
  double difference = 0, length = 0;
  for (gint64 i = 0; i < got->size; i++) {
    difference += pow ((double) lig_tensor_get (got, i) - y[i], 2);
    length += y[i] * y[i];
  }
  if (!(sqrt (difference) <= 1e-5 * MAX (sqrt (length), 1)))
    g_error ("%s: the output is off by %g", model->text, sqrt (difference / length));
}

static void
check_case (const Case *one)
{
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  g_autofree char *extra = NULL;
  g_autoptr (LigSequence) sequence = sequence_of (one);
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  g_autoptr (Results) results = compute (sequence, &options);
  const LigTensor *output = results_find (results, "output");
  g_autoptr (LigTensor) weights = named_tensor ("gradient", LIG_FP32, &output->shape, 1);
  Model *model = new_model (one->macro, state, lig_program_get_plan (program), &extra);
  g_test_message ("%s", one->macro);
  check_output (model, output);
  check_gradient (model, weights, &model->x, results_find (results, "grad.input"), "input");
  if (extra)
    check_gradient (model, weights, &model->memory, results_find (results, extra), "memory");
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    g_autofree char *name = g_strdup_printf ("grad.%s", *path);
    const Matrix *weight = g_hash_table_lookup (model->weights, strchr (*path, '.') + 1);
    check_gradient (model, weights, weight, results_find (results, name), *path);
  }
  free_model (model);
}

static void
test_mathematics (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_case (&cases[i]);
}

/* --- Fused and expanded ----------------------------------------------------------------------
 */

static void
test_fused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigPlanOptions none = plan_options (LIG_POLICY_NONE, TRUE),
                   all = plan_options (LIG_POLICY_ALL, TRUE);
    g_autoptr (LigSequence) sequence = sequence_of (&cases[i]);
    g_autoptr (Results) want = compute (sequence, &none);
    g_autoptr (Results) got = compute (sequence, &all);
    compare_results (got, want, 2e-5, cases[i].macro);
  }
}

/* Parameters have different paths, but the order and the bits are the same. */
static void
test_apart (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
    LigShape shape;
    LigDtype dtype;
    g_autoptr (LigSequence) sequence = sequence_of (&cases[i]);
    g_autoptr (LigState) state = new_state (sequence, &options);
    g_autoptr (Results) want = compute (sequence, &options);
    lig_sequence_get_input (sequence, &shape, &dtype);
    expand_macro (sequence, -1, lig_shape_columns (&shape));
    g_assert_cmpuint (lig_sequence_get_length (sequence), >, 1);
    g_autoptr (Results) got = compute_like (sequence, state, &options);
    compare_in_order (got, want, 0, cases[i].macro);
  }
}

/* Every activation and gated unit must be a choice of the macros, so that a new one is not
 * forgotten. */
static void
test_activations (void)
{
  const LigOpInfo *info;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    g_autoptr (LigOp) op = lig_op_new ("layer-norm-mlp", NULL);
    g_auto (GValue) value = G_VALUE_INIT;
    g_autoptr (GError) error = NULL;
    if (!(info->flags & (LIG_OP_ACTIVATION | LIG_OP_GATED)))
      continue;
    g_value_init (&value, G_TYPE_STRING);
    g_value_set_string (&value, info->name);
    lig_op_set_value (op, "activation", &value, &error);
    g_assert_no_error (error);
  }
}

/* --- Draws
 * ---------------------------------------------------------------------------------------- */

static double
std_of (LigState *state, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensor) tensor = lig_state_get (state, LIG_STATE_PARAMETERS, path, &error);
  double sum = 0;
  g_assert_no_error (error);
  for (gint64 i = 0; i < tensor->size; i++)
    sum += pow ((double) lig_tensor_get (tensor, i), 2);
  return sqrt (sum / (double) tensor->size);
}

static void
test_stds (void)
{
  static const char *const inner[] = {"4.qkv.weight", "4.fc1.weight", "4.query.weight",
                                      "4.key-value.weight"};
  static const char *const outer[] = {"4.proj.weight", "4.fc2.weight", "4.cross-proj.weight"};
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence =
    new_sequence (MEMORY " ! transformer-layer(2, layer-type=decoder, memory=m, init-std=0.5, "
                         "output-init-std=0.125)",
                  "2x5x32");
  g_autoptr (LigState) state = lig_state_new (sequence, cpu_device (), &options, 1, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (inner); i++)
    g_assert_cmpfloat_with_epsilon (std_of (state, inner[i]), 0.5, 0.05);
  for (guint i = 0; i < G_N_ELEMENTS (outer); i++)
    g_assert_cmpfloat_with_epsilon (std_of (state, outer[i]), 0.125, 0.0125);
  g_assert_cmpfloat (std_of (state, "4.mlp-norm.weight"), ==, 1);
  g_assert_cmpfloat (std_of (state, "4.fc1.bias"), ==, 0);
}

/* Returns the fraction of equal elements of two outputs. */
static double
share_of_equal (const char *macro, const char *other)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) a = new_sequence (macro, "16x3x32"), b = new_sequence (other, "16x3x32");
  g_autoptr (Results) one = compute (a, &options);
  g_autoptr (Results) two = compute (b, &options);
  const LigTensor *x = results_find (one, "output"), *y = results_find (two, "output");
  gint64 equal = 0;
  for (gint64 i = 0; i < x->size; i++)
    equal += lig_tensor_get (x, i) == lig_tensor_get (y, i);
  return (double) equal / (double) x->size;
}

/* Dropout of a quarter: an element is unchanged if both branches drop it. */
static void
test_draws (void)
{
  double share = share_of_equal ("transformer-layer(2, hidden-dropout=0.5)", "identity");
  g_assert_cmpfloat_with_epsilon (share, 0.25, 0.04);
  share = share_of_equal ("transformer-layer(2, drop-path=0.5)", "identity");
  g_assert_cmpfloat_with_epsilon (share, 0.25, 0.25);
  g_assert_cmpfloat (fmod (share * 16, 1), ==, 0); /* whole samples */
  share = share_of_equal ("transformer-layer(2, drop-path=0.5)",
                          "transformer-layer(2, drop-path=0.5, hidden-dropout=1)");
  g_assert_cmpfloat (share, <, 1);
  /* Some attention weights are dropped, so most outputs change, but not those of each first token,
   * if it keeps its only weight. */
  share =
    share_of_equal ("multi-head-attention(2, attention-dropout=0.5)", "multi-head-attention(2)");
  g_assert_cmpfloat (share, <, 0.2);
}

/* --- Rejected
 * -------------------------------------------------------------------------------------- */

static void
test_rejected (void)
{
  static const struct {
    const char *macro, *message;
  } rejected[] = {
    {"transformer-layer(2, aux=1)", "aux is 1, but experts is 0; set experts, or omit aux"},
    {"transformer-layer(2, experts=4, ffn-features=64)",
     "ffn-features is 64, but experts is 4; set expert-features instead"},
    {"mixture-of-experts(4, top-k=5)", "top-k is 5, expected at most experts, 4"},
    {"mixture-of-experts(4, shared-gate=true)",
     "shared-gate is true, but shared-features is 0; set shared-features, or omit shared-gate"},
    {"transformer-layer(2, shared-gate=true)",
     "shared-gate is true, but experts is 0; set experts, or omit shared-gate"},
    {"transformer-layer(2, router-bias=true)",
     "router-bias is true, but experts is 0; set experts, or omit router-bias"},
    {"transformer-layer(2, router-normalize=false)",
     "router-normalize is false, but experts is 0; set experts, or omit router-normalize"},
    {"transformer-layer(2, top-k=1)", "top-k is 1, but experts is 0; set experts, or omit top-k"},
    {"transformer-layer(2, balance=0.1)",
     "balance is 0.1, but experts is 0; set experts, or omit balance"},
    {"transformer-layer(2, router-score=sigmoid)",
     "router-score is sigmoid, but experts is 0; set experts, or omit router-score"},
    {"transformer-layer(2, exchange-capacity=4)",
     "exchange-capacity is 4, but experts is 0; set experts, or omit exchange-capacity"},
    {"mixture-of-experts(4, activation=gelu, weights-at=activation)",
     "activation=gelu has no scaled form; set weights-at=output, or another activation, like "
     "swiglu"},
    {"mixture-of-experts(4, activation=srelu, interleave=2)",
     "interleave is 2, but srelu is not a gated unit; omit it"},
    {"multi-head-attention(3)", "input has 8 features, expected a multiple of 3"},
    {"multi-head-attention(4, kv-heads=3)", "heads is 4, expected a multiple of kv-heads, 3"},
    {"transformer-layer(4, kv-heads=8)", "heads is 4, expected a multiple of kv-heads, 8"},
    {"transformer-layer(65535, head-features=65536)",
     "head-features is 65536, with 196605 heads expected at most 5086"},
    {"transformer-layer(2, layer-type=decoder)",
     "layer-type is decoder, but memory is missing; name its channel"},
    {"transformer-layer(2, memory=m)", "layer-type is encoder, expected decoder with memory"},
    {"transformer-layer(2, memory-lengths=m)",
     "layer-type is encoder, expected decoder with memory-lengths"},
    {"transformer-layer(2, parallel-attention-mlp=true, residual-post-norm=true)",
     "with parallel-attention-mlp, residual-post-norm is not supported"},
    {"transformer-layer(2, parallel-attention-mlp=true, output-layer-norm=true)",
     "with parallel-attention-mlp, output-layer-norm is not supported"},
    {"multi-head-attention(2, memory=m, rotary=true)", "with a memory, rotary is not supported"},
    {"multi-head-attention(2, memory=m, documents=d)", "with a memory, documents is not "
                                                       "supported"},
    {"multi-head-attention(2, memory=m, qk-norm=l2)", "with a memory, qk-norm is not supported"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (rejected); i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    g_autoptr (GError) error = NULL;
    g_autoptr (LigSequence) sequence = new_sequence (rejected[i].macro, "2x5x8");
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
    g_autofree char *message =
      g_strdup_printf ("%.*s at 0: %s", (int) strcspn (rejected[i].macro, "("), rejected[i].macro,
                       rejected[i].message);
    g_assert_null (plan);
    g_assert_cmpstr (error->message, ==, message);
    g_assert_cmpstr (lig_error_get_path (error), ==, "0");
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layers/mathematics", test_mathematics);
  g_test_add_func ("/layers/fused", test_fused);
  g_test_add_func ("/layers/apart", test_apart);
  g_test_add_func ("/layers/activations", test_activations);
  g_test_add_func ("/layers/stds", test_stds);
  g_test_add_func ("/layers/draws", test_draws);
  g_test_add_func ("/layers/rejected", test_rejected);
  return g_test_run ();
}
