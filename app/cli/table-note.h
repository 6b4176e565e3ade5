/* SPDX-License-Identifier: MIT */
/* Facts about the table on which a model was trained: they belong to it like its parameters. */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Says how rows must be made for weights that were trained on standardized ones. */
void lig_cli_note_table (const char *weights);

/* Prints the features and classes of the table of a run's inputs, if it has one. */
void lig_cli_print_table_facts (JsonObject *inputs);

G_END_DECLS
