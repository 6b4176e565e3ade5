/* SPDX-License-Identifier: MIT */
/* Runs a plan and the unfused plan and compares the results of the groups. */
#include "engine/device/device-private.h"
#include "engine/figures/verify-witnesses.h"
#include "engine/program/fill.h"
#include "engine/ranks/messages.h"
#include <ligature/compile.h>
#include <ligature/figures.h>
#include <ligature/loss-scaling.h>
#include <ligature/optimizer.h>
#include <ligature/ranks.h>
#include <ligature/recipe-errors.h>
#include <ligature/verification.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* Warm-up runs before the compared one, which fill the histories with the batch's amaxes. */
enum { WARM_UP = 2 };

/* A result of the plan in all witnesses, such as the gradient of a parameter. */
typedef struct {
  char *name, *path; /* path: of the parameter, or null */
  LigPass pass;
  LigTensor *right; /* of the current batch */
  LigErrorSum sums[LIG_N_WITNESSES];
} Result;

typedef struct {
  LigVerificationOptions options;
  LigWitness witnesses[LIG_N_WITNESSES];
  LigRightValue *values; /* of the reference plan */
  LigErrorSum *written;  /* the errors of the plan's values */
  GArray *results;       /* of Result */
  GPtrArray *start;      /* the parameters at the start of the batch, fp32 */
  double unit;
} Verification;

static void
clear_result (gpointer result)
{
  Result *self = result;
  g_free (self->name);
  g_free (self->path);
  g_clear_pointer (&self->right, lig_tensor_unref);
}

static void
forget_batch (Verification *self)
{
  for (int i = 0; i < LIG_N_WITNESSES; i++) {
    g_clear_pointer (&self->witnesses[i].program, lig_program_unref);
    g_clear_object (&self->witnesses[i].state);
    g_clear_pointer (&self->witnesses[i].begun, g_ptr_array_unref);
  }
  const LigPlan *right = self->witnesses[LIG_WITNESS_RIGHT].plan;
  for (guint i = 0; self->values && i < right->values->len; i++)
    g_clear_pointer (&self->values[i].numbers, g_free);
  for (guint i = 0; i < self->results->len; i++)
    g_clear_pointer (&g_array_index (self->results, Result, i).right, lig_tensor_unref);
  g_ptr_array_set_size (self->start, 0);
}

static void
clear (Verification *self)
{
  if (self->witnesses[LIG_WITNESS_RIGHT].plan)
    forget_batch (self);
  for (int i = 0; i < LIG_N_WITNESSES; i++) {
    g_clear_pointer (&self->witnesses[i].plan, lig_plan_unref);
    g_clear_object (&self->witnesses[i].device);
    g_free (self->witnesses[i].shared);
    g_free (self->witnesses[i].last_writer);
  }
  g_free (self->values);
  g_free (self->written);
  g_array_unref (self->results);
  g_ptr_array_unref (self->start);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Verification, clear)

/* --- The plans ----------------------------------------------------------------------------- */

/* Returns the unfused plan, in fp32 without a recipe or in the types of the plan. */
static LigPlan *
compile_alone (const LigPlan *of, LigDevice *device, gboolean right, GError **error)
{
  LigPlanOptions options = of->request->options;
  options.policy = LIG_POLICY_NONE;
  options.choices = NULL;
  options.tuning = NULL; /* its data may have been freed */
  options.recompute = LIG_RECOMPUTE_NONE;
  if (!right)
    return lig_plan_compile_unfused (of->request->sequence, device, &options, error);
  lig_recipe_choose_for (&options, of->request->sequence, "none");
  options.compute = options.parameters = (int) LIG_FP32;
  options.tf32 = FALSE;
  return lig_plan_compile_unfused (of->request->sequence, device, &options, error);
}

static gboolean
make_plans (Verification *self, LigPlan *plan, GError **error)
{
  LigWitness *witnesses = self->witnesses;
  LigDevice *own = lig_plan_get_device (plan);
  /* Ranks that communicate also need each other for the reference. */
  g_autoptr (LigDevice) cpu =
    lig_device_get_ranks (own) ? g_object_ref (own) : lig_device_open ("cpu", error);
  for (int i = 0; i < LIG_N_WITNESSES && cpu; i++) {
    witnesses[i].kind = (LigWitnessKind) i;
    witnesses[i].device = g_object_ref (i < LIG_WITNESS_ALONE ? cpu : own);
    witnesses[i].scale = 1;
  }
  witnesses[LIG_WITNESS_PLAN].plan = lig_plan_ref (plan);
  witnesses[LIG_WITNESS_RIGHT].plan = cpu ? compile_alone (plan, cpu, TRUE, error) : NULL;
  if (!witnesses[LIG_WITNESS_RIGHT].plan)
    return FALSE;
  witnesses[LIG_WITNESS_NUDGED].plan = lig_plan_ref (witnesses[LIG_WITNESS_RIGHT].plan);
  witnesses[LIG_WITNESS_ALONE].plan = compile_alone (plan, own, FALSE, error);
  if (!witnesses[LIG_WITNESS_ALONE].plan)
    return FALSE;
  lig_witnesses_pair (witnesses);
  self->values = g_new0 (LigRightValue, witnesses[LIG_WITNESS_RIGHT].plan->values->len + 1);
  self->written = g_new0 (LigErrorSum, plan->values->len + 1);
  self->unit = lig_witness_unit (&witnesses[LIG_WITNESS_PLAN]);
  return TRUE;
}

/* --- Parameters ---------------------------------------------------------------------------- */

/* Returns the values of a parameter in fp32: the master weights if an update uses them. */
static LigTensor *
get_parameter (LigState *state, const char *path, gboolean updated, GError **error)
{
  g_autoptr (LigTensor) master =
    updated ? lig_state_get_whole (state, LIG_STATE_MASTER, path, NULL) : NULL;
  g_autoptr (LigTensor) tensor = master
                                   ? lig_tensor_ref (master)
                                   : lig_state_get_whole (state, LIG_STATE_PARAMETERS, path, error);
  return tensor ? lig_tensor_convert (tensor, LIG_FP32, error) : NULL;
}

/* Records the initial parameters of all witnesses: those of the unfused plan, rounded to the types
 * of the plan. */
static gboolean
note_start (Verification *self, LigState *state, GError **error)
{
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    LigTensor *tensor = get_parameter (state, *path, FALSE, error);
    if (!tensor)
      return FALSE;
    g_ptr_array_add (self->start, tensor);
  }
  return TRUE;
}

/* Returns a writable copy of an fp32 tensor. */
static LigTensor *
copy_tensor (const LigTensor *tensor, GError **error)
{
  LigTensor *copy = lig_tensor_new (LIG_FP32, &tensor->shape, error);
  if (copy)
    memcpy (copy->data, tensor->data, lig_tensor_bytes (copy));
  return copy;
}

/* Makes the state of a witness and records its initial parameters, from which the change by the
 * update is computed. The fp32 masters of rounded parameters also begin with these. */
static gboolean
begin_state (Verification *self, LigWitness *witness, guint batch, GError **error)
{
  const LigPlan *plan = witness->plan;
  witness->state =
    lig_state_new (plan->request->sequence, witness->device, &plan->request->options, batch, error);
  witness->begun = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_tensor_unref);
  if (!witness->state ||
      (witness->kind >= LIG_WITNESS_ALONE && self->options.weights &&
       !lig_state_load_weights (witness->state, self->options.weights, NULL, error)))
    return FALSE;
  if (self->start->len == 0 && !note_start (self, witness->state, error))
    return FALSE;
  const char *const *paths = lig_state_get_paths (witness->state);
  for (guint i = 0; paths[i]; i++) {
    LigTensor *tensor = copy_tensor (self->start->pdata[i], error);
    if (!tensor)
      return FALSE;
    g_ptr_array_add (witness->begun, tensor);
    if (witness->kind == LIG_WITNESS_NUDGED)
      lig_nudge (tensor, self->unit, batch + i);
    if (!lig_state_set (witness->state, LIG_STATE_PARAMETERS, paths[i], tensor, error))
      return FALSE;
  }
  return TRUE;
}

/* --- Running a witness ------------------------------------------------------------------------ */

typedef struct {
  Verification *all;
  LigWitness *witness;
} Watch;

/* For the values that a step is the last to write: keeps the reference, or compares with it. */
static gboolean
observe (LigProgram *program, int index, gpointer data, GError **error)
{
  Watch *watch = data;
  LigWitness *witness = watch->witness;
  const LigPlanStep *step = lig_plan_step (program->plan, index);
  for (int j = step->n_inputs; j < step->n_operands; j++) {
    int value = lig_witness_written (witness, step->operands[j].value);
    if (value < 0 || witness->shared[value] < 0 || witness->last_writer[value] != index ||
        !lig_program_address (program, value))
      continue;
    LigRightValue *right = &watch->all->values[witness->shared[value]];
    if (witness->kind != LIG_WITNESS_RIGHT && !right->numbers)
      continue;
    g_autofree float *numbers = lig_witness_read (witness, value, error);
    if (!numbers)
      return FALSE;
    if (witness->kind == LIG_WITNESS_RIGHT) {
      g_free (right->numbers);
      right->numbers = g_steal_pointer (&numbers);
      right->count = lig_shape_size (&lig_plan_value (program->plan, value)->shape);
      continue;
    }
    LigErrorSum *sum =
      witness->kind == LIG_WITNESS_PLAN ? &watch->all->written[value] : &right->sums[witness->kind];
    lig_sum_errors (sum, numbers, right->numbers, right->count);
  }
  return TRUE;
}

static unsigned
passes_of (LigPlan *plan)
{
  return LIG_RUN_FORWARD | (lig_plan_has_pass (plan, LIG_PASS_BACKWARD) ? LIG_RUN_BACKWARD : 0) |
         (lig_plan_has_pass (plan, LIG_PASS_UPDATE) ? LIG_RUN_UPDATE : 0);
}

/* Runs passes with the same dropout masks as the compared run. */
static gboolean
run_passes (LigWitness *witness, unsigned passes, GError **error)
{
  gboolean fine = lig_program_run (witness->program, passes, error);
  lig_state_set_steps (witness->state, 0, 0);
  return fine;
}

static gboolean
has_finite_gradients (const LigWitness *witness, GError **error)
{
  for (const char *const *path = lig_state_get_paths (witness->state); *path; path++) {
    if (!lig_state_is_trained (witness->state, *path))
      continue;
    g_autoptr (LigTensor) gradient =
      lig_state_get (witness->state, LIG_STATE_GRADIENTS, *path, error);
    if (!gradient)
      return TRUE; /* the error is reported when results are read */
    for (gint64 i = 0; i < gradient->size; i++)
      if (!isfinite (lig_tensor_get (gradient, i)))
        return FALSE;
  }
  return TRUE;
}

/* Finds a loss scale without overflow, as the first steps of a run do; the plan gets the same
 * one. */
static gboolean
find_scale (Verification *self, LigWitness *witness, GError **error)
{
  LigScaling scaling;
  const LigOptimizer *optimizer = witness->plan->request->optimizer;
  witness->scale = witness->plan->ends.scales && optimizer ? optimizer->loss_scale : 1;
  if (witness->scale > 0)
    return TRUE;
  if (!lig_state_get_scaling (witness->state, &scaling, error))
    return FALSE;
  if (witness->kind == LIG_WITNESS_PLAN)
    scaling.scale = (float) self->witnesses[LIG_WITNESS_ALONE].scale;
  for (;; scaling.scale /= 2) {
    g_autoptr (GError) local = NULL;
    if (!lig_state_set_scaling (witness->state, &scaling, error) ||
        !run_passes (witness, passes_of (witness->plan) & ~(unsigned) LIG_RUN_UPDATE, error))
      return FALSE;
    if (witness->kind == LIG_WITNESS_PLAN || scaling.scale <= 1 ||
        has_finite_gradients (witness, &local))
      break;
  }
  witness->scale = (double) scaling.scale;
  return TRUE;
}

/* Runs the warm-up, with a learning rate of 0 so that parameters do not change. Optimizer moments
 * change equally in all witnesses. */
static gboolean
warm_up (Verification *self, LigWitness *witness, GError **error)
{
  const LigWitness *plan = &self->witnesses[LIG_WITNESS_PLAN];
  int runs = plan->plan->layout->histories->len > 0 ? WARM_UP : 0;
  lig_program_set_rate (witness->program, 0, 0);
  if (!find_scale (self, witness, error))
    return FALSE;
  for (int i = 0; i < runs; i++)
    if (!run_passes (witness, passes_of (witness->plan), error))
      return FALSE;
  /* Kernels autotune in the first run. */
  return runs > 0 || !lig_device_calls (witness->device)->capture ||
         run_passes (witness, passes_of (witness->plan) & ~(unsigned) LIG_RUN_UPDATE, error);
}

static gboolean
feed (Verification *self, LigWitness *witness, guint batch, GError **error)
{
  const LigVerificationOptions *options = &self->options;
  gboolean fine =
    batch < options->seeds
      ? lig_program_fill_by_seed (witness->program, 2 * batch + 1, error)
      : options->feed (witness->program, batch - options->seeds, options->feed_data, error);
  if (fine && witness->kind == LIG_WITNESS_NUDGED)
    fine = lig_witness_nudge_inputs (witness, self->unit, batch, error);
  return fine;
}

static gboolean
run_witness (Verification *self, LigWitness *witness, guint batch, GError **error)
{
  Watch watch = {self, witness};
  witness->program = lig_program_new (witness->plan, witness->state, error);
  if (!witness->program)
    return FALSE;
  lig_program_keep_gradients (witness->program);
  if (!feed (self, witness, batch, error) || !warm_up (self, witness, error))
    return FALSE;
  lig_program_observe (witness->program, observe, &watch);
  gboolean fine = lig_program_run (witness->program,
                                   passes_of (witness->plan) & ~(unsigned) LIG_RUN_UPDATE, error);
  lig_program_observe (witness->program, NULL, NULL);
  return fine;
}

/* --- Results ------------------------------------------------------------------------------- */

/* Compares the next result, or keeps it as the reference. Takes the tensor. */
static gboolean
add_result (
  Verification *self, const LigWitness *witness, guint number, LigTensor *taken, GError **error)
{
  g_autoptr (LigTensor) tensor = taken;
  g_autoptr (LigTensor) wide = tensor ? lig_tensor_convert (tensor, LIG_FP32, error) : NULL;
  Result *result = &g_array_index (self->results, Result, number);
  if (!wide)
    return FALSE;
  if (witness->kind == LIG_WITNESS_RIGHT)
    result->right = g_steal_pointer (&wide);
  else if (result->right && result->right->size == wide->size)
    lig_sum_errors (&result->sums[witness->kind], wide->data, result->right->data, wide->size);
  return TRUE;
}

/* Returns the change of a parameter by the update. */
static LigTensor *
find_change (const LigWitness *witness, guint parameter, GError **error)
{
  const char *path = lig_state_get_paths (witness->state)[parameter];
  const LigTensor *before = witness->begun->pdata[parameter];
  LigTensor *after = get_parameter (witness->state, path, TRUE, error);
  for (gint64 i = 0; after && i < after->size; i++)
    ((float *) after->data)[i] -= ((const float *) before->data)[i];
  return after;
}

/* Runs the optimizer step with the reference gradients in all witnesses. With its own gradients, a
 * witness could move a parameter in the opposite direction if rounding changes the gradient's sign,
 * because the first step of AdamW is almost the sign of the gradient. */
static gboolean
update (Verification *self, const LigWitness *witness, guint *number, GError **error)
{
  const char *const *paths = lig_state_get_paths (witness->state);
  guint gradient = 1;
  for (guint i = 0; paths[i]; i++)
    if (lig_state_is_trained (witness->state, paths[i]) &&
        !lig_state_set (witness->state, LIG_STATE_GRADIENTS, paths[i],
                        g_array_index (self->results, Result, gradient++).right, error))
      return FALSE;
  lig_program_set_rate (witness->program, self->options.rate, 0);
  if (!lig_program_run (witness->program, LIG_RUN_UPDATE, error))
    return FALSE;
  for (guint i = 0; paths[i]; i++)
    if (lig_state_is_trained (witness->state, paths[i]) &&
        !add_result (self, witness, (*number)++, find_change (witness, i, error), error))
      return FALSE;
  return TRUE;
}

/* Adds the results in the order of name_results(). */
static gboolean
add_results (Verification *self, const LigWitness *witness, GError **error)
{
  guint number = 0;
  const char *const *paths = lig_state_get_paths (witness->state);
  unsigned passes = passes_of (witness->plan);
  if (!add_result (self, witness, number++, lig_program_read_output (witness->program, error),
                   error))
    return FALSE;
  for (guint i = 0; passes & LIG_RUN_BACKWARD && paths[i]; i++)
    if (lig_state_is_trained (witness->state, paths[i]) &&
        !add_result (self, witness, number++,
                     lig_state_get_whole (witness->state, LIG_STATE_GRADIENTS, paths[i], error),
                     error))
      return FALSE;
  return !(passes & LIG_RUN_UPDATE) || update (self, witness, &number, error);
}

static void
name_result (Verification *self, char *name, const char *path, LigPass pass)
{
  Result result = {.name = name, .path = g_strdup (path), .pass = pass};
  g_array_append_val (self->results, result);
}

static void
name_results (Verification *self, LigState *state)
{
  LigPlan *plan = self->witnesses[LIG_WITNESS_PLAN].plan;
  const char *const *paths = lig_state_get_paths (state);
  LigShape shape;
  lig_plan_get_output (plan, &shape, &(LigDtype){0});
  name_result (self, g_strdup (shape.n_axes == 0 ? "loss" : "output"), NULL, LIG_PASS_FORWARD);
  for (guint i = 0; lig_plan_has_pass (plan, LIG_PASS_BACKWARD) && paths[i]; i++)
    if (lig_state_is_trained (state, paths[i]))
      name_result (self, g_strconcat ("d", paths[i], NULL), paths[i], LIG_PASS_BACKWARD);
  for (guint i = 0; lig_plan_has_pass (plan, LIG_PASS_UPDATE) && paths[i]; i++)
    if (lig_state_is_trained (state, paths[i]))
      name_result (self, g_strdup (paths[i]), paths[i], LIG_PASS_UPDATE);
}

/* The state of the unfused fp32 plan is made first, because all others begin with its
 * parameters. */
static gboolean
run_batch (Verification *self, guint batch, GError **error)
{
  static const LigWitnessKind order[] = {LIG_WITNESS_ALONE, LIG_WITNESS_RIGHT, LIG_WITNESS_NUDGED,
                                         LIG_WITNESS_PLAN};
  gboolean fine = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (order) && fine; i++)
    fine = begin_state (self, &self->witnesses[order[i]], batch, error);
  if (fine && self->results->len == 0)
    name_results (self, self->witnesses[LIG_WITNESS_PLAN].state);
  for (int i = 0; i < LIG_N_WITNESSES && fine; i++) {
    LigWitness *witness = &self->witnesses[i];
    fine = run_witness (self, witness, batch, error) && add_results (self, witness, error);
    g_clear_pointer (&witness->program, lig_program_unref);
  }
  forget_batch (self);
  return fine;
}

/* --- Findings ------------------------------------------------------------------------------ */

static double
worst_of (double a, double b)
{
  return isnan (a) || isnan (b) ? NAN : MAX (a, b);
}

/* Sets the figures of an entry. A NaN error is outside. */
static void
judge (LigVerified *entry, LigErrorSum error, const LigErrorSum sums[LIG_N_WITNESSES], double unit)
{
  double alone = lig_error_of (sums[LIG_WITNESS_ALONE]),
         nudged = lig_error_of (sums[LIG_WITNESS_NUDGED]);
  entry->error = lig_error_of (error);
  entry->rounding = MAX (worst_of (alone, nudged), unit);
  entry->limit = LIG_VERIFICATION_FACTOR * entry->rounding;
  entry->scale = error.whole > 0 ? error.matmul / error.whole : NAN;
  entry->outside = !(entry->error <= entry->limit);
}

/* Returns the error as a fraction of the limit; NaN errors exceed all others. */
static double
exhaustion (const LigVerified *entry)
{
  double share = entry->error / entry->limit;
  return isnan (share) ? INFINITY : share;
}

static void
clear_entry (gpointer entry)
{
  LigVerified *self = entry;
  g_free (self->title);
  g_free (self->path);
  g_free (self->value);
}

/* Replaces the value of a group by one that is closer to its limit. */
static void
weigh (Verification *self, LigVerified *entry, int value)
{
  const LigWitness *witness = &self->witnesses[LIG_WITNESS_PLAN];
  const LigRightValue *right = &self->values[witness->shared[value]];
  LigVerified found = *entry;
  judge (&found, self->written[value], right->sums, self->unit);
  if (entry->value && exhaustion (&found) <= exhaustion (entry))
    return;
  g_free (entry->value);
  found.value = lig_plan_name_values (witness->plan, lig_plan_value (witness->plan, value)->name);
  *entry = found;
}

/* Returns the entry of a step's group, or of its op outside of groups. */
static LigVerified *
find_entry (GArray *entries, GHashTable *known, LigPlan *plan, const LigPlanStep *step)
{
  g_autofree char *key = g_strdup_printf ("%d %d %d %d", (int) step->pass, step->group,
                                          step->group < 0 ? step->part : -1, step->again);
  int number = GPOINTER_TO_INT (g_hash_table_lookup (known, key)) - 1;
  if (number >= 0)
    return &g_array_index (entries, LigVerified, number);
  LigVerified entry = {.pass = step->pass,
                       .group = step->group,
                       .again = step->again,
                       .error = NAN,
                       .rounding = NAN,
                       .limit = NAN,
                       .scale = NAN,
                       .first = step->part,
                       .count = 1};
  if (step->group >= 0) {
    const LigPlanGroup *group = lig_plan_group (plan, step->pass, step->group);
    entry.fusion = group->fusion ? group->fusion->name : NULL;
    entry.first = group->first;
    entry.count = group->count;
  }
  if (entry.first >= 0 && entry.first < (int) plan->ops->len) {
    entry.title = lig_plan_name_ops (plan, entry.first, entry.count);
    entry.path = g_strdup (lig_plan_op (plan, entry.first)->path);
  }
  g_array_append_val (entries, entry);
  g_hash_table_insert (known, g_steal_pointer (&key), GINT_TO_POINTER (entries->len));
  return &g_array_index (entries, LigVerified, entries->len - 1);
}

static void
list_groups (Verification *self, LigVerification *found)
{
  const LigWitness *witness = &self->witnesses[LIG_WITNESS_PLAN];
  const LigPlan *plan = witness->plan;
  GArray *entries = g_array_new (FALSE, TRUE, sizeof (LigVerified));
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int i = 0; i < plan->phases.update; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    if (step->group < 0 && step->part < 0)
      continue;
    LigVerified *entry = step->group >= 0 ? find_entry (entries, known, witness->plan, step) : NULL;
    for (int j = step->n_inputs; j < step->n_operands; j++) {
      int value = lig_witness_written (witness, step->operands[j].value);
      if (value < 0 || witness->shared[value] < 0 || witness->last_writer[value] != i ||
          self->written[value].whole + self->written[value].difference == 0)
        continue;
      entry = entry ? entry : find_entry (entries, known, witness->plan, step);
      weigh (self, entry, value);
    }
  }
  found->n_groups = entries->len;
  found->groups = (LigVerified *) (gpointer) g_array_free (entries, FALSE);
}

static void
list_results (Verification *self, LigVerification *found)
{
  found->n_results = self->results->len;
  found->results = g_new0 (LigVerified, self->results->len + 1);
  for (guint i = 0; i < self->results->len; i++) {
    Result *result = &g_array_index (self->results, Result, i);
    LigVerified *entry = &found->results[i];
    *entry = (LigVerified){.value = g_steal_pointer (&result->name),
                           .path = g_steal_pointer (&result->path),
                           .pass = result->pass,
                           .group = -1,
                           .first = -1};
    judge (entry, result->sums[LIG_WITNESS_PLAN], result->sums, self->unit);
  }
}

static const LigVerified *
find_outside (const LigVerified *entries, guint count)
{
  for (guint i = 0; i < count; i++)
    if (entries[i].outside)
      return &entries[i];
  return NULL;
}

static gboolean
run_batches (Verification *self, GError **error)
{
  const LigVerificationOptions *options = &self->options;
  guint count = options->seeds + options->batches;
  for (guint i = 0; i < count; i++) {
    if (options->monitor && !options->monitor (i, count, options->monitor_data)) {
      g_set_error_literal (error, LIG_ERROR, LIG_ERROR_CANCELLED,
                           _ ("the verification was cancelled"));
      return FALSE;
    }
    if (!run_batch (self, i, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
sum_over_ranks (LigRanks *ranks, LigErrorSum *sums, gsize count, GError **error)
{
  guint numbers = sizeof *sums / sizeof (double);
  return lig_ranks_sum (ranks, (double *) sums, (guint) count * numbers, error);
}

/* Sums the errors of all ranks, each of which has a shard of the batch or of the parameters. */
static gboolean
join_ranks (Verification *self, GError **error)
{
  const LigWitness *plan = &self->witnesses[LIG_WITNESS_PLAN],
                   *right = &self->witnesses[LIG_WITNESS_RIGHT];
  LigRanks *ranks = lig_device_get_ranks (plan->device);
  guint count = right->plan->values->len;
  if (!ranks)
    return TRUE;
  g_autofree LigErrorSum *sums = g_new (LigErrorSum, (gsize) (count + 1) * LIG_N_WITNESSES);
  for (guint i = 0; i < count; i++)
    memcpy (sums + i * LIG_N_WITNESSES, self->values[i].sums, sizeof self->values[i].sums);
  if (!lig_verify_join (ranks, plan->plan, self->written, 1, error) ||
      !lig_verify_join (ranks, right->plan, sums, LIG_N_WITNESSES, error))
    return FALSE;
  for (guint i = 0; i < count; i++)
    memcpy (self->values[i].sums, sums + i * LIG_N_WITNESSES, sizeof self->values[i].sums);
  gboolean fine = TRUE;
  for (guint i = 0; fine && i < self->results->len; i++)
    fine =
      sum_over_ranks (ranks, g_array_index (self->results, Result, i).sums, LIG_N_WITNESSES, error);
  return fine;
}

static gboolean
read_options (const LigVerificationOptions *given, LigVerificationOptions *whole, GError **error)
{
  *whole = (LigVerificationOptions) LIG_VERIFICATION_OPTIONS_INIT;
  if (given)
    memcpy (whole, given, MIN (given->size, sizeof *whole));
  if (whole->seeds > 1000 || whole->batches > 1000 || whole->seeds + whole->batches == 0 ||
      (whole->batches > 0 && !whole->feed) || !isfinite (whole->rate)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("verification: seeds %u, batches %u, rate %g; expected 1 to 1000 batches in "
                    "total, and a finite rate"),
                 whole->seeds, whole->batches, whole->rate);
    return FALSE;
  }
  return TRUE;
}

LigVerification *
lig_plan_verify (LigPlan *plan, const LigVerificationOptions *options, GError **error)
{
  g_auto (Verification)
    self = {.results = g_array_new (FALSE, TRUE, sizeof (Result)),
            .start = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_tensor_unref)};
  g_array_set_clear_func (self.results, clear_result);
  if (!plan) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_VALUE,
                         _ ("verification: the plan is missing"));
    return NULL;
  }
  if (!read_options (options, &self.options, error) || !make_plans (&self, plan, error) ||
      !run_batches (&self, error) || !join_ranks (&self, error))
    return NULL;
  LigVerification *found = g_new0 (LigVerification, 1);
  found->batches = self.options.seeds + self.options.batches;
  list_groups (&self, found);
  list_results (&self, found);
  found->outside = find_outside (found->groups, found->n_groups);
  if (!found->outside)
    found->outside = find_outside (found->results, found->n_results);
  return found;
}

void
lig_verification_free (LigVerification *self)
{
  if (!self)
    return;
  for (guint i = 0; i < self->n_groups; i++)
    clear_entry (&self->groups[i]);
  for (guint i = 0; i < self->n_results; i++)
    clear_entry (&self->results[i]);
  g_free (self->groups);
  g_free (self->results);
  g_free (self);
}
