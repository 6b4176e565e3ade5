/* SPDX-License-Identifier: MIT */
/* Rows that did not fit into the exchange between ranks that share experts. Each rank knows those
 * that it could not send; the ranks compare them once per step. */
#include "engine/train/record-overflow.h"
#include "engine/ranks/messages.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>

/* Returns whether the op exchanges rows. */
static gboolean
exchanges (const LigPlanOp *op)
{
  g_auto (GStrv) words = g_strsplit (op->info->watches ? op->info->watches : "", " ", -1);
  return g_strv_contains ((const char *const *) words, "overflow");
}

/* Returns whether rows of the op that do not fit end the run. */
static gboolean
stops (const LigPlanOp *op)
{
  g_autofree char *overflow = NULL;
  g_object_get (op->op, "overflow", &overflow, NULL);
  return g_strcmp0 (overflow, "stop") == 0;
}

gboolean
lig_run_watch_overflow (LigRun *self, GError **error)
{
  return lig_program_watch (self->train, "overflow", &self->overflow_count, error);
}

void
lig_run_add_overflow (LigRun *self, const float *numbers)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (lig_program_get_plan (self->train), &count);
  const int ranks = lig_device_get_n_ranks (self->device, LIG_GROUP_EXPERT);
  LigRunOverflow *to = &self->overflow;
  for (guint i = 0; i < count && numbers; i++) {
    if (!exchanges (&ops[i]))
      continue;
    for (int rank = 0; rank < ranks; rank++) {
      double rows = (double) *numbers++;
      to->rows += rows;
      if (rows > to->worst && stops (&ops[i])) {
        to->op = i;
        to->to = rank;
        to->worst = rows;
      }
    }
  }
}

/* On a device that is not asynchronous the results are those of the last pass. */
gboolean
lig_run_read_overflow (LigRun *self, GError **error)
{
  LigProgramResult result;
  if (self->overflow_count == 0)
    return TRUE;
  if (!lig_program_send_results (self->train, 0, error) ||
      !lig_program_take_results (self->train, 0, &result, error))
    return FALSE;
  lig_run_add_overflow (self, result.watched);
  return TRUE;
}

/* Fails with the op that could not send rows of rank `from`. */
static gboolean
reject (LigRun *self, int from, const LigRunOverflow *overflow, gint64 step, GError **error)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (lig_program_get_plan (self->train), &count);
  const LigPlanOp *op = &ops[MIN (overflow->op, count - 1)];
  gint64 room = op->y.axes[0] / lig_device_get_n_ranks (self->device, LIG_GROUP_EXPERT);
  float capacity;
  g_object_get (op->op, "capacity", &capacity, NULL);
  self->together = TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("%s at %s: the number of rows of rank %d for expert rank %d is %" PRId64
                  " at step %" PRId64 ", capacity %g has room for %" PRId64
                  "; set a larger exchange-capacity, or overflow=drop"),
               lig_op_get_name (op->written), op->path, from, overflow->to,
               room + (gint64) overflow->worst, step, (double) capacity, room);
  return lig_error_set_path (error, op->path);
}

gboolean
lig_run_join_overflow (LigRun *self, gint64 step, GError **error)
{
  enum { ROWS, WORST, OP, TO, N };
  LigRanks *ranks = lig_run_ranks (self);
  const LigRunOverflow own = self->overflow;
  const double numbers[N] = {own.rows, own.worst, own.op, own.to};
  double dropped = 0;
  self->overflow = (LigRunOverflow){0};
  if (self->overflow_count == 0 || !ranks)
    return TRUE;
  const int count = lig_ranks_get_count (ranks);
  g_autofree double *all = g_new (double, (gsize) count *N);
  if (!lig_ranks_gather (ranks, numbers, N, all, error))
    return FALSE;
  for (int rank = 0; rank < count; rank++) {
    const double *of = &all[rank * N];
    const LigRunOverflow one = {of[ROWS], of[WORST], (guint) of[OP], (int) of[TO]};
    dropped += one.rows;
    if (one.worst > 0)
      return reject (self, rank, &one, step, error);
  }
  lig_run_metric (self, step, "exchange-dropped", dropped);
  return TRUE;
}
