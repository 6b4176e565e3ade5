/* SPDX-License-Identifier: MIT */
/* The results of a sweep as a table: one row for all runs that differ only in the seed, lowest loss
 * first. */
#pragma once

#include <ligature/sweep.h>

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_SWEEP_TABLE (lig_sweep_table_get_type ())
G_DECLARE_FINAL_TYPE (LigSweepTable, lig_sweep_table, LIG, SWEEP_TABLE, AdwBin)

/**
 * LigSweepTable::chosen:
 * @point: the number of the best point of the selected row, -1 for none
 */

GtkWidget *lig_sweep_table_new (void);

/* Shows the results; the selected settings stay selected. */
void lig_sweep_table_show (LigSweepTable *self, LigSweep *sweep);

/* Returns the number of the best point of the selected row, -1 for none. */
int lig_sweep_table_get_chosen (LigSweepTable *self);

/* Returns the number of rows. */
guint lig_sweep_table_count (LigSweepTable *self);

G_END_DECLS
