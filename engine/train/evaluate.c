/* SPDX-License-Identifier: MIT */
/* Validation evaluation. */
#include "engine/train/evaluate.h"
#include "engine/figures/communication.h"
#include "engine/ranks/messages.h"
#include "engine/train/data.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"
#include "engine/train/step.h"

#include <ligature/figures.h>
#include <ligature/ranks.h>
#include <math.h>
#include <string.h>

/* The default number of evaluations per run. */
#define EVALUATIONS 20

/* The minimum number of training batches per validation batch by default, except in the last
 * evaluation. A validation batch costs about a third of a training batch, so evaluations take at
 * most about a tenth of the time. */
#define MIN_TRAINING 4

/* By default the last evaluation uses all validation data of up to this many input values. For
 * larger data it uses as many batches as the run trained on, but at least MIN_AT_END. */
#define MAX_WHOLE (G_GINT64_CONSTANT (1) << 23)
#define MIN_AT_END 256

static gboolean
evaluate_batch (LigRun *self, gint64 batch, gint64 *valid, GError **error)
{
  return lig_dataset_validation (self->data, batch, self->input, self->targets, valid, error) &&
         lig_run_set_batch (self, self->eval, self->input, self->targets, error) &&
         lig_run_program (self, self->eval, LIG_RUN_FORWARD, NULL, error);
}

/* Returns the first samples of a batch, repeated `times` times. */
static LigTensor *
take_samples (const LigTensor *all, gint64 batch, gint64 count, gint64 times, GError **error)
{
  LigShape shape = all->shape;
  shape.axes[0] = shape.axes[0] / batch * count * times;
  LigTensor *some = lig_tensor_new (all->dtype, &shape, error);
  gsize bytes = some ? lig_tensor_bytes (some) / (gsize) times : 0;
  for (gint64 i = 0; some && i < times; i++)
    memcpy ((char *) some->data + (gsize) i * bytes, all->data, bytes);
  return some;
}

/* Compiles the sequence for a batch size; `program` is null if the sequence does not accept that
 * size, for example because of a reshape. */
static gboolean
compile_rest (LigRun *self, gint64 valid, LigProgram **program, GError **error)
{
  LigPlanOptions options = self->eval_options;
  g_autoptr (GError) failure = NULL;
  options.batch = valid;
  options.policy = LIG_POLICY_NONE;
  *program = lig_program_cache_get (self->programs, self->sequence, &options, &failure);
  if (*program || g_error_matches (failure, LIG_ERROR, LIG_ERROR_SHAPE))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&failure));
  return FALSE;
}

/* Computes the loss of an incomplete last batch. It is padded with other samples, whose targets can
 * be ignored only if they are classes. Therefore a plan runs on only the valid samples, each
 * repeated once per data-parallel rank, which has the same mean. `found` is FALSE if such a plan is
 * impossible; then the loss is unchanged. */
static gboolean
evaluate_rest (LigRun *self, gint64 valid, gboolean *found, double *loss, GError **error)
{
  g_autoptr (LigProgram) program = NULL;
  float mean;
  gint64 batch = self->input->shape.axes[0], times = 1;
  int ranks = lig_device_get_n_ranks (self->device, LIG_GROUP_TENSOR);
  *found = FALSE;
  /* Ranks with other rows may have no incomplete batch, and would not take part in the
   * collective. */
  if (lig_plan_gathers_rows (lig_program_get_plan (self->eval)))
    return TRUE;
  if (!compile_rest (self, valid, &program, error))
    return FALSE;
  if (!program && ranks > 1) {
    times = ranks;
    if (!compile_rest (self, valid * times, &program, error))
      return FALSE;
  }
  if (!program)
    return TRUE;
  g_autoptr (LigTensor) input = take_samples (self->input, batch, valid, times, error);
  g_autoptr (LigTensor) targets =
    input ? take_samples (self->targets, batch, valid, times, error) : NULL;
  if (!targets || !lig_run_set_batch (self, program, input, targets, error) ||
      !lig_run_program (self, program, LIG_RUN_FORWARD, NULL, error) ||
      !lig_program_read_loss (program, &mean, error))
    return FALSE;
  *found = TRUE;
  *loss = (double) mean;
  return TRUE;
}

/* Notes the progress of the evaluation, and returns whether the run must end. */
static gboolean
note_batch (LigRun *self, gint64 batch, gint64 batches)
{
  g_mutex_lock (&self->lock);
  self->eval_batch = batch;
  self->eval_batches = batches;
  gboolean unwanted = self->request != LIG_REQUEST_NONE;
  g_mutex_unlock (&self->lock);
  return unwanted;
}

/* The sums over all batches: a loss over classes is weighted by the rows that it counts, any other
 * by its samples. */
typedef struct {
  double loss, weight, correct;
  double abandoned; /* a request ended the evaluation */
} Sums;

#define N_SUMS (sizeof (Sums) / sizeof (double))

/* An incomplete last batch with padding that cannot be masked counts only if it is the only
 * batch. */
static gboolean
add_batch (LigRun *self, gint64 batch, gboolean only, Sums *sums, GError **error)
{
  double right = 0, weight;
  float loss;
  gint64 valid;
  gboolean found;
  if (!evaluate_batch (self, batch, &valid, error) ||
      !lig_program_read_loss (self->eval, &loss, error))
    return FALSE;
  double mean = (double) loss;
  weight = (double) valid;
  if (valid == 0) /* the last batch ends in the rows of an earlier rank */
    return TRUE;
  if (!self->classes && valid < self->input->shape.axes[0]) {
    if (!evaluate_rest (self, valid, &found, &mean, error))
      return FALSE;
    if (!found && !only)
      return TRUE;
  }
  if (self->classes && !lig_program_read_accuracy (self->eval, &right, &weight, error))
    return FALSE;
  sums->loss += weight * mean;
  sums->weight += weight;
  sums->correct += right;
  return TRUE;
}

gint64
lig_run_get_evaluation_interval (LigRun *self, gint64 *batches)
{
  const LigRunSettings *settings = &self->settings;
  *batches = settings->eval_batches;
  if (settings->eval_every > 0 || !self->eval)
    return settings->eval_every;
  gint64 even = (settings->steps + EVALUATIONS - 1) / EVALUATIONS;
  gint64 min = (MIN_TRAINING + settings->accumulate - 1) / settings->accumulate;
  gint64 interval = MAX (even, min);
  if (*batches == 0)
    *batches = interval > G_MAXINT64 / settings->accumulate
                 ? G_MAXINT64
                 : interval * settings->accumulate / MIN_TRAINING;
  return interval;
}

gint64
lig_run_get_last_evaluation (LigRun *self)
{
  const LigRunSettings *settings = &self->settings;
  if (settings->eval_batches > 0 || !self->eval)
    return settings->eval_batches;
  gint64 values = MAX (lig_shape_size (&self->input->shape), 1) *
                  lig_device_get_n_ranks (self->device, LIG_GROUP_REPLICAS);
  if (lig_dataset_get_validation_batches (self->data) <= MAX_WHOLE / values)
    return 0;
  gint64 max = settings->steps > G_MAXINT64 / settings->accumulate
                 ? G_MAXINT64
                 : settings->steps * settings->accumulate;
  return MAX (max, MIN_AT_END);
}

static gboolean
add_batches (LigRun *self, gint64 count, Sums *sums, gboolean *cut, GError **error)
{
  gint64 batches = self->eval ? lig_dataset_get_validation_batches (self->data) : 0;
  count = count > 0 ? MIN (count, batches) : batches;
  *cut = FALSE;
  for (gint64 i = 0; i < count; i++) {
    *cut = note_batch (self, i, count);
    if (!lig_ranks_broadcast (lig_run_ranks (self), cut, sizeof *cut, error))
      return FALSE;
    if (*cut)
      return TRUE;
    GError *local = NULL;
    if (add_batch (self, i * batches / count, count == 1, sums, &local))
      continue;
    if (!g_error_matches (local, LIG_ERROR, LIG_ERROR_CANCELLED)) {
      g_propagate_error (error, local);
      return FALSE;
    }
    /* Other ranks may not know of the request yet; rank 0 ends the evaluation for all. */
    g_error_free (local);
    sums->abandoned++;
    *cut = !lig_run_ranks (self);
    if (*cut)
      return TRUE;
  }
  return TRUE;
}

gboolean
lig_run_evaluate (LigRun *self, gint64 max, LigEvaluation *result, gboolean *cut, GError **error)
{
  Sums sums = {0};
  *result = (LigEvaluation){NAN, NAN, 0};
  gboolean fine = add_batches (self, max, &sums, cut, error);
  note_batch (self, 0, 0);
  if (!fine || *cut)
    return fine;
  if (!lig_ranks_sum (lig_run_ranks (self), &sums.loss, N_SUMS, error))
    return FALSE;
  *cut = sums.abandoned > 0;
  if (*cut)
    return TRUE;
  if (sums.weight > 0)
    result->loss = sums.loss / sums.weight;
  if (sums.weight > 0 && self->classes) {
    result->accuracy = sums.correct / sums.weight;
    result->rows = (gint64) (sums.weight + 0.5);
  }
  return TRUE;
}
