/* SPDX-License-Identifier: MIT */
/* `lig runs star`, `unstar`, `tag` and `note`: annotations by users. */
#include "app/cli/runs.h"

#include <ligature/report.h>
#include <ligature/store.h>

int
lig_runs_print_changed (LigStore *store, GPtrArray *rows)
{
  if (!lig_cli_json ())
    return LIG_EXIT_OK;
  g_autoptr (JsonArray) array = json_array_new ();
  for (guint i = 0; i < rows->len; i++) {
    GError *error = NULL;
    g_autoptr (LigRunRow) row =
      lig_store_find_run (store, ((const LigRunRow *) rows->pdata[i])->uuid, &error);
    if (!row)
      return lig_cli_fail (error);
    json_array_add_element (array, lig_run_row_to_json (row));
  }
  if (rows->len == 1)
    lig_cli_print_document ("runs-edit", json_array_dup_element (array, 0));
  else
    lig_cli_print_document ("runs-edit", json_node_init_array (json_node_alloc (), array));
  return LIG_EXIT_OK;
}

static int
set_star (LigStore *store, const LigRunsOptions *options, int n, char **arguments, gboolean starred)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) rows = lig_runs_select (store, options, n, arguments, NULL, &error);
  if (!rows)
    return lig_cli_fail (error);
  for (guint i = 0; i < rows->len; i++)
    if (!lig_store_set_star (store, ((const LigRunRow *) rows->pdata[i])->uuid, starred, &error))
      return lig_cli_fail (error);
  return lig_runs_print_changed (store, rows);
}

int
lig_runs_star (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  return set_star (store, options, n, arguments, !options->remove);
}

int
lig_runs_unstar (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  return set_star (store, options, n, arguments, FALSE);
}

int
lig_runs_tag (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) rows = lig_runs_select (store, options, 1, arguments, NULL, &error);
  if (!rows)
    return lig_cli_fail (error);
  for (guint i = 0; i < rows->len; i++) {
    const char *run = ((const LigRunRow *) rows->pdata[i])->uuid;
    for (int j = 1; j < n; j++)
      if (!(options->remove ? lig_store_remove_tag (store, run, arguments[j], &error)
                            : lig_store_add_tag (store, run, arguments[j], &error)))
        return lig_cli_fail (error);
  }
  return lig_runs_print_changed (store, rows);
}

int
lig_runs_note (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) rows = lig_runs_select (store, options, n - 1, arguments, NULL, &error);
  if (!rows)
    return lig_cli_fail (error);
  for (guint i = 0; i < rows->len; i++)
    if (!lig_store_set_note (store, ((const LigRunRow *) rows->pdata[i])->uuid, arguments[n - 1],
                             &error))
      return lig_cli_fail (error);
  return lig_runs_print_changed (store, rows);
}
