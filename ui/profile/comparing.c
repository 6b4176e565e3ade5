/* SPDX-License-Identifier: MIT */
/* Comparing recipes on a thread. */
#include "ui/profile/comparing.h"

#include "ui/profile/profiling.h"
#include "ui/session/task.h"

#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/profile.h>
#include <ligature/tuning.h>

#include <glib/gi18n.h>
#include <string.h>

/* Of one comparison. The recipes and their errors are in the order of `results`. */
typedef struct {
  GPtrArray *results; /* of LigComparedRecipe */
  GPtrArray *errors;  /* of LigRecipeErrors: of none, and of all that were not refused */
  GPtrArray *map;     /* the same without none; owns nothing */
  char *text, *device;
} Outcome;

struct _LigComparing {
  GObject parent_instance;
  LigDocument *document; /* owns this */
  Outcome *outcome;
  gboolean stale;
  GCancellable *cancellable; /* while active */
  char *error;
  guint tick;

  /* Set by the thread. */
  gint done, count, in_errors;
};

G_DEFINE_FINAL_TYPE (LigComparing, lig_comparing, G_TYPE_OBJECT)

enum { CHANGED, COMPARED, N_SIGNALS };
static guint signals[N_SIGNALS];

typedef struct {
  LigSequence *sequence;
  LigPlanOptions options;
  guint rounds;
  LigStore *store;
  LigOptimizer optimizer;
  LigTuning tuning;
  Outcome *outcome;
} Job;

static void
free_compared (gpointer data)
{
  LigComparedRecipe *compared = data;
  g_free (compared->recipe);
  g_free (compared->refusal);
  g_free (compared->remark);
  g_free (compared);
}

static void
free_outcome (Outcome *self)
{
  g_ptr_array_unref (self->results);
  g_clear_pointer (&self->errors, g_ptr_array_unref);
  g_ptr_array_unref (self->map);
  g_free (self->text);
  g_free (self->device);
  g_free (self);
}

static void
free_job (gpointer data)
{
  Job *job = data;
  g_object_unref (job->sequence);
  g_clear_object (&job->store);
  g_clear_pointer (&job->outcome, free_outcome);
  g_free (job);
}

/* --- On the thread -------------------------------------------------------------------------- */

static gboolean
watch (guint done, guint count, gboolean errors, GTask *task)
{
  LigComparing *self = g_task_get_source_object (task);
  g_atomic_int_set (&self->in_errors, errors);
  g_atomic_int_set (&self->count, (gint) count);
  g_atomic_int_set (&self->done, (gint) done);
  return !g_cancellable_is_cancelled (g_task_get_cancellable (task));
}

static gboolean
watch_times (guint round, guint rounds, gpointer task)
{
  return watch (round, rounds, FALSE, task);
}

static gboolean
watch_errors (guint done, guint count, gpointer task)
{
  return watch (done, count, TRUE, task);
}

/* Returns the recipes whose plans can be compiled, ended by null; the others keep the reason. */
static GPtrArray *
find_possible (Job *job, LigDevice *device, GError **error)
{
  g_autoptr (GPtrArray) possible = g_ptr_array_new ();
  for (guint i = 0; i < job->outcome->results->len; i++) {
    LigComparedRecipe *compared = job->outcome->results->pdata[i];
    g_autoptr (GError) local = NULL;
    LigPlanOptions options = job->options;
    lig_recipe_choose_for (&options, job->sequence, compared->recipe);
    g_autoptr (LigPlan) plan = lig_plan_compile (job->sequence, device, &options, &local);
    if (plan)
      g_ptr_array_add (possible, compared->recipe);
    else if (i > 0)
      compared->refusal = g_strdup (local->message);
    else {
      g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }
  }
  g_ptr_array_add (possible, NULL);
  return g_steal_pointer (&possible);
}

/* Says why a recipe quantizes nothing; null if it quantizes something. */
static char *
describe_products (const LigRecipeErrors *errors)
{
  const LigOpErrors *first = NULL;
  for (guint i = 0; i < errors->n_ops; i++) {
    if (errors->ops[i].recipe || g_str_equal (errors->ops[i].op, "quantize"))
      return NULL;
    first = !first && errors->ops[i].unquantized ? &errors->ops[i] : first;
  }
  if (!first)
    return g_strdup (_ ("No op of this sequence is a product that the recipe could quantize."));
  return g_strdup_printf (_ ("No product is quantized: %s at %s has %s."), first->op, first->path,
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
measure_times (Job *job, LigDevice *device, GPtrArray *recipes, GTask *task, GError **error)
{
  g_autofree LigPlanOptions *options = g_new (LigPlanOptions, recipes->len);
  guint count = recipes->len - 1;
  for (guint i = 0; i < count; i++) {
    options[i] = job->options;
    lig_recipe_choose_for (&options[i], job->sequence, recipes->pdata[i]);
  }
  g_autoptr (GPtrArray) profiles = lig_profile_measure_watched (
    job->sequence, device, options, count, job->rounds, job->store, watch_times, task, error);
  for (guint i = 0; profiles && i < count; i++) {
    const LigProfile *profile = profiles->pdata[i];
    LigComparedRecipe *compared = find_compared (job->outcome, recipes->pdata[i]);
    compared->forward = profile->forward_spread;
    compared->backward = profile->backward_spread;
    compared->step = profile->step_spread;
    compared->conditions = profile->conditions;
  }
  return g_steal_pointer (&profiles);
}

static gboolean
measure_errors (Job *job, LigDevice *device, GPtrArray *recipes, GTask *task, GError **error)
{
  Outcome *outcome = job->outcome;
  outcome->errors = lig_recipe_errors_measure_watched (job->sequence, device, &job->options,
                                                       (const char *const *) recipes->pdata,
                                                       watch_errors, task, error);
  for (guint i = 0; outcome->errors && i < outcome->errors->len; i++) {
    LigRecipeErrors *errors = outcome->errors->pdata[i];
    LigComparedRecipe *compared = find_compared (outcome, errors->recipe);
    compared->bytes = errors->bytes;
    if (g_str_equal (errors->recipe, "none"))
      continue;
    compared->errors = errors;
    compared->remark = describe_products (errors);
    if (!compared->remark)
      g_ptr_array_add (outcome->map, errors);
  }
  return outcome->errors != NULL;
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Job *job = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open (job->outcome->device, &error);
  if (device && job->store)
    lig_tuning_learn (device, job->store);
  g_autoptr (GPtrArray) recipes = device ? find_possible (job, device, &error) : NULL;
  g_autoptr (GPtrArray) profiles =
    recipes ? measure_times (job, device, recipes, task, &error) : NULL;
  if (profiles && measure_errors (job, device, recipes, task, &error) &&
      (!job->store ||
       lig_profile_record_errors (profiles, job->outcome->errors, job->store, &error)))
    g_task_return_pointer (task, g_steal_pointer (&job->outcome), (GDestroyNotify) free_outcome);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

/* --- On the main thread ---------------------------------------------------------------------- */

static gboolean
tick (gpointer data)
{
  g_signal_emit (data, signals[CHANGED], 0);
  return G_SOURCE_CONTINUE;
}

/* Returns a text of all that a comparison depends on; its recipe, training and name do not
 * matter. */
static char *
describe (LigDocument *document)
{
  g_autoptr (LigSequence) sequence = lig_sequence_copy (lig_document_get_sequence (document));
  lig_sequence_set_train (sequence, NULL);
  lig_sequence_set_name (sequence, NULL);
  lig_sequence_set_recipe (sequence, NULL, NULL);
  return lig_sequence_to_json (sequence);
}

static void
check_stale (LigComparing *self)
{
  if (!self->outcome)
    return;
  g_autofree char *text = describe (self->document);
  gboolean stale = g_strcmp0 (text, self->outcome->text) != 0 ||
                   g_strcmp0 (lig_document_get_device (self->document), self->outcome->device) != 0;
  if (stale == self->stale)
    return;
  self->stale = stale;
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
take_outcome (GObject *source, GAsyncResult *result, gpointer data)
{
  LigComparing *self = LIG_COMPARING (source);
  g_autoptr (GError) error = NULL;
  Outcome *outcome = g_task_propagate_pointer (G_TASK (result), &error);
  g_clear_handle_id (&self->tick, g_source_remove);
  g_clear_object (&self->cancellable);
  if (outcome && self->document) {
    g_clear_pointer (&self->outcome, free_outcome);
    self->outcome = outcome;
    self->stale = FALSE;
    check_stale (self);
    g_signal_emit (self, signals[COMPARED], 0);
  } else if (outcome) {
    free_outcome (outcome);
  } else if (!g_error_matches (error, LIG_ERROR, LIG_ERROR_CANCELLED)) {
    self->error = g_strdup (error->message);
  }
  g_signal_emit (self, signals[CHANGED], 0);
}

/* Returns why it cannot be measured, or null. */
static const char *
find_refusal (LigComparing *self)
{
  const LigProblem *problem = lig_document_get_problem (self->document, 0);
  if (self->cancellable || lig_profiling_is_active (lig_profiling_of (self->document)))
    return _ ("this sequence is being measured already");
  if (lig_sequence_get_length (lig_document_get_sequence (self->document)) == 0)
    return _ ("there is nothing to compare: the sequence has no operations");
  if (lig_device_name_has (lig_document_get_device (self->document), LIG_DEVICE_DESCRIBED))
    return _ ("this device is only planned for: nothing can be measured on it");
  return problem && !lig_document_is_stale (self->document) ? problem->text : NULL;
}

static void
add_recipe (Outcome *outcome, const char *recipe)
{
  LigComparedRecipe *compared = g_new0 (LigComparedRecipe, 1);
  compared->recipe = g_strdup (recipe);
  g_ptr_array_add (outcome->results, compared);
}

static Outcome *
new_outcome (LigComparing *self, const char *const *recipes)
{
  Outcome *outcome = g_new0 (Outcome, 1);
  outcome->results = g_ptr_array_new_with_free_func (free_compared);
  outcome->map = g_ptr_array_new ();
  outcome->text = describe (self->document);
  outcome->device = g_strdup (lig_document_get_device (self->document));
  add_recipe (outcome, "none");
  for (; *recipes; recipes++)
    if (!g_str_equal (*recipes, "none"))
      add_recipe (outcome, *recipes);
  return outcome;
}

static Job *
new_job (LigComparing *self, const char *const *recipes, guint rounds)
{
  Job *job = g_new0 (Job, 1);
  const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigStore *store = lig_session_get_store (lig_document_get_session (self->document));
  job->sequence = lig_sequence_copy (lig_document_get_sequence (self->document));
  job->store = store ? g_object_ref (store) : NULL;
  job->optimizer = optimizer;
  job->rounds = rounds;
  job->outcome = new_outcome (self, recipes);
  lig_tuning_init (&job->tuning, job->store);
  lig_document_get_options (self->document, &job->options);
  job->options.policy = lig_document_get_policy (self->document);
  job->options.optimizer = &job->optimizer;
  job->options.tuning = &job->tuning;
  job->options.choices = NULL;
  return job;
}

gboolean
lig_comparing_start (LigComparing *self, const char *const *recipes, guint rounds, GError **error)
{
  const char *refusal = find_refusal (self);
  if (refusal) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_VALUE, refusal);
    return FALSE;
  }
  g_clear_pointer (&self->error, g_free);
  g_atomic_int_set (&self->in_errors, FALSE);
  g_atomic_int_set (&self->count, 0);
  self->cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (self, self->cancellable, take_outcome, NULL);
  /* Complete results count, even if it was cancelled afterwards. */
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, new_job (self, recipes, rounds), free_job);
  self->tick = g_timeout_add (100, tick, self);
  lig_task_run (task, work);
  g_signal_emit (self, signals[CHANGED], 0);
  return TRUE;
}

void
lig_comparing_cancel (LigComparing *self)
{
  if (!self->cancellable)
    return;
  g_cancellable_cancel (self->cancellable);
  g_signal_emit (self, signals[CHANGED], 0);
}

gboolean
lig_comparing_is_active (LigComparing *self)
{
  return self->cancellable != NULL;
}

gboolean
lig_comparing_is_cancelled (LigComparing *self)
{
  return self->cancellable && g_cancellable_is_cancelled (self->cancellable);
}

double
lig_comparing_get_progress (LigComparing *self, gboolean *errors)
{
  gint done = g_atomic_int_get (&self->done), count = g_atomic_int_get (&self->count);
  *errors = g_atomic_int_get (&self->in_errors);
  return count > 0 ? (double) done / count : -1;
}

const char *
lig_comparing_get_error (LigComparing *self)
{
  return self->error;
}

const LigComparedRecipe *
lig_comparing_get (LigComparing *self, guint n)
{
  return self->outcome && n < self->outcome->results->len ? self->outcome->results->pdata[n] : NULL;
}

GPtrArray *
lig_comparing_get_errors (LigComparing *self)
{
  return self->outcome ? self->outcome->map : NULL;
}

char *
lig_comparing_to_command (LigComparing *self, char *command)
{
  GString *text = g_string_new (NULL);
  const LigComparedRecipe *compared;
  guint count = 0;
  g_string_append_printf (text, "%s --compare-recipes ", command);
  for (guint i = 0; (compared = lig_comparing_get (self, i)); i++)
    if (!compared->refusal)
      g_string_append_printf (text, "%s%s", count++ > 0 ? "," : "", compared->recipe);
  /* None alone is nothing to be compared. */
  gboolean some = count > 1 && !self->stale;
  char *whole = g_string_free (text, FALSE);
  g_free (some ? command : whole);
  return some ? whole : command;
}

void
lig_comparing_clear (LigComparing *self)
{
  g_clear_pointer (&self->outcome, free_outcome);
  g_clear_pointer (&self->error, g_free);
  self->stale = FALSE;
  g_signal_emit (self, signals[COMPARED], 0);
  g_signal_emit (self, signals[CHANGED], 0);
}

gboolean
lig_comparing_is_stale (LigComparing *self)
{
  return self->stale;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_comparing_finalize (GObject *object)
{
  LigComparing *self = LIG_COMPARING (object);
  g_clear_handle_id (&self->tick, g_source_remove);
  g_clear_pointer (&self->outcome, free_outcome);
  g_clear_object (&self->cancellable);
  g_free (self->error);
  G_OBJECT_CLASS (lig_comparing_parent_class)->finalize (object);
}

static void
lig_comparing_class_init (LigComparingClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_comparing_finalize;
  signals[CHANGED] = g_signal_new ("changed", LIG_TYPE_COMPARING, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                   NULL, G_TYPE_NONE, 0);
  signals[COMPARED] = g_signal_new ("compared", LIG_TYPE_COMPARING, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 0);
}

static void
lig_comparing_init (LigComparing *self)
{
}

/* The document is disposed of: a running measurement is cancelled. */
static void
release (gpointer data)
{
  LigComparing *self = data;
  if (self->cancellable)
    g_cancellable_cancel (self->cancellable);
  g_clear_handle_id (&self->tick, g_source_remove);
  self->document = NULL;
  g_object_unref (self);
}

LigComparing *
lig_comparing_of (LigDocument *document)
{
  LigComparing *self = g_object_get_data (G_OBJECT (document), "lig-comparing");
  if (self)
    return self;
  self = g_object_new (LIG_TYPE_COMPARING, NULL);
  self->document = document;
  g_signal_connect_object (document, "changed", G_CALLBACK (check_stale), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "settings", G_CALLBACK (check_stale), self, G_CONNECT_SWAPPED);
  g_object_set_data_full (G_OBJECT (document), "lig-comparing", self, release);
  return self;
}
