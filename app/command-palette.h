/* SPDX-License-Identifier: MIT */
/* The command palette: a search over everything that the window can do, with the keys. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Shows the palette above a window. An activated command closes it, then acts on the window. */
void lig_command_palette_show (GtkWindow *window);

G_END_DECLS
