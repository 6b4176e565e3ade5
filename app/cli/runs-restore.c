/* SPDX-License-Identifier: MIT */
/* `lig runs restore`: takes runs out of the trash, into which only the window moves them. */
#include "app/cli/runs.h"

#include <ligature/store-trash.h>
#include <ligature/store.h>

#include <string.h>

/* Returns the newest run in the trash with this name, `last` for any; NULL if there is none, or
 * with an error set. */
static LigRunRow *
find_named (LigStore *store, const char *name, GError **error)
{
  const LigRunFilter filter = {
    .name = strcmp (name, "last") == 0 ? NULL : name, .deleted = TRUE, .limit = 1};
  g_autoptr (GArray) keys = lig_store_list_keys (store, &filter, LIG_RUN_BY_START, TRUE, error);
  g_autoptr (GPtrArray) rows =
    keys ? lig_store_read_runs (store, (const gint64 *) (gpointer) keys->data, keys->len, error)
         : NULL;
  return rows && rows->len > 0 && rows->pdata[0] ? lig_run_row_copy (rows->pdata[0]) : NULL;
}

/* Names of runs leave the trash out, so they are searched there first. */
static GPtrArray *
find_words (LigStore *store, int n, char **words, GError **error)
{
  g_autoptr (GPtrArray) rows = lig_runs_new_rows ();
  for (int i = 0; i < n; i++) {
    g_autoptr (GError) failure = NULL;
    LigRunRow *row = find_named (store, words[i], &failure);
    if (!row && !failure)
      row = lig_cli_find_run (store, words[i], NULL, &failure);
    if (!row) {
      g_propagate_error (error, g_steal_pointer (&failure));
      return NULL;
    }
    g_ptr_array_add (rows, row);
  }
  return g_steal_pointer (&rows);
}

/* Fails if a run is not in the trash: a script should notice that it names the wrong one. */
static gboolean
check_deleted (LigStore *store, GPtrArray *rows, GError **error)
{
  g_auto (GStrv) trash = lig_store_list_trash (store, G_MAXINT64, error);
  for (guint i = 0; trash && i < rows->len; i++) {
    const LigRunRow *row = rows->pdata[i];
    if (g_strv_contains ((const char *const *) trash, row->uuid))
      continue;
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
                 "run %.8s %s is not in the trash; lig runs list --deleted lists the runs that are",
                 row->uuid, row->name);
    return FALSE;
  }
  return trash != NULL;
}

int
lig_runs_restore (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  GError *error = NULL;
  LigRunsOptions deleted = *options;
  deleted.deleted = TRUE;
  g_autoptr (GPtrArray) rows = n > 0 ? find_words (store, n, arguments, &error)
                                     : lig_runs_select (store, &deleted, 0, NULL, NULL, &error);
  if (!rows || !check_deleted (store, rows, &error))
    return lig_cli_fail (error);
  g_autofree const char **names = g_new0 (const char *, rows->len + 1);
  for (guint i = 0; i < rows->len; i++)
    names[i] = ((const LigRunRow *) rows->pdata[i])->uuid;
  if (!lig_store_restore_runs (store, names, rows->len, &error))
    return lig_cli_fail (error);
  if (rows->len == 0)
    lig_cli_say ("no matching runs in the trash of %s", lig_store_get_path (store));
  else
    lig_cli_say ("restored %u run%s", rows->len, LIG_ENDING (rows->len));
  return lig_runs_print_changed (store, rows);
}
