/* SPDX-License-Identifier: MIT */
/* The training settings in a popover, one row each, generated from the engine's table. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns a popover for a menu button. */
GtkWidget *lig_run_settings_list_new (LigDocument *doc);

G_END_DECLS
