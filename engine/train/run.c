/* SPDX-License-Identifier: MIT */
/* Runs: the training loop on its thread, and the requests of the caller. */
#include "engine/measure/choices.h"
#include "engine/ranks/messages.h"
#include "engine/store/writing.h"
#include "engine/train/checkpoint.h"
#include "engine/train/control.h"
#include "engine/train/data.h"
#include "engine/train/evaluate.h"
#include "engine/train/inputs.h"
#include "engine/train/programs.h"
#include "engine/train/ranks.h"
#include "engine/train/record-histograms.h"
#include "engine/train/record-loads.h"
#include "engine/train/record.h"
#include "engine/train/run-private.h"
#include "engine/train/sample.h"
#include "engine/train/signals.h"
#include "engine/train/step.h"
#include "kernels/cpu/threads.h"
#include "kernels/threads.h"
#include <ligature/ranks.h>
#include <ligature/store.h>

#include <glib/gi18n-lib.h>
#include <math.h>

G_DEFINE_FINAL_TYPE (LigRun, lig_run, G_TYPE_OBJECT)

/* Ends the record of a run that was never started. */
static void
finish_unstarted (LigRun *self)
{
  const char *before = self->status_before;
  if (self->uuid && before)
    lig_store_finish_run (self->store, self->uuid,
                          g_str_equal (before, "running") ? "interrupted" : before, NULL, NULL);
  else if (self->uuid)
    lig_store_finish_run (self->store, self->uuid, "cancelled", _ ("it was never started"), NULL);
}

static void
free_texts (LigRun *self)
{
  g_free (self->uuid);
  g_free (self->parent);
  g_free (self->init);
  g_free (self->weights);
  g_free (self->weights_note);
  g_free (self->repeats);
  g_free (self->status_before);
  g_free (self->checkpoint);
  g_free (self->problem);
  g_free (self->sample);
  g_free (self->choices);
  g_free (self->optimizer);
  g_free (self->calibration_choices);
}

static void
lig_run_finalize (GObject *object)
{
  LigRun *self = LIG_RUN (object);
  if (!self->context)
    finish_unstarted (self);
  if (self->thread) {
    lig_run_cancel (self);
    g_thread_join (self->thread);
  }
  lig_run_unwatch (self);
  g_clear_pointer (&self->data, lig_dataset_free);
  g_clear_pointer (&self->input, lig_tensor_unref);
  g_clear_pointer (&self->targets, lig_tensor_unref);
  g_clear_pointer (&self->train, lig_program_unref);
  g_clear_pointer (&self->eval, lig_program_unref);
  g_clear_pointer (&self->programs, lig_program_cache_free);
  g_clear_pointer (&self->samples, lig_run_samples_free);
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_clear_object (&self->state);
  g_clear_object (&self->sequence);
  g_clear_object (&self->device);
  g_clear_object (&self->store);
  g_clear_error (&self->error);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_array_unref (self->step_seconds);
  g_array_unref (self->exposed_seconds);
  g_array_unref (self->imbalance_seconds);
  g_ptr_array_unref (self->remarks);
  lig_run_release (self);
  free_texts (self);
  g_free (self->waited);
  g_free (self->shares);
  g_free (self->waited_lately);
  lig_run_settings_clear (&self->settings);
  g_free (self->metrics);
  g_mutex_clear (&self->metrics_lock);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  G_OBJECT_CLASS (lig_run_parent_class)->finalize (object);
}

static void
lig_run_class_init (LigRunClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_run_finalize;
  lig_run_add_signals (G_TYPE_FROM_CLASS (class));
}

static void
lig_run_init (LigRun *self)
{
  g_mutex_init (&self->lock);
  g_mutex_init (&self->metrics_lock);
  self->metrics = g_new (LigRunMetric, LIG_RUN_METRICS);
  g_cond_init (&self->changed);
  lig_run_settings_init (&self->settings);
  self->remarks = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->remarks, NULL);
  self->saved_step = -1;
  self->claim = -1;
  self->step_seconds = g_array_sized_new (FALSE, FALSE, sizeof (float), LIG_KEPT_STEP_TIMES);
  self->exposed_seconds = g_array_new (FALSE, FALSE, sizeof (float));
  self->imbalance_seconds = g_array_new (FALSE, FALSE, sizeof (float));
  self->progress = (LigRunProgress){.loss = NAN,
                                    .first_loss = NAN,
                                    .eval_loss = NAN,
                                    .eval_accuracy = NAN,
                                    .left = NAN,
                                    .step_seconds = NAN,
                                    .samples_per_second = NAN,
                                    .rows_per_second = NAN,
                                    .mfu = NAN,
                                    .gradient_norm = NAN,
                                    .loss_scale = NAN,
                                    .exposed = NAN,
                                    .imbalance = NAN,
                                    .learning_rate = NAN};
}

static gboolean
load_initial (LigRun *self, const char *path, GError **error)
{
  if (!path)
    return TRUE;
  if (!lig_state_load_weights (self->state, path, &self->weights_note, error))
    return FALSE;
  self->init = g_canonicalize_filename (path, NULL);
  self->weights = lig_run_hash_weights (path, error);
  return self->weights &&
         (!lig_state_leave_out_padding (self->state, self->sequence, &self->weights_note) ||
          lig_run_bind_classes (self, error));
}

const char *
lig_run_get_weights_note (LigRun *self)
{
  return self->weights_note;
}

LigRun *
lig_run_new (LigSequence *sequence,
             LigDevice *device,
             const LigRunSettings *settings,
             const char *init,
             LigStore *store,
             GError **error)
{
  static const LigRunOrigin none = {NULL};
  return lig_run_new_from (sequence, device, settings, init, store, &none, error);
}

LigRun *
lig_run_new_from (LigSequence *sequence,
                  LigDevice *device,
                  const LigRunSettings *settings,
                  const char *init,
                  LigStore *store,
                  const LigRunOrigin *origin,
                  GError **error)
{
  g_autoptr (LigRun) self = g_object_new (LIG_TYPE_RUN, NULL);
  self->repeats = g_strdup (origin->repeats);
  self->choices = g_strdup (origin->choices);
  self->calibration_choices = g_strdup (origin->calibration_choices);
  self->threads = origin->threads;
  if (origin->algorithms && *origin->algorithms)
    lig_algorithms_preset (origin->algorithms);
  lig_run_settings_clear (&self->settings);
  lig_run_settings_copy (settings, &self->settings);
  self->sequence = lig_sequence_copy (sequence);
  self->device = g_object_ref (device);
  self->store = store ? g_object_ref (store) : NULL;
  gboolean fine = lig_run_prepare (self, !self->repeats, error) && load_initial (self, init, error);
  if (!lig_run_share_failure (self, fine, error) || !lig_run_compare_ranks (self, error) ||
      !lig_run_compile (self, error))
    return NULL;
  fine = lig_run_prepare_samples (self, error) && lig_run_check_checkpoint (self, error) &&
         lig_run_claim (self, error) && (!store || lig_run_register (self, error));
  if (!lig_run_share_failure (self, fine, error))
    return NULL;
  lig_run_choose_checkpoint (self);
  return g_steal_pointer (&self);
}

static gboolean
evaluate (LigRun *self, gint64 step, gint64 batches, gboolean *cut, GError **error)
{
  LigEvaluation result;
  if (!lig_run_evaluate (self, batches, &result, cut, error))
    return FALSE;
  if (isnan (result.loss))
    return TRUE;
  if (self->store && result.rows > 0)
    lig_store_add_eval_rows (self->store, self->uuid, result.rows);
  /* The loss comes last: it marks the evaluation as complete for readers of the metrics. */
  lig_run_metric (self, step, LIG_METRIC_EVAL_ACCURACY, result.accuracy);
  lig_run_metric (self, step, LIG_METRIC_EVAL_LOSS, result.loss);
  g_mutex_lock (&self->lock);
  self->progress.eval_loss = result.loss;
  self->progress.eval_accuracy = result.accuracy;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

/* Runs a step. Sets `abandoned` if a request ended it, which undoes it. */
static gboolean
run_step (LigRun *self, gint64 step, gboolean *abandoned, GError **error)
{
  GError *local = NULL;
  gboolean fine = lig_run_step (self, step, &local);
  *abandoned = g_error_matches (local, LIG_ERROR, LIG_ERROR_CANCELLED);
  if (fine || *abandoned) {
    g_clear_error (&local);
    return TRUE;
  }
  g_propagate_error (error, local);
  return FALSE;
}

static gboolean
train (LigRun *self, LigRunRequest *request, GError **error)
{
  const LigRunSettings *settings = &self->settings;
  gint64 batches, interval = lig_run_get_evaluation_interval (self, &batches);
  gboolean cut, abandoned;
  self->saved_at = lig_now ();
  for (gint64 step = self->first_step + 1; step <= settings->steps; step++) {
    if (!lig_run_handle_requests (self, request, error))
      return FALSE;
    if (*request != LIG_REQUEST_NONE)
      return TRUE;
    if (!lig_run_choose_programs (self, step, error) || !run_step (self, step, &abandoned, error))
      return FALSE;
    if (abandoned) {
      step--; /* the step is repeated after the request */
      continue;
    }
    gboolean last = step == settings->steps;
    gboolean look = interval > 0 && step % interval == 0;
    gboolean due = settings->checkpoint_every > 0 && step % settings->checkpoint_every == 0;
    gboolean sampled = lig_run_samples_at (self, step), counted = lig_run_counts_at (self, step);
    gboolean loaded = lig_run_loads_at (self, step);
    if ((last || look || due || sampled || counted || loaded) &&
        !lig_run_finish_pending (self, error))
      return FALSE;
    if (loaded && !lig_run_record_loads (self, step, error))
      return FALSE;
    if (counted && !lig_run_count (self, step, error))
      return FALSE;
    if (look && !last && !evaluate (self, step, batches, &cut, error))
      return FALSE;
    if (sampled && !lig_run_sample (self, step, error))
      return FALSE;
    if (due && !last && !lig_run_save_between (self, error))
      return FALSE;
  }
  /* The evaluation may take long; if it is ended, the checkpoint already contains all steps. */
  if (self->saved_step < settings->steps && !lig_run_save_between (self, error))
    return FALSE;
  if (!evaluate (self, settings->steps, lig_run_get_last_evaluation (self), &cut, error))
    return FALSE;
  g_mutex_lock (&self->lock);
  *request = cut ? self->request : LIG_REQUEST_NONE;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

static void
finish (LigRun *self, LigRunStatus status, GError *error)
{
  GError *local = NULL;
  lig_run_release (self);
  if (self->store && !lig_store_finish_run (self->store, self->uuid, lig_run_status_name (status),
                                            error ? error->message : NULL, &local)) {
    if (error)
      g_clear_error (&local);
    else
      error = g_steal_pointer (&local);
  }
  g_mutex_lock (&self->lock);
  self->progress.status = error && status == LIG_RUN_DONE ? LIG_RUN_FAILED : status;
  self->progress.seconds = lig_now () - self->began;
  self->progress.left = 0;
  self->error = error;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

static gpointer
work (gpointer data)
{
  LigRun *self = data;
  GError *error = NULL;
  LigRunRequest request = LIG_REQUEST_NONE;
  /* OpenMP keeps the number per thread that begins parallel work. */
  if (self->threads > 0)
    omp_set_num_threads (self->threads);
  /* The checkpoint must contain the number of threads that matmuls really use. */
  lig_cpu_prepare_threads ();
  lig_choices_watch (&self->searching);
  gboolean fine = train (self, &request, &error);
  if (fine && self->saved_step != (gint64) lig_state_get_step (self->state))
    fine = lig_run_save_checkpoint (self, &error);
  finish (self,
          !fine                              ? LIG_RUN_FAILED
          : request == LIG_REQUEST_CANCEL    ? LIG_RUN_CANCELLED
          : request == LIG_REQUEST_INTERRUPT ? LIG_RUN_INTERRUPTED
                                             : LIG_RUN_DONE,
          error);
  lig_choices_watch (NULL);
  lig_run_announce_end (self);
  return NULL;
}

void
lig_run_start (LigRun *self)
{
  g_return_if_fail (!self->thread);
  self->context = g_main_context_ref_thread_default ();
  self->progress.status = LIG_RUN_RUNNING;
  self->progress.steps = self->settings.steps;
  self->progress.step = self->progress.first_step = self->first_step;
  self->began = lig_now ();
  self->work = lig_ranks_begin_work (lig_run_ranks (self));
  lig_run_watch (self);
  GError *error = NULL;
  self->thread = g_thread_try_new ("train", work, self, &error);
  if (self->thread)
    return;
  GError *failure = g_error_new (LIG_ERROR, LIG_ERROR_MEMORY,
                                 _ ("cannot start a thread for the run: %s"), error->message);
  g_error_free (error);
  finish (self, LIG_RUN_FAILED, failure);
  lig_run_announce_end (self);
}

gboolean
lig_run_wait (LigRun *self, GError **error)
{
  if (self->thread)
    g_thread_join (g_steal_pointer (&self->thread));
  if (!self->error)
    return TRUE;
  g_propagate_error (error, g_error_copy (self->error));
  return FALSE;
}

static void
ask (LigRun *self, LigRunRequest request)
{
  g_mutex_lock (&self->lock);
  if (self->request == LIG_REQUEST_NONE)
    self->request = request;
  g_atomic_int_set (&self->asked, TRUE);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  lig_ranks_abandon (lig_run_ranks (self), self->work);
}

static void
set_paused (LigRun *self, gboolean paused)
{
  g_mutex_lock (&self->lock);
  self->save_requested |= paused && !self->paused;
  self->paused = paused;
  if (paused)
    g_atomic_int_set (&self->asked, TRUE);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

void
lig_run_pause (LigRun *self)
{
  set_paused (self, TRUE);
}

void
lig_run_unpause (LigRun *self)
{
  set_paused (self, FALSE);
}

void
lig_run_cancel (LigRun *self)
{
  ask (self, LIG_REQUEST_CANCEL);
}

void
lig_run_interrupt (LigRun *self)
{
  ask (self, LIG_REQUEST_INTERRUPT);
}

void
lig_run_save (LigRun *self)
{
  g_mutex_lock (&self->lock);
  self->save_requested = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

const char *
lig_run_get_parent (LigRun *self)
{
  return self->parent;
}

const char *
lig_run_get_uuid (LigRun *self)
{
  return self->uuid;
}

LigSequence *
lig_run_get_sequence (LigRun *self)
{
  return self->sequence;
}

LigPlan *
lig_run_get_plan (LigRun *self)
{
  g_return_val_if_fail (LIG_IS_RUN (self), NULL);
  return self->plan;
}

LigDevice *
lig_run_get_device (LigRun *self)
{
  return self->device;
}

const LigRunSettings *
lig_run_get_settings (LigRun *self)
{
  return &self->settings;
}

const char *
lig_run_get_checkpoint (LigRun *self)
{
  return self->checkpoint;
}

const char *
lig_run_describe_data (LigRun *self)
{
  return lig_dataset_describe (self->data);
}

gboolean
lig_run_failed_together (LigRun *self)
{
  g_return_val_if_fail (LIG_IS_RUN (self), FALSE);
  return self->together || !lig_run_ranks (self);
}
