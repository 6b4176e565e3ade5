/* SPDX-License-Identifier: MIT */
/* The settings of runs in statements. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns (transfer none) the expression of a setting's value of the run `r`; it is NULL for a run
 * without the setting. @path: the parameter that lig_store_make_path() is bound to. @made: the
 * owner of an expression that is not constant. */
const char *lig_store_find_setting (const char *name, const char *path, char **made);

/* Returns (transfer full) the JSON path of a setting. A quote would end the name, and no setting
 * has one. @name: (nullable) */
char *lig_store_make_path (const char *name);

G_END_DECLS
