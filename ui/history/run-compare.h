/* SPDX-License-Identifier: MIT */
/* A table of runs that shows only their differences. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

#define LIG_TYPE_RUN_COMPARE (lig_run_compare_get_type ())
G_DECLARE_FINAL_TYPE (LigRunCompare, lig_run_compare, LIG, RUN_COMPARE, AdwBin)

/**
 * lig_run_compare_show:
 * @runs: (element-type LigRunRow): the others are compared with the first
 *
 * Reads their last values on a thread; the signal `loaded` is emitted once the table is filled.
 */
void lig_run_compare_show (LigRunCompare *self, LigStore *store, GPtrArray *runs);

/* Returns: (transfer full): the table as shown. */
char *lig_run_compare_to_csv (LigRunCompare *self);
char *lig_run_compare_to_markdown (LigRunCompare *self);

void lig_run_compare_set_all (LigRunCompare *self, gboolean all);

G_END_DECLS
