/* SPDX-License-Identifier: MIT */
/* Notes on stderr about a plan or about weights, of which the results show nothing. */
#pragma once

#include <glib.h>

typedef struct _LigPlan LigPlan;

G_BEGIN_DECLS

/* Says how rows must be made for weights that were trained on standardized ones. */
void lig_cli_note_table (const char *weights);

/* Says which matmuls of a plan stay in the compute type although a recipe was asked for; nothing
 * if there are none. */
void lig_cli_note_recipe (LigPlan *plan);

G_END_DECLS
