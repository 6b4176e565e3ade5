/* SPDX-License-Identifier: MIT */
/* The settings of runs in SQL statements. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns (transfer none) the SQL expression for a setting's value of the run `r`, which is NULL
 * for a run without the setting. @path: the statement's parameter for lig_store_make_path(). @made:
 * the owner of an expression that is not constant. */
const char *lig_store_find_setting (const char *name, const char *path, char **made);

/* Returns (transfer full) the JSON path of a setting. Replaces quotes, which would end the
 * name and which no setting contains. @name: (nullable) */
char *lig_store_make_path (const char *name);

G_END_DECLS
