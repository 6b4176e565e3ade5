/* SPDX-License-Identifier: MIT */
/* Runs a plan beside the plan of every op alone and compares what its groups compute. */
#include <ligature/verification.h>

#include "engine/compile/quantizers.h"
#include "engine/device/device-private.h"
#include "engine/plan/fill.h"
#include "engine/plan/verify-sides.h"
#include <ligature/figures.h>
#include <ligature/loss-scaling.h>
#include <ligature/optimizer.h>
#include <ligature/ranks.h>
#include <ligature/recipe-errors.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* Runs before the one that is compared, after which histories have the batch's amaxes. */
enum { WARM_UP = 2 };

/* A result of the plan, such as the gradient of a parameter, of all sides. */
typedef struct {
  char *name, *path; /* path: of the parameter, or null */
  LigPass pass;
  LigTensor *right; /* of the present batch */
  LigErrorSum sums[LIG_N_SIDES];
} Result;

typedef struct {
  LigVerificationOptions options;
  LigSide sides[LIG_N_SIDES];
  LigRightValue *values; /* of the right plan */
  LigErrorSum *written;  /* of the plan's values: their errors */
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
  for (int i = 0; i < LIG_N_SIDES; i++) {
    g_clear_pointer (&self->sides[i].program, lig_program_unref);
    g_clear_object (&self->sides[i].state);
    g_clear_pointer (&self->sides[i].begun, g_ptr_array_unref);
  }
  const LigDraft *right = self->sides[LIG_SIDE_RIGHT].plan->draft;
  for (guint i = 0; self->values && i < right->values->len; i++)
    g_clear_pointer (&self->values[i].numbers, g_free);
  for (guint i = 0; i < self->results->len; i++)
    g_clear_pointer (&g_array_index (self->results, Result, i).right, lig_tensor_unref);
  g_ptr_array_set_size (self->start, 0);
}

static void
clear (Verification *self)
{
  if (self->sides[LIG_SIDE_RIGHT].plan)
    forget_batch (self);
  for (int i = 0; i < LIG_N_SIDES; i++) {
    g_clear_pointer (&self->sides[i].plan, lig_plan_unref);
    g_clear_object (&self->sides[i].device);
    g_free (self->sides[i].shared);
    g_free (self->sides[i].last_writer);
  }
  g_free (self->values);
  g_free (self->written);
  g_array_unref (self->results);
  g_ptr_array_unref (self->start);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Verification, clear)

/* --- The plans ----------------------------------------------------------------------------- */

/* Returns the plan of every op alone, in fp32 without a recipe or in the types of the plan. */
static LigPlan *
compile_alone (const LigDraft *of, LigDevice *device, gboolean right, GError **error)
{
  LigPlanOptions options = of->options;
  LigOptimizer optimizer;
  options.policy = LIG_POLICY_NONE;
  options.choices = NULL;
  options.tuning = NULL; /* its data may be gone */
  options.recompute = LIG_RECOMPUTE_NONE;
  if (!right)
    return lig_plan_compile_unfused (of->sequence, device, &options, error);
  lig_recipe_choose_for (&options, of->sequence, "none");
  options.compute = options.parameters = (int) LIG_FP32;
  options.tf32 = FALSE;
  if (options.optimizer) {
    optimizer = *options.optimizer;
    optimizer.loss_scale = 1;
    options.optimizer = &optimizer;
  }
  return lig_plan_compile_unfused (of->sequence, device, &options, error);
}

static gboolean
make_plans (Verification *self, LigPlan *plan, GError **error)
{
  LigSide *sides = self->sides;
  LigDevice *own = lig_plan_get_device (plan);
  /* Ranks that exchange need each other for the right numbers, too. */
  g_autoptr (LigDevice) cpu =
    lig_device_get_ranks (own) ? g_object_ref (own) : lig_device_open ("cpu", error);
  for (int i = 0; i < LIG_N_SIDES && cpu; i++) {
    sides[i].kind = (LigSideKind) i;
    sides[i].device = g_object_ref (i < LIG_SIDE_ALONE ? cpu : own);
    sides[i].scale = 1;
  }
  sides[LIG_SIDE_PLAN].plan = lig_plan_ref (plan);
  sides[LIG_SIDE_RIGHT].plan = cpu ? compile_alone (plan->draft, cpu, TRUE, error) : NULL;
  if (!sides[LIG_SIDE_RIGHT].plan)
    return FALSE;
  sides[LIG_SIDE_NUDGED].plan = lig_plan_ref (sides[LIG_SIDE_RIGHT].plan);
  sides[LIG_SIDE_ALONE].plan = compile_alone (plan->draft, own, FALSE, error);
  if (!sides[LIG_SIDE_ALONE].plan)
    return FALSE;
  lig_sides_pair (sides);
  self->values = g_new0 (LigRightValue, sides[LIG_SIDE_RIGHT].plan->draft->values->len + 1);
  self->written = g_new0 (LigErrorSum, plan->draft->values->len + 1);
  self->unit = lig_side_unit (&sides[LIG_SIDE_PLAN]);
  return TRUE;
}

/* --- Parameters ---------------------------------------------------------------------------- */

/* Returns the values of a parameter in fp32: the master of a rounded copy if an update needs it. */
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

/* Notes the parameters with which all sides begin: those of every op alone, as the types of the
 * plan round them. */
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

/* Makes the state of a side and notes the parameters from which its change by the update is
 * counted. The fp32 masters of rounded parameters begin with these, too. */
static gboolean
begin_state (Verification *self, LigSide *side, guint batch, GError **error)
{
  const LigDraft *draft = side->plan->draft;
  side->state = lig_state_new (draft->sequence, side->device, &draft->options, batch, error);
  side->begun = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_tensor_unref);
  if (!side->state || (side->kind >= LIG_SIDE_ALONE && self->options.weights &&
                       !lig_state_load_weights (side->state, self->options.weights, NULL, error)))
    return FALSE;
  if (self->start->len == 0 && !note_start (self, side->state, error))
    return FALSE;
  const char *const *paths = lig_state_get_paths (side->state);
  for (guint i = 0; paths[i]; i++) {
    LigTensor *tensor = lig_tensor_convert (self->start->pdata[i], LIG_FP32, error);
    if (!tensor)
      return FALSE;
    g_ptr_array_add (side->begun, tensor);
    if (side->kind == LIG_SIDE_NUDGED)
      lig_nudge (tensor, self->unit, batch + i);
    if (!lig_state_set (side->state, LIG_STATE_PARAMETERS, paths[i], tensor, error))
      return FALSE;
  }
  return TRUE;
}

/* --- Running a side ------------------------------------------------------------------------ */

typedef struct {
  Verification *all;
  LigSide *side;
} Watch;

/* Keeps the right numbers of the values that a step was the last to write, or compares others with
 * them. */
static gboolean
observe (LigProgram *program, int index, gpointer data, GError **error)
{
  Watch *watch = data;
  LigSide *side = watch->side;
  const LigDraftStep *step = lig_step (program->plan->draft, index);
  for (int j = step->n_inputs; j < step->n_operands; j++) {
    int value = lig_side_written (side, step->values[j]);
    if (value < 0 || side->shared[value] < 0 || side->last_writer[value] != index ||
        !lig_program_address (program, value))
      continue;
    LigRightValue *right = &watch->all->values[side->shared[value]];
    if (side->kind != LIG_SIDE_RIGHT && !right->numbers)
      continue;
    g_autofree float *numbers = lig_side_read (side, value, error);
    if (!numbers)
      return FALSE;
    if (side->kind == LIG_SIDE_RIGHT) {
      g_free (right->numbers);
      right->numbers = g_steal_pointer (&numbers);
      right->count = lig_shape_size (&lig_value (program->plan->draft, value)->shape);
      continue;
    }
    LigErrorSum *sum =
      side->kind == LIG_SIDE_PLAN ? &watch->all->written[value] : &right->sums[side->kind];
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

/* Runs passes that draw the same masks as the run that is compared. */
static gboolean
rehearse (LigSide *side, unsigned passes, GError **error)
{
  gboolean fine = lig_program_run (side->program, passes, error);
  lig_state_set_steps (side->state, 0, 0);
  return fine;
}

static gboolean
has_finite_gradients (const LigSide *side, GError **error)
{
  for (const char *const *path = lig_state_get_paths (side->state); *path; path++) {
    if (!lig_state_is_trained (side->state, *path))
      continue;
    g_autoptr (LigTensor) gradient = lig_state_get (side->state, LIG_STATE_GRADIENTS, *path, error);
    if (!gradient)
      return TRUE; /* the error is reported by who reads results */
    for (gint64 i = 0; i < gradient->size; i++)
      if (!isfinite (lig_tensor_get (gradient, i)))
        return FALSE;
  }
  return TRUE;
}

/* Finds a loss scale with which nothing overflows, as a training does in its first steps; the plan
 * has the same. */
static gboolean
find_scale (Verification *self, LigSide *side, GError **error)
{
  LigScaling scaling;
  const LigOptimizer *optimizer = side->plan->draft->options.optimizer;
  if (!side->plan->draft->scales)
    return TRUE;
  side->scale = optimizer ? optimizer->loss_scale : 1;
  if (side->scale > 0)
    return TRUE;
  if (!lig_state_get_scaling (side->state, &scaling, error))
    return FALSE;
  if (side->kind == LIG_SIDE_PLAN)
    scaling.scale = (float) self->sides[LIG_SIDE_ALONE].scale;
  for (;; scaling.scale /= 2) {
    g_autoptr (GError) local = NULL;
    if (!lig_state_set_scaling (side->state, &scaling, error) ||
        !rehearse (side, passes_of (side->plan) & ~(unsigned) LIG_RUN_UPDATE, error))
      return FALSE;
    if (side->kind == LIG_SIDE_PLAN || scaling.scale <= 1 || has_finite_gradients (side, &local))
      break;
  }
  side->scale = (double) scaling.scale;
  return TRUE;
}

/* Runs what has to run before, with a rate of 0 so that parameters stay. The moments of optimizers
 * change on all sides alike. */
static gboolean
warm_up (Verification *self, LigSide *side, GError **error)
{
  const LigSide *plan = &self->sides[LIG_SIDE_PLAN];
  int runs = plan->plan->draft->histories->len > 0 ? WARM_UP : 0;
  lig_program_set_rate (side->program, 0, 0);
  if (!find_scale (self, side, error))
    return FALSE;
  for (int i = 0; i < runs; i++)
    if (!rehearse (side, passes_of (side->plan), error))
      return FALSE;
  /* Kernels choose their algorithms in a first run. */
  return runs > 0 || !lig_device_calls (side->device)->capture ||
         rehearse (side, passes_of (side->plan) & ~(unsigned) LIG_RUN_UPDATE, error);
}

static gboolean
feed (Verification *self, LigSide *side, guint batch, GError **error)
{
  const LigVerificationOptions *options = &self->options;
  gboolean fine =
    batch < options->seeds
      ? lig_program_fill_by_seed (side->program, 2 * batch + 1, error)
      : options->feed (side->program, batch - options->seeds, options->feed_data, error);
  if (fine && side->kind == LIG_SIDE_NUDGED)
    fine = lig_side_nudge_inputs (side, self->unit, batch, error);
  return fine;
}

static gboolean
run_side (Verification *self, LigSide *side, guint batch, GError **error)
{
  Watch watch = {self, side};
  side->program = lig_program_new (side->plan, side->state, error);
  if (!side->program)
    return FALSE;
  lig_program_keep_gradients (side->program);
  if (!feed (self, side, batch, error) || !warm_up (self, side, error))
    return FALSE;
  lig_program_observe (side->program, observe, &watch);
  gboolean fine =
    lig_program_run (side->program, passes_of (side->plan) & ~(unsigned) LIG_RUN_UPDATE, error);
  lig_program_observe (side->program, NULL, NULL);
  return fine;
}

/* --- Results ------------------------------------------------------------------------------- */

/* Compares a result, in the order in which they are made, or keeps the right one. Takes the
 * tensor. */
static gboolean
add_result (Verification *self, const LigSide *side, guint number, LigTensor *taken, GError **error)
{
  g_autoptr (LigTensor) tensor = taken;
  g_autoptr (LigTensor) wide = tensor ? lig_tensor_convert (tensor, LIG_FP32, error) : NULL;
  Result *result = &g_array_index (self->results, Result, number);
  if (!wide)
    return FALSE;
  if (side->kind == LIG_SIDE_RIGHT)
    result->right = g_steal_pointer (&wide);
  else if (result->right && result->right->size == wide->size)
    lig_sum_errors (&result->sums[side->kind], wide->data, result->right->data, wide->size);
  return TRUE;
}

/* Returns how far the update has changed a parameter. */
static LigTensor *
find_change (const LigSide *side, guint parameter, GError **error)
{
  const char *path = lig_state_get_paths (side->state)[parameter];
  const LigTensor *before = side->begun->pdata[parameter];
  LigTensor *after = get_parameter (side->state, path, TRUE, error);
  for (gint64 i = 0; after && i < after->size; i++)
    ((float *) after->data)[i] -= ((const float *) before->data)[i];
  return after;
}

/* Runs the step of the optimizer with the right gradients on all sides. With its own, a side would
 * move a parameter whose gradient rounds to the other side of zero the other way: the first step of
 * AdamW is almost the sign of the gradient. */
static gboolean
update (Verification *self, const LigSide *side, guint *number, GError **error)
{
  const char *const *paths = lig_state_get_paths (side->state);
  guint gradient = 1;
  for (guint i = 0; paths[i]; i++)
    if (lig_state_is_trained (side->state, paths[i]) &&
        !lig_state_set (side->state, LIG_STATE_GRADIENTS, paths[i],
                        g_array_index (self->results, Result, gradient++).right, error))
      return FALSE;
  lig_program_set_rate (side->program, self->options.rate, 0);
  if (!lig_program_run (side->program, LIG_RUN_UPDATE, error))
    return FALSE;
  for (guint i = 0; paths[i]; i++)
    if (lig_state_is_trained (side->state, paths[i]) &&
        !add_result (self, side, (*number)++, find_change (side, i, error), error))
      return FALSE;
  return TRUE;
}

/* Adds the results in the order of name_results(). */
static gboolean
add_results (Verification *self, const LigSide *side, GError **error)
{
  guint number = 0;
  const char *const *paths = lig_state_get_paths (side->state);
  unsigned passes = passes_of (side->plan);
  if (!add_result (self, side, number++, lig_program_read_output (side->program, error), error))
    return FALSE;
  for (guint i = 0; passes & LIG_RUN_BACKWARD && paths[i]; i++)
    if (lig_state_is_trained (side->state, paths[i]) &&
        !add_result (self, side, number++,
                     lig_state_get_whole (side->state, LIG_STATE_GRADIENTS, paths[i], error),
                     error))
      return FALSE;
  return !(passes & LIG_RUN_UPDATE) || update (self, side, &number, error);
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
  LigPlan *plan = self->sides[LIG_SIDE_PLAN].plan;
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

/* The state of every op alone is made first, as all others begin with its parameters. */
static gboolean
run_batch (Verification *self, guint batch, GError **error)
{
  static const LigSideKind order[] = {LIG_SIDE_ALONE, LIG_SIDE_RIGHT, LIG_SIDE_NUDGED,
                                      LIG_SIDE_PLAN};
  gboolean fine = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (order) && fine; i++)
    fine = begin_state (self, &self->sides[order[i]], batch, error);
  if (fine && self->results->len == 0)
    name_results (self, self->sides[LIG_SIDE_PLAN].state);
  for (int i = 0; i < LIG_N_SIDES && fine; i++) {
    LigSide *side = &self->sides[i];
    fine = run_side (self, side, batch, error) && add_results (self, side, error);
    g_clear_pointer (&side->program, lig_program_unref);
  }
  forget_batch (self);
  return fine;
}

/* --- What was found ------------------------------------------------------------------------ */

static double
worst_of (double a, double b)
{
  return isnan (a) || isnan (b) ? NAN : MAX (a, b);
}

/* Sets the numbers of an entry. An error that is no number is outside. */
static void
judge (LigVerified *entry, LigErrorSum error, const LigErrorSum sums[LIG_N_SIDES], double unit)
{
  double alone = lig_error_of (sums[LIG_SIDE_ALONE]), nudged = lig_error_of (sums[LIG_SIDE_NUDGED]);
  entry->error = lig_error_of (error);
  entry->rounding = MAX (worst_of (alone, nudged), unit);
  entry->limit = LIG_VERIFICATION_FACTOR * entry->rounding;
  entry->scale = error.whole > 0 ? error.product / error.whole : NAN;
  entry->outside = !(entry->error <= entry->limit);
}

/* Returns how near to its limit an entry is; one that is no number is beyond all. */
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

/* Replaces the value of a group by one that is nearer to its limit. */
static void
weigh (Verification *self, LigVerified *entry, int value)
{
  const LigSide *side = &self->sides[LIG_SIDE_PLAN];
  const LigRightValue *right = &self->values[side->shared[value]];
  LigVerified found = *entry;
  judge (&found, self->written[value], right->sums, self->unit);
  if (entry->value && exhaustion (&found) <= exhaustion (entry))
    return;
  g_free (entry->value);
  found.value = lig_plan_name_values (side->plan, lig_value (side->plan->draft, value)->name);
  *entry = found;
}

/* Returns the entry of a step's group, or of the op that it serves outside of groups. */
static LigVerified *
find_entry (GArray *entries, GHashTable *known, LigPlan *plan, const LigDraftStep *step)
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
    const LigGroup *group = lig_group (plan->draft, step->pass, step->group);
    entry.fusion = group->fusion ? group->fusion->name : NULL;
    entry.first = group->first;
    entry.count = group->count;
  }
  if (entry.first >= 0 && entry.first < (int) plan->draft->parts->len) {
    entry.title = lig_plan_name_ops (plan, entry.first, entry.count);
    entry.path = g_strdup (lig_part (plan->draft, entry.first)->path);
  }
  g_array_append_val (entries, entry);
  g_hash_table_insert (known, g_steal_pointer (&key), GINT_TO_POINTER (entries->len));
  return &g_array_index (entries, LigVerified, entries->len - 1);
}

static void
list_groups (Verification *self, LigVerification *found)
{
  const LigSide *side = &self->sides[LIG_SIDE_PLAN];
  const LigDraft *draft = side->plan->draft;
  GArray *entries = g_array_new (FALSE, TRUE, sizeof (LigVerified));
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int i = 0; i < draft->first_update; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    if (step->group < 0 && step->part < 0)
      continue;
    LigVerified *entry = step->group >= 0 ? find_entry (entries, known, side->plan, step) : NULL;
    for (int j = step->n_inputs; j < step->n_operands; j++) {
      int value = lig_side_written (side, step->values[j]);
      if (value < 0 || side->shared[value] < 0 || side->last_writer[value] != i ||
          self->written[value].whole + self->written[value].difference == 0)
        continue;
      entry = entry ? entry : find_entry (entries, known, side->plan, step);
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
    judge (entry, result->sums[LIG_SIDE_PLAN], result->sums, self->unit);
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

/* Adds up the errors of all ranks, each of which has a part of the batch or of the parameters. */
static gboolean
join_ranks (Verification *self, GError **error)
{
  const LigSide *plan = &self->sides[LIG_SIDE_PLAN], *right = &self->sides[LIG_SIDE_RIGHT];
  LigRanks *ranks = lig_device_get_ranks (plan->device);
  gboolean fine =
    !ranks || sum_over_ranks (ranks, self->written, plan->plan->draft->values->len, error);
  for (guint i = 0; ranks && fine && i < right->plan->draft->values->len; i++)
    fine = sum_over_ranks (ranks, self->values[i].sums, LIG_N_SIDES, error);
  for (guint i = 0; ranks && fine && i < self->results->len; i++)
    fine =
      sum_over_ranks (ranks, g_array_index (self->results, Result, i).sums, LIG_N_SIDES, error);
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
                 _ ("verification: %u random batches and %u of the data, rate %g; expected 1 to "
                    "1000 batches and a finite rate"),
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
