/* SPDX-License-Identifier: MIT */
/* Ops, kernels and fusions of an embedding program: forward, backward, joint, first or last. */
#include "tests/plan/case.h"
#include <ligature/lowering.h>
#include <ligature/params-matmul.h>
#include <ligature/register.h>

/* --- Kernels of the embedding program ------------------------------------------------------ */

static float *
floats_of (const LigOperand *operand)
{
  float *values = g_new (float, operand->size);
  lig_widen (operand->dtype, operand->data, values, (size_t) operand->size);
  return values;
}

static void
write_floats (const LigOperand *operand, const float *values)
{
  lig_narrow (operand->dtype, values, operand->data, (size_t) operand->size);
}

/* Writes a parameter's gradient, or adds to the previous one if the launch accumulates. */
static void
write_gradient (const LigLaunch *launch, const LigOperand *operand, float *values)
{
  if (launch->accumulate) {
    g_autofree float *old = floats_of (operand);
    for (int64_t i = 0; i < operand->size; i++)
      values[i] += old[i];
  }
  write_floats (operand, values);
}

/* y = scale x, where scale is one trained number */
static LigStatus
run_learnable_scale (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  g_autofree float *x = floats_of (&o[0]), *scale = floats_of (&o[1]);
  for (int64_t i = 0; i < o[0].size; i++)
    x[i] *= scale[0];
  write_floats (&o[2], x);
  return LIG_OK;
}

static LigStatus
run_learnable_scale_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  g_autofree float *dy = floats_of (&o[0]), *x = floats_of (&o[1]), *scale = floats_of (&o[2]);
  float total = 0;
  for (int64_t i = 0; i < o[0].size; i++) {
    total += dy[i] * x[i];
    dy[i] *= scale[0];
  }
  if (o[3].data)
    write_floats (&o[3], dy);
  if (o[4].data)
    write_gradient (launch, &o[4], &total);
  return LIG_OK;
}

/* y = factor x + extra */
static LigStatus
run_axpy (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigScaleParams *params = launch->params;
  g_autofree float *x = floats_of (&o[0]), *extra = floats_of (&o[1]);
  for (int64_t i = 0; i < o[0].size; i++)
    x[i] = params->factor * x[i] + extra[i];
  write_floats (&o[2], x);
  return LIG_OK;
}

static float
silu (float x)
{
  return x / (1 + expf (-x));
}

static float
silu_slope (float x)
{
  float s = 1 / (1 + expf (-x));
  return s + x * s * (1 - s);
}

static float *
matmul (const LigOperand *x, const LigOperand *weight)
{
  int64_t m = x->size / x->columns, n = weight->size / weight->columns, k = x->columns;
  g_autofree float *a = floats_of (x), *b = floats_of (weight);
  float *result = g_new0 (float, m *n);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t l = 0; l < k; l++)
        result[i * n + j] += a[i * k + l] * b[j * k + l];
  return result;
}

/* x weight -> sum y: y = silu (x weight^T) */
static LigStatus
run_linear_silu (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  g_autofree float *sum = matmul (&o[0], &o[1]);
  if (o[2].data)
    write_floats (&o[2], sum);
  for (int64_t i = 0; i < o[3].size; i++)
    sum[i] = silu (sum[i]);
  if (o[3].data)
    write_floats (&o[3], sum);
  return LIG_OK;
}

/* dy x weight -> dx dweight: recomputes the input of silu */
static LigStatus
run_linear_silu_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  int64_t k = o[1].columns, m = o[1].size / k, n = o[2].size / k;
  g_autofree float *sum = matmul (&o[1], &o[2]);
  g_autofree float *dy = floats_of (&o[0]), *x = floats_of (&o[1]), *weight = floats_of (&o[2]);
  g_autofree float *dx = g_new0 (float, m *k), *dweight = g_new0 (float, n *k);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t l = 0; l < k; l++) {
        float d = dy[i * n + j] * silu_slope (sum[i * n + j]);
        dx[i * k + l] += d * weight[j * k + l];
        dweight[j * k + l] += d * x[i * k + l];
      }
  if (o[3].data)
    write_floats (&o[3], dx);
  write_gradient (launch, &o[4], dweight);
  return LIG_OK;
}

#define KERNEL(id, operands, cost) \
  static const LigKernel id = {.size = sizeof (LigKernel), \
                               .name = #id, \
                               .signature = operands, \
                               .work = cost, \
                               .types = LIG_FLOATING_TYPES, \
                               .functions = {[LIG_BACKEND_CPU] = run_##id}}
KERNEL (learnable_scale, "x scale -> y", 1);
KERNEL (learnable_scale_backward, "dy x scale -> dx dscale", 3);
KERNEL (axpy, "x extra -> y", 2);
KERNEL (linear_silu, "x weight -> sum y", LIG_MATMUL_OVER_COLUMNS);
KERNEL (linear_silu_backward, "dy x weight -> dx dweight", LIG_MATMUL_COLUMNS_BY_ROWS);

/* --- The op -------------------------------------------------------------------------------- */

static gboolean
infer_scale (LigInfer *self, GError **error)
{
  self->parameters[0] = (LigShape){0};
  return TRUE;
}

static void
lower_scale (LigLowering *lowering)
{
  lig_lower_custom (lowering, &learnable_scale, NULL, NULL, 0);
}

static void
lower_scale_backward (LigLowering *lowering)
{
  lig_lower_custom (lowering, &learnable_scale_backward, NULL, NULL, 0);
}

static const LigParameterInfo scale_parameters[] = {{.name = "scale", .init = LIG_INIT_ONES}, {0}};

static const LigOpInfo learnable_scale_op = {
  LIG_OP_INFO_SIZES,
  .name = "learnable-scale",
  .title = "Learnable scale",
  .category = "Other",
  .summary = "Multiplies by one trained number",
  .formula = "y = scale x",
  .example = "learnable-scale @ 7x5",
  .parameters = scale_parameters,
  .saves = "x",
  .infer = infer_scale,
  .lower_forward = lower_scale,
  .lower_backward = lower_scale_backward,
};

static void
test_op (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_assert_true (lig_register_op (&learnable_scale_op, &error));
  g_assert_no_error (error);
  g_assert_false (lig_register_op (&learnable_scale_op, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
  g_assert_cmpstr (error->message, ==, "an op called learnable-scale is already registered");
  for (guint i = 0; i < G_N_ELEMENTS (floating_types); i++) {
    options.compute = (int) floating_types[i];
    g_autoptr (LigSequence) sequence = new_sequence ("learnable-scale", "7x5");
    g_autoptr (Results) results = compute (sequence, &options);
    LigShape shape;
    lig_shape_init (&shape, 2, (gint64) 7, (gint64) 5);
    g_autoptr (LigTensor) x = named_tensor ("input", LIG_FP32, &shape, 2);
    g_autoptr (LigTensor) dy = named_tensor ("gradient", LIG_FP32, &shape, 1);
    LigShape scalar = {0};
    g_autoptr (LigTensor) scale = named_tensor ("0.scale", LIG_FP32, &scalar, 1);
    double factor = (double) lig_tensor_get (scale, 0), total = 0;
    for (int j = 0; j < 35; j++)
      total += (double) lig_tensor_get (x, j) * (double) lig_tensor_get (dy, j);
    for (int j = 0; j < 35; j++) {
      lig_tensor_set (x, j, (float) factor * lig_tensor_get (x, j));
      lig_tensor_set (dy, j, (float) factor * lig_tensor_get (dy, j));
    }
    double limit = plan_tolerance (floating_types[i]);
    g_assert_cmpfloat (distance_between (results_find (results, "output"), x), <, limit);
    g_assert_cmpfloat (distance_between (results_find (results, "grad.input"), dy), <, limit);
    g_assert_cmpfloat_with_epsilon (
      (double) lig_tensor_get (results_find (results, "grad.0.scale"), 0), total, 8 * limit);
  }
}

/* --- Fusions ------------------------------------------------------------------------------- */

static void
add_fusion (const LigFusion *fusion, gboolean first)
{
  g_autoptr (GError) error = NULL;
  lig_register_fusion (fusion, first, &error);
  g_assert_no_error (error);
}

/* Under policy all, the groups are as given, and the results agree with those of the unfused
 * ops. */
static void
check_plan (const char *expression,
            const char *forward,
            const char *backward,
            const char *const *forbidden)
{
  for (guint i = 0; i < G_N_ELEMENTS (floating_types); i++)
    for (int training = 0; training < 2; training++) {
      g_autoptr (LigSequence) sequence = new_sequence (expression, "5x11");
      LigPlanOptions options = plan_options (LIG_POLICY_ALL, training);
      options.compute = (int) floating_types[i];
      lig_sequence_set_forbidden (sequence, forbidden);
      g_autoptr (LigPlan) plan = compile (sequence, &options);
      if (training)
        check_groups (plan, forward, backward);
      g_autoptr (Results) fused = compute (sequence, &options);
      options.policy = LIG_POLICY_NONE;
      g_autoptr (Results) apart = compute (sequence, &options);
      compare_results (fused, apart, plan_tolerance (floating_types[i]), expression);
    }
}

static const char *const nothing[] = {NULL};

static void
lower_axpy (LigLowering *lowering)
{
  lig_lower_custom (lowering, &axpy, "x=0.x extra=1.extra y=1.y", lig_lower_params (lowering, 0),
                    lig_lower_params_size (lowering, 0));
}

static const LigFusion forward_axpy = {.size = sizeof (LigFusion),
                                       .name = "forward-axpy",
                                       .pass = LIG_PASS_FORWARD,
                                       .summary = "y = factor x + extra",
                                       .pattern = "constant-scale add-extra-input",
                                       .lower = lower_axpy};

static void
test_forward_last (void)
{
  add_fusion (&forward_axpy, FALSE);
  check_plan ("constant-scale(1.25) ! add-extra-input", "[0 1 forward-axpy]", "[0] [1]", nothing);
  /* Fusions that are earlier in the list are tried first. */
  check_plan ("basic-linear(11) ! constant-scale(1.25) ! add-extra-input",
              "[0 1 2 forward-linear-scale-add]", "[0 1 backward-linear-scale] [2]", nothing);
}

static void
lower_linear_silu (LigLowering *lowering)
{
  lig_lower_custom (lowering, &linear_silu, "x=0.x weight=0.weight sum=1.x y=1.y", NULL, 0);
}

static void
lower_forgetful (LigLowering *lowering)
{
  lig_lower_custom (lowering, &linear_silu, "x=0.x weight=0.weight sum=- y=1.y", NULL, 0);
}

static const LigFusion forward_linear_silu = {.size = sizeof (LigFusion),
                                              .name = "forward-linear-silu",
                                              .pass = LIG_PASS_FORWARD,
                                              .summary = "Linear and SiLU",
                                              .pattern = "basic-linear silu",
                                              .lower = lower_linear_silu};

/* Does not write the tensor that silu's backward reads. */
static const LigFusion forward_forgetful = {.size = sizeof (LigFusion),
                                            .name = "forward-forgetful",
                                            .pass = LIG_PASS_FORWARD,
                                            .summary = "Linear and SiLU, for evaluation",
                                            .pattern = "basic-linear silu",
                                            .lower = lower_forgetful};

static void
test_forward_first (void)
{
  add_fusion (&forward_linear_silu, FALSE);
  check_plan ("basic-linear(7) ! silu", "[0 1 forward-linear-silu]", "[0] [1]", nothing);
  check_plan ("basic-linear(7) ! identity ! silu", "[0 1 2 forward-linear-silu]", "[0] [1] [2]",
              nothing);
}

static void
test_forgetful (void)
{
  add_fusion (&forward_forgetful, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence ("basic-linear(7) ! silu", "5x11");
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigPlan) training = compile (sequence, &options);
  const LigVerdict *verdict = find_verdict (training, "forward-forgetful", 0);
  g_assert_cmpint (verdict->reason, ==, LIG_REASON_IN_USE);
  g_assert_cmpstr (verdict->observed, ==, "backward");
  g_assert_cmpstr (verdict->required, ==, "a kernel that writes y of basic-linear at 0");
  check_groups (training, "[0 1 forward-linear-silu]", "[0] [1]");
  options.training = FALSE;
  g_autoptr (LigPlan) evaluation = compile (sequence, &options);
  check_groups (evaluation, "[0 1 forward-forgetful]", "");
  check_plan ("basic-linear(7) ! silu", "[0 1 forward-linear-silu]", "[0] [1]", nothing);
}

static void
lower_first_gelu (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "bias_gelu_backward", "dy=1.dy x=1.x dx=0.dx dbias=0.dbias", NULL, 0);
}

static void
lower_half (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "gelu_backward", "dy=1.dy x=1.x dx=0.dx", NULL, 0);
}

static const LigFusion backward_first_gelu = {.size = sizeof (LigFusion),
                                              .name = "backward-first-gelu",
                                              .pass = LIG_PASS_BACKWARD,
                                              .summary = "The same as a built-in one, but first",
                                              .pattern = "bias gelu",
                                              .lower = lower_first_gelu};

/* Does not compute the bias's gradient. */
static const LigFusion backward_half = {.size = sizeof (LigFusion),
                                        .name = "backward-half",
                                        .pass = LIG_PASS_BACKWARD,
                                        .summary = "Half of the work",
                                        .pattern = "bias gelu",
                                        .lower = lower_half};

static void
test_backward_first (void)
{
  add_fusion (&backward_first_gelu, TRUE);
  add_fusion (&backward_half, TRUE);
  check_plan ("layer-norm ! bias ! gelu", "[0] [1 2 forward-bias-activation]",
              "[0] [1 2 backward-first-gelu]", nothing);
  g_autoptr (LigSequence) sequence = new_sequence ("bias ! gelu", "5x11");
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  const LigVerdict *verdict = find_verdict (plan, "backward-half", 0);
  g_assert_cmpint (verdict->reason, ==, LIG_REASON_IN_USE);
  g_assert_cmpstr (verdict->observed, ==, "update");
  g_assert_cmpstr (verdict->required, ==, "a kernel that writes d0.bias");
}

/* --- Joint --------------------------------------------------------------------------------- */

static void
lower_joint_backward (LigLowering *lowering)
{
  lig_lower_custom (lowering, &linear_silu_backward,
                    "dy=1.dy x=0.x weight=0.weight dx=0.dx dweight=0.dweight", NULL, 0);
}

static const LigFusion joint_linear_silu = {.size = sizeof (LigFusion),
                                            .name = "joint-linear-silu",
                                            .pass = LIG_PASS_JOINT,
                                            .summary = "Computes the matmul once more in backward",
                                            .pattern = "basic-linear silu",
                                            .lower = lower_forgetful,
                                            .lower_backward = lower_joint_backward,
                                            .saves = "0.x"};

static void
test_joint (void)
{
  static const char *const no_joint[] = {"joint-linear-silu", NULL};
  add_fusion (&joint_linear_silu, FALSE);
  check_plan ("basic-linear(7) ! silu", "[0 1 joint-linear-silu]", "[0 1 joint-linear-silu]",
              nothing);
  check_plan ("layer-norm ! basic-linear(7) ! identity ! silu ! linear(11) ! gelu",
              "[0] [1 2 3 joint-linear-silu] [4 5 6 forward-linear-bias-activation]",
              "[0] [1 2 3 joint-linear-silu] [4] [5 6 backward-first-gelu]", nothing);
  check_plan ("basic-linear(7) ! silu", "[0 1 forward-linear-silu]", "[0] [1]", no_joint);
}

/* No intermediate tensor is saved, so the joint fusion uses less memory. */
static void
test_joint_saves (void)
{
  static const char *const no_joint[] = {"joint-linear-silu", NULL};
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  gint64 arena[2];
  for (int i = 0; i < 2; i++) {
    g_autoptr (LigSequence) sequence =
      new_sequence ("basic-linear(64) ! silu ! basic-linear(3)", "32x4");
    if (i == 1)
      lig_sequence_set_forbidden (sequence, no_joint);
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    guint count;
    const LigPlanValue *values = lig_plan_get_values (plan, &count);
    for (guint j = 0; j < count; j++)
      if (g_str_equal (values[j].name, "#0.y"))
        g_assert_cmpint (values[j].saved, ==, i == 1);
    const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
    g_assert_cmpint (ops[1].saved_bytes, ==, i == 1 ? 32 * 64 * 4 : 0);
    arena[i] = lig_plan_get_arena_bytes (plan, NULL);
  }
  g_assert_cmpint (arena[0], <, arena[1]);
}

/* An evaluation plan chooses no joint fusion, and forcing one there is not an error. */
static void
test_joint_forced (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("basic-linear(7) ! silu", "5x11");
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  force (sequence, "0", "joint-linear-silu");
  g_autoptr (LigPlan) training = compile (sequence, &options);
  check_groups (training, "[0 1 joint-linear-silu]", "[0 1 joint-linear-silu]");
  options.training = FALSE;
  g_autoptr (LigPlan) evaluation = compile (sequence, &options);
  check_groups (evaluation, "[0] [1]", "");
  options = plan_options (LIG_POLICY_MEASURED, TRUE);
  g_autoptr (LigPlan) measured = compile (sequence, &options);
  check_groups (measured, "[0 1 joint-linear-silu]", "[0 1 joint-linear-silu]");
}

#define TABLE(name_, pass_, pattern_, ...) \
  { \
    .size = sizeof (LigFusion), .name = name_, .pass = LIG_PASS_##pass_, .pattern = pattern_, \
    .summary = "Rejected", __VA_ARGS__ \
  }
#define LOWER .lower = lower_axpy

static const struct {
  LigFusion fusion;
  const char *message;
} rejected[] = {
  {TABLE ("joint-linear-silu", FORWARD, "bias gelu", LOWER),
   "a fusion called joint-linear-silu is already registered"},
  {TABLE ("forward-linear-bias-add", FORWARD, "bias gelu", LOWER),
   "a fusion called forward-linear-bias-add is already registered"},
  {TABLE (NULL, FORWARD, "bias gelu", LOWER),
   "a fusion is called '', expected a name in kebab-case of at most 60 bytes"},
  {TABLE ("forward-X", FORWARD, "bias gelu", LOWER),
   "a fusion is called 'forward-X', expected a name in kebab-case of at most 60 bytes"},
  {TABLE ("backward-x", FORWARD, "bias gelu", LOWER),
   "fusion backward-x: its name does not begin with its pass, forward-"},
  {TABLE ("update-x", UPDATE, "bias gelu", LOWER),
   "fusion update-x: its pass is 2, expected forward, backward or joint"},
  {{.size = sizeof (LigFusion), .name = "forward-x", .pattern = "bias gelu", LOWER},
   "fusion forward-x: it has no summary"},
  {TABLE ("joint-x", JOINT, "bias gelu", LOWER),
   "fusion joint-x: it needs a lower function for either pass"},
  {TABLE ("forward-x", FORWARD, "bias gelu", .lower = NULL),
   "fusion forward-x: it needs a lower function for its pass only"},
  {TABLE ("forward-x", FORWARD, "bias gelu", LOWER, .saves = "0.x"),
   "fusion forward-x: it has saves, which only a joint fusion may have"},
  {TABLE ("forward-x", FORWARD, NULL, LOWER),
   "fusion forward-x: pattern '' has 0 elements, expected at least 2"},
  {TABLE ("forward-x", FORWARD, "bias", LOWER),
   "fusion forward-x: pattern 'bias' has 1 element, expected at least 2"},
  {TABLE ("forward-x", FORWARD, "a b c d e f g h i", LOWER),
   "fusion forward-x: pattern 'a b c d e f g h i' has more than 8 elements"},
  {TABLE ("forward-x", FORWARD, "bias [gelu", LOWER),
   "fusion forward-x: '[gelu' is not an element of a pattern"},
  {TABLE ("forward-x", FORWARD, "bias [gelu|gellu]", LOWER),
   "fusion forward-x: its pattern names 'gellu', which is not an op"},
  {TABLE ("forward-x", FORWARD, "bias @gate", LOWER),
   "fusion forward-x: its pattern names '@gate', which is not an op nor @activation or @gated"},
  {TABLE ("forward-x", FORWARD, "linear gelu", LOWER),
   "fusion forward-x: its pattern names linear, which is expanded to its parts; name those"},
  {TABLE ("forward-x", FORWARD, "gelu block", LOWER),
   "fusion forward-x: its pattern names block, which is expanded to its parts; name those"},
  {TABLE ("joint-x", JOINT, "bias gelu", LOWER, .lower_backward = lower_axpy, .saves = "2.x"),
   "fusion joint-x: it saves '2.x', expected 0.x to 1.y"},
  {TABLE ("joint-x", JOINT, "bias gelu", LOWER, .lower_backward = lower_axpy, .saves = "x"),
   "fusion joint-x: it saves 'x', expected 0.x to 1.y"},
  {TABLE ("joint-x",
          JOINT,
          "bias gelu|layer-norm",
          LOWER,
          .lower_backward = lower_axpy,
          .saves = "0.x 1.mean"),
   "fusion joint-x: it saves '1.mean', but gelu has no such port"},
  {{.size = 0, .name = "forward-x", .pattern = "bias gelu", .summary = "Rejected", LOWER},
   "the table of a fusion has size 0, expected at least 56; set .size = sizeof (LigFusion)"},
};

static void
test_rejected (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rejected); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (lig_register_fusion (&rejected[i].fusion, FALSE, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FUSION);
    g_assert_cmpstr (error->message, ==, rejected[i].message);
  }
}

/* --- A faulty table is reported, whatever its fault ----------------------------------------- */

static void
lower_bad_port (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "scale", "x=0.x y=1.nothing", NULL, 0);
}

static void
test_bad_port (void)
{
  static const LigFusion fusion = {.size = sizeof (LigFusion),
                                   .name = "forward-bad-port",
                                   .pattern = "srelu srelu",
                                   .summary = "Wrong",
                                   .lower = lower_bad_port};
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  add_fusion (&fusion, FALSE);
  g_autoptr (LigSequence) sequence = new_sequence ("srelu ! srelu", "5x11");
  check_rejected (sequence, &options, LIG_ERROR_OP,
                  "forward-bad-port at 0: its table names a port '1.nothing' that does not exist");
}

#define run_crowded run_axpy
KERNEL (crowded, "a b c d e f g h i j k l n o p q r s t u -> m", 1);
static void
lower_crowded (LigLowering *lowering)
{
  lig_lower_custom (lowering, &crowded, "m=1.y", NULL, 0);
}

static void
test_crowded (void)
{
  static const LigFusion fusion = {.size = sizeof (LigFusion),
                                   .name = "forward-crowded",
                                   .pattern = "silu silu",
                                   .summary = "Wrong",
                                   .lower = lower_crowded};
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  add_fusion (&fusion, FALSE);
  g_autoptr (LigSequence) sequence = new_sequence ("silu ! silu", "5x11");
  check_rejected (sequence, &options, LIG_ERROR_OP,
                  "forward-crowded at 0: its kernel crowded: it has 21 operands, at most 20 "
                  "are allowed");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/custom/op", test_op);
  g_test_add_func ("/custom/forward-last", test_forward_last);
  g_test_add_func ("/custom/forward-first", test_forward_first);
  g_test_add_func ("/custom/forgetful", test_forgetful);
  g_test_add_func ("/custom/backward-first", test_backward_first);
  g_test_add_func ("/custom/joint", test_joint);
  g_test_add_func ("/custom/joint-saves", test_joint_saves);
  g_test_add_func ("/custom/joint-forced", test_joint_forced);
  g_test_add_func ("/custom/rejected", test_rejected);
  g_test_add_func ("/custom/bad-port", test_bad_port);
  g_test_add_func ("/custom/crowded", test_crowded);
  return g_test_run ();
}
