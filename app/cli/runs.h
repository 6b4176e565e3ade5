/* SPDX-License-Identifier: MIT */
/* What the verbs of `lig runs` share. */
#pragma once

#include "app/cli/command.h"
#include "app/cli/find-run.h"
#include <ligature/store.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* One metric of a run: at least one value, as many steps, ascending. */
typedef struct {
  char *name;
  GArray *steps, *values; /* gint64, double */
} LigRunCurve;

/* All metrics of a run in order of their names, or NULL with an error set. */
GPtrArray *lig_runs_read_metrics (LigStore *store, const char *run, GError **error);
double lig_runs_get_last (const LigRunCurve *metric);

/* Members of a JSON object. What is no finite number, and a NULL text, become null; a text that
 * is JSON is put in as such by _set_json. */
void lig_runs_add_number (JsonBuilder *to, double value);
void lig_runs_set_number (JsonBuilder *to, const char *name, double value);
void lig_runs_set_integer (JsonBuilder *to, const char *name, gint64 value);
void lig_runs_set_string (JsonBuilder *to, const char *name, const char *value);
void lig_runs_set_json (JsonBuilder *to, const char *name, const char *text);

/* Begins an object with the members that every verb prints of a run; it stays open. */
void lig_runs_add_run (JsonBuilder *to, const LigRunRow *row);

/* For people: local time, and `-` for a missing number. */
char *lig_runs_format_started (gint64 when);
char *lig_runs_format_number (double value);

/* Rows for lig_cli_print_table(). */
GPtrArray *lig_runs_new_table (void);

/* The verbs that have files of their own: `n` arguments follow the verb. They return an exit
 * code. */
int lig_runs_show (LigStore *store, int n, char **arguments);
int lig_runs_delete (LigStore *store, int n, char **arguments, gboolean yes, gboolean with_files);
int lig_runs_compare (LigStore *store, int n, char **arguments);
int lig_runs_export (LigStore *store, const char *run, const char *output);

G_END_DECLS
