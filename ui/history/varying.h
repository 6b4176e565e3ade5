/* SPDX-License-Identifier: MIT */
/* The settings by which runs differ, which name their curves and choose the list's columns. */
#pragma once

#include <ligature/store-rows.h>

G_BEGIN_DECLS

/**
 * lig_history_label_runs:
 * @rows: (element-type LigRunRow)
 *
 * Names runs by what distinguishes them: their name if the names differ, and up to three settings
 * that differ, `Learning rate 0.001`. Runs that this does not distinguish also have the beginning
 * of their uuid, like runs without any difference.
 *
 * Returns: (transfer full): a label for each run; all are different
 */
GStrv lig_history_label_runs (GPtrArray *rows);

/**
 * lig_history_describe_varying:
 * @rows: (element-type LigRunRow) (nullable items)
 *
 * Returns: (transfer full): for each run a text of its settings that differ between the runs,
 *   without the seed: `lr 0.001`; empty without differences
 */
GStrv lig_history_describe_varying (GPtrArray *rows);

/**
 * lig_history_find_varying:
 * @rows: (element-type LigRunRow)
 *
 * Returns: (transfer full): the names of the list's columns whose values differ between the runs,
 *   those of settings, types, recipe and device; in the order of lig_history_column_nth(). The
 *   seed counts only if nothing else differs. Profiles count only if all runs are profiles
 */
GStrv lig_history_find_varying (GPtrArray *rows);

G_END_DECLS
