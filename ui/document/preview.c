/* SPDX-License-Identifier: MIT */
/* A separate thread compiles previews, so that they never wait for a measurement. They are compared
 * with the document's plan. If measured times chose that plan, it is recompiled like the preview,
 * because times that were not measured must be predicted on both sides. */
#include "ui/document/preview.h"

#include "ui/document/private.h"
#include "ui/document/ranks.h"
#include <ligature/comparison.h>
#include <ligature/compile.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>
#include <ligature/tuning.h>

typedef struct _Job Job;

/* Shared by the document and the thread. */
typedef struct {
  gatomicrefcount references;
  GAsyncQueue *jobs;
  gint newest;        /* the number of the last request; read by the thread */
  LigDocument *owner; /* null after dispose; used by the main thread only */
  LigDevice *device;  /* used by the thread only, as are these */
  LigPlan *known;     /* for which `recalled` was compiled */
  LigPlan *recalled;
} Worker;

struct _LigPreview {
  Worker *worker;
  char *label, *device, *problem;
  LigPlanComparison *comparison;
};

struct _Job {
  Worker *worker; /* null: the end */
  gint number;
  LigSequence *sequence, *original;
  LigPlan *present;
  LigStore *store;
  char *device, *path; /* of the device and of the store */
  LigLayout layout;
  LigPlanOptions options;
  gboolean like; /* device and policy are the document's */
  LigPlanComparison *comparison;
  char *problem;
};

static void
release (Worker *self)
{
  if (!g_atomic_ref_count_dec (&self->references))
    return;
  g_clear_object (&self->device);
  g_clear_pointer (&self->known, lig_plan_unref);
  g_clear_pointer (&self->recalled, lig_plan_unref);
  g_async_queue_unref (self->jobs);
  g_free (self);
}

static void
free_job (gpointer data)
{
  Job *job = data;
  g_clear_object (&job->sequence);
  g_clear_object (&job->original);
  g_clear_object (&job->store);
  g_clear_pointer (&job->present, lig_plan_unref);
  g_clear_pointer (&job->comparison, lig_plan_comparison_unref);
  g_clear_pointer (&job->worker, release);
  g_free (job->device);
  g_free (job->path);
  g_free (job->problem);
  g_free (job);
}

/* --- The thread ---------------------------------------------------------------------------- */

static LigDevice *
open_device (Worker *self, const Job *job, GError **error)
{
  if (!lig_ranks_has_device (self->device, job->device, &job->layout)) {
    g_clear_object (&self->device);
    self->device = lig_ranks_open_device (job->device, &job->layout, error);
  }
  /* Peak rates may have been measured since then. */
  if (self->device && job->store)
    lig_tuning_recall (self->device, job->path);
  return self->device;
}

/* Returns the plan to compare with. */
static LigPlan *
find_before (Worker *self, const Job *job, LigDevice *device)
{
  LigPlanOptions options = job->options;
  gboolean measures = lig_policy_for (options.policy, device) == LIG_POLICY_MEASURED &&
                      !lig_device_has (device, LIG_DEVICE_DESCRIBED);
  if (!job->like || !measures)
    return job->present;
  if (self->known != job->present) {
    g_clear_pointer (&self->recalled, lig_plan_unref);
    g_clear_pointer (&self->known, lig_plan_unref);
    self->recalled = lig_plan_compile (job->original, device, &options, NULL);
    self->known = lig_plan_ref (job->present);
  }
  return self->recalled ? self->recalled : job->present;
}

static void
compile (Job *job)
{
  LigTuning tuning;
  g_autoptr (GError) error = NULL;
  LigDevice *device = lig_plan_options_shard (&job->options, job->sequence, &job->layout, &error)
                        ? open_device (job->worker, job, &error)
                        : NULL;
  lig_tuning_init (&tuning, job->store);
  job->options.tuning = &tuning;
  job->options.recall = TRUE;
  g_autoptr (LigPlan) plan =
    device ? lig_plan_compile (job->sequence, device, &job->options, &error) : NULL;
  if (plan)
    job->comparison = lig_plan_compare (find_before (job->worker, job, device), plan);
  else
    job->problem = g_strdup (error->message);
}

static gboolean
deliver (gpointer data)
{
  Job *job = data;
  LigDocument *document = job->worker->owner;
  if (!document || job->number != job->worker->newest)
    return G_SOURCE_REMOVE;
  document->preview->comparison = g_steal_pointer (&job->comparison);
  document->preview->problem = g_steal_pointer (&job->problem);
  lig_document_emit (document, LIG_DOCUMENT_PREVIEWED);
  return G_SOURCE_REMOVE;
}

static gpointer
work (gpointer data)
{
  Worker *self = data;
  for (;;) {
    Job *job = g_async_queue_pop (self->jobs);
    if (!job->worker) {
      free_job (job);
      break;
    }
    if (job->number == g_atomic_int_get (&self->newest)) {
      compile (job);
      g_idle_add_full (G_PRIORITY_DEFAULT, deliver, job, free_job);
    } else
      free_job (job);
  }
  release (self);
  return NULL;
}

/* --- The document -------------------------------------------------------------------------- */

static LigPreview *
ensure (LigDocument *self)
{
  if (self->preview)
    return self->preview;
  Worker *worker = g_new0 (Worker, 1);
  g_atomic_ref_count_init (&worker->references);
  g_atomic_ref_count_inc (&worker->references);
  worker->jobs = g_async_queue_new_full (free_job);
  worker->owner = self;
  self->preview = g_new0 (LigPreview, 1);
  self->preview->worker = worker;
  g_thread_unref (g_thread_new ("plan", work, worker));
  return self->preview;
}

static void
forget (LigPreview *preview)
{
  g_atomic_int_inc (&preview->worker->newest);
  g_clear_pointer (&preview->label, g_free);
  g_clear_pointer (&preview->device, g_free);
  g_clear_pointer (&preview->problem, g_free);
  g_clear_pointer (&preview->comparison, lig_plan_comparison_unref);
}

void
lig_document_clear_preview (LigDocument *self)
{
  LigPreview *preview = g_steal_pointer (&self->preview);
  if (!preview)
    return;
  forget (preview);
  preview->worker->owner = NULL;
  g_async_queue_push (preview->worker->jobs, g_new0 (Job, 1));
  release (preview->worker);
  g_free (preview);
}

void
lig_document_preview (
  LigDocument *self, LigSequence *sequence, const char *device, LigPolicy policy, const char *label)
{
  g_autoptr (LigSequence) edited =
    sequence ? sequence : lig_sequence_copy (lig_document_get_sequence (self));
  if (!self->plan || self->stale)
    return;
  const char *name = device ? device : self->device;
  LigPreview *preview = ensure (self);
  forget (preview);
  Job *job = g_new0 (Job, 1);
  g_atomic_ref_count_inc (&preview->worker->references);
  job->worker = preview->worker;
  job->number = preview->worker->newest;
  job->sequence = g_steal_pointer (&edited);
  job->original = lig_sequence_copy (lig_document_get_sequence (self));
  job->present = lig_plan_ref (self->plan);
  LigStore *store = lig_session_get_store (self->session);
  job->store = store ? g_object_ref (store) : NULL;
  job->device = g_strdup (name);
  job->path = g_strdup (lig_session_get_store_path (self->session));
  job->layout = self->layout;
  job->like = g_str_equal (name, self->device) && policy == self->policy;
  lig_document_get_options (self, &job->options);
  job->options.policy = policy;
  preview->label = g_strdup (label);
  preview->device = job->like || g_str_equal (name, self->device) ? NULL : g_strdup (name);
  g_async_queue_push (preview->worker->jobs, job);
  lig_document_emit (self, LIG_DOCUMENT_PREVIEWED);
}

void
lig_document_end_preview (LigDocument *self)
{
  if (!self->preview || !self->preview->label)
    return;
  forget (self->preview);
  lig_document_emit (self, LIG_DOCUMENT_PREVIEWED);
}

const char *
lig_document_get_preview_label (LigDocument *self)
{
  return self->preview ? self->preview->label : NULL;
}

LigPlanComparison *
lig_document_get_preview (LigDocument *self)
{
  return self->preview ? self->preview->comparison : NULL;
}

const char *
lig_document_get_preview_problem (LigDocument *self)
{
  return self->preview ? self->preview->problem : NULL;
}

const char *
lig_document_get_preview_device (LigDocument *self)
{
  return self->preview ? self->preview->device : NULL;
}
