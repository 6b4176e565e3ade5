/* SPDX-License-Identifier: MIT */
/* The data of a run in the store, as tables of names and values. */
#pragma once

#include <ligature/plan.h>
#include <ligature/store-rows.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns: (transfer full) (nullable): an unfused plan of the run's sequence, whose ops are those
 * of its fusions; null if it cannot be compiled. Blocks while it compiles. */
LigPlan *lig_history_facts_compile (const LigRunRow *row);

/* Appends a table for each of results, run, settings, versions, fusions and files. @fusions and
 * @artifacts may be null until they are read. @plan: (nullable): of the function above */
void lig_history_facts_append (GtkBox *to,
                               const LigRunRow *row,
                               const char *inputs,
                               GPtrArray *fusions,
                               LigPlan *plan,
                               GPtrArray *artifacts);

G_END_DECLS
