/* SPDX-License-Identifier: MIT */
/* The waits of ranks on the page Profile. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns a section with the waits of the newest training by several ranks, which it looks for when
 * the page is shown, and after edits; without one it is invisible. */
GtkWidget *lig_rank_section_new (LigDocument *document, GtkWidget *page);

G_END_DECLS
