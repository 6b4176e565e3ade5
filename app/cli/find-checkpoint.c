/* SPDX-License-Identifier: MIT */
/* Finds the checkpoint file of a run. */
#include "app/cli/find-checkpoint.h"

#include "app/cli/find-run.h"
#include "app/cli/rank.h"
#include "app/cli/runs-table.h"
#include "app/cli/say.h"

#include <ligature/store.h>
#include <ligature/tensor-file.h>

/* The file may now belong to another run that resumed from a copy and overwrote it. */
static gboolean
is_checkpoint_of (const char *path, const char *run)
{
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, NULL);
  if (!file)
    return g_file_test (path, G_FILE_TEST_EXISTS);
  return g_strcmp0 (lig_tensor_file_get_metadata (file, "ligature.run"), run) == 0;
}

char *
lig_cli_find_checkpoint (const char *selector, LigStore *store, const char *what, GError **error)
{
  if (g_file_test (selector, G_FILE_TEST_IS_REGULAR))
    return g_strdup (selector);
  g_autoptr (LigRunRow) row = lig_cli_find_run (store, selector, "train", error);
  g_autoptr (GPtrArray) artifacts = row ? lig_store_get_artifacts (store, row->uuid, error) : NULL;
  const char *lost = NULL;
  /* The newest first, because a run that resumed from a copy writes to the new file. */
  for (guint i = artifacts ? artifacts->len : 0; i > 0; i--) {
    const LigArtifactRow *artifact = artifacts->pdata[i - 1];
    if (!g_str_equal (artifact->kind, "checkpoint"))
      continue;
    if (!is_checkpoint_of (artifact->path, row->uuid)) {
      lost = lost ? lost : artifact->path;
      continue;
    }
    g_autofree char *started = lig_runs_format_started (row->started);
    lig_cli_say ("%s %.8s %s of %s from step %" G_GINT64_FORMAT ": %s", what, row->uuid, row->name,
                 started, MAX (row->saved_step, 0), artifact->path);
    return g_strdup (artifact->path);
  }
  if (artifacts && strcmp (row->kind, "train") != 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE,
                 "run %.8s is a %s and has no checkpoint; give a training run, such as last",
                 row->uuid, row->kind);
  else if (lost && row->saved_step > 0)
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_FILE,
      "run %.8s has no checkpoint: '%s' %s; lig runs repeat %.8s trains again", row->uuid, lost,
      g_file_test (lost, G_FILE_TEST_EXISTS) ? "now belongs to another run" : "is missing",
      row->uuid);
  else if (artifacts)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE,
                 "run %.8s has no checkpoint: it ended before the first one; lig runs repeat %.8s "
                 "trains again",
                 row->uuid, row->uuid);
  return NULL;
}

gboolean
lig_cli_find_weights (const char *text, const char *store, char **weights, GError **error)
{
  *weights = NULL;
  if (!text || lig_cli_is_path (text) || !lig_cli_is_run (text, store)) {
    *weights = g_strdup (text);
    return TRUE;
  }
  g_autoptr (LigStore) opened = lig_store_open_existing (store, LIG_STORE_READ, error);
  *weights = opened ? lig_cli_find_checkpoint (text, opened, "weights of", error) : NULL;
  return *weights != NULL;
}

gboolean
lig_cli_find_initial (const char *text, const char *store, char **weights, GError **error)
{
  *weights = NULL;
  if (!text)
    return TRUE;
  if (lig_cli_rank_is_first () && !lig_cli_find_weights (text, store, weights, error))
    return FALSE;
  return lig_ranks_broadcast_text (lig_cli_rank_get (), weights, error);
}
