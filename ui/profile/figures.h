/* SPDX-License-Identifier: MIT */
/* The figures of a profile: a tile for each pass, and policies side by side. */
#pragma once

#include "ui/profile/profiling.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Forward, backward, update, step; @box is filled anew. @profiled: (nullable): not measured. */
void lig_profile_figures_fill (GtkBox *box, LigPlan *plan, const LigProfiled *profiled);

/* Policies side by side: step, ratio to the best, passes, bytes moved; choosing one shows it. */
void lig_profile_figures_compare (GtkGrid *grid, LigProfiling *profiling);

G_END_DECLS
