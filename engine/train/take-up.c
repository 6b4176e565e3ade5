/* SPDX-License-Identifier: MIT */
/* Chooses the run in the store that resumes from a checkpoint: the one that wrote the file or, if
 * that run has advanced beyond the file, a new one with it as its parent. */
#include "engine/store/writing.h"
#include "engine/train/checkpoint.h"
#include "engine/train/inputs.h"
#include "engine/train/learning-rate.h"
#include "engine/train/ranks.h"
#include "engine/train/record.h"
#include "engine/train/run-private.h"
#include <ligature/ranks.h>
#include <ligature/store-sweeps.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

static LigRunRow *
find_row (LigRun *self, LigTensorFile *file)
{
  const char *uuid = lig_tensor_file_get_metadata (file, "ligature.run");
  return self->store && uuid ? lig_store_find_run (self->store, uuid, NULL) : NULL;
}

static gboolean
writes_to (LigRun *self, const LigRunRow *row, const char *path)
{
  g_autoptr (GPtrArray) artifacts = lig_store_get_artifacts (self->store, row->uuid, NULL);
  for (guint i = 0; artifacts && i < artifacts->len; i++)
    if (g_strcmp0 (((const LigArtifactRow *) artifacts->pdata[i])->path, path) == 0)
      return TRUE;
  return FALSE;
}

/* A run that ended in its last evaluation has no step left, only that evaluation. The process may
 * have been killed between writing the checkpoint and recording it in the store. Only rank 0 has
 * the store. */
gboolean
lig_run_check_left (LigRun *self, LigTensorFile *file, GError **error)
{
  g_autoptr (LigRunRow) row = find_row (self, file);
  /* A copy of its checkpoint may be continued as another run. */
  g_autoptr (GError) busy = NULL;
  gboolean trains = row && !self->branches && writes_to (self, row, self->checkpoint) &&
                    !lig_store_check_idle (self->store, row->uuid, &busy);
  gint32 owed = row && !self->branches && row->saved_step <= self->first_step &&
                strcmp (row->status, "done") != 0 && strcmp (row->status, "cancelled") != 0;
  gint32 found[] = {owed, trains};
  if (!lig_ranks_broadcast (lig_run_ranks (self), found, sizeof found, error))
    return FALSE;
  owed = found[0];
  if (busy)
    g_propagate_error (error, g_steal_pointer (&busy));
  else if (found[1])
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_STORE,
                         _ ("the run that writes it is active in another process"));
  if (found[1])
    return FALSE;
  if (self->first_step < self->settings.steps || (self->first_step == self->settings.steps && owed))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("already at step %" PRId64 "; set steps above %" PRId64), self->first_step,
               self->first_step);
  return lig_error_set_setting (error, "steps");
}

/* Returns whether the run's history contains steps that would not be repeated identically. Steps
 * that a killed run reported after its last checkpoint are repeated bit for bit, and replaced. */
static gboolean
is_older (LigRun *self, LigTensorFile *file, const LigRunRow *row)
{
  g_auto (LigRunSettings) before;
  const char *recorded = lig_tensor_file_get_metadata (file, "ligature.settings");
  lig_run_settings_init (&before);
  if (!lig_run_settings_read_record (&before, recorded, NULL))
    return TRUE;
  return self->branches || row->saved_step > self->first_step ||
         (row->last_step > self->first_step && (lig_run_bends_schedule (&before, &self->settings) ||
                                                row->last_step > self->settings.steps));
}

/* Lets the new run write to its own file: that of a newly given setting, else one that is named
 * after the run. */
static gboolean
leave_file (LigRun *self, GError **error)
{
  if (!self->branches)
    g_clear_pointer (&self->settings.checkpoint, g_free);
  g_clear_pointer (&self->checkpoint, g_free);
  return lig_run_check_checkpoint (self, error);
}

/* The parent run (nullable) keeps its history and its file. */
static gboolean
begin_child (LigRun *self, const LigRunRow *row, GError **error)
{
  gboolean shares = row && writes_to (self, row, self->checkpoint);
  if (shares && strcmp (row->status, "running") == 0)
    return lig_store_resume_run (self->store, row->uuid, error);
  if ((shares || self->branches) && !leave_file (self, error))
    return FALSE;
  if (!lig_run_claim (self, error) || !lig_run_register (self, error))
    return FALSE;
  if (!self->checkpoint)
    lig_run_choose_checkpoint (self);
  return TRUE;
}

/* Records the current ranks as the ranks of the run. */
static gboolean
note_ranks (LigRun *self, const LigRunRow *row, GError **error)
{
  g_autofree char *inputs = lig_store_get_inputs (self->store, row->uuid, NULL);
  g_autofree char *renewed = lig_run_renew_inputs (self, inputs);
  return !renewed || lig_store_set_inputs (self->store, row->uuid, renewed, error);
}

static gboolean
take_up (LigRun *self, const LigRunRow *row, GError **error)
{
  g_autofree char *settings = lig_run_settings_to_json (&self->settings);
  g_autofree char *before = g_strdup (row->status);
  if (!lig_store_resume_run (self->store, row->uuid, error))
    return FALSE;
  self->uuid = g_strdup (row->uuid);
  self->status_before = g_steal_pointer (&before);
  if (!lig_run_claim (self, error) || !note_ranks (self, row, error))
    return FALSE;
  return strcmp (settings, row->settings) == 0 ||
         lig_store_set_settings (self->store, row->uuid, settings, error);
}

gboolean
lig_run_take_up (LigRun *self, LigTensorFile *file, GError **error)
{
  g_autoptr (LigRunRow) row = find_row (self, file);
  /* The store may be another one than when the run began. */
  gboolean child = !row || is_older (self, file, row);
  /* The file may be a copy with another path than the one in its settings. */
  if (self->settings.checkpoint && !self->branches) {
    g_free (self->settings.checkpoint);
    self->settings.checkpoint = g_strdup (self->checkpoint);
  }
  if (!self->store)
    return lig_run_claim (self, error);
  if (child)
    self->parent = g_strdup (lig_tensor_file_get_metadata (file, "ligature.run"));
  return child ? begin_child (self, row, error) : take_up (self, row, error);
}
