/* SPDX-License-Identifier: MIT */
/* The load of experts, and the rows that they had no room for, between steps. The values stay in
 * the plan's memory until the next forward pass. */
#include "engine/train/record-loads.h"
#include "engine/ranks/messages.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"
#include <ligature/program.h>
#include <ligature/ranks.h>
#include <ligature/store-loads.h>

#include <math.h>

gboolean
lig_run_loads_at (LigRun *self, gint64 step)
{
  gint64 every = self->settings.load_every;
  guint count;
  if (every < 1 || (step % every != 0 && step != self->settings.steps))
    return FALSE;
  const LigPlanOp *ops = lig_plan_get_ops (lig_program_get_plan (self->train), &count);
  for (guint i = 0; i < count; i++)
    if (lig_plan_op_get_watched (&ops[i], "load"))
      return TRUE;
  return FALSE;
}

/* --- Reading ------------------------------------------------------------------------------- */

/* The loads of a step. */
typedef struct {
  GArray *entries;  /* of LigLoadEntry */
  GArray *routers;  /* of const LigPlanOp *: those of the entries */
  GPtrArray *loads; /* the memory of the entries' loads */
  double dropped;   /* rows, of all permutations; NaN: none drops rows */
} Loads;

/* Returns the number of ranks that have other rows of an op's input than this one, which is one of
 * them: ranks of the batch, and of a tensor group that shares the rows. */
static int
count_replicas (LigRun *self, const LigPlanOp *op)
{
  int replicas = lig_device_get_n_ranks (self->device, lig_device_get_replicas (self->device));
  guint count;
  const LigPlanValue *values = lig_plan_get_values (lig_program_get_plan (self->train), &count);
  for (int i = 0; i < op->n_ports; i++)
    if (op->ports[i].kind == LIG_PORT_X && op->ports[i].value >= 0 &&
        values[op->ports[i].value].sharding.kind == LIG_SHARDING_ROWS)
      return replicas * lig_device_get_n_ranks (self->device, LIG_GROUP_TENSOR);
  return replicas;
}

/* Replaces numbers by their means over all ranks. Ranks that share rows count the same. */
static gboolean
average_ranks (LigRun *self, double *numbers, int n_numbers, GError **error)
{
  LigRanks *ranks = lig_run_ranks (self);
  int count = lig_ranks_get_count (ranks);
  if (!ranks)
    return TRUE;
  g_autofree double *all = g_new0 (double, (gsize) count *(gsize) n_numbers);
  if (!lig_ranks_gather (ranks, numbers, (guint) n_numbers, all, error))
    return FALSE;
  for (int i = 0; i < n_numbers; i++) {
    double sum = 0;
    for (int rank = 0; rank < count; rank++)
      sum += all[rank * n_numbers + i];
    numbers[i] = sum / count;
  }
  return TRUE;
}

/* Reads the load and the losses of a router. The balance of several ranks is the mean of each
 * rank's. */
static gboolean
read_load (LigRun *self, const LigPlanOp *op, Loads *to, GError **error)
{
  g_autoptr (LigTensor) load = lig_program_read_watched (self->train, op->index, "load", error);
  g_autoptr (LigTensor) losses =
    load ? lig_program_read_watched (self->train, op->index, "losses", error) : NULL;
  double means[2] = {losses ? (double) lig_tensor_get (losses, 0) : 0,
                     losses ? (double) lig_tensor_get (losses, 1) : 0};
  if (!lig_run_share_failure (self, losses != NULL, error) ||
      !average_ranks (self, means, 2, error))
    return FALSE;
  /* The mean over the ranks that have other rows becomes their sum. */
  double *rows = g_new (double, load->size), ranks = count_replicas (self, op);
  for (gint64 e = 0; e < load->size; e++)
    rows[e] = round (ranks * (double) lig_tensor_get (load, e));
  LigLoadEntry entry = {.path = op->path,
                        .experts = (guint) load->size,
                        .load = rows,
                        .balance = means[0],
                        .z = means[1]};
  g_ptr_array_add (to->loads, rows);
  g_array_append_val (to->entries, entry);
  g_array_append_val (to->routers, op);
  return TRUE;
}

/* Returns whether an op reads an extra output of a router. */
static gboolean
reads (const LigPlanOp *op, const LigPlanOp *router)
{
  for (int i = 0; i < op->n_ports; i++)
    for (int j = 0; j < router->n_ports; j++)
      if (op->ports[i].kind == LIG_PORT_EXTRA_INPUT &&
          router->ports[j].kind == LIG_PORT_EXTRA_OUTPUT &&
          op->ports[i].value == router->ports[j].value)
        return TRUE;
  return FALSE;
}

/* Reads the rows that a permutation dropped, and adds them to those of its router. */
static gboolean
read_dropped (LigRun *self, const LigPlanOp *op, Loads *to, GError **error)
{
  g_autoptr (LigTensor) dropped =
    lig_program_read_watched (self->train, op->index, "dropped", error);
  double rows = dropped ? (double) lig_tensor_get (dropped, 0) : 0;
  if (!lig_run_share_failure (self, dropped != NULL, error) ||
      !average_ranks (self, &rows, 1, error))
    return FALSE;
  rows = round (rows * count_replicas (self, op));
  to->dropped = isnan (to->dropped) ? rows : to->dropped + rows;
  for (guint i = 0; i < to->entries->len; i++)
    if (reads (op, g_array_index (to->routers, const LigPlanOp *, i)))
      g_array_index (to->entries, LigLoadEntry, i).dropped += rows;
  return TRUE;
}

static gboolean
read_all (LigRun *self, Loads *to, GError **error)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (lig_program_get_plan (self->train), &count);
  for (guint i = 0; i < count; i++) {
    if (lig_plan_op_get_watched (&ops[i], "load") && !read_load (self, &ops[i], to, error))
      return FALSE;
    if (lig_plan_op_get_watched (&ops[i], "dropped") && !read_dropped (self, &ops[i], to, error))
      return FALSE;
  }
  return TRUE;
}

/* --- Recording ----------------------------------------------------------------------------- */

/* The store may be locked by another program for long. */
static void
record (LigRun *self, gint64 step, const GArray *entries)
{
  g_autoptr (GError) failure = NULL;
  if (!self->store ||
      lig_store_add_loads (self->store, self->uuid, step,
                           (const LigLoadEntry *) (gpointer) entries->data, entries->len, &failure))
    return;
  g_mutex_lock (&self->lock);
  g_free (self->problem);
  self->problem = g_strdup (failure->message);
  g_mutex_unlock (&self->lock);
}

/* Notes the imbalance of the router that is loaded least evenly, the mean losses of all, and the
 * rows that all permutations dropped. */
static void
note_metrics (LigRun *self, gint64 step, const Loads *loads)
{
  double worst = NAN, balance = 0, z = 0;
  guint count = loads->entries->len;
  for (guint i = 0; i < count; i++) {
    const LigLoadEntry *entry = &g_array_index (loads->entries, LigLoadEntry, i);
    LigLoadFigures figures;
    lig_load_measure (entry->load, entry->experts, &figures);
    worst = fmax (worst, figures.imbalance);
    balance += entry->balance / count;
    z += entry->z / count;
  }
  lig_run_metric (self, step, "expert-imbalance", worst);
  lig_run_metric (self, step, "aux-loss", balance);
  lig_run_metric (self, step, "z-loss", z);
  if (!isnan (loads->dropped))
    lig_run_metric (self, step, "dropped-rows", loads->dropped);
}

gboolean
lig_run_record_loads (LigRun *self, gint64 step, GError **error)
{
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (LigLoadEntry));
  g_autoptr (GArray) routers = g_array_new (FALSE, FALSE, sizeof (const LigPlanOp *));
  g_autoptr (GPtrArray) memory = g_ptr_array_new_with_free_func (g_free);
  Loads loads = {entries, routers, memory, NAN};
  if (!read_all (self, &loads, error))
    return FALSE;
  record (self, step, entries);
  note_metrics (self, step, &loads);
  return TRUE;
}
