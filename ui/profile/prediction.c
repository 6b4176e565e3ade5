/* SPDX-License-Identifier: MIT */
/* What the device should take, before anything is measured: the document's plan with an update, and
 * the same with every op alone, compiled on a thread. */
#include "ui/profile/profiling.h"

#include <ligature/tuning.h>

typedef struct {
  LigSequence *sequence;
  LigPlanOptions options;
  LigOptimizer optimizer;
  char *device, *choices, *store;
} Wish;

static void
free_wish (gpointer data)
{
  Wish *wish = data;
  g_object_unref (wish->sequence);
  g_free (wish->device);
  g_free (wish->choices);
  g_free (wish->store);
  g_free (wish);
}

void
lig_prediction_free (LigPrediction *self)
{
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_clear_pointer (&self->unfused, lig_plan_unref);
  g_free (self);
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Wish *wish = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPrediction) prediction = g_new0 (LigPrediction, 1);
  g_autoptr (LigDevice) device = lig_device_open (wish->device, &error);
  if (device && wish->store)
    lig_tuning_recall (device, wish->store);
  if (device)
    prediction->plan = lig_plan_compile (wish->sequence, device, &wish->options, &error);
  LigPlanOptions apart = wish->options;
  apart.policy = LIG_POLICY_NONE;
  apart.choices = NULL;
  /* A fusion that is forced stands against this: then there are no ops apart to show. */
  if (prediction->plan)
    prediction->unfused = lig_plan_compile (wish->sequence, device, &apart, NULL);
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
  Wish *wish = g_new0 (Wish, 1);
  const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigStore *store = lig_session_get_store (lig_document_get_session (document));
  wish->sequence = lig_sequence_copy (lig_document_get_sequence (document));
  wish->device = g_strdup (lig_document_get_device (document));
  wish->choices = lig_plan_get_choices (plan);
  wish->store = store ? g_strdup (lig_store_get_path (store)) : NULL;
  wish->optimizer = optimizer;
  lig_document_get_options (document, &wish->options);
  wish->options.policy = lig_plan_get_policy (plan);
  wish->options.optimizer = &wish->optimizer;
  wish->options.choices = wish->choices;
  g_autoptr (GTask) task = g_task_new (document, cancellable, callback, data);
  g_task_set_task_data (task, wish, free_wish);
  g_task_run_in_thread (task, work);
  return TRUE;
}

LigPrediction *
lig_prediction_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
