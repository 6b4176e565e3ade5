/* SPDX-License-Identifier: MIT */
#include "ui/session/interrupted.h"

#include <ligature/error.h>
#include <ligature/store.h>

#include <glib/gi18n.h>
#include <string.h>

void
lig_interrupted_free (LigInterrupted *self)
{
  if (!self)
    return;
  g_clear_pointer (&self->row, lig_run_row_free);
  g_clear_pointer (&self->curves, g_hash_table_unref);
  lig_run_settings_clear (&self->settings);
  g_free (self->checkpoint);
  g_free (self->missing);
  g_free (self);
}

const char *
lig_interrupted_find_checkpoint (const GPtrArray *artifacts)
{
  const char *found = NULL;
  for (guint i = 0; artifacts && i < artifacts->len; i++) {
    const LigArtifactRow *artifact = artifacts->pdata[i];
    if (strcmp (artifact->kind, "checkpoint") == 0 &&
        g_file_test (artifact->path, G_FILE_TEST_IS_REGULAR))
      found = artifact->path;
  }
  return found;
}

const char *
lig_interrupted_find_missing (const GPtrArray *artifacts)
{
  const char *newest = NULL;
  if (lig_interrupted_find_checkpoint (artifacts))
    return NULL;
  for (guint i = 0; artifacts && i < artifacts->len; i++) {
    const LigArtifactRow *artifact = artifacts->pdata[i];
    newest = strcmp (artifact->kind, "checkpoint") == 0 ? artifact->path : newest;
  }
  return newest;
}

char *
lig_interrupted_describe_missing (const char *checkpoint)
{
  g_autofree char *name = g_filename_display_name (checkpoint);
  return g_strdup_printf (_ ("the checkpoint %s is missing; restore the file, or train again"),
                          name);
}

gboolean
lig_interrupted_check (const char *checkpoint, GError **error)
{
  if (g_file_test (checkpoint, G_FILE_TEST_IS_REGULAR))
    return TRUE;
  g_autofree char *message = lig_interrupted_describe_missing (checkpoint);
  g_set_error_literal (error, LIG_ERROR, LIG_ERROR_FILE, message);
  return FALSE;
}

static LigCurve *
read_curve (LigStore *store, const char *run, const char *metric)
{
  LigCurve *curve = lig_curve_new ();
  g_autoptr (GArray) steps = NULL, values = NULL;
  if (!lig_store_get_metric (store, run, metric, &steps, &values, NULL))
    return curve;
  for (guint i = 0; i < steps->len; i++)
    lig_curve_append (curve, (double) g_array_index (steps, gint64, i),
                      g_array_index (values, double, i));
  return curve;
}

LigInterrupted *
lig_interrupted_find (LigStore *store, const char *const *metrics)
{
  const LigRunFilter last = {.kind = "train", .limit = 1};
  g_autoptr (GPtrArray) rows = lig_store_list_runs (store, &last, NULL);
  const LigRunRow *row = rows && rows->len > 0 ? rows->pdata[0] : NULL;
  if (!row || strcmp (row->status, "interrupted") != 0 || row->point >= 0 || row->saved_step < 1)
    return NULL;
  LigInterrupted *self = g_new0 (LigInterrupted, 1);
  lig_run_settings_init (&self->settings);
  self->row = lig_run_row_copy (row);
  g_autoptr (GPtrArray) artifacts = lig_store_get_artifacts (store, row->uuid, NULL);
  self->checkpoint = g_strdup (lig_interrupted_find_checkpoint (artifacts));
  self->missing = g_strdup (lig_interrupted_find_missing (artifacts));
  if (!(self->checkpoint || self->missing) ||
      !lig_run_settings_read_record (&self->settings, row->settings, NULL)) {
    lig_interrupted_free (self);
    return NULL;
  }
  self->curves =
    g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) lig_curve_free);
  for (; *metrics; metrics++)
    g_hash_table_insert (self->curves, (gpointer) *metrics,
                         read_curve (store, row->uuid, *metrics));
  return self;
}
