/* SPDX-License-Identifier: MIT */
/* Held-out evaluation, and the schedule of the learning rate. */
#include "engine/train/run-private.h"

#include <math.h>
#include <string.h>

double
lig_run_rate (const LigRunSettings *settings, gint64 step)
{
  double peak = settings->lr;
  if (step <= settings->warmup)
    return peak * (double) step / (double) settings->warmup;
  if (!settings->schedule || g_str_equal (settings->schedule, "constant"))
    return peak;
  double span = (double) MAX (settings->steps - settings->warmup, 1);
  double at = MIN ((double) (step - settings->warmup) / span, 1);
  return settings->min_lr + (peak - settings->min_lr) * 0.5 * (1 + cos (G_PI * at));
}

static gboolean
evaluate_batch (LigRun *self, gint64 batch, gint64 *valid, GError **error)
{
  return lig_dataset_held_out (self->data, batch, self->input, self->targets, valid, error) &&
         lig_program_set_input (self->eval, self->input, error) &&
         lig_program_set_extra_input (self->eval, 0, self->targets, error) &&
         lig_program_run (self->eval, LIG_RUN_FORWARD, error);
}

/* The first samples of a batch. */
static LigTensor *
take_samples (const LigTensor *all, gint64 batch, gint64 count)
{
  LigShape shape = all->shape;
  shape.axes[0] = shape.axes[0] / batch * count;
  LigTensor *some = lig_tensor_new (all->dtype, &shape, NULL);
  if (some)
    memcpy (some->data, all->data, lig_tensor_bytes (some));
  return some;
}

/* The loss of a last batch of values that is filled up with others, whose targets cannot be
 * ignored as those of classes are: by a plan for just the samples that count. FALSE where the
 * sequence is none for that batch, as with a reshape to fixed numbers. */
static gboolean
evaluate_rest (LigRun *self, gint64 valid, double *loss)
{
  LigPlanOptions options = self->eval_options;
  gint64 batch = self->input->shape.axes[0];
  options.batch = valid;
  options.policy = LIG_POLICY_NONE;
  float mean;
  g_autoptr (LigProgram) program =
    lig_program_cache_get (self->programs, self->sequence, &options, NULL);
  g_autoptr (LigTensor) input = program ? take_samples (self->input, batch, valid) : NULL;
  g_autoptr (LigTensor) targets = input ? take_samples (self->targets, batch, valid) : NULL;
  if (!targets || !lig_program_set_input (program, input, NULL) ||
      !lig_program_set_extra_input (program, 0, targets, NULL) ||
      !lig_program_run (program, LIG_RUN_FORWARD, NULL) ||
      !lig_program_read_loss (program, &mean, NULL))
    return FALSE;
  *loss = (double) mean;
  return TRUE;
}

/* Whether somebody wants an end and steps are left: the last evaluation is part of the result. */
static gboolean
is_unwanted (LigRun *self)
{
  g_mutex_lock (&self->lock);
  gboolean unwanted =
    self->request != LIG_REQUEST_NONE && self->progress.step < self->settings.steps;
  g_mutex_unlock (&self->lock);
  return unwanted;
}

gboolean
lig_run_evaluate (LigRun *self, gint64 most, double *loss, double *accuracy, GError **error)
{
  gint64 batches = self->eval ? lig_dataset_get_held_out_batches (self->data) : 0;
  gint64 count = most > 0 ? MIN (most, batches) : batches;
  double weighted = 0, samples = 0, correct = 0, counted = 0;
  *loss = *accuracy = NAN;
  for (gint64 i = 0; i < count; i++) {
    double right, rows, mean;
    float loss_read;
    gint64 valid;
    if (is_unwanted (self))
      return TRUE;
    if (!evaluate_batch (self, i * batches / count, &valid, error) ||
        !lig_program_read_loss (self->eval, &loss_read, error))
      return FALSE;
    mean = (double) loss_read;
    gboolean filled = !self->classes && valid < self->input->shape.axes[0];
    if (filled && !evaluate_rest (self, valid, &mean) && count > 1)
      continue;
    weighted += (double) valid * mean;
    samples += (double) valid;
    if (!self->classes)
      continue;
    if (!lig_program_read_accuracy (self->eval, &right, &rows, error))
      return FALSE;
    correct += right;
    counted += rows;
  }
  if (samples > 0)
    *loss = weighted / samples;
  if (counted > 0)
    *accuracy = correct / counted;
  return TRUE;
}
