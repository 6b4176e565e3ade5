/* SPDX-License-Identifier: MIT */
/* The verbs of `lig runs` that have their own files, and the functions that verbs share. */
#pragma once

#include "app/cli/command.h"
#include "app/cli/find-run.h"
#include <ligature/store.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The statuses that a run of the store can have, null-terminated. */
extern const char *const lig_runs_statuses[];

/* Return a local time, and a number or `-` for NaN; (transfer full). */
char *lig_runs_format_started (gint64 when);
char *lig_runs_format_number (double value);

/* Returns an empty array of rows for lig_cli_print_table(). */
GPtrArray *lig_runs_new_table (void);

/* Run a verb with the `n` arguments after it and return an exit code. */
int lig_runs_show (LigStore *store, int n, char **arguments);
int lig_runs_delete (LigStore *store, int n, char **arguments, gboolean yes, gboolean with_files);
int lig_runs_compare (LigStore *store, int n, char **arguments);
int lig_runs_repeat (LigStore *store, const char *what, const char *device);
int lig_runs_export (LigStore *store, const char *run, const char *output);

G_END_DECLS
