/* SPDX-License-Identifier: MIT */
/* Notes on stderr about a plan or about weights, which the results do not show. */
#pragma once

#include <glib.h>

typedef struct _LigPlan LigPlan;

G_BEGIN_DECLS

/* Notes how input rows must be standardized for weights that were trained on standardized rows. */
void lig_cli_note_table (const char *weights);

/* Notes which matmuls of a plan stay in the compute type although a recipe was requested; nothing
 * if there are none. */
void lig_cli_note_recipe (LigPlan *plan);

G_END_DECLS
