/* SPDX-License-Identifier: MIT */
/* Recipes on the CPU: matmuls with quantized operands against their formulas, one quantizer for all
 * readers of a value, matmuls that stay in the compute type, and rejected recipes. */
#include "engine/sequence/recipes.h"
#include "tests/plan/case.h"

#include <ligature/compile.h>
#include <ligature/recipe.h>
#include <ligature/report.h>

static LigSequence *
with_recipe (const char *expression, const char *input, const char *recipe)
{
  g_autoptr (GError) error = NULL;
  LigSequence *sequence = new_sequence (expression, input);
  lig_sequence_set_recipe (sequence, recipe, &error);
  g_assert_no_error (error);
  return sequence;
}

static const char *const recipes[] = {"fp8-delayed",
                                      "fp8-current",
                                      "fp8-rows",
                                      "fp8-block",
                                      "fp8-current:power-of-two=true,format=e4m3",
                                      "fp8-delayed:history=4,margin=1,amax=most-recent"};

/* --- Against the formulas ------------------------------------------------------------------ */

enum { M = 32, K = 144, N = 272 };

static float
scale_of (const LigRecipe *recipe, LigMatmulRole role, float amax)
{
  float largest = lig_recipe_dtype (recipe, role) == LIG_FP8_E4M3 ? 448 : 57344;
  float scale = amax > 0 ? largest / amax : 1;
  return recipe->params.powers ? exp2f (floorf (log2f (scale))) : scale;
}

/* Returns the index of an element's scale; `along` is its position in a row of the copy, `across`
 * that row. */
static gint64
group_of (LigScales kind, gint64 along, gint64 across)
{
  enum { MAX_BLOCKS = 64, EDGE = 128 };
  return kind == LIG_SCALES_TENSOR  ? 0
         : kind == LIG_SCALES_ROW   ? across
         : kind == LIG_SCALES_BLOCK ? across * MAX_BLOCKS + along / EDGE
                                    : across / EDGE * MAX_BLOCKS + along / EDGE;
}

/* Returns the dequantized values of an operand's copy: of a matrix, or of its transpose. */
static double *
rounded (const LigTensor *tensor, const LigRecipe *recipe, LigMatmulRole role, gboolean transposed)
{
  LigScales kind = (transposed ? recipe->info->transposed : recipe->info->row)[role];
  gint64 columns = tensor->shape.axes[tensor->shape.n_axes - 1];
  g_autofree float *amaxes = g_new0 (float, 64 * (gsize) tensor->size);
  double *values = g_new (double, tensor->size);
  for (int pass = 0; pass < 2; pass++)
    for (gint64 n = 0; n < tensor->size; n++) {
      gint64 i = n / columns, j = n % columns;
      float x = lig_tensor_get (tensor, n);
      float *amax = &amaxes[group_of (kind, transposed ? i : j, transposed ? j : i)];
      *amax = MAX (*amax, fabsf (x));
      /* The first step of a delayed recipe has scales of 1. */
      float scale = recipe->info->has_history ? 1 : scale_of (recipe, role, *amax);
      float back = lig_recipe_dtype (recipe, role) == LIG_FP8_E4M3
                     ? lig_e4m3_to_float (lig_e4m3_from_float (x * scale))
                     : lig_e5m2_to_float (lig_e5m2_from_float (x * scale));
      values[n] = (double) back / (double) scale;
    }
  return values;
}

/* Compares a tensor [rows, columns] with a matmul whose elements `at` computes. */
static void
check_matmul (const LigTensor *got,
              gint64 columns,
              const double *a,
              const double *b,
              gint64 depth,
              gint64 a_row,
              gint64 a_step,
              gint64 b_row,
              gint64 b_step,
              const char *what)
{
  double difference = 0, length = 0;
  for (gint64 i = 0; i < got->size; i++) {
    double sum = 0;
    for (gint64 k = 0; k < depth; k++)
      sum += a[i / columns * a_row + k * a_step] * b[i % columns * b_row + k * b_step];
    double error = (double) lig_tensor_get (got, i) - sum;
    difference += error * error;
    length += sum * sum;
  }
  if (!(sqrt (difference) <= 2e-6 * sqrt (length)))
    g_error ("%s is off by %g", what, sqrt (difference / length));
}

/* Checks a matmul with a scale after its quantized operands. */
static void
check_formulas (const char *text, const char *expression, double factor)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigRecipe recipe;
  options.policy = LIG_POLICY_ALL;
  options.input_gradient = TRUE;
  g_autoptr (LigSequence) sequence = with_recipe (expression, "32x144", text);
  lig_recipe_parse (&recipe, text, &error);
  g_assert_no_error (error);
  g_autoptr (Results) results = compute (sequence, &options);
  LigShape x_shape, w_shape, y_shape;
  lig_shape_init (&x_shape, 2, (gint64) M, (gint64) K);
  lig_shape_init (&w_shape, 2, (gint64) N, (gint64) K);
  lig_shape_init (&y_shape, 2, (gint64) M, (gint64) N);
  g_autoptr (LigTensor) x = named_tensor ("input", LIG_FP32, &x_shape, 2);
  g_autoptr (LigTensor) w = named_tensor ("0.weight", LIG_FP32, &w_shape, 1);
  g_autoptr (LigTensor) dy = named_tensor ("gradient", LIG_FP32, &y_shape, 1);
  g_autofree double *x_row = rounded (x, &recipe, LIG_ROLE_INPUT, FALSE);
  g_autofree double *x_column = rounded (x, &recipe, LIG_ROLE_INPUT, TRUE);
  g_autofree double *w_row = rounded (w, &recipe, LIG_ROLE_WEIGHT, FALSE);
  g_autofree double *w_column = rounded (w, &recipe, LIG_ROLE_WEIGHT, TRUE);
  g_autofree double *dy_row = rounded (dy, &recipe, LIG_ROLE_GRADIENT, FALSE);
  g_autofree double *dy_column = rounded (dy, &recipe, LIG_ROLE_GRADIENT, TRUE);
  for (int i = 0; i < M * K; i++)
    x_row[i] *= factor;
  for (int i = 0; i < M * N; i++) {
    dy_row[i] *= factor;
    dy_column[i] *= factor;
  }
  check_matmul (results_find (results, "output"), N, x_row, w_row, K, K, 1, K, 1, "y");
  check_matmul (results_find (results, "grad.input"), K, dy_row, w_column, N, N, 1, 1, K, "dx");
  check_matmul (results_find (results, "grad.0.weight"), K, dy_column, x_column, M, 1, N, 1, K,
                "dweight");
}

static void
test_formulas (gconstpointer text)
{
  check_formulas (text, "linear(272, bias=false)", 1);
}

/* The fusion quantizes the gradient before it is scaled: 1.7 is not a power of two. */
static void
test_scaled (gconstpointer text)
{
  check_formulas (text, "linear(272, bias=false) ! constant-scale(1.7)", 1.7);
}

/* --- Sequences ------------------------------------------------------------------------------ */

static const struct {
  const char *name, *expression, *input;
} cases[] = {
  {"mlp", "layer-norm ! linear(64) ! gelu ! linear(32)", "32x48"},
  {"gated", "rms-norm ! linear(64, bias=false) ! swiglu ! linear(48, bias=false)", "2x16x48"},
  {"residual",
   "make-extra-output(r) ! layer-norm ! linear(64) ! relu ! linear(48) ! add-extra-input(r)",
   "32x48"},
  {"branches",
   "layer-norm ! make-extra-output(a) ! linear(32) ! make-extra-output(q) ! load-branch(a) ! "
   "linear(32) ! gelu ! add-extra-input(q)",
   "32x48"},
  {"scaled", "linear(32) ! constant-scale(0.5) ! linear(16) ! add-extra-input", "32x48"},
  {"transformer", "block(2) { transformer-layer(2, ffn-features=64) }", "2x16x32"},
  {"written", "layer-norm ! quantize(backward=true) ! bias ! linear(32) ! quantize", "32x48"},
  {"odd", "linear(32) ! linear(50) ! linear(32)", "32x48"},
};

/* Fused, unfused and with recomputed values, the matmuls read the same copies. */
static void
check_policies (guint n, const char *text, LigDtype dtype)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = with_recipe (cases[n].expression, cases[n].input, text);
  g_autoptr (LigSequence) plain = new_sequence (cases[n].expression, cases[n].input);
  g_autofree char *what = g_strdup_printf ("%s, %s", cases[n].name, text);
  options.compute = (int) dtype;
  options.input_gradient = TRUE;
  options.policy = LIG_POLICY_NONE;
  g_autoptr (Results) apart = compute (sequence, &options);
  g_autoptr (Results) exact = compute (plain, &options);
  options.policy = LIG_POLICY_ALL;
  g_autoptr (Results) fused = compute (sequence, &options);
  options.recompute = LIG_RECOMPUTE_ALL;
  g_autoptr (Results) again = compute (sequence, &options);
  /* Rounding elsewhere changes a tensor's amax slightly, and with its scale the fp8 rounding of
   * every value; in fp32, it moves some values to the next fp8 number, a few more on some CPUs: if
   * a tenth of them move by an eighth, the error is sqrt (0.1) / 8. */
  compare_results (fused, apart, dtype == LIG_FP32 ? 0.04 : 0.25, what);
  compare_results (again, fused, 0, what);
  double distance =
    distance_between (results_find (apart, "output"), results_find (exact, "output"));
  g_assert_cmpfloat (distance, <, 0.15);
  g_assert_cmpfloat (distance, >, g_str_equal (cases[n].name, "odd") ? 1e-3 : 2e-3);
}

static void
test_policies (gconstpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (recipes); i++) {
    check_policies (GPOINTER_TO_UINT (data), recipes[i], LIG_FP32);
    check_policies (GPOINTER_TO_UINT (data), recipes[i], LIG_BF16);
  }
}

static guint
count_kernels (LigPlan *plan, const char *name, LigPass pass)
{
  guint count, found = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    found += steps[i].pass == pass && steps[i].kernel && g_str_equal (steps[i].kernel->name, name);
  return found;
}

/* Three matmuls that read one value through branches share its copies; each weight is quantized
 * once. */
static void
test_shared (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = with_recipe (
    "layer-norm ! make-extra-output(a) ! linear(32) ! make-extra-output(q) ! load-branch(a) ! "
    "identity ! linear(32) ! add-extra-input(q) ! make-extra-output(s) ! load-branch(a) ! "
    "linear(32) ! "
    "add-extra-input(s)",
    "32x48", "fp8-block");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_assert_cmpuint (count_kernels (plan, "quantize", LIG_PASS_FORWARD), ==, 1 + 3);
  g_assert_cmpuint (count_kernels (plan, "quantize", LIG_PASS_BACKWARD), ==, 3);
  g_assert_cmpuint (count_kernels (plan, "linear_fp8", LIG_PASS_FORWARD), ==, 3);
  g_assert_cmpuint (count_kernels (plan, "linear_fp8", LIG_PASS_BACKWARD), ==, 6);
  options.training = FALSE;
  g_autoptr (LigPlan) evaluation = compile (sequence, &options);
  g_assert_cmpuint (count_kernels (evaluation, "quantize", LIG_PASS_FORWARD), ==, 1 + 3);
  g_assert_cmpuint (count_kernels (evaluation, "linear_fp8", LIG_PASS_FORWARD), ==, 3);
}

/* Returns the text that explains the recipe of a plan, or fails. */
static char *
explain (LigPlan *plan)
{
  char *text = lig_plan_explain_recipe (plan);
  g_assert_nonnull (text);
  return text;
}

#define MIXTURE \
  "layer-norm ! mixture-of-experts(4, expert-features=64, activation=swiglu, weights-at=output) " \
  "! " \
  "linear(32)"

/* The matmuls of experts read copies in the forward pass and in the input gradient, and what they
 * are copies of in the weight gradient; units write copies as they compute. */
static void
test_experts (void)
{
  static const char *const followed[] = {"fp8-rows", "fp8-block", "fp8-current"};
  for (guint i = 0; i < G_N_ELEMENTS (followed); i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    g_autoptr (LigSequence) sequence = with_recipe (MIXTURE, "32x48", followed[i]);
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    g_assert_cmpuint (count_kernels (plan, "grouped_fp8", LIG_PASS_FORWARD), ==, 2);
    g_assert_cmpuint (count_kernels (plan, "grouped_fp8", LIG_PASS_BACKWARD), ==, 2);
    g_assert_cmpuint (count_kernels (plan, "grouped_backward_weight", LIG_PASS_BACKWARD), ==, 2);
    g_assert_cmpuint (count_kernels (plan, "gated_quantize", LIG_PASS_FORWARD), ==, 1);
    g_assert_cmpuint (count_kernels (plan, "gated_backward_quantize", LIG_PASS_BACKWARD), ==, 1);
    g_assert_cmpuint (count_kernels (plan, "grouped_linear", LIG_PASS_FORWARD), ==, 0);
    g_autofree char *text = explain (plan);
    g_assert_nonnull (strstr (text, "its weight gradient is computed in fp32"));
    guint n_verdicts, gated = 0;
    const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &n_verdicts);
    for (guint k = 0; k < n_verdicts; k++)
      if (verdicts[k].fits &&
          g_str_equal (verdicts[k].fusion->name, "forward-grouped-linear-gated")) {
        /* Alternating halves would not make it possible. */
        g_assert_cmpint (verdicts[k].reason, ==, LIG_REASON_RECIPE);
        g_assert_null (verdicts[k].fix);
        gated++;
      }
    g_assert_cmpuint (gated, ==, 1);
    options.training = FALSE;
    g_autoptr (LigPlan) evaluation = compile (sequence, &options);
    g_assert_cmpuint (count_kernels (evaluation, "grouped_fp8", LIG_PASS_FORWARD), ==, 2);
    g_autofree char *other = explain (evaluation);
    g_assert_null (strstr (other, "weight gradient"));
  }
}

/* Recipes that experts cannot follow are rejected, with those that they can. */
static void
test_experts_rejected (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = with_recipe (MIXTURE, "32x48", "fp8-delayed");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  guint count, found = 0;
  g_assert_cmpuint (count_kernels (plan, "grouped_fp8", LIG_PASS_FORWARD), ==, 0);
  g_assert_cmpuint (count_kernels (plan, "grouped_linear", LIG_PASS_FORWARD), ==, 2);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++)
    if (ops[i].info->flags & LIG_OP_GROUPED)
      g_assert_cmpstr (ops[i].unquantized, ==,
                       "matmuls of groups of rows cannot follow fp8-delayed; choose "
                       "fp8-rows|fp8-block|fp8-current");
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++)
    if (verdicts[i].reason == LIG_REASON_RECIPE &&
        g_strcmp0 (verdicts[i].observed, "fp8-delayed") == 0) {
      g_assert_cmpstr (verdicts[i].required, ==, "fp8-rows|fp8-block|fp8-current");
      found++;
    }
  g_assert_cmpuint (found, >, 0);
}

/* Sizes must be multiples of 16, except the number of rows. */
static void
test_experts_sizes (void)
{
  static const struct {
    const char *expression, *input, *problem;
  } sizes[] = {
    {"grouped-linear(48, groups=3)", "33x32", NULL},
    {"grouped-linear(40, groups=3)", "32x32",
     "40 output features, fp8-block needs a multiple of 16"},
    {"grouped-linear(48, groups=3)", "32x40",
     "40 input features, fp8-block needs a multiple of 16"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    g_autoptr (LigSequence) sequence =
      with_recipe (sizes[i].expression, sizes[i].input, "fp8-block");
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    guint fast = count_kernels (plan, "grouped_fp8", LIG_PASS_FORWARD);
    g_autofree char *text = explain (plan);
    g_assert_cmpuint (fast, ==, sizes[i].problem ? 0 : 1);
    g_assert_true (!sizes[i].problem || strstr (text, sizes[i].problem));
  }
}

/* The norm's kernel also quantizes. The fp8 matmuls add the bias, but gelu is unfused; the bias
 * gradient is summed where the gradient is quantized. Next to a matmul in the compute type, nothing
 * changes. */
static void
test_groups (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  g_autoptr (LigSequence) sequence =
    with_recipe ("layer-norm ! linear(64) ! gelu ! linear(50)", "32x48", "fp8-current");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  check_groups (plan,
                "[0 1 forward-quantize] [2 3 4 forward-linear-bias-activation] [5] [6] "
                "[7 8 9 forward-linear-bias-activation]",
                "[0] [1] [2] [3 4 5 backward-quantize] [6] "
                "[7 8 9 backward-linear-bias]");
  static const gboolean quantized[2][7] = {{TRUE, TRUE, FALSE, FALSE, FALSE},
                                           {FALSE, FALSE, TRUE, TRUE, FALSE, FALSE}};
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    guint count;
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
    g_assert_cmpuint (count, ==, pass == LIG_PASS_FORWARD ? 5 : 6);
    for (guint i = 0; i < count; i++)
      g_assert_cmpint (lig_plan_is_quantized (plan, &groups[i]), ==, quantized[pass][i]);
  }
}

/* A norm over several axes has longer rows than those that are quantized. */
static void
test_norm_axes (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  g_autoptr (LigSequence) sequence =
    with_recipe ("rms-norm(normalized-shape=[4, 16]) ! linear(32)", "16x4x16", "fp8-current");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  const LigVerdict *verdict = find_verdict (plan, "forward-quantize", 0);
  g_assert_nonnull (verdict);
  g_assert_cmpint (verdict->reason, ==, LIG_REASON_SHAPE);
  g_assert_nonnull (strstr (verdict->text, "over rows of 64"));
  g_assert_nonnull (strstr (verdict->text, "16, only the last axis"));
  g_assert_cmpuint (count_kernels (plan, "norm_quantize", LIG_PASS_FORWARD), ==, 0);
}

/* No copy is made for an unneeded gradient: of a frozen weight, of an input. */
static void
test_frozen (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence =
    with_recipe ("linear(32, trained=false) ! gelu ! linear(32) ! linear(16, trained=false)",
                 "32x48", "fp8-current");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  guint count, copies = 0;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  for (guint i = 0; i < count; i++)
    copies += g_str_has_suffix (values[i].name, ":transposed");
  g_assert_cmpuint (count_kernels (plan, "linear_fp8", LIG_PASS_FORWARD), ==, 3);
  g_assert_cmpuint (count_kernels (plan, "linear_fp8", LIG_PASS_BACKWARD), ==, 2);
  /* The last weight, the second input and the gradient of its output. */
  g_assert_cmpuint (copies, ==, 3);
}

/* A block and a matmul in it have separate recipes. */
static void
test_inherited (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = new_sequence (
    "linear(32) ! block(2, recipe=fp8-block) { linear(32) ! linear(32, recipe=none) } ! "
    "linear(32, recipe=fp8-current)",
    "32x48");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_assert_cmpuint (count_kernels (plan, "linear_fp8", LIG_PASS_FORWARD), ==, 3);
  g_assert_cmpuint (count_kernels (plan, "quantize", LIG_PASS_FORWARD), ==, 6);
}

/* --- Rejections --------------------------------------------------------------------------------
 */

static void
test_rejected (void)
{
  static const struct {
    const char *text, *message;
  } wrong[] = {
    {"fp8", "recipe is 'fp8', expected one of none, fp8-delayed, fp8-current, fp8-rows, fp8-block, "
            "mxfp8, nvfp4; did you mean 'fp8-rows'?"},
    {"fp8-currant", "recipe is 'fp8-currant', expected one of none, fp8-delayed, fp8-current, "
                    "fp8-rows, fp8-block, mxfp8, nvfp4; did you mean 'fp8-current'?"},
    {"fp8-block:margin=1",
     "recipe fp8-block has no parameter 'margin'; its parameters are power-of-two"},
    {"none:margin=1", "recipe none has no parameter 'margin'"},
    {"fp8-delayed:history=0",
     "history of recipe fp8-delayed is '0', expected a whole number from 1 "
     "to 65536"},
    {"fp8-delayed:amax=least", "amax of recipe fp8-delayed is 'least', expected max or "
                               "most-recent"},
    {"fp8-rows:power-of-two=1", "power-of-two of recipe fp8-rows is '1', expected true or false"},
    {"fp8-rows:power-of-two", "recipe fp8-rows: 'power-of-two' is not a parameter, expected "
                              "one like margin=1"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigSequence) sequence = new_sequence ("linear(32)", "32x48");
    g_assert_false (lig_sequence_set_recipe (sequence, wrong[i].text, &error));
    g_assert_cmpstr (error->message, ==, wrong[i].message);
    g_assert_null (lig_sequence_get_recipe (sequence));
  }
}

/* Microscaling (MX) is planned for a described device of compute capability 10, with one byte per
 * 32 values of a row, and rejected on others. */
static void
test_described (void)
{
  static const char *const rejected[][2] = {
    {"null:h200",
     "recipe mxfp8 needs compute capability 10.0 or higher, null:h200 has 9.0; choose another one"},
    {"cpu", "recipe mxfp8 can only be planned, for GPUs of compute capability 10.0 or higher, "
            "not for cpu; choose another one"},
  };
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence =
    with_recipe ("linear(96, bias=false)", "200x160:bf16", "mxfp8");
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:b200", &error);
  g_assert_no_error (error);
  options.compute = LIG_BF16;
  options.input_gradient = TRUE;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (count_kernels (plan, "linear_fp8", LIG_PASS_BACKWARD), ==, 0);
  g_autoptr (LigSequence) fitting = with_recipe ("linear(96, bias=false)", "224x160:bf16", "mxfp8");
  g_autoptr (LigPlan) planned = lig_plan_compile (fitting, device, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (count_kernels (planned, "linear_fp8", LIG_PASS_FORWARD), ==, 1);
  g_assert_cmpuint (count_kernels (planned, "linear_fp8", LIG_PASS_BACKWARD), ==, 2);
  /* Rows and columns are rounded up to 128 and to four scales. */
  guint count, found = 0;
  const LigPlanValue *values = lig_plan_get_values (planned, &count);
  for (guint i = 0; i < count; i++)
    if (strstr (values[i].name, ":row-scale") || strstr (values[i].name, ":transposed-scale")) {
      gboolean input = !strstr (values[i].name, "weight") && values[i].name[0] != 'd';
      g_assert_cmpint (values[i].dtype, ==, LIG_UINT8);
      if (input)
        g_assert_cmpint (lig_shape_size (&values[i].shape), ==, 256 * 8);
      found++;
    }
  g_assert_cmpuint (found, ==, 6);
  for (guint i = 0; i < G_N_ELEMENTS (rejected); i++) {
    g_autoptr (GError) problem = NULL;
    g_autoptr (LigDevice) other = lig_device_open (rejected[i][0], NULL);
    g_assert_null (lig_plan_compile (fitting, other, &options, &problem));
    g_assert_cmpstr (problem->message, ==, rejected[i][1]);
  }
}

static const LigPlanValue *
find_value (LigPlan *plan, const char *name)
{
  guint count;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  for (guint i = 0; i < count; i++)
    if (g_str_equal (values[i].name, name))
      return &values[i];
  g_error ("no value is called %s", name);
}

/* Values of 4 bits take half a byte each; a scale is a byte for 16 of them, its rows padded to 128
 * and its columns to 4, and four bytes follow. x is [208, 160], the weight [96, 160] and the
 * gradient [208, 96]. */
static void
test_four_bits (void)
{
  static const struct {
    const char *name;
    gint64 bytes;
  } expected[] = {
    {"input:row", 208 * 160 / 2},          {"input:row-scale", 256 * 12 + 4},
    {"input:transposed", 160 * 208 / 2},   {"input:transposed-scale", 256 * 16 + 4},
    {"0.weight:row", 96 * 160 / 2},        {"0.weight:row-scale", 128 * 12 + 4},
    {"0.weight:transposed", 160 * 96 / 2}, {"0.weight:transposed-scale", 256 * 8 + 4},
    {"d#1.y:row", 208 * 96 / 2},           {"d#1.y:row-scale", 256 * 8 + 4},
    {"d#1.y:transposed", 96 * 208 / 2},    {"d#1.y:transposed-scale", 128 * 16 + 4},
  };
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.compute = LIG_BF16;
  options.input_gradient = TRUE;
  g_autoptr (LigDevice) device = lig_device_open ("null:b200", &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence =
    with_recipe ("linear(96, bias=false)", "208x160:bf16", "nvfp4");
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    const LigPlanValue *value = find_value (plan, expected[i].name);
    g_assert_cmpint (value->dtype, ==, LIG_UINT8);
    g_assert_cmpint (value->bytes, ==, expected[i].bytes);
  }
  guint count, matmuls = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++) {
    if (!g_str_equal (steps[i].kernel->name, "linear_fp8"))
      continue;
    double peak = lig_device_get_facts (device)->matmul_fp4;
    g_assert_cmpfloat (steps[i].flops, ==, 2.0 * 208 * 160 * 96);
    g_assert_cmpfloat (peak, >, lig_device_get_facts (device)->matmul[LIG_FP8_E4M3]);
    matmuls++;
  }
  g_assert_cmpuint (matmuls, ==, 3);
  const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &count);
  for (guint i = 0; i < count; i++)
    g_assert_cmpint (lig_plan_get_bits (plan, &groups[i]), ==, i < 2 ? 4 : 0);
}

/* Four bits are rejected like microscaling, and sides that are not multiples of 16 fall back. */
static void
test_four_bits_rejected (void)
{
  static const char *const rejected[][2] = {
    {"null:h200",
     "recipe nvfp4 needs compute capability 10.0 or higher, null:h200 has 9.0; choose another one"},
    {"cpu", "recipe nvfp4 can only be planned, for GPUs of compute capability 10.0 or higher, "
            "not for cpu; choose another one"},
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:b200", &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) odd = with_recipe ("linear(40, bias=false)", "64x32:bf16", "nvfp4");
  g_autoptr (LigPlan) plan = lig_plan_compile (odd, device, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (count_kernels (plan, "linear_fp8", LIG_PASS_FORWARD), ==, 0);
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  g_assert_cmpstr (ops[1].unquantized, ==, "40 output features, nvfp4 needs a multiple of 16");
  for (guint i = 0; i < G_N_ELEMENTS (rejected); i++) {
    g_autoptr (GError) problem = NULL;
    g_autoptr (LigDevice) other = lig_device_open (rejected[i][0], NULL);
    g_assert_null (lig_plan_compile (odd, other, NULL, &problem));
    g_assert_cmpstr (problem->message, ==, rejected[i][1]);
  }
}

static void
test_files (void)
{
  static const struct {
    const char *text, *message;
  } wrong[] = {
    {"{\"ligature\":1,\"recipe\":1,\"ops\":[]}", "$.recipe: expected an object, got 1"},
    {"{\"ligature\":1,\"recipe\":{},\"ops\":[]}", "$.recipe.name: expected a string, got nothing"},
    {"{\"ligature\":1,\"recipe\":{\"name\":\"fp9\"},\"ops\":[]}",
     "$.recipe.name: recipe is 'fp9', expected one of none, fp8-delayed, fp8-current, fp8-rows, "
     "fp8-block, mxfp8, nvfp4"},
    {"{\"ligature\":1,\"recipe\":{\"name\":\"fp8-rows:margin=1\"},\"ops\":[]}",
     "$.recipe.name: expected the name of a recipe, got 'fp8-rows:margin=1'"},
    {"{\"ligature\":1,\"recipe\":{\"name\":\"fp8-delayed\",\"history\":true},\"ops\":[]}",
     "$.recipe.history: history of recipe fp8-delayed is 'true', expected a whole number from 1 to "
     "65536"},
    {"{\"ligature\":1,\"recipe\":{\"name\":\"fp8-delayed\",\"history\":[2]},\"ops\":[]}",
     "$.recipe.history: expected a number, a string, true or false, got an array"},
    {"{\"ligature\":1,\"recipe\":{\"name\":\"fp8-block\",\"margin\":2},\"ops\":[]}",
     "$.recipe.margin: recipe fp8-block has no parameter 'margin'; its parameters are "
     "power-of-two"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (lig_sequence_from_json (wrong[i].text, -1, NULL, &error));
    g_assert_cmpstr (error->message, ==, wrong[i].message);
  }
}

static void
test_capability (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) a100 = lig_device_open ("null:a100", &error);
  g_assert_no_error (error);
  g_autoptr (LigDevice) h200 = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence = with_recipe ("linear(32)", "32x48", "fp8-rows");
  g_autoptr (LigPlan) none = lig_plan_compile (sequence, a100, NULL, &error);
  g_assert_null (none);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_DEVICE);
  g_assert_nonnull (strstr (error->message, "recipe fp8-rows needs compute capability 9.0"));
  g_assert_nonnull (strstr (error->message, "has 8.0"));
  g_clear_error (&error);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, h200, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (count_kernels (plan, "linear_fp8", LIG_PASS_FORWARD), ==, 1);
}

/* Every registered recipe is a choice of blocks and matmuls, and its text round-trips. */
static void
test_registry (void)
{
  const LigRecipeInfo *info;
  for (guint i = 0; (info = lig_recipe_info_nth (i)); i++) {
    LigRecipe recipe;
    g_autoptr (GError) error = NULL;
    g_autofree char *expression = g_strdup_printf ("linear(32, recipe=%s)", info->name);
    g_autoptr (LigSequence) sequence = new_sequence (expression, "32x48");
    g_autofree char *written = lig_sequence_to_expression (sequence);
    g_assert_cmpstr (written, ==, expression);
    for (const LigParam *param = info->params; param->name; param++) {
      lig_recipe_init (&recipe, info);
      g_autofree char *initial = lig_recipe_get (&recipe, param);
      g_assert_true (lig_recipe_set (&recipe, param->name, initial, &error));
      g_autofree char *text = lig_recipe_format (&recipe);
      g_assert_cmpstr (text, ==, info->name);
    }
  }
  for (guint i = 0; i < G_N_ELEMENTS (recipes); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigSequence) sequence = with_recipe ("linear(32)", "32x48", recipes[i]);
    g_autofree char *json = lig_sequence_to_json (sequence);
    g_autoptr (LigSequence) again = lig_sequence_from_json (json, -1, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (lig_sequence_get_recipe (again), ==, lig_sequence_get_recipe (sequence));
    g_autofree char *twice = lig_sequence_to_json (again);
    g_assert_cmpstr (twice, ==, json);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (recipes); i++) {
    g_autofree char *path = g_strdup_printf ("/compile/quantize/formulas/%u", i);
    g_test_add_data_func (path, recipes[i], test_formulas);
    g_autofree char *scaled = g_strdup_printf ("/compile/quantize/scaled/%u", i);
    g_test_add_data_func (scaled, recipes[i], test_scaled);
  }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strdup_printf ("/compile/quantize/policies/%s", cases[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_policies);
  }
  g_test_add_func ("/compile/quantize/shared", test_shared);
  g_test_add_func ("/compile/quantize/experts", test_experts);
  g_test_add_func ("/compile/quantize/experts-rejected", test_experts_rejected);
  g_test_add_func ("/compile/quantize/experts-sizes", test_experts_sizes);
  g_test_add_func ("/compile/quantize/groups", test_groups);
  g_test_add_func ("/compile/quantize/norm-axes", test_norm_axes);
  g_test_add_func ("/compile/quantize/frozen", test_frozen);
  g_test_add_func ("/compile/quantize/inherited", test_inherited);
  g_test_add_func ("/compile/quantize/rejected", test_rejected);
  g_test_add_func ("/compile/quantize/described", test_described);
  g_test_add_func ("/compile/quantize/four-bits", test_four_bits);
  g_test_add_func ("/compile/quantize/four-bits-rejected", test_four_bits_rejected);
  g_test_add_func ("/compile/quantize/files", test_files);
  g_test_add_func ("/compile/quantize/capability", test_capability);
  g_test_add_func ("/compile/quantize/registry", test_registry);
  return g_test_run ();
}
