/* SPDX-License-Identifier: MIT */
/* The table of recipes: times, memory, and errors of output and gradients, a row for each. */
#pragma once

#include "ui/profile/comparing.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Fills the grid with the results; a recipe that cannot be compared has the reason in its row. */
void lig_recipe_table_fill (GtkGrid *grid, LigComparing *comparing);

/* Returns: (transfer full) (nullable): how it was measured, and any reason to doubt the times; null
 * without results */
char *lig_recipe_table_describe (LigComparing *comparing);

G_END_DECLS
