/* SPDX-License-Identifier: MIT */
/* The window with all keys. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

void lig_help_overlay_show (GtkWindow *parent);

G_END_DECLS
