/* SPDX-License-Identifier: MIT */
/* The columns of `lig runs list`: facts about every run, and any setting. */
#pragma once

#include "app/cli/runs.h"

G_BEGIN_DECLS

/* A column. Those with a priority are shown without --columns; if the terminal is too narrow, the
 * column with the lowest priority is omitted first. */
typedef struct {
  const char *key, *header; /* a header that begins with '>' is right-aligned */
  const char *summary;
  int priority;
  gboolean elastic; /* whether its texts may be shortened */
  LigRunOrder order;
  char *(*format) (const LigRunRow *row); /* NULL: the value of the setting `key` */
} LigRunsColumn;

/* Returns the columns that are not settings, NULL after the last. */
const LigRunsColumn *lig_runs_column_nth (guint n);

/* Returns a column by its key or a synonym; NULL if it may be a setting. */
const LigRunsColumn *lig_runs_find_column (const char *key);

/* Returns the name of a setting that any run or any training run has, by its name or a synonym.
 * Returns NULL with an error set that suggests others; (transfer full). */
char *lig_runs_find_setting (LigStore *store, const char *option, const char *key, GError **error);

/* Parses --sort. A key that begins with '-' sorts in descending order. `order_by` is set to a
 * setting, valid until the program ends, or to NULL. */
gboolean lig_runs_find_order (LigStore *store,
                              const char *sort,
                              LigRunOrder *order,
                              const char **order_by,
                              gboolean *descending,
                              GError **error);

/* Prints the list of the runs with these keys. `columns` lists keys, separated by commas; NULL: the
 * default ones. */
gboolean lig_runs_print_list (LigStore *store, GArray *keys, const char *columns, GError **error);

G_END_DECLS
