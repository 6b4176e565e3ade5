/* SPDX-License-Identifier: MIT */
/* The verbs of `lig runs` that have their own files, and shared functions. */
#pragma once

#include "app/cli/command.h"
#include "app/cli/find-run.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/* The value of `limit` if none is given. */
#define LIG_RUNS_NO_LIMIT G_MAXINT

/* The options of all verbs. The table in runs.c lists those of each verb. */
typedef struct {
  char *store;
  /* which runs */
  char *status, *kind, *name, *device, *tag, *sweep, *since, *until;
  gboolean starred, unstarred, deleted, all;
  int limit;
  /* the list */
  char *sort, *columns;
  gboolean reverse;
  /* show */
  gboolean verdicts, histograms;
  /* export */
  char *output, *format;
  char **metrics;
  /* changes */
  gboolean remove, yes, checkpoints, keep_checkpoints, compact;
  /* repeat */
  gboolean quiet, control;
  char **words; /* the command's name and its original arguments */
} LigRunsOptions;

/* The statuses and kinds of runs, null-terminated. */
extern const char *const lig_runs_statuses[];
extern const char *const lig_runs_kinds[];

/* Returns what else determines the bits of a run: its ranks and the file with its initial weights;
 * an object, (transfer full), or NULL if it is not recorded. */
JsonNode *lig_runs_read_inputs (LigStore *store, const char *run);

/* Returns an array of rows that are freed with it. */
GPtrArray *lig_runs_new_rows (void);

/* Returns whether an option that selects runs is given. */
gboolean lig_runs_has_filter (const LigRunsOptions *options);

/* Returns the rows of the runs that the words select, or without words the options, without
 * duplicates. Words may be joined by commas. `last` and names are limited to the kind (NULL: any).
 * Returns NULL with an error set if a word selects no run. */
GPtrArray *lig_runs_select (LigStore *store,
                            const LigRunsOptions *options,
                            int n,
                            char **words,
                            const char *kind,
                            GError **error);

/* Returns the keys of the runs that the options select, in the order of --sort, the newest first
 * without it. `text` is a part of a name, notes, device, tags or uuid, or NULL. */
GArray *lig_runs_select_keys (LigStore *store,
                              const LigRunsOptions *options,
                              const char *text,
                              GError **error);

/* Prints the changed runs with --json, a single one as an object; otherwise success prints nothing.
 */
int lig_runs_print_changed (LigStore *store, GPtrArray *rows);

/* Run a verb with the `n` arguments after it and return an exit code. */
typedef int LigRunsVerb (LigStore *store, const LigRunsOptions *options, int n, char **arguments);
LigRunsVerb lig_runs_list, lig_runs_show, lig_runs_compare, lig_runs_tag, lig_runs_note,
  lig_runs_star, lig_runs_unstar, lig_runs_restore, lig_runs_delete, lig_runs_repeat,
  lig_runs_export;

G_END_DECLS
