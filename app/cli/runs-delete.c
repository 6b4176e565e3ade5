/* SPDX-License-Identifier: MIT */
/* `lig runs delete`: deletes runs from the store and, if requested, their checkpoints. */
#include "app/cli/runs.h"

#include <ligature/tensor-file.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns whether the file is a checkpoint and this run was the last to write it. A row of a
 * database may name any file, and several runs may have written to the same one. */
static gboolean
is_own (const char *path, const char *uuid)
{
  GStatBuf info;
  if (g_lstat (path, &info) != 0 || !S_ISREG (info.st_mode))
    return FALSE;
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, NULL);
  return file && lig_tensor_file_get_metadata (file, "ligature.checkpoint") &&
         g_strcmp0 (lig_tensor_file_get_metadata (file, "ligature.run"), uuid) == 0;
}

/* Returns the names of the runs' existing checkpoints; NULL with an error set. */
static GStrv
find_files (LigStore *store, GPtrArray *runs, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GStrvBuilder) files = g_strv_builder_new ();
  for (guint i = 0; i < runs->len; i++) {
    const LigRunRow *row = runs->pdata[i];
    g_autoptr (GPtrArray) artifacts = lig_store_get_artifacts (store, row->uuid, error);
    if (!artifacts)
      return NULL;
    for (guint j = 0; j < artifacts->len; j++) {
      const LigArtifactRow *artifact = artifacts->pdata[j];
      if (strcmp (artifact->kind, "checkpoint") == 0 && is_own (artifact->path, row->uuid) &&
          g_hash_table_add (seen, g_strdup (artifact->path)))
        g_strv_builder_add (files, artifact->path);
    }
  }
  return g_strv_builder_end (files);
}

static void
name_files (char **files, const char *what)
{
  for (char **file = files; *file; file++) {
    GStatBuf info;
    g_autofree char *size =
      g_stat (*file, &info) == 0 ? lig_units_bytes ((double) info.st_size) : NULL;
    lig_cli_say ("%s %s, %s", what, *file, size ? size : "gone");
  }
}

/* Asks the user at the terminal and returns whether the answer is yes. */
static gboolean
confirm (const char *question)
{
  char answer[16];
  fprintf (stderr, "%s [y/N] ", question);
  return fgets (answer, sizeof answer, stdin) && g_ascii_tolower (answer[0]) == 'y';
}

static gboolean
ask (GPtrArray *runs, char **files, gboolean *with_files)
{
  for (guint i = 0; i < runs->len; i++) {
    const LigRunRow *row = runs->pdata[i];
    g_autofree char *started = lig_runs_format_started (row->started);
    lig_cli_say ("%.8s %s, %s, %s", row->uuid, row->name, row->status, started);
  }
  g_autofree char *question = g_strdup_printf ("delete %u run%s with all metrics and timings?",
                                               runs->len, LIG_ENDING (runs->len));
  if (!confirm (question))
    return FALSE;
  if (!*with_files && *files) {
    name_files (files, "checkpoint");
    *with_files = confirm ("delete the checkpoints, too?");
  }
  return TRUE;
}

static gboolean
remove_files (char **files, GError **error)
{
  for (char **file = files; *file; file++)
    if (g_unlink (*file) != 0 && errno != ENOENT) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "cannot delete '%s': %s; the runs are deleted",
                   *file, g_strerror (errno));
      return FALSE;
    }
  return TRUE;
}

static gboolean
delete_all (LigStore *store, GPtrArray *runs, GError **error)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_array (builder);
  for (guint i = 0; i < runs->len; i++) {
    const LigRunRow *row = runs->pdata[i];
    if (!lig_store_delete_run (store, row->uuid, error))
      return FALSE;
    json_builder_add_string_value (builder, row->uuid);
  }
  json_builder_end_array (builder);
  if (lig_cli_json ())
    lig_cli_print_document ("runs-delete", json_builder_get_root (builder));
  return TRUE;
}

/* Finds all runs first, so that a wrong selector deletes nothing and `last` selects the run that is
 * the last before anything is deleted. */
int
lig_runs_delete (LigStore *store, int n, char **arguments, gboolean yes, gboolean with_files)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_run_row_free);
  for (int i = 0; i < n; i++) {
    LigRunRow *row = lig_cli_find_run (store, arguments[i], NULL, &error);
    if (!row)
      return lig_cli_fail (error);
    g_ptr_array_add (runs, row);
  }
  g_auto (GStrv) files = find_files (store, runs, &error);
  if (!files)
    return lig_cli_fail (error);
  if (!yes && !isatty (STDIN_FILENO))
    return lig_cli_usage ("runs delete: no terminal for the question; add --yes");
  if (!yes && !ask (runs, files, &with_files)) {
    lig_cli_say ("nothing was deleted");
    return LIG_EXIT_FAILED;
  }
  if (!delete_all (store, runs, &error) || (with_files && !remove_files (files, &error)))
    return lig_cli_fail (error);
  name_files (with_files ? (char *[]){NULL} : files, "kept:");
  return LIG_EXIT_OK;
}
