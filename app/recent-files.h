/* SPDX-License-Identifier: MIT */
/* The menu of recently used sequences. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Keeps a menu filled with the files that this program opened or saved last, newest first, as
 * long as it exists. Each item activates `app.open-file` with its path. */
void lig_recent_files_fill (GMenu *menu);

G_END_DECLS
