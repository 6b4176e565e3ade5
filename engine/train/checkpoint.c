/* SPDX-License-Identifier: MIT */
/* Checkpoints: safetensors with parameters and optimizer state; the metadata has everything else
 * that is needed to resume the run bit for bit. */
#include "engine/train/checkpoint.h"
#include "engine/data/training.h"
#include "engine/measure/choices.h"
#include "engine/store/writing.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"
#include "kernels/threads.h"
#include <ligature/kernels.h>
#include <ligature/store.h>
#include <ligature/weights.h>

#include <glib/gi18n-lib.h>

#define FORMAT "1"

static void
set_number (LigTensorFile *file, const char *key, guint64 value)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, value);
  lig_tensor_file_set_metadata (file, key, text);
}

char *
lig_run_describe_machine (LigDevice *device)
{
  const LigDeviceFacts *facts = lig_device_get_facts (device);
  return g_strdup_printf ("%s, %s", facts->name, facts->libraries);
}

static void
set_ranks (LigRun *self, LigTensorFile *file)
{
  g_autofree char *layout = lig_run_describe_layout (self);
  set_number (file, "ligature.threads", (guint64) omp_get_max_threads ());
  set_number (file, "ligature.ranks",
              (guint64) lig_device_get_n_ranks (self->device, LIG_GROUP_ALL));
  if (layout)
    lig_tensor_file_set_metadata (file, "ligature.parallel", layout);
}

static void
set_machine (LigRun *self, LigTensorFile *file)
{
  if (!lig_device_has (self->device, LIG_DEVICE_CHOOSES))
    return;
  g_autofree char *machine = lig_run_describe_machine (self->device);
  g_autofree char *algorithms = lig_algorithms_list ();
  lig_tensor_file_set_metadata (file, "ligature.machine", machine);
  lig_tensor_file_set_metadata (file, "ligature.algorithms", algorithms);
}

static void
flush_store (LigRun *self)
{
  g_autoptr (GError) failure = NULL;
  gboolean fine = !self->store || lig_store_flush (self->store, &failure);
  g_mutex_lock (&self->lock);
  g_free (self->problem);
  self->problem = fine ? NULL : g_strdup (failure->message);
  g_mutex_unlock (&self->lock);
}

static void
set_data (LigRun *self, LigTensorFile *file)
{
  g_autofree char *content =
    g_strdup_printf ("%016" G_GINT64_MODIFIER "x", lig_dataset_get_content (self->data));
  g_autofree char *table = lig_dataset_describe_table (self->data);
  lig_tensor_file_set_metadata (file, "ligature.data", lig_dataset_describe (self->data));
  lig_tensor_file_set_metadata (file, "ligature.content", content);
  if (table)
    lig_tensor_file_set_metadata (file, LIG_WEIGHTS_TABLE, table);
  set_number (file, "ligature.position", lig_dataset_get_position (self->data));
}

/* Returns whether rank 0's file has shards of this rank. */
static gboolean
gives_parts (LigRun *self)
{
  gboolean shares =
    self->settings.shard_optimizer != 0 &&
    lig_device_get_n_ranks (self->device, lig_device_get_replicas (self->device)) > 1;
  gboolean experts = lig_device_get_n_ranks (self->device, LIG_GROUP_EXPERT) > 1 &&
                     lig_device_get_rank (self->device, LIG_GROUP_EXPERT_REPLICAS) == 0;
  return shares || experts ||
         (lig_device_get_n_ranks (self->device, LIG_GROUP_TENSOR) > 1 &&
          lig_device_get_rank (self->device, lig_device_get_replicas (self->device)) == 0);
}

gboolean
lig_run_save_checkpoint (LigRun *self, GError **error)
{
  if (!lig_run_writes (self)) {
    self->saved_step = (gint64) lig_state_get_step (self->state);
    return !gives_parts (self) || lig_state_store (self->state, NULL, TRUE, error);
  }
  if (!self->checkpoint)
    return !gives_parts (self) || lig_state_store (self->state, NULL, TRUE, error);
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autofree char *settings = lig_run_settings_to_json (&self->settings);
  g_autofree char *sequence = lig_sequence_to_json (self->sequence);
  /* Flushes the metrics, because a run that resumes from here needs them. A failing store does not
   * end the run; the missing values are reported at the end. */
  flush_store (self);
  if (!lig_state_store (self->state, file, TRUE, error))
    return FALSE;
  lig_tensor_file_set_metadata (file, "ligature.checkpoint", FORMAT);
  lig_tensor_file_set_metadata (file, "ligature.sequence", sequence);
  lig_tensor_file_set_metadata (file, "ligature.settings", settings);
  lig_tensor_file_set_metadata (file, "ligature.choices", self->choices);
  if (self->calibration_choices)
    lig_tensor_file_set_metadata (file, "ligature.calibration_choices", self->calibration_choices);
  set_data (self, file);
  lig_tensor_file_set_metadata (file, "ligature.device", lig_device_get_name (self->device));
  lig_tensor_file_set_metadata (file, "ligature.instructions", lig_cpu_level ());
  set_machine (self, file);
  set_ranks (self, file);
  if (self->uuid)
    lig_tensor_file_set_metadata (file, "ligature.run", self->uuid);
  set_number (file, "ligature.step", lig_state_get_step (self->state));
  set_number (file, "ligature.micro_step", lig_state_get_micro_step (self->state));
  if (lig_tensor_file_save (file, self->checkpoint, error)) {
    self->saved_step = (gint64) lig_state_get_step (self->state);
    if (self->uuid)
      lig_store_add_saved_step (self->store, self->uuid, self->saved_step);
    return TRUE;
  }
  g_prefix_error (error, _ ("checkpoint: "));
  return FALSE;
}

static char *
get_folder (void)
{
  return g_build_filename (g_get_user_data_dir (), "ligature", "checkpoints", NULL);
}

gboolean
lig_run_check_checkpoint (LigRun *self, GError **error)
{
  g_autofree char *folder = NULL, *path = NULL;
  if (!lig_run_writes (self))
    return TRUE;
  if (self->checkpoint)
    return lig_run_check_place (self->checkpoint, error);
  if (self->settings.checkpoint) {
    path = g_canonicalize_filename (self->settings.checkpoint, NULL);
    return lig_run_check_place (path, error);
  }
  if (!self->store)
    return TRUE;
  folder = get_folder ();
  path = g_build_filename (folder, "RUN.safetensors", NULL);
  return lig_run_make_folder (folder, error) && lig_run_check_place (path, error);
}

void
lig_run_choose_checkpoint (LigRun *self)
{
  if (self->settings.checkpoint) {
    self->checkpoint = g_canonicalize_filename (self->settings.checkpoint, NULL);
  } else if (self->uuid) {
    g_autofree char *folder = get_folder ();
    g_autofree char *name = g_strconcat (self->uuid, ".safetensors", NULL);
    self->checkpoint = g_build_filename (folder, name, NULL);
  }
  if (self->uuid)
    lig_store_add_artifact (self->store, self->uuid, "checkpoint", self->checkpoint);
}
