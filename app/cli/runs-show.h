/* SPDX-License-Identifier: MIT */
/* The longer parts of `lig runs show`. */
#pragma once

#include "app/cli/runs.h"

G_BEGIN_DECLS

/* Prints the input and the ops of the run's sequence, as an expression that can be pasted. */
void lig_runs_print_sequence (const LigRunRow *row);

/* Prints the settings, one on each line, with the defaults of those that differ from them. */
void lig_runs_print_settings (const LigRunRow *row);

/* Prints the times of a profile. Returns FALSE with an error set if the store cannot be read. */
gboolean lig_runs_print_times (LigStore *store, const LigRunRow *row, GError **error);

/* Prints the errors of the recipes that were compared with a profile. Returns FALSE with an error
 * set if the store cannot be read. */
gboolean lig_runs_print_errors (LigStore *store, const LigRunRow *row, GError **error);

/* Prints the known conditions under which a profile was measured, one on each line. */
void lig_runs_print_conditions (const LigRunRow *row);

/* Prints every decision about a fusion with the ops that it is about. */
void lig_runs_print_verdicts (const LigRunRow *row, GPtrArray *verdicts);

/* Prints the features and classes of the table of the run's inputs (nullable), if it has one: they
 * belong to a model like its parameters. */
void lig_runs_print_table (JsonObject *inputs);

G_END_DECLS
