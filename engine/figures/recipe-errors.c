/* SPDX-License-Identifier: MIT */
/* Runs a sequence unquantized and with a recipe, on one batch, and compares the results of each
 * op. */
#include "engine/device/device-private.h"
#include "engine/program/fill.h"
#include "engine/program/private.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/recipe-errors.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* Warm-up runs before the compared one, which fill the histories with the batch's amaxes. */
enum { WARM_UP = 2 };

/* The squared norms of a difference and of the reference. */
typedef struct {
  double difference, whole;
} Sum;

/* The monitor for the runs, and the given options. */
typedef struct {
  LigRecipeErrorsMonitor monitor;
  gpointer data;
  guint done, count;
  gint64 asked; /* microseconds */
  const LigPlanOptions *given;
} Watch;

/* Returns whether the monitor lets the measurement continue; otherwise sets the error. */
static gboolean
ask (const Watch *watch, GError **error)
{
  if (!watch->monitor || watch->monitor (watch->done, watch->count, watch->data))
    return TRUE;
  g_set_error_literal (error, LIG_ERROR, LIG_ERROR_CANCELLED, _ ("the comparison was cancelled"));
  return FALSE;
}

/* Ends a run between two of its steps. */
static gboolean
is_over (gpointer data)
{
  Watch *watch = data;
  gint64 now = g_get_monotonic_time ();
  if (now - watch->asked < G_USEC_PER_SEC / 20)
    return FALSE;
  watch->asked = now;
  return !watch->monitor (watch->done, watch->count, watch->data);
}

static double
relative (Sum sum)
{
  return sum.whole > 0 ? sqrt (sum.difference / sum.whole) : sum.difference > 0 ? INFINITY : 0;
}

/* Returns (transfer full) the contents of a value in the memory of a program. */
static float *
read_value (LigProgram *program, int value, GError **error)
{
  const LigPlanValue *of = lig_plan_value (program->plan, value);
  void *memory = lig_program_address (program, value);
  gint64 count = lig_shape_size (&of->shape);
  g_autofree guint8 *bytes = g_malloc ((gsize) of->bytes + 1);
  g_autofree float *numbers = g_new (float, (gsize) count + 1);
  if (!memory || !lig_device_download (program->device, bytes, memory, (gsize) of->bytes, error))
    return NULL;
  lig_widen (of->dtype, bytes, numbers, (gsize) count);
  return g_steal_pointer (&numbers);
}

/* Adds the difference between a value of each program. */
static gboolean
compare_values (LigProgram *programs[2], const int values[2], Sum *sum, GError **error)
{
  g_autofree float *exact = read_value (programs[0], values[0], error);
  g_autofree float *rounded = exact ? read_value (programs[1], values[1], error) : NULL;
  gint64 count = lig_shape_size (&lig_plan_value (programs[0]->plan, values[0])->shape);
  if (!rounded)
    return FALSE;
  for (gint64 i = 0; i < count; i++) {
    double x = (double) exact[i], difference = (double) rounded[i] - x;
    sum->difference += difference * difference;
    sum->whole += x * x;
  }
  return TRUE;
}

/* Finds the relative error of an op's value; NaN if either program does not have it. */
static gboolean
find_error (LigProgram *programs[2], int exact, int rounded, double *result, GError **error)
{
  const int values[] = {exact, rounded};
  Sum sum = {0};
  *result = NAN;
  if (exact < 0 || rounded < 0 ||
      !lig_dtype_is_floating (lig_plan_value (programs[0]->plan, exact)->dtype))
    return TRUE;
  if (!compare_values (programs, values, &sum, error))
    return FALSE;
  *result = relative (sum);
  return TRUE;
}

static gboolean
compare_parameters (
  LigProgram *programs[2], const LigPlanOp *ops[2], Sum *all, double *result, GError **error)
{
  Sum sum = {0};
  gboolean any = FALSE;
  for (int i = 0; lig_plan_op_get_port (ops[0], LIG_PORT_PARAMETER, i); i++) {
    int values[2];
    for (int n = 0; n < 2; n++) {
      const LigPlanPort *port = lig_plan_op_get_port (ops[n], LIG_PORT_PARAMETER, i);
      values[n] = ops[n]->tied[i] || !port ? -1 : port->gradient;
    }
    if (values[0] < 0 || values[1] < 0)
      continue;
    if (!compare_values (programs, values, &sum, error))
      return FALSE;
    any = TRUE;
  }
  all->difference += sum.difference;
  all->whole += sum.whole;
  *result = any ? relative (sum) : NAN;
  return TRUE;
}

/* Returns the index of the next op that is in both plans and computes something. */
static int
next_op (const LigPlan *plan, int index)
{
  while (index < (int) plan->ops->len &&
         (lig_plan_op (plan, index)->implicit ||
          lig_plan_op (plan, index)->info->flags & LIG_OP_TRANSPARENT))
    index++;
  return index;
}

static gboolean
compare_op (LigProgram *programs[2], const int at[2], Sum *all, LigOpErrors *op, GError **error)
{
  const LigPlan *plans[] = {programs[0]->plan, programs[1]->plan};
  const LigPlanOp *ops[] = {lig_plan_op (plans[0], at[0]), lig_plan_op (plans[1], at[1])};
  op->path = g_strdup (ops[1]->prefix);
  op->op = ops[1]->info->name;
  op->recipe = ops[1]->recipe;
  op->written = g_strdup (ops[1]->path);
  op->title = ops[1]->title;
  op->unquantized = g_strdup (ops[1]->unquantized);
  return find_error (programs, lig_plan_op_get_port (ops[0], LIG_PORT_Y, 0)->value,
                     lig_plan_op_get_port (ops[1], LIG_PORT_Y, 0)->value, &op->output, error) &&
         find_error (programs, lig_plan_op_gradient (plans[0], at[0]),
                     lig_plan_op_gradient (plans[1], at[1]), &op->gradient, error) &&
         compare_parameters (programs, ops, all, &op->parameters, error);
}

static gboolean
compare_ops (LigRecipeErrors *self, LigProgram *programs[2], GError **error)
{
  const LigPlan *plans[] = {programs[0]->plan, programs[1]->plan};
  g_autoptr (GArray) ops = g_array_new (FALSE, TRUE, sizeof (LigOpErrors));
  Sum all = {0};
  gboolean fine = TRUE;
  int at[] = {next_op (plans[0], 0), next_op (plans[1], 0)};
  while (fine && at[0] < (int) plans[0]->ops->len) {
    LigOpErrors op = {NULL};
    fine = compare_op (programs, at, &all, &op, error);
    g_array_append_val (ops, op);
    for (int n = 0; n < 2; n++)
      at[n] = next_op (plans[n], at[n] + 1);
  }
  self->n_ops = ops->len;
  self->ops = (LigOpErrors *) (gpointer) g_array_free (g_steal_pointer (&ops), FALSE);
  self->gradient = all.whole > 0 ? relative (all) : NAN;
  self->output = self->n_ops > 0 ? self->ops[self->n_ops - 1].output : NAN;
  return fine;
}

/* All runs use the same dropout masks as the reference. */
static gboolean
run_passes (LigProgram *program, GError **error)
{
  LigPlan *plan = program->plan;
  guint64 micro = lig_state_get_micro_step (program->state);
  guint64 done = lig_state_get_step (program->state);
  unsigned passes = LIG_RUN_FORWARD;
  if (lig_plan_has_pass (plan, LIG_PASS_BACKWARD))
    passes |= LIG_RUN_BACKWARD;
  unsigned update = lig_plan_has_pass (plan, LIG_PASS_UPDATE) ? LIG_RUN_UPDATE : 0;
  for (int i = plan->layout->histories->len > 0 ? WARM_UP : 0; i > 0; i--) {
    if (!lig_program_run (program, passes | update, error))
      return FALSE;
    lig_state_set_steps (program->state, micro, done);
  }
  return lig_program_run (program, passes, error);
}

/* Returns a program with the recipe of the options that has run both passes on the batch. */
static LigProgram *
run (LigSequence *sequence,
     LigDevice *device,
     const LigPlanOptions *options,
     Watch *watch,
     GError **error)
{
  if (!ask (watch, error))
    return NULL;
  g_autoptr (LigState) state = lig_state_new (sequence, device, options, 0, error);
  g_autoptr (LigPlan) plan = state ? lig_state_plan (state, sequence, options, error) : NULL;
  g_autoptr (LigProgram) program = plan ? lig_program_new (plan, state, error) : NULL;
  if (!program || !lig_program_fill (program, error))
    return NULL;
  lig_program_keep_gradients (program);
  lig_program_set_rate (program, 0, 0);
  lig_program_set_interrupt (program, watch->monitor ? is_over : NULL, watch);
  gboolean fine = run_passes (program, error);
  lig_program_set_interrupt (program, NULL, NULL);
  return fine ? g_steal_pointer (&program) : NULL;
}

/* Returns the bytes that training with the recipe needs, without keeping all values. */
static gint64
count_bytes (LigSequence *sequence, LigDevice *device, const LigPlanOptions *options, Watch *watch)
{
  static const LigOptimizer usual = LIG_OPTIMIZER_INIT;
  LigPlanOptions plain = *options;
  plain.keep_values = FALSE;
  plain.policy = LIG_POLICY_ALL;
  plain.recompute = watch->given->recompute;
  plain.optimizer = watch->given->optimizer ? watch->given->optimizer : &usual;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &plain, NULL);
  return plan ? lig_plan_get_arena_bytes (plan, NULL) + lig_plan_get_state_bytes (plan) : 0;
}

/* Compares the recipe of the options with the results of the reference program. */
static LigRecipeErrors *
compare_recipe (LigSequence *sequence,
                LigDevice *device,
                const LigPlanOptions *options,
                LigProgram *exact,
                Watch *watch,
                GError **error)
{
  g_autoptr (LigProgram) rounded = run (sequence, device, options, watch, error);
  if (!rounded)
    return NULL;
  g_autoptr (LigRecipeErrors) self = g_new0 (LigRecipeErrors, 1);
  LigProgram *programs[] = {exact, rounded};
  self->recipe = g_strdup (options->recipe);
  self->bytes = count_bytes (sequence, device, options, watch);
  return compare_ops (self, programs, error) ? g_steal_pointer (&self) : NULL;
}

void
lig_recipe_choose_for (LigPlanOptions *options, LigSequence *sequence, const char *recipe)
{
  g_return_if_fail (options && LIG_IS_SEQUENCE (sequence) && recipe);
  int parameters = options->parameters, compute = options->compute;
  options->recipe = recipe;
  if (parameters < 0)
    parameters = lig_sequence_get_parameters (sequence);
  if (compute < 0)
    compute = lig_sequence_get_compute (sequence);
  if (!g_str_equal (recipe, "none") || parameters != LIG_FP8_E4M3)
    return;
  LigShape shape;
  LigDtype input = LIG_FP32;
  if (lig_sequence_has_input (sequence))
    lig_sequence_get_input (sequence, &shape, &input);
  options->parameters = compute >= 0                    ? compute
                        : lig_dtype_is_floating (input) ? (int) input
                                                        : LIG_FP32;
}

GPtrArray *
lig_recipe_errors_measure_watched (LigSequence *sequence,
                                   LigDevice *device,
                                   const LigPlanOptions *options,
                                   const char *const *recipes,
                                   LigRecipeErrorsMonitor monitor,
                                   gpointer data,
                                   GError **error)
{
  LigPlanOptions given, whole;
  LigOptimizer optimizer;
  Watch watch = {monitor, data, .count = g_strv_length ((GStrv) recipes) + 1, .given = &given};
  if (!lig_plan_options_read (options, &given, error) ||
      !lig_optimizer_init (&optimizer, "sgd", error))
    return NULL;
  whole = given;
  whole.training = TRUE;
  whole.keep_values = TRUE;
  whole.policy = LIG_POLICY_NONE;
  whole.recompute = LIG_RECOMPUTE_NONE;
  whole.optimizer = &optimizer;
  LigPlanOptions none = whole;
  lig_recipe_choose_for (&none, sequence, "none");
  g_autoptr (LigProgram) exact = run (sequence, device, &none, &watch, error);
  g_autoptr (GPtrArray) all =
    g_ptr_array_new_with_free_func ((GDestroyNotify) lig_recipe_errors_free);
  for (; exact && *recipes; recipes++) {
    LigPlanOptions chosen = whole;
    lig_recipe_choose_for (&chosen, sequence, *recipes);
    watch.done++;
    LigRecipeErrors *one = compare_recipe (sequence, device, &chosen, exact, &watch, error);
    if (!one)
      return NULL;
    g_ptr_array_add (all, one);
  }
  return exact ? g_steal_pointer (&all) : NULL;
}

GPtrArray *
lig_recipe_errors_measure (LigSequence *sequence,
                           LigDevice *device,
                           const LigPlanOptions *options,
                           const char *const *recipes,
                           GError **error)
{
  return lig_recipe_errors_measure_watched (sequence, device, options, recipes, NULL, NULL, error);
}

void
lig_recipe_errors_free (LigRecipeErrors *self)
{
  if (!self)
    return;
  for (guint i = 0; i < self->n_ops; i++) {
    g_free (self->ops[i].path);
    g_free (self->ops[i].written);
    g_free (self->ops[i].unquantized);
  }
  g_free (self->ops);
  g_free (self->recipe);
  g_free (self);
}

static LigRecipeErrors *
copy (LigRecipeErrors *self)
{
  LigRecipeErrors *other = g_memdup2 (self, sizeof *self);
  other->recipe = g_strdup (self->recipe);
  other->ops = g_memdup2 (self->ops, self->n_ops * sizeof *self->ops);
  for (guint i = 0; i < self->n_ops; i++) {
    other->ops[i].path = g_strdup (self->ops[i].path);
    other->ops[i].written = g_strdup (self->ops[i].written);
    other->ops[i].unquantized = g_strdup (self->ops[i].unquantized);
  }
  return other;
}

G_DEFINE_BOXED_TYPE (LigRecipeErrors, lig_recipe_errors, copy, lig_recipe_errors_free)
