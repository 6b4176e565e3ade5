/* SPDX-License-Identifier: MIT */
/* Every built-in fusion: it fires on every variant of its pattern, agrees with the unfused ops in
 * the output and every gradient, and is rejected, with the right reason, if it must not fire. */
#include "engine/patterns/pattern.h"
#include "tests/plan/case.h"

static const LigDtype types[][2] = {
  {LIG_FP32, LIG_FP32}, {LIG_FP16, LIG_FP16}, {LIG_BF16, LIG_BF16},
  {LIG_FP16, LIG_FP32}, {LIG_BF16, LIG_FP32},
};

static LigPlanOptions
options_of (LigPolicy policy, gboolean training, gboolean input_gradient)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = policy;
  options.training = training;
  options.input_gradient = input_gradient;
  return options;
}

/* --- Every variant of a pattern ------------------------------------------------------------ */

/* Returns the input of an expression: of a gated unit before a grouped matmul, as many columns as a
 * tile of both has. */
static const char *
input_of (const char *expression)
{
  return g_str_has_prefix (expression, "embedding")  ? "5x8:int32"
         : strstr (expression, "(interleave=32) ! ") ? "5x64"
                                                     : "5x8";
}

/* Returns a sequence; one that quantizes has a recipe. */
static LigSequence *
example (const char *expression)
{
  g_autoptr (GError) error = NULL;
  LigSequence *sequence = new_sequence (expression, input_of (expression));
  if (strstr (expression, "quantize"))
    lig_sequence_set_recipe (sequence, "fp8-current", &error);
  g_assert_no_error (error);
  return sequence;
}

typedef void (*VariantFunc) (const LigFusion *fusion, const char *const *ops);

/* Returns the name under which a pattern matches an op. */
static const char *
fused_name (const char *name)
{
  const LigOpInfo *info = lig_op_info_find (name);
  return info->fuses_as ? info->fuses_as : name;
}

/* Returns an op of some with the values that it needs; the halves of a gated unit next to a grouped
 * matmul alternate. */
static const char *
op_text (const char *const *ops, int index)
{
  const char *name = ops[index];
  static const struct {
    const char *name, *values;
  } needed[] = {{"basic-linear", "(6)"},       {"constant-scale", "(0.5)"},
                {"embedding", "(6)"},          {"grouped-linear", "(64)"},
                {"position-embedding", "(9)"}, {"quantize", "(backward=true)"}};
  for (guint i = 0; i < G_N_ELEMENTS (needed); i++)
    if (g_str_equal (fused_name (name), needed[i].name)) {
      g_autofree char *text = g_strconcat (name, needed[i].values, NULL);
      return g_intern_string (text);
    }
  if (g_strv_contains (ops, "grouped-linear")) {
    g_autofree char *text = g_strconcat (name, "(interleave=32)", NULL);
    return g_intern_string (text);
  }
  return name;
}

/* Returns whether only a recipe creates such ops, which compile/quantize.c tests: a quantizer of
 * the gradient right after its matmul. */
static gboolean
is_implicit (const GPtrArray *ops)
{
  return g_str_equal (fused_name (ops->pdata[0]), "basic-linear") &&
         g_str_equal (ops->pdata[1], "quantize");
}

static void
choose (const LigFusion *fusion,
        const LigPattern *pattern,
        int element,
        GPtrArray *ops,
        VariantFunc function)
{
  if (element == pattern->n_elements) {
    g_ptr_array_add (ops, NULL);
    if (ops->len > 2 && !is_implicit (ops))
      function (fusion, (const char *const *) ops->pdata);
    g_ptr_array_set_size (ops, (int) ops->len - 1);
    return;
  }
  const LigOpInfo *info;
  if (pattern->elements[element].optional)
    choose (fusion, pattern, element + 1, ops, function);
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    /* Collectives are tested in overlapping.c. */
    if (!lig_element_fits (&pattern->elements[element], info) ||
        g_str_equal (info->category, "Ranks"))
      continue;
    g_ptr_array_add (ops, (gpointer) info->name);
    choose (fusion, pattern, element + 1, ops, function);
    g_ptr_array_set_size (ops, (int) ops->len - 1);
  }
}

static void
each_variant (VariantFunc function)
{
  const LigFusion *fusion;
  for (guint i = 0; (fusion = lig_fusion_nth (i)); i++) {
    g_autoptr (GPtrArray) ops = g_ptr_array_new ();
    /* It needs a recipe with known scales, and suitable sizes: compile/gelu-matmuls.c tests it. */
    if (g_str_equal (fusion->name, "forward-linear-bias-gelu-quantize"))
      continue;
    choose (fusion, lig_fusion_get_pattern (fusion), 0, ops, function);
  }
}

static char *
join (const char *const *ops, const char *between)
{
  GString *text = g_string_new (NULL);
  for (int i = 0; ops[i]; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? between : "", op_text (ops, i));
  return g_string_free (text, FALSE);
}

/* --- Fused and alone ----------------------------------------------------------------------- */

static void
check_group (LigSequence *sequence, const LigPlanOptions *options, const LigFusion *fusion)
{
  g_autoptr (LigPlan) plan = compile (sequence, options);
  guint count;
  LigPass pass = fusion->pass == LIG_PASS_BACKWARD ? LIG_PASS_BACKWARD : LIG_PASS_FORWARD;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  for (guint i = 0; i < count; i++)
    if (groups[i].first == 0 && groups[i].fusion == fusion) {
      g_assert_cmpint (groups[i].count, ==, (int) lig_sequence_get_length (sequence));
      g_assert_cmpint (groups[i].n_steps, >, 0);
      g_assert_true (find_verdict (plan, fusion->name, 0)->taken);
      return;
    }
  g_autofree char *expression = lig_sequence_to_expression (sequence);
  g_error ("%s does not fire on %s: %s", fusion->name, expression,
           find_verdict (plan, fusion->name, 0) ? find_verdict (plan, fusion->name, 0)->text
                                                : "no verdict");
}

/* Returns the sequence whose plan is the reference: unfused, except for a sum of gradients that is
 * quantized. Both round it once, because a difference of one bf16 step may become one of fp8. */
static LigSequence *
apart_from (const LigFusion *fusion, const char *expression)
{
  LigSequence *sequence = example (expression);
  g_auto (GStrv) ops = g_strsplit (expression, " ! ", -1);
  guint at = 0;
  while (ops[at] && !g_str_equal (ops[at], "make-extra-output"))
    at++;
  g_autofree char *path = g_strdup_printf ("%u", at);
  if (g_str_equal (fusion->name, "backward-norm-quantize") && ops[at])
    force (sequence, path, "backward-add-norm");
  return sequence;
}

/* Forces the fusion in a plan without other fusions and compares it with the unfused ops. */
static void
check_agrees (const LigFusion *fusion, const char *expression, LigPlanOptions options)
{
  g_autoptr (LigSequence) fused = example (expression);
  g_autoptr (LigSequence) apart = apart_from (fusion, expression);
  LigDtype compute_type = options.compute < 0 ? LIG_FP32 : (LigDtype) options.compute;
  g_autofree char *what = g_strdup_printf (
    "%s on %s, %s%s%s", fusion->name, expression, lig_dtype_name (compute_type),
    options.training ? ", training" : "", options.input_gradient ? ", input gradient" : "");
  g_test_message ("%s", what);
  force (fused, "0", fusion->name);
  check_group (fused, &options, fusion);
  g_autoptr (Results) got = compute (fused, &options);
  g_autoptr (Results) want = compute (apart, &options);
  compare_results (got, want, plan_tolerance (compute_type), what);
}

static void
check_types (const LigFusion *fusion, const char *const *ops)
{
  g_autofree char *expression = join (ops, " ! ");
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    for (int training = fusion->pass != LIG_PASS_FORWARD; training < 2; training++) {
      LigPlanOptions options = options_of (LIG_POLICY_NONE, training, training);
      options.compute = (int) types[i][0];
      options.parameters = (int) types[i][1];
      check_agrees (fusion, expression, options);
    }
}

static void
test_types (void)
{
  each_variant (check_types);
}

static void
check_identity (const LigFusion *fusion, const char *const *ops)
{
  g_autofree char *expression = join (ops, " ! identity ! identity ! ");
  for (int training = fusion->pass != LIG_PASS_FORWARD; training < 2; training++)
    check_agrees (fusion, expression, options_of (LIG_POLICY_NONE, training, training));
}

/* An unused branch does not prevent a fusion. */
static void
check_unused_branch (const LigFusion *fusion, const char *const *ops)
{
  g_autofree char *expression = join (ops, " ! make-extra-output(to=nobody) ! ");
  if (g_strv_contains (ops, "make-extra-output") || ops[2])
    return;
  /* An optional make-extra-output of the pattern matches the branch, which is then an element. */
  for (int training = fusion->pass != LIG_PASS_FORWARD; training < 2; training++)
    check_agrees (fusion, expression, options_of (LIG_POLICY_NONE, training, training));
}

static void
test_see_through (void)
{
  each_variant (check_identity);
  each_variant (check_unused_branch);
}

/* No input gradient: kernels whose main output is not needed. */
static void
check_first (const LigFusion *fusion, const char *const *ops)
{
  g_autofree char *expression = join (ops, " ! ");
  const LigOpInfo *first = lig_op_info_find (ops[0]);
  if (fusion->pass == LIG_PASS_FORWARD || first->parameters)
    check_agrees (fusion, expression, options_of (LIG_POLICY_NONE, TRUE, FALSE));
}

static void
test_first (void)
{
  each_variant (check_first);
}

/* --- Adding to gradients ------------------------------------------------------------------- */

static Results *
accumulate (LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (LigState) state = new_state (sequence, options);
  g_autoptr (LigProgram) program = new_program (state, sequence, options);
  feed_inputs (program);
  for (int i = 0; i < 3; i++) {
    feed_gradients (program);
    run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | (i > 0 ? LIG_RUN_ACCUMULATE : 0));
  }
  return read_results (program, TRUE);
}

/* With accumulation over three runs the parameters' gradients triple; the rest is unchanged.
 */
static void
check_accumulates (const LigFusion *fusion, const char *const *ops)
{
  g_autofree char *expression = join (ops, " ! ");
  g_autoptr (LigSequence) sequence = example (expression);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    LigPlanOptions options = options_of (LIG_POLICY_NONE, TRUE, TRUE);
    options.compute = (int) types[i][0];
    options.parameters = (int) types[i][1];
    options.accumulate = TRUE;
    g_autoptr (LigSequence) alone = apart_from (fusion, expression);
    force (sequence, "0", fusion->name);
    g_autoptr (Results) got = accumulate (sequence, &options);
    g_autoptr (Results) want = compute (alone, &options);
    for (guint j = 0; j < want->names->len; j++) {
      LigTensor *tensor = want->tensors->pdata[j];
      const char *name = want->names->pdata[j];
      gboolean parameter = g_str_has_prefix (name, "grad.") && g_ascii_isdigit (name[5]);
      for (gint64 k = 0; k < tensor->size && parameter; k++)
        lig_tensor_set (tensor, k, 3 * lig_tensor_get (tensor, k));
    }
    compare_results (got, want, plan_tolerance (types[i][0]), fusion->name);
  }
}

static void
test_accumulate (void)
{
  each_variant (check_accumulates);
}

/* --- Experts ------------------------------------------------------------------------------- */

static gboolean
is_taken (LigPlan *plan, const char *fusion)
{
  guint count;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++)
    if (verdicts[i].taken && g_str_equal (verdicts[i].fusion->name, fusion))
      return TRUE;
  return FALSE;
}

/* The fusions of grouped matmuls in a macro, whose router fills the groups. */
static void
test_experts (void)
{
  static const char *const expressions[] = {
    "mixture-of-experts(4, top-k=2, expert-features=64, interleave=32)",
    "mixture-of-experts(3, top-k=1, expert-features=32, interleave=32, activation=geglu)",
    "mixture-of-experts(5, top-k=3, expert-features=32, interleave=32, activation=clamped-swiglu, "
    "bias=true, weights-at=activation)",
    "mixture-of-experts(5, top-k=3, expert-features=96, interleave=32, bias=true, capacity=1, "
    "weights-at=output)",
  };
  for (guint i = 0; i < G_N_ELEMENTS (expressions); i++)
    for (guint k = 0; k < G_N_ELEMENTS (types); k++)
      for (int training = 0; training < 2; training++) {
        LigPlanOptions all = options_of (LIG_POLICY_ALL, training, training);
        LigPlanOptions none = options_of (LIG_POLICY_NONE, training, training);
        all.compute = none.compute = (int) types[k][0];
        all.parameters = none.parameters = (int) types[k][1];
        g_autoptr (LigSequence) sequence = new_sequence (expressions[i], "33x8");
        g_autoptr (LigPlan) plan = compile (sequence, &all);
        g_assert_true (is_taken (plan, "forward-grouped-linear-gated"));
        g_assert_cmpint (is_taken (plan, "backward-gated-grouped-linear"), ==, training);
        g_autoptr (Results) got = compute (sequence, &all);
        g_autoptr (Results) want = compute (sequence, &none);
        compare_results (got, want, plan_tolerance (types[k][0]), expressions[i]);
      }
}

/* --- Kernels ------------------------------------------------------------------------------- */

static const struct {
  const char *fusion, *expression, *kernels;
} kernels[] = {
  {"forward-linear-bias-add", "basic-linear(6) ! bias ! add-extra-input", "linear_bias_add"},
  {"forward-linear-bias-add", "basic-linear(6) ! add-extra-input", "linear_bias_add"},
  {"forward-linear-scale-add", "basic-linear(6) ! constant-scale(2) ! add-extra-input",
   "linear_bias_add"},
  {"forward-linear-bias-activation", "basic-linear(6) ! bias", "linear_bias"},
  {"forward-linear-bias-activation", "basic-linear(6) ! bias ! gelu", "linear_bias_gelu"},
  {"forward-linear-bias-activation", "basic-linear(6) ! relu", "linear_bias_relu"},
  {"forward-add-norm", "add-extra-input ! layer-norm", "add_layer_norm"},
  {"forward-add-norm", "add-extra-input ! make-extra-output ! rms-norm", "add_rms_norm"},
  {"forward-bias-activation", "bias ! silu", "bias_silu"},
  {"forward-bias-activation", "bias ! clamped-swiglu", "bias_clamped_swiglu"},
  {"forward-grouped-linear-gated", "grouped-linear(64) ! geglu(interleave=32)",
   "grouped_linear_gated"},
  {"forward-grouped-linear-gated", "grouped-linear(64) ! scaled-swiglu(interleave=32)",
   "grouped_linear_gated"},
  {"forward-embedding-position", "embedding(6) ! position-embedding(9)", "embedding_position"},
  {"backward-linear-add", "make-extra-output ! basic-linear(6)",
   "linear_backward_weight linear_backward_input_add"},
  {"backward-linear-add", "make-extra-output ! basic-linear(6) ! bias",
   "linear_backward_weight_bias linear_backward_input_add"},
  {"backward-linear-scale", "basic-linear(6) ! constant-scale(2)",
   "linear_backward_weight linear_backward_input"},
  {"forward-quantize", "clamped-swiglu ! quantize", "gated_quantize"},
  {"forward-quantize", "situ-glu(interleave=4) ! quantize", "gated_quantize"},
  {"forward-quantize", "relu ! quantize", "activation_quantize"},
  {"forward-quantize", "rms-norm ! quantize", "rms_norm norm_quantize"},
  {"forward-add-norm-quantize", "add-extra-input ! layer-norm ! quantize",
   "add_layer_norm norm_quantize"},
  {"forward-bias-activation-quantize", "bias ! gelu ! quantize", "activation_quantize"},
  {"backward-norm-quantize", "quantize(backward=true) ! layer-norm", "norm_backward_quantize"},
  {"backward-norm-quantize",
   "quantize(backward=true) ! bias ! add-extra-input ! make-extra-output ! rms-norm",
   "norm_backward_quantize"},
  {"backward-quantize", "quantize(backward=true) ! bias ! relu", "activation_backward_quantize"},
  {"backward-quantize", "quantize(backward=true) ! bias", "quantize"},
  {"backward-quantize", "quantize(backward=true) ! glu", "gated_backward_quantize"},
  {"backward-activation-bias", "bias ! relu", "bias_relu_backward"},
  {"backward-activation-bias", "bias ! geglu", "bias_geglu_backward"},
  {"backward-gated-grouped-linear", "scaled-swiglu(interleave=32) ! grouped-linear(6)",
   "grouped_backward_weight grouped_gated_backward_input"},
  {"backward-add-norm", "make-extra-output ! layer-norm", "layer_norm_backward_add"},
  {"backward-add-norm", "make-extra-output ! rms-norm", "rms_norm_backward_add"},
  {"backward-linear-bias", "basic-linear(6) ! bias",
   "linear_backward_weight_bias linear_backward_input"},
  {"backward-bias-gelu-linear", "bias ! gelu ! basic-linear(6) ! bias",
   "linear_backward_weight_bias linear_backward_input_gelu"},
  {"backward-bias-gelu-linear", "gelu ! basic-linear(6)",
   "linear_backward_weight linear_backward_input_gelu"},
  {"backward-linear-input-bias", "basic-linear(6) ! bias",
   "linear_backward_weight linear_backward_input_bias"},
  {"backward-gelu-linear-biases", "bias ! gelu ! basic-linear(6) ! bias",
   "linear_backward_weight linear_backward_input_gelu_bias"},
  {"backward-gelu-linear-biases", "gelu ! basic-linear(6) ! bias",
   "linear_backward_weight linear_backward_input_gelu_bias"},
};

static void
test_kernels (void)
{
  LigPlanOptions options = options_of (LIG_POLICY_NONE, TRUE, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++) {
    g_autoptr (LigSequence) sequence = example (kernels[i].expression);
    force (sequence, "0", kernels[i].fusion);
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    g_autofree char *text = kernels_text (plan, lig_fusion_find (kernels[i].fusion)->pass);
    g_assert_cmpstr (text, ==, kernels[i].kernels);
  }
}

/* --- Rejections ---------------------------------------------------------------------------- */

/* Checks the fusion's verdict at op 0 under policy all: legal for at most `gap` ops, or rejected.
 */
static void
check_kept_out (
  const LigFusion *fusion, const char *expression, int gap, LigReason reason, const char *observed)
{
  g_autoptr (LigSequence) sequence = example (expression);
  LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE, TRUE);
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  const LigVerdict *verdict = find_verdict (plan, fusion->name, 0);
  g_test_message ("%s: %s", expression, verdict->text);
  gboolean legal = verdict->taken || verdict->reason == LIG_REASON_CLAIMED;
  if (legal) {
    g_assert_cmpint (verdict->count, <=, gap);
    return;
  }
  g_assert_cmpint (verdict->reason, ==, reason);
  g_assert_cmpstr (verdict->observed, ==, observed);
  g_assert_cmpint (verdict->first, ==, 0);
  g_assert_cmpint (verdict->count, >=, reason == LIG_REASON_PATTERN ? 1 : 2);
  g_assert_nonnull (strstr (verdict->text, fusion->name));
}

/* Joins the ops and puts `what` between those at gap - 1 and gap. */
static char *
join_with (const char *const *ops, int gap, const char *what)
{
  GString *text = g_string_new (NULL);
  for (int i = 0; ops[i]; i++) {
    g_string_append_printf (text, "%s%s", i > 0 ? " ! " : "", i == gap ? what : "");
    g_string_append_printf (text, "%s%s", i == gap ? " ! " : "", op_text (ops, i));
  }
  return g_string_free (text, FALSE);
}

static void
check_in_use (const LigFusion *fusion, const char *const *ops)
{
  for (int gap = 1; ops[gap]; gap++) {
    g_autofree char *expression = join_with (ops, gap, "make-extra-output(to=mid, caller=true)");
    /* After an addition, and before a norm with a quantized gradient, the branch is an element of
     * the pattern. */
    gboolean branch =
      (g_str_has_prefix (fusion->name, "forward-add-norm") &&
       !g_str_equal (ops[gap], "quantize")) ||
      (g_str_equal (fusion->name, "backward-norm-quantize") &&
       g_str_has_suffix (ops[gap], "-norm") && !g_str_equal (ops[gap - 1], "make-extra-output"));
    if (!branch)
      check_kept_out (fusion, expression, gap, LIG_REASON_IN_USE, "caller");
  }
}

static void
check_fenced (const LigFusion *fusion, const char *const *ops)
{
  for (int gap = 1; ops[gap]; gap++) {
    g_autofree char *expression = join_with (ops, gap, "|");
    g_autofree char *observed = g_strdup_printf ("fence before %d", gap);
    check_kept_out (fusion, expression, gap, LIG_REASON_FENCED, observed);
  }
}

static void
check_broken (const LigFusion *fusion, const char *const *ops)
{
  for (int gap = 1; ops[gap]; gap++) {
    g_autofree char *expression = join_with (ops, gap, "dropout(0.5)");
    check_kept_out (fusion, expression, gap, LIG_REASON_PATTERN, "dropout");
    g_autoptr (GPtrArray) start = g_ptr_array_new ();
    for (int i = 0; i < gap; i++)
      g_ptr_array_add (start, (gpointer) ops[i]);
    g_ptr_array_add (start, NULL);
    g_autofree char *cut = join ((const char *const *) start->pdata, " ! ");
    if (gap > 1 || !g_str_equal (cut, "make-extra-output"))
      check_kept_out (fusion, cut, gap, LIG_REASON_PATTERN, "end");
  }
}

static void
test_keeps_out (void)
{
  each_variant (check_in_use);
  each_variant (check_fenced);
}

static void
check_forbidden (const LigFusion *fusion, const char *const *ops)
{
  const char *const names[] = {fusion->name, NULL};
  g_autofree char *expression = join (ops, " ! ");
  LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE, TRUE);
  for (int everywhere = 0; everywhere < 2; everywhere++) {
    g_autoptr (LigSequence) sequence = example (expression);
    if (everywhere)
      lig_sequence_set_forbidden (sequence, names);
    else
      lig_op_set_forbidden (lig_sequence_get (sequence, 0, NULL), names);
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    const LigVerdict *verdict = find_verdict (plan, fusion->name, 0);
    g_assert_false (verdict->taken);
    g_assert_cmpint (verdict->reason, ==, LIG_REASON_FORBIDDEN);
    g_assert_cmpstr (verdict->observed, ==, everywhere ? "forbidden everywhere" : "forbidden at 0");
  }
}

static void
test_forbidden (void)
{
  each_variant (check_forbidden);
}

/* --- Contents of verdicts ------------------------------------------------------------------ */

/* Stands for the names of all activations and gated units. */
#define UNITS "@units"

static const struct {
  const char *expression, *fusion;
  int first;
  LigReason reason;
  int count;
  const char *observed, *required;
} verdicts[] = {
  {"linear(6) ! dropout", "forward-linear-bias-add", 0, LIG_REASON_PATTERN, 3, "dropout",
   "add-extra-input"},
  {"basic-linear(6) ! dropout", "forward-linear-bias-activation", 0, LIG_REASON_PATTERN, 2,
   "dropout", "bias|gelu|relu"},
  {"basic-linear(6) ! dropout", "forward-linear-bias-add", 0, LIG_REASON_PATTERN, 2, "dropout",
   "bias|add-extra-input"},
  {"basic-linear(6)", "backward-linear-bias", 0, LIG_REASON_PATTERN, 1, "end", "bias"},
  {"bias", "forward-bias-activation", 0, LIG_REASON_PATTERN, 1, "end", UNITS},
  {"bias ! make-extra-output(to=mid) ! gelu ! add-extra-input(from=mid)", "forward-bias-activation",
   0, LIG_REASON_IN_USE, 3, "channel mid", "no other reader"},
  {"bias ! make-extra-output(to=mid) ! gelu ! add-extra-input(from=mid)",
   "backward-activation-bias", 0, LIG_REASON_IN_USE, 3, "channel mid", "no other reader"},
  {"bias ! make-extra-output ! gelu", "forward-bias-activation", 0, LIG_REASON_IN_USE, 3, "caller",
   "no other reader"},
  {"bias ! identity ! | ! gelu", "forward-bias-activation", 0, LIG_REASON_FENCED, 3,
   "fence before 2", "no fence"},
  {"bias ! swiglu(interleave=2)", "forward-bias-activation", 0, LIG_REASON_SHAPE, 2, "interleave=2",
   "interleave=0"},
  {"bias ! swiglu(interleave=2)", "backward-activation-bias", 0, LIG_REASON_SHAPE, 2,
   "interleave=2", "interleave=0"},
  {"grouped-linear(128) ! swiglu", "forward-grouped-linear-gated", 0, LIG_REASON_SHAPE, 2,
   "interleave=0", "interleave=32"},
  {"grouped-linear(12) ! scaled-swiglu", "forward-grouped-linear-gated", 0, LIG_REASON_SHAPE, 2,
   "columns=12", "a multiple of 64"},
  {"swiglu(interleave=2) ! grouped-linear(6)", "backward-gated-grouped-linear", 0, LIG_REASON_SHAPE,
   2, "columns=8", "a multiple of 64"},
  {"scaled-situ-glu(interleave=2) ! grouped-linear(64)", "backward-gated-grouped-linear", 0,
   LIG_REASON_SHAPE, 2, "columns=8", "a multiple of 64"},
  {"linear(6) ! gelu", "forward-bias-activation", 1, LIG_REASON_CLAIMED, 2,
   "forward-linear-bias-activation at 0", "free ops"},
};

static void
test_verdicts (void)
{
  LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE, TRUE);
  g_autofree char *units = list_names (LIG_OP_ACTIVATION | LIG_OP_GATED);
  for (guint i = 0; i < G_N_ELEMENTS (verdicts); i++) {
    const char *required = verdicts[i].required;
    g_autoptr (LigSequence) sequence = example (verdicts[i].expression);
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    const LigVerdict *verdict = find_verdict (plan, verdicts[i].fusion, verdicts[i].first);
    g_test_message ("%s: %s", verdicts[i].expression, verdict->text);
    g_assert_cmpint (verdict->reason, ==, verdicts[i].reason);
    g_assert_cmpstr (verdict->observed, ==, verdicts[i].observed);
    g_assert_cmpstr (verdict->required, ==, g_str_equal (required, UNITS) ? units : required);
    g_assert_cmpint (verdict->count, ==, verdicts[i].count);
    g_assert_false (verdict->taken);
  }
  each_variant (check_broken);
}

/* Each fusion has exactly one verdict for each op that matches its first element. */
static void
test_one_each (void)
{
  LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence (
    "make-extra-output(r) ! layer-norm ! linear(16) ! gelu ! linear(8) ! add-extra-input(r)",
    "5x8");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  guint n_ops, count, expected = 0;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  lig_plan_get_verdicts (plan, &count);
  const LigFusion *fusion;
  for (guint i = 0; (fusion = lig_fusion_nth (i)); i++) {
    const LigPattern *pattern = lig_fusion_get_pattern (fusion);
    for (guint j = 0; j < n_ops; j++) {
      gboolean fits = FALSE;
      for (int k = 0; k < pattern->n_elements && !fits; k++) {
        fits = lig_element_fits (&pattern->elements[k], ops[j].info);
        if (!pattern->elements[k].optional)
          break;
      }
      expected += fits;
      g_assert_cmpint (find_verdict (plan, fusion->name, (int) j) != NULL, ==, fits);
    }
  }
  g_assert_cmpuint (count, ==, expected);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fusions/types", test_types);
  g_test_add_func ("/fusions/see-through", test_see_through);
  g_test_add_func ("/fusions/first", test_first);
  g_test_add_func ("/fusions/accumulate", test_accumulate);
  g_test_add_func ("/fusions/experts", test_experts);
  g_test_add_func ("/fusions/kernels", test_kernels);
  g_test_add_func ("/fusions/keeps-out", test_keeps_out);
  g_test_add_func ("/fusions/forbidden", test_forbidden);
  g_test_add_func ("/fusions/verdicts", test_verdicts);
  g_test_add_func ("/fusions/one-each", test_one_each);
  return g_test_run ();
}
