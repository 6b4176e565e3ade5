/* SPDX-License-Identifier: MIT */
/* The load of experts between steps. The values stay in the plan's memory until the next forward
 * pass. */
#include "engine/train/record-loads.h"
#include "engine/train/run-private.h"
#include <ligature/program.h>
#include <ligature/store-loads.h>

#include <math.h>

/* Returns whether the op distributes rows to experts. */
static gboolean
has_load (const LigPlanOp *op)
{
  g_auto (GStrv) words = g_strsplit (op->info->watches ? op->info->watches : "", " ", -1);
  return g_strv_contains ((const char *const *) words, "load");
}

gboolean
lig_run_loads_at (LigRun *self, gint64 step)
{
  gint64 every = self->settings.load_every;
  guint count;
  if (every < 1 || (step % every != 0 && step != self->settings.steps))
    return FALSE;
  const LigPlanOp *ops = lig_plan_get_ops (lig_program_get_plan (self->train), &count);
  for (guint i = 0; i < count; i++)
    if (has_load (&ops[i]))
      return TRUE;
  return FALSE;
}

/* Reads the load and the losses of an op; keeps the memory of the load in `tensors`. */
static gboolean
read_load (
  LigRun *self, const LigPlanOp *op, LigLoadEntry *entry, GPtrArray *tensors, GError **error)
{
  LigTensor *load = lig_program_read_watched (self->train, op->index, "load", error);
  if (!load)
    return FALSE;
  /* The mean over the ranks that have other rows becomes their sum. */
  int ranks = lig_device_get_n_ranks (self->device, lig_device_get_replicas (self->device));
  for (gint64 e = 0; e < load->size; e++)
    lig_tensor_set (load, e, roundf ((float) ranks * lig_tensor_get (load, e)));
  g_ptr_array_add (tensors, load);
  g_autoptr (LigTensor) losses = lig_program_read_watched (self->train, op->index, "losses", error);
  if (!losses)
    return FALSE;
  *entry = (LigLoadEntry){op->path, (guint) load->size, load->data,
                          (double) lig_tensor_get (losses, 0), (double) lig_tensor_get (losses, 1)};
  return TRUE;
}

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

/* Notes the imbalance of the router that is loaded least evenly, and the mean losses of all. */
static void
note_metrics (LigRun *self, gint64 step, const GArray *entries)
{
  double worst = NAN, balance = 0, z = 0;
  for (guint i = 0; i < entries->len; i++) {
    const LigLoadEntry *entry = &g_array_index (entries, LigLoadEntry, i);
    double rows = 0, busiest = 0;
    for (guint e = 0; e < entry->experts; e++) {
      rows += (double) entry->load[e];
      busiest = fmax (busiest, (double) entry->load[e]);
    }
    worst = rows > 0 ? fmax (worst, busiest * entry->experts / rows) : worst;
    balance += entry->balance / entries->len;
    z += entry->z / entries->len;
  }
  lig_run_metric (self, step, "expert-imbalance", worst);
  lig_run_metric (self, step, "aux-loss", balance);
  lig_run_metric (self, step, "z-loss", z);
}

gboolean
lig_run_record_loads (LigRun *self, gint64 step, GError **error)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (lig_program_get_plan (self->train), &count);
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (LigLoadEntry));
  g_autoptr (GPtrArray) tensors =
    g_ptr_array_new_with_free_func ((GDestroyNotify) lig_tensor_unref);
  for (guint i = 0; i < count; i++) {
    LigLoadEntry entry;
    if (!has_load (&ops[i]))
      continue;
    if (!read_load (self, &ops[i], &entry, tensors, error))
      return FALSE;
    g_array_append_val (entries, entry);
  }
  record (self, step, entries);
  note_metrics (self, step, entries);
  return TRUE;
}
