/* SPDX-License-Identifier: MIT */
/* Predicted times of the device, or those of the newest profile: the document's plan with an
 * update, and the same with every op unfused, compiled on a thread. */
#include "ui/document/ranks.h"
#include "ui/profile/profiling.h"
#include "ui/session/task.h"

#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/recorded-times.h>
#include <ligature/store.h>
#include <ligature/tuning.h>

#include <string.h>

typedef struct {
  LigSequence *sequence;
  LigPlanOptions options;
  LigOptimizer optimizer;
  LigLayout layout;
  LigStore *store; /* (nullable) */
  char *device, *choices;
} Request;

static void
free_request (gpointer data)
{
  Request *request = data;
  g_object_unref (request->sequence);
  g_free (request->device);
  g_free (request->choices);
  g_clear_object (&request->store);
  g_free (request);
}

void
lig_prediction_free (LigPrediction *self)
{
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_clear_pointer (&self->unfused, lig_plan_unref);
  g_clear_pointer (&self->recorded, lig_profiled_free);
  g_clear_pointer (&self->recorded_unfused, lig_profiled_free);
  g_free (self);
}

/* Returns the newest profile of a plan, or null. @plan: (nullable) */
static LigProfiled *
find_recorded (LigStore *store, LigPlan *plan)
{
  g_autoptr (LigRecordedTimes) recorded =
    store && plan ? lig_recorded_times_find (store, plan) : NULL;
  if (!recorded)
    return NULL;
  LigProfiled *profiled = g_new0 (LigProfiled, 1);
  const double *passes = recorded->passes;
  profiled->plan = lig_plan_ref (plan);
  profiled->steps = g_steal_pointer (&recorded->steps);
  profiled->forward = passes[LIG_PASS_FORWARD];
  profiled->backward = passes[LIG_PASS_BACKWARD];
  profiled->update = passes[LIG_PASS_UPDATE];
  profiled->step = recorded->spreads[LIG_STEP_SPREAD].median;
  memcpy (profiled->passes, passes, sizeof profiled->passes);
  memcpy (profiled->spreads, recorded->spreads, sizeof profiled->spreads);
  profiled->run = g_steal_pointer (&recorded->run);
  profiled->recorded = recorded->started;
  return profiled;
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPrediction) prediction = g_new0 (LigPrediction, 1);
  g_autoptr (LigDevice) device = lig_ranks_open_device (request->device, &request->layout, &error);
  if (device &&
      !lig_plan_options_shard (&request->options, request->sequence, &request->layout, &error))
    g_clear_object (&device);
  if (device && request->store)
    lig_tuning_recall (device, lig_store_get_path (request->store));
  if (device)
    prediction->plan = lig_plan_compile (request->sequence, device, &request->options, &error);
  if (prediction->plan)
    prediction->unfused = lig_plan_unfuse (prediction->plan, NULL);
  prediction->recorded = find_recorded (request->store, prediction->plan);
  if (prediction->recorded)
    prediction->recorded_unfused = find_recorded (request->store, prediction->unfused);
  if (error)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_pointer (task, g_steal_pointer (&prediction),
                           (GDestroyNotify) lig_prediction_free);
}

gboolean
lig_prediction_make (LigDocument *document,
                     GCancellable *cancellable,
                     GAsyncReadyCallback callback,
                     gpointer data)
{
  LigPlan *plan = lig_document_get_plan (document);
  if (!plan || lig_document_get_problem (document, 0))
    return FALSE;
  Request *request = g_new0 (Request, 1);
  const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigStore *store = lig_session_get_store (lig_document_get_session (document));
  request->sequence = lig_sequence_copy (lig_document_get_sequence (document));
  request->device = g_strdup (lig_document_get_device (document));
  request->layout = lig_ranks_choose_layout (document);
  request->choices = lig_plan_get_choices (plan);
  request->store = store ? g_object_ref (store) : NULL;
  request->optimizer = optimizer;
  lig_document_get_options (document, &request->options);
  request->options.policy = lig_plan_get_policy (plan);
  request->options.optimizer = &request->optimizer;
  request->options.choices = request->choices;
  g_autoptr (GTask) task = g_task_new (document, cancellable, callback, data);
  g_task_set_task_data (task, request, free_request);
  lig_task_run (task, work);
  return TRUE;
}

LigPrediction *
lig_prediction_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
