/* SPDX-License-Identifier: MIT */
/* The bar below the score: device, policy, settings and data, and the progress of the run. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_RUN_BAR (lig_run_bar_get_type ())
G_DECLARE_FINAL_TYPE (LigRunBar, lig_run_bar, LIG, RUN_BAR, GtkWidget)

/* Returns the bar. Its buttons are the actions win.run, win.pause, win.stop and win.profile. */
GtkWidget *lig_run_bar_new (LigDocument *doc);

G_END_DECLS
