/* SPDX-License-Identifier: MIT */
/* The bar below the score: where, how and on what to train, and how the training goes. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_RUN_BAR (lig_run_bar_get_type ())
G_DECLARE_FINAL_TYPE (LigRunBar, lig_run_bar, LIG, RUN_BAR, GtkWidget)

/* Its Train button is the action win.run, Pause win.pause, Stop win.stop, Profile win.profile. */
GtkWidget *lig_run_bar_new (LigDocument *doc);

G_END_DECLS
