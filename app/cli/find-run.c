/* SPDX-License-Identifier: MIT */
/* The kind of the last run depends on the command: a profile has no checkpoint to resume. */
#include "app/cli/find-run.h"

#include "app/cli/runs.h"

#include <string.h>

LigRunRow *
lig_cli_find_run (LigStore *store, const char *selector, const char *kind, GError **error)
{
  if (strcmp (selector, "last") != 0)
    return lig_store_find_run (store, selector, error);
  LigRunRow *row = lig_store_find_last (store, kind, error);
  g_autofree char *started = row ? lig_runs_format_started (row->started) : NULL;
  if (row)
    lig_cli_say ("the last %s is %.8s %s, %s", kind && *kind == 't' ? "training" : "run", row->uuid,
                 row->name, started);
  return row;
}
