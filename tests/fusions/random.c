/* SPDX-License-Identifier: MIT */
/* Random sequences: with all fusions that the compiler chose, the results agree with the unfused
 * ops. LIGATURE_RANDOM=N tries N sequences instead of a few; the seed is fixed. */
#include "tests/plan/case.h"

#include <stdlib.h>

typedef struct {
  GRand *random;
  GString *text;
  gboolean smooth; /* only ops with derivatives everywhere */
  int open[8];     /* channels without a reader yet */
  int n_open, next;
} Maker;

static const char *const plain[] = {
  "gelu",
  "gelu-erf",
  "qgelu",
  "relu",
  "srelu",
  "silu",
  "identity",
  "identity",
  "bias",
  "bias",
  "linear(8)",
  "linear(8)",
  "basic-linear(8)",
  "basic-linear(8)",
  "layer-norm",
  "rms-norm",
  "layer-norm",
  "l2-normalization",
  "dropout(0.25)",
  "constant-scale(0.5)",
  "constant-scale(-1.5)",
  "add-extra-input",
  "make-extra-output",
  "make-extra-output(nobody)",
  "linear(16) ! swiglu",
  "basic-linear(16) ! geglu",
  "linear(16) ! clamped-swiglu(limit=0.75)",
  "linear(16) ! swiglu(interleave=2)",
  "mixture-of-experts(4, expert-features=8, interleave=4, bias=true)",
  "linear(16) ! reglu",
  "reshape([10, 8])",
  "linear(12) ! gelu ! linear(8)",
  "basic-linear(8) ! bias ! relu",
  "gelu ! basic-linear(8)",
};

static const char *const smooth[] = {
  "gelu",
  "gelu-erf",
  "qgelu",
  "silu",
  "identity",
  "bias",
  "linear(8)",
  "basic-linear(8)",
  "layer-norm(eps=0.3)",
  "rms-norm(eps=0.3)",
  "l2-normalization(eps=0.3)",
  "dropout(0.25)",
  "constant-scale(0.5)",
  "add-extra-input",
  "make-extra-output",
  "linear(16) ! swiglu",
  "basic-linear(16) ! geglu",
  "reshape([10, 8])",
};

static int
below (Maker *self, int end)
{
  return g_rand_int_range (self->random, 0, end);
}

static void
add (Maker *self, const char *format, ...)
{
  va_list arguments;
  if (self->text->len > 0 && !g_str_has_suffix (self->text->str, "{ "))
    g_string_append (self->text, below (self, 12) == 0 ? " ! | ! " : " ! ");
  va_start (arguments, format);
  g_string_append_vprintf (self->text, format, arguments);
  va_end (arguments);
}

static void
add_op (Maker *self)
{
  int choice = below (self, 20);
  if (choice < 3 && self->n_open < (int) G_N_ELEMENTS (self->open)) {
    self->open[self->n_open++] = self->next;
    add (self, "make-extra-output(c%d%s)", self->next++, below (self, 4) ? "" : ", caller=true");
  } else if (choice == 3 && self->n_open > 0) {
    /* The line continues from a branch, and is read later, or by the caller. */
    int at = below (self, self->n_open), end = self->next++;
    add (self, "make-extra-output(c%d, caller=true)", end);
    add (self, "load-branch(c%d)", self->open[at]);
    self->open[at] = end;
  } else if (choice < 7 && self->n_open > 0) {
    int at = below (self, self->n_open);
    add (self, "add-extra-input(c%d)", self->open[at]);
    if (below (self, 3) > 0)
      self->open[at] = self->open[--self->n_open];
  } else {
    const char *op = self->smooth ? smooth[below (self, G_N_ELEMENTS (smooth))]
                                  : plain[below (self, G_N_ELEMENTS (plain))];
    /* Reusing the name would create a second producer. */
    if (g_str_equal (op, "make-extra-output(nobody)"))
      add (self, "make-extra-output(n%d)", self->next++);
    else
      add (self, "%s", op);
  }
}

static char *
make_expression (GRand *random, gboolean only_smooth)
{
  Maker maker = {.random = random, .text = g_string_new (NULL), .smooth = only_smooth};
  int length = 1 + below (&maker, only_smooth ? 8 : 14), body = below (&maker, 5);
  add (&maker, "reshape([10, 8])");
  for (int i = 0; i < length; i++)
    add_op (&maker);
  if (body > 1) {
    Maker inner = {.random = random, .text = maker.text, .smooth = only_smooth};
    add (&maker, "block(2) { ");
    for (int i = 0; i < body; i++)
      add_op (&inner);
    g_string_append (maker.text, " }");
    add_op (&maker);
  }
  if (below (&maker, 4) == 0)
    add (&maker, "mean-squared-error");
  return g_string_free (maker.text, FALSE);
}

/* Forces one legal fusion, if any. */
static void
force_one (LigSequence *sequence, GRand *random, const LigPlanOptions *options)
{
  g_autoptr (LigPlan) plan = compile (sequence, options);
  guint count, n_ops;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  for (int i = 0; i < 20 && count > 0; i++) {
    const LigVerdict *verdict = &verdicts[g_rand_int_range (random, 0, (int) count)];
    if (verdict->reason != LIG_REASON_CLAIMED || strchr (ops[verdict->first].path, '.'))
      continue;
    force (sequence, ops[verdict->first].path, verdict->fusion->name);
    return;
  }
}

/* Repeated squaring soon exceeds the range of fp32; such results are not compared. */
static gboolean
is_tame (const Results *results)
{
  for (guint i = 0; i < results->tensors->len; i++) {
    const LigTensor *tensor = results->tensors->pdata[i];
    for (gint64 j = 0; j < tensor->size; j++)
      if (!(fabsf (lig_tensor_get (tensor, j)) < 1e6f))
        return FALSE;
  }
  return TRUE;
}

/* Norms of nearly constant rows and long chains of ops have errors larger than one rounding. */
#define SLACK 2e-3

static void
check_one (const char *expression, GRand *random)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.input_gradient = g_rand_boolean (random);
  options.training = g_rand_int_range (random, 0, 4) > 0;
  options.policy = LIG_POLICY_NONE;
  g_autoptr (LigSequence) sequence = new_sequence (expression, "2x5x8");
  g_autoptr (Results) none = compute (sequence, &options);
  if (!is_tame (none))
    return;
  options.policy = LIG_POLICY_ALL;
  g_autoptr (Results) all = compute (sequence, &options);
  compare_results (all, none, SLACK, expression);
  force_one (sequence, random, &options);
  g_autoptr (Results) forced = compute (sequence, &options);
  compare_results (forced, none, SLACK, expression);
  gint64 peak;
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_assert_cmpint (lig_plan_get_arena_bytes (plan, &peak), >=, peak);
}

static void
test_random (void)
{
  const char *number = g_getenv ("LIGATURE_RANDOM");
  int count = number ? atoi (number) : 150;
  GRand *random = g_rand_new_with_seed (20);
  for (int i = 0; i < count; i++) {
    g_autofree char *expression = make_expression (random, FALSE);
    g_test_message ("%d: %s", i, expression);
    check_one (expression, random);
  }
  g_rand_free (random);
}

/* --- Against differences ------------------------------------------------------------------- */

/* Moves all variables of the objective by `by` along a direction of signs. */
static void
move (LigProgram *program, LigState *state, double by)
{
  LigPlan *plan = lig_program_get_plan (program);
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype;
  guint n = lig_plan_get_n_extra_inputs (plan), parameters = 0;
  const char *const *paths = lig_state_get_paths (state);
  while (paths[parameters])
    parameters++;
  for (guint i = 0; i < 1 + n + parameters; i++) {
    g_autofree char *name = i == 0   ? g_strdup ("input")
                            : i <= n ? g_strdup_printf ("extra input %u", i - 1)
                                     : g_strdup (paths[i - 1 - n]);
    if (i == 0)
      lig_plan_get_input (plan, &shape, &dtype);
    else if (i <= n)
      lig_plan_get_extra_input (plan, i - 1, &shape, &dtype);
    g_autoptr (LigTensor) old =
      i > n ? lig_state_get (state, LIG_STATE_PARAMETERS, name, &error) : NULL;
    g_autoptr (LigTensor) tensor =
      named_tensor (name, LIG_FP32, old ? &old->shape : &shape, old ? 1 : 2);
    for (gint64 j = 0; j < tensor->size; j++)
      lig_tensor_set (tensor, j, lig_tensor_get (tensor, j) + (float) (j * 7 % 3 ? by : -by));
    if (i == 0)
      lig_program_set_input (program, tensor, &error);
    else if (i <= n)
      lig_program_set_extra_input (program, i - 1, tensor, &error);
    else
      lig_state_set (state, LIG_STATE_PARAMETERS, name, tensor, &error);
    g_assert_no_error (error);
  }
}

static double
times (const LigTensor *tensor, const char *cotangent)
{
  double total = 0;
  g_autoptr (LigTensor) weight = named_tensor (cotangent, LIG_FP32, &tensor->shape, 1);
  for (gint64 i = 0; i < tensor->size; i++)
    total += (double) lig_tensor_get (tensor, i) *
             (tensor->shape.n_axes > 0 ? (double) lig_tensor_get (weight, i) : 1);
  return total;
}

static double
objective_at (LigProgram *program, LigState *state, double by)
{
  LigPlan *plan = lig_program_get_plan (program);
  move (program, state, by);
  lig_state_set_steps (state, 0, 0);
  run_program (program, LIG_RUN_FORWARD);
  g_autoptr (LigTensor) output = lig_program_read_output (program, NULL);
  double total = times (output, "gradient");
  for (guint i = 0; i < lig_plan_get_n_extra_outputs (plan); i++) {
    g_autofree char *name = g_strdup_printf ("gradient of extra %u", i);
    g_autoptr (LigTensor) extra = lig_program_read_extra_output (program, i, NULL);
    total += times (extra, name);
  }
  return total;
}

static void
check_slope (const char *expression)
{
  const double h = 1.0 / 128;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.input_gradient = TRUE;
  g_autoptr (LigSequence) sequence = new_sequence (expression, "2x5x8");
  g_autoptr (Results) results = compute (sequence, &options);
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  double slope = 0, squares = 0;
  for (guint i = 0; i < results->names->len; i++) {
    const LigTensor *tensor = results->tensors->pdata[i];
    if (!g_str_has_prefix (results->names->pdata[i], "grad."))
      continue;
    for (gint64 j = 0; j < tensor->size; j++) {
      double value = (double) lig_tensor_get (tensor, j);
      slope += j * 7 % 3 ? value : -value;
      squares += value * value;
    }
  }
  /* Two central differences, extrapolated. */
  double wide = (objective_at (program, state, h) - objective_at (program, state, -h)) / (2 * h);
  double narrow =
    (objective_at (program, state, h / 2) - objective_at (program, state, -h / 2)) / h;
  double wanted = (4 * narrow - wide) / 3;
  /* If the objective is steep or the two differ, its curvature is too large for a comparison. */
  if (!(squares < 2500 && fabs (wide - narrow) < 0.01 * sqrt (squares)))
    return;
  if (!(fabs (slope - wanted) < 0.02 * sqrt (squares) + 1e-3))
    g_error ("%s: slope %g, differences say %g (length %g)", expression, slope, wanted,
             sqrt (squares));
}

static void
test_slopes (void)
{
  const char *number = g_getenv ("LIGATURE_RANDOM");
  int count = number ? atoi (number) : 150;
  GRand *random = g_rand_new_with_seed (21);
  for (int i = 0; i < count; i++) {
    g_autofree char *expression = make_expression (random, TRUE);
    g_test_message ("%d: %s", i, expression);
    check_slope (expression);
  }
  g_rand_free (random);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fusions/random", test_random);
  g_test_add_func ("/fusions/slopes", test_slopes);
  return g_test_run ();
}
