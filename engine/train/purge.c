/* SPDX-License-Identifier: MIT */
/* Deletes runs for good, with their checkpoints. */
#include <ligature/purge.h>
#include <ligature/store-rows.h>
#include <ligature/store.h>
#include <ligature/tensor-file.h>

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <string.h>

gboolean
lig_purge_owns_checkpoint (const char *path, const char *run)
{
  GStatBuf info;
  if (g_lstat (path, &info) != 0 || !S_ISREG (info.st_mode))
    return FALSE;
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, NULL);
  return file && lig_tensor_file_get_metadata (file, "ligature.checkpoint") &&
         g_strcmp0 (lig_tensor_file_get_metadata (file, "ligature.run"), run) == 0;
}

/* Adds the paths of a run's own checkpoints. */
static gboolean
add_checkpoints (LigStore *store, const char *run, GStrvBuilder *paths, GError **error)
{
  g_autoptr (GPtrArray) artifacts = lig_store_get_artifacts (store, run, error);
  for (guint i = 0; artifacts && i < artifacts->len; i++) {
    const LigArtifactRow *artifact = artifacts->pdata[i];
    if (strcmp (artifact->kind, "checkpoint") == 0 &&
        lig_purge_owns_checkpoint (artifact->path, run))
      g_strv_builder_add (paths, artifact->path);
  }
  return artifacts != NULL;
}

/* The rows are deleted first: a file without a row can still be deleted by hand, a row without its
 * file would offer to continue from it. */
gboolean
lig_purge_runs (LigStore *store, const char *const *runs, guint count, GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (guint i = 0; i < count; i++)
    if (!add_checkpoints (store, runs[i], builder, error))
      return FALSE;
  g_auto (GStrv) paths = g_strv_builder_end (builder);
  if (!lig_store_delete_runs (store, runs, count, error))
    return FALSE;
  for (char **path = paths; *path; path++)
    if (g_unlink (*path) != 0 && errno != ENOENT) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("cannot delete '%s': %s"), *path,
                   g_strerror (errno));
      return FALSE;
    }
  return TRUE;
}
