/* SPDX-License-Identifier: MIT */
/* Finds the savings of a document's plan on a thread. */
#include "ui/document/savings.h"

#include "ui/document/preview.h"
#include "ui/document/private.h"
#include "ui/document/ranks.h"
#include "ui/session/task.h"
#include <ligature/sequence.h>
#include <ligature/tuning.h>

#include <json-glib/json-glib.h>

/* Edits that follow each other quickly, such as typing, start no search. The search for a plan of
 * more ops takes more than about a second. */
enum { REST_MILLISECONDS = 250, MAX_OPS = 4000 };

typedef struct {
  GPtrArray *savings;
  LigCapacity *capacities[2]; /* null if they were not wanted */
} Found;

struct _LigSavings {
  gboolean wants_capacity, large;
  guint rest;
  GCancellable *cancellable; /* of the running search; or null */
  LigPlan *plan;             /* whose savings are sought or were found; or null */
  Found *found;              /* null until they were found */
  char *error;               /* (nullable): why they could not be found */
};

typedef struct {
  GWeakRef document; /* a search does not keep it alive */
  LigPlan *plan;
  LigStore *store;
  char *device, *path; /* of the device and of the store */
  LigLayout layout;
  gboolean capacity;
  char *optimizer; /* that a training run of the sequence has; empty: the default */
} Job;

static void
free_found (gpointer data)
{
  Found *found = data;
  g_ptr_array_unref (found->savings);
  for (guint i = 0; i < G_N_ELEMENTS (found->capacities); i++)
    lig_capacity_free (found->capacities[i]);
  g_free (found);
}

static void
free_job (gpointer data)
{
  Job *job = data;
  g_weak_ref_clear (&job->document);
  lig_plan_unref (job->plan);
  g_clear_object (&job->store);
  g_free (job->device);
  g_free (job->optimizer);
  g_free (job->path);
  g_free (job);
}

static void
forget (LigSavings *self)
{
  g_clear_handle_id (&self->rest, g_source_remove);
  if (self->cancellable)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_clear_pointer (&self->found, free_found);
  g_clear_pointer (&self->error, g_free);
}

void
lig_document_clear_savings (LigDocument *self)
{
  LigSavings *savings = g_steal_pointer (&self->savings);
  if (!savings)
    return;
  forget (savings);
  g_free (savings);
}

/* --- On the thread ---------------------------------------------------------------------------- */

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Job *job = data;
  LigTuning tuning;
  GError *error = NULL;
  g_autoptr (LigDevice) device = lig_ranks_open_device (job->device, &job->layout, &error);
  if (!device) {
    g_task_return_error (task, error);
    return;
  }
  if (job->store)
    lig_tuning_recall (device, job->path);
  lig_tuning_init (&tuning, job->store);
  Found *found = g_new0 (Found, 1);
  found->savings = lig_saving_list (job->plan, device, &tuning, cancellable);
  for (guint i = 0; i < G_N_ELEMENTS (found->capacities) && job->capacity; i++)
    found->capacities[i] = lig_capacity_find (job->plan, (LigCapacityAxis) i, device,
                                              job->optimizer, &tuning, cancellable);
  g_task_return_pointer (task, found, free_found);
}

/* --- On the main thread ----------------------------------------------------------------------- */

static void
take (GObject *source, GAsyncResult *result, gpointer data)
{
  Job *job = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDocument) self = g_weak_ref_get (&job->document);
  Found *found = g_task_propagate_pointer (G_TASK (result), &error);
  LigSavings *savings = self ? self->savings : NULL;
  /* The document was closed, or has another plan by now. */
  if (!savings || savings->cancellable != g_task_get_cancellable (G_TASK (result))) {
    if (found)
      free_found (found);
    return;
  }
  g_clear_object (&savings->cancellable);
  g_clear_pointer (&savings->found, free_found);
  savings->found = found;
  g_free (savings->error);
  savings->error = error ? g_strdup (error->message) : NULL;
  lig_document_emit (self, LIG_DOCUMENT_SAVINGS);
}

/* Returns whether there is a complete plan of the whole sequence that is searched. */
static gboolean
has_plan (LigDocument *self)
{
  guint count;
  const LigProblem *problem = lig_document_get_problem (self, 0);
  if (!self->plan || self->stale || (problem && !problem->whole))
    return FALSE;
  lig_plan_get_ops (self->plan, &count);
  return self->savings->large || count <= MAX_OPS;
}

/* Returns the optimizer of the document's training settings, or an empty string. */
static char *
dup_optimizer (LigDocument *self)
{
  const char *train = lig_sequence_get_train (self->sequence);
  g_autoptr (JsonNode) root = train ? json_from_string (train, NULL) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const char *name =
    object ? json_object_get_string_member_with_default (object, "optimizer", NULL) : NULL;
  return g_strdup (name ? name : "");
}

static gboolean
begin (gpointer data)
{
  LigDocument *self = data;
  LigSavings *savings = self->savings;
  LigStore *store = lig_session_get_store (self->session);
  savings->rest = 0;
  Job *job = g_new0 (Job, 1);
  g_weak_ref_init (&job->document, self);
  job->plan = lig_plan_ref (self->plan);
  job->store = store ? g_object_ref (store) : NULL;
  job->device = g_strdup (self->device);
  job->path = g_strdup (lig_session_get_store_path (self->session));
  /* The planner uses one rank if the ranks cannot share the batch. */
  const LigLayout *layout = lig_device_get_layout (lig_plan_get_device (self->plan));
  lig_layout_init (&job->layout, 1);
  if (layout)
    job->layout = *layout;
  job->capacity = savings->wants_capacity;
  job->optimizer = dup_optimizer (self);
  savings->cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (NULL, savings->cancellable, take, NULL);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, job, free_job);
  lig_task_run (task, work);
  return G_SOURCE_REMOVE;
}

static void
search (LigDocument *self)
{
  forget (self->savings);
  if (!has_plan (self))
    return;
  self->savings->plan = lig_plan_ref (self->plan);
  self->savings->rest = g_timeout_add (REST_MILLISECONDS, begin, self);
}

static void
follow_plan (LigDocument *self)
{
  LigSavings *savings = self->savings;
  if (!savings || (has_plan (self) && savings->plan == self->plan))
    return;
  search (self);
  lig_document_emit (self, LIG_DOCUMENT_SAVINGS);
}

void
lig_document_want_savings (LigDocument *self, gboolean large)
{
  gboolean known = self->savings && (self->savings->large || !large);
  if (known)
    return;
  if (!self->savings) {
    self->savings = g_new0 (LigSavings, 1);
    g_signal_connect (self, "planned", G_CALLBACK (follow_plan), NULL);
  }
  self->savings->large = large;
  search (self);
}

void
lig_document_want_capacity (LigDocument *self)
{
  lig_document_want_savings (self, TRUE);
  if (self->savings->wants_capacity)
    return;
  self->savings->wants_capacity = TRUE;
  search (self);
}

GPtrArray *
lig_document_get_savings (LigDocument *self)
{
  const LigSavings *savings = self->savings;
  return savings && savings->found ? savings->found->savings : NULL;
}

const char *
lig_document_get_savings_error (LigDocument *self)
{
  return self->savings ? self->savings->error : NULL;
}

const LigCapacity *
lig_document_get_capacity (LigDocument *self, LigCapacityAxis axis)
{
  const LigSavings *savings = self->savings;
  return savings && savings->found ? savings->found->capacities[axis] : NULL;
}

/* --- Trying ----------------------------------------------------------------------------------- */

char *
lig_document_label_saving (const LigSaving *saving)
{
  return lig_document_capitalize (saving->title);
}

void
lig_document_try_saving (LigDocument *self, const LigSaving *saving)
{
  g_autoptr (LigSequence) copy = lig_sequence_copy (self->sequence);
  g_autofree char *label = lig_document_label_saving (saving);
  LigPolicy policy = self->policy;
  if (!self->savings || !self->savings->found)
    return;
  if (saving->kind == LIG_SAVING_POLICY) {
    if (!lig_policy_from_name (saving->value, &policy))
      return;
  } else if (!lig_saving_apply (saving, self->savings->plan, copy, NULL)) {
    return;
  }
  lig_document_preview (self, g_steal_pointer (&copy), NULL, policy, label);
}

LigPlan *
lig_document_get_searched (LigDocument *self)
{
  return self->savings && self->savings->found ? self->savings->plan : NULL;
}
