/* SPDX-License-Identifier: MIT */
/* The figures of a profile: a tile for each pass, and a comparison of policies. */
#pragma once

#include "ui/profile/profiling.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Fills @box with forward, backward, update and step. @profiled: (nullable): null before measuring.
 */
void lig_profile_figures_fill (GtkBox *box, LigPlan *plan, const LigProfiled *profiled);

/* Returns a card with a figure; @first, @second: (nullable): dim lines below it. */
GtkWidget *
lig_profile_tile_new (const char *title, const char *figure, const char *first, const char *second);

/* Compares policies: the step with its spread, the difference from the best, passes, bytes moved;
 * choosing a policy shows it. */
void lig_profile_figures_compare (GtkGrid *grid, LigProfiling *profiling);

/* Returns a right-aligned number with a dim line below it. @note, @class: (nullable) */
GtkWidget *lig_profile_cell_new (const char *text, const char *note, const char *class);

/* Puts a median with its quartiles into a cell of a table. */
void lig_profile_attach_spread (GtkGrid *grid, int column, int row, const LigSpread *spread);

G_END_DECLS
