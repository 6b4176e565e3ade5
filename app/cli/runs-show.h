/* SPDX-License-Identifier: MIT */
/* The longer parts of `lig runs show`. */
#pragma once

#include "app/cli/runs.h"

G_BEGIN_DECLS

/* Prints the input and the ops of the run's sequence, as an expression that can be pasted. */
void lig_runs_print_sequence (const LigRunRow *row);

/* Prints the settings, one per line, with the default of each that differs from it. */
void lig_runs_print_settings (const LigRunRow *row);

/* Prints the times of a profile. Returns FALSE with an error set if the store cannot be read. */
gboolean lig_runs_print_times (LigStore *store, const LigRunRow *row, GError **error);

/* Prints the errors of the recipes that a profile compared. Returns FALSE with an error set if the
 * store cannot be read. */
gboolean lig_runs_print_errors (LigStore *store, const LigRunRow *row, GError **error);

/* Prints the last histograms of weights and gradients, or says that the run has none. Returns FALSE
 * with an error set if the store cannot be read. */
gboolean lig_runs_print_histograms (LigStore *store, const LigRunRow *row, GError **error);

/* Prints the load of the experts, if the run has any. Returns FALSE with an error set if the store
 * cannot be read. */
gboolean lig_runs_print_loads (LigStore *store, const LigRunRow *row, GError **error);

/* Prints the known measurement conditions of a profile, one per line. */
void lig_runs_print_conditions (const LigRunRow *row);

/* Prints every decision about a fusion with its ops. */
void lig_runs_print_verdicts (const LigRunRow *row, GPtrArray *verdicts);

/* Prints the features and classes of the table that the run was trained on (nullable), if there is
 * one: a model needs them like its parameters. */
void lig_runs_print_table (JsonObject *inputs);

G_END_DECLS
