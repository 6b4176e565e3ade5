/* SPDX-License-Identifier: MIT */
/* Comparing recipes on a thread. */
#include "ui/profile/comparing.h"

#include "ui/profile/profiling.h"
#include <ligature/compile.h>
#include <ligature/profile.h>

#include <glib/gi18n.h>

/* Results of one comparison. Recipes and errors are in the order of `results`. */
typedef struct {
  GPtrArray *results; /* of LigComparedRecipe */
  GPtrArray *errors; /* of LigRecipeErrors: of the baseline `none`, and of all recipes that were not
                        rejected */
  GPtrArray *map;    /* the same without `none`; owns nothing */
} Outcome;

/* The results are an Outcome. */
struct _LigComparing {
  LigMeasurement parent_instance;
  gint in_errors; /* set by the thread */
};

G_DEFINE_FINAL_TYPE (LigComparing, lig_comparing, LIG_TYPE_MEASUREMENT)

static const char busy[] = N_ ("this sequence is already being measured");

static void
free_compared (gpointer data)
{
  LigComparedRecipe *compared = data;
  g_free (compared->recipe);
  g_free (compared->rejection);
  g_free (compared->remark);
  g_free (compared);
}

static void
free_outcome (gpointer data)
{
  Outcome *self = data;
  g_ptr_array_unref (self->results);
  g_clear_pointer (&self->errors, g_ptr_array_unref);
  g_ptr_array_unref (self->map);
  g_free (self);
}

/* --- On the thread -------------------------------------------------------------------------- */

static gboolean
watch_errors (guint done, guint count, gpointer self)
{
  g_atomic_int_set (&LIG_COMPARING (self)->in_errors, TRUE);
  return lig_measurement_watch (done, count, self);
}

/* Returns the recipes whose plans can be compiled, null-terminated; the others keep the reason. */
static GPtrArray *
find_possible (const LigMeasurementJob *job, LigDevice *device, Outcome *outcome, GError **error)
{
  g_autoptr (GPtrArray) possible = g_ptr_array_new ();
  for (guint i = 0; i < outcome->results->len; i++) {
    LigComparedRecipe *compared = outcome->results->pdata[i];
    g_autoptr (GError) local = NULL;
    LigPlanOptions options = job->options[0];
    lig_recipe_choose_for (&options, job->sequence, compared->recipe);
    g_autoptr (LigPlan) plan = lig_plan_compile (job->sequence, device, &options, &local);
    if (plan)
      g_ptr_array_add (possible, compared->recipe);
    else if (i > 0)
      compared->rejection = g_strdup (local->message);
    else {
      g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }
  }
  g_ptr_array_add (possible, NULL);
  return g_steal_pointer (&possible);
}

/* Returns the reason why a recipe quantizes nothing; null if it quantizes something. */
static char *
describe_matmuls (const LigRecipeErrors *errors)
{
  const LigOpErrors *first = NULL;
  for (guint i = 0; i < errors->n_ops; i++) {
    const LigOpInfo *info = lig_op_info_find (errors->ops[i].op);
    if (errors->ops[i].recipe || (info && info->flags & LIG_OP_QUANTIZES))
      return NULL;
    first = !first && errors->ops[i].unquantized ? &errors->ops[i] : first;
  }
  if (!first)
    return g_strdup (_ ("No op of this sequence has a matmul that the recipe could quantize."));
  return g_strdup_printf (_ ("No matmul is quantized: %s at %s has %s."), first->op, first->path,
                          first->unquantized);
}

static LigComparedRecipe *
find_compared (Outcome *outcome, const char *recipe)
{
  for (guint i = 0; i < outcome->results->len; i++) {
    LigComparedRecipe *compared = outcome->results->pdata[i];
    if (g_str_equal (compared->recipe, recipe))
      return compared;
  }
  g_return_val_if_reached (NULL);
}

/* Returns the profiles; null with an error set. */
static GPtrArray *
measure_times (LigMeasurement *self,
               const LigMeasurementJob *job,
               LigDevice *device,
               GPtrArray *recipes,
               Outcome *outcome,
               GError **error)
{
  g_autofree LigPlanOptions *options = g_new (LigPlanOptions, recipes->len);
  guint count = recipes->len - 1;
  for (guint i = 0; i < count; i++) {
    options[i] = job->options[0];
    lig_recipe_choose_for (&options[i], job->sequence, recipes->pdata[i]);
  }
  g_autoptr (GPtrArray) profiles =
    lig_profile_measure_watched (job->sequence, device, options, count, job->rounds, job->store,
                                 lig_measurement_watch, self, error);
  for (guint i = 0; profiles && i < count; i++) {
    const LigProfile *profile = profiles->pdata[i];
    LigComparedRecipe *compared = find_compared (outcome, recipes->pdata[i]);
    compared->forward = profile->forward_spread;
    compared->backward = profile->backward_spread;
    compared->step = profile->step_spread;
    compared->conditions = profile->conditions;
  }
  return g_steal_pointer (&profiles);
}

static gboolean
measure_errors (LigMeasurement *self,
                const LigMeasurementJob *job,
                LigDevice *device,
                GPtrArray *recipes,
                Outcome *outcome,
                GError **error)
{
  outcome->errors = lig_recipe_errors_measure_watched (job->sequence, device, &job->options[0],
                                                       (const char *const *) recipes->pdata,
                                                       watch_errors, self, error);
  for (guint i = 0; outcome->errors && i < outcome->errors->len; i++) {
    LigRecipeErrors *errors = outcome->errors->pdata[i];
    LigComparedRecipe *compared = find_compared (outcome, errors->recipe);
    compared->bytes = errors->bytes;
    if (g_str_equal (errors->recipe, "none"))
      continue;
    compared->errors = errors;
    compared->remark = describe_matmuls (errors);
    if (!compared->remark)
      g_ptr_array_add (outcome->map, errors);
  }
  return outcome->errors != NULL;
}

static gboolean
measure (LigMeasurement *self,
         const LigMeasurementJob *job,
         LigDevice *device,
         gpointer results,
         GError **error)
{
  Outcome *outcome = results;
  g_atomic_int_set (&LIG_COMPARING (self)->in_errors, FALSE);
  g_autoptr (GPtrArray) recipes = find_possible (job, device, outcome, error);
  g_autoptr (GPtrArray) profiles =
    recipes ? measure_times (self, job, device, recipes, outcome, error) : NULL;
  return profiles && measure_errors (self, job, device, recipes, outcome, error) &&
         (!job->store || lig_profile_record_errors (profiles, outcome->errors, job->store, error));
}

/* --- On the main thread ---------------------------------------------------------------------- */

static void
add_recipe (Outcome *outcome, const char *recipe)
{
  LigComparedRecipe *compared = g_new0 (LigComparedRecipe, 1);
  compared->recipe = g_strdup (recipe);
  g_ptr_array_add (outcome->results, compared);
}

static Outcome *
new_outcome (const char *const *recipes)
{
  Outcome *outcome = g_new0 (Outcome, 1);
  outcome->results = g_ptr_array_new_with_free_func (free_compared);
  outcome->map = g_ptr_array_new ();
  add_recipe (outcome, "none");
  for (; *recipes; recipes++)
    if (!g_str_equal (*recipes, "none"))
      add_recipe (outcome, *recipes);
  return outcome;
}

gboolean
lig_comparing_start (LigComparing *self, const char *const *recipes, guint rounds, GError **error)
{
  LigMeasurement *measurement = LIG_MEASUREMENT (self);
  LigDocument *document = lig_measurement_get_document (measurement);
  LigPolicy policy = lig_document_get_policy (document);
  if (lig_measurement_is_active (LIG_MEASUREMENT (lig_profiling_of (document)))) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_VALUE, _ (busy));
    return FALSE;
  }
  return lig_measurement_start (measurement, &policy, 1, rounds, new_outcome (recipes), error);
}

double
lig_comparing_get_progress (LigComparing *self, gboolean *errors)
{
  guint count, done = lig_measurement_get_done (LIG_MEASUREMENT (self), &count);
  *errors = g_atomic_int_get (&self->in_errors);
  return count > 0 ? (double) done / count : -1;
}

static const Outcome *
get_outcome (LigComparing *self)
{
  return lig_measurement_get_results (LIG_MEASUREMENT (self));
}

const LigComparedRecipe *
lig_comparing_get (LigComparing *self, guint n)
{
  const Outcome *outcome = get_outcome (self);
  return outcome && n < outcome->results->len ? outcome->results->pdata[n] : NULL;
}

GPtrArray *
lig_comparing_get_errors (LigComparing *self)
{
  const Outcome *outcome = get_outcome (self);
  return outcome ? outcome->map : NULL;
}

char *
lig_comparing_to_command (LigComparing *self, char *command)
{
  GString *text = g_string_new (NULL);
  const LigComparedRecipe *compared;
  guint count = 0;
  g_string_append_printf (text, "%s --compare-recipes ", command);
  for (guint i = 0; (compared = lig_comparing_get (self, i)); i++)
    if (!compared->rejection)
      g_string_append_printf (text, "%s%s", count++ > 0 ? "," : "", compared->recipe);
  /* The unquantized baseline alone is not a comparison. */
  gboolean some = count > 1 && !lig_measurement_is_stale (LIG_MEASUREMENT (self));
  char *whole = g_string_free (text, FALSE);
  g_free (some ? command : whole);
  return some ? whole : command;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_comparing_class_init (LigComparingClass *class)
{
  LigMeasurementClass *measurement_class = LIG_MEASUREMENT_CLASS (class);
  measurement_class->busy = busy;
  measurement_class->empty = N_ ("there is nothing to compare: the sequence has no operations");
  measurement_class->any_recipe = TRUE;
  measurement_class->measure = measure;
  measurement_class->free_results = free_outcome;
}

static void
lig_comparing_init (LigComparing *self)
{
}

LigComparing *
lig_comparing_of (LigDocument *document)
{
  return lig_measurement_of (document, LIG_TYPE_COMPARING);
}
