/* SPDX-License-Identifier: MIT */
/* The weight of each micro-batch in its step. The loss of a step is the mean over all rows that it
 * counts, of all its micro-batches and ranks; that of a micro-batch is the mean over its own rows,
 * on all ranks. With c_i of C rows in micro-batch i, the step's loss is the sum of c_i / C times
 * loss i, and likewise its gradient. */
#include "engine/data/training.h"
#include "engine/ranks/messages.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"
#include "engine/train/step.h"
#include <ligature/ranks.h>

/* Reads the targets of the next micro-batches ahead, and counts those that are not ignored. */
static gboolean
count_ahead (LigRun *self, double *counts, GError **error)
{
  guint64 position = lig_dataset_get_position (self->data);
  gboolean fine = TRUE;
  for (gint64 i = 0; fine && i < self->settings.accumulate; i++) {
    fine = lig_dataset_next (self->data, self->input, self->targets, error);
    counts[i] = (double) lig_dataset_count_targets (self->data, self->targets);
  }
  lig_dataset_seek (self->data, position);
  return fine;
}

/* Sums the counts over all ranks. Ranks with the same rows all count them, which does not change
 * the weights. */
static gboolean
add_ranks (LigRun *self, double *counts, GError **error)
{
  LigRanks *ranks = lig_run_ranks (self);
  gint64 parts = self->settings.accumulate;
  int n_ranks = lig_ranks_get_count (ranks);
  if (!ranks)
    return TRUE;
  g_autofree double *all = g_new (double, (gsize) parts *(gsize) n_ranks);
  if (!lig_ranks_gather (ranks, counts, (guint) parts, all, error))
    return FALSE;
  for (gint64 i = 0; i < parts; i++) {
    counts[i] = 0;
    for (int rank = 0; rank < n_ranks; rank++)
      counts[i] += all[rank * parts + i];
  }
  return TRUE;
}

gboolean
lig_run_share_parts (LigRun *self, GError **error)
{
  gint64 parts = self->settings.accumulate;
  double sum = 0;
  if (parts == 1)
    return TRUE;
  if (!self->shares)
    self->shares = g_new (double, (gsize) parts);
  for (gint64 i = 0; i < parts; i++)
    self->shares[i] = 1;
  if (self->classes && lig_dataset_may_ignore (self->data) &&
      (!count_ahead (self, self->shares, error) || !add_ranks (self, self->shares, error)))
    return FALSE;
  for (gint64 i = 0; i < parts; i++)
    sum += self->shares[i];
  for (gint64 i = 0; i < parts; i++)
    self->shares[i] = sum > 0 ? self->shares[i] / sum : 0;
  return TRUE;
}

double
lig_run_get_share (LigRun *self, gint64 part)
{
  return self->shares ? self->shares[part] : 1;
}

gboolean
lig_run_scale_part (LigRun *self, gint64 part, GError **error)
{
  LigShape scalar = {0};
  if (!self->shares)
    return TRUE;
  g_autoptr (LigTensor) share = lig_tensor_new (LIG_FP32, &scalar, error);
  if (!share)
    return FALSE;
  lig_tensor_set (share, 0, (float) self->shares[part]);
  return lig_program_set_gradient (self->train, share, error);
}
