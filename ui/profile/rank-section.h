/* SPDX-License-Identifier: MIT */
/* The waits of ranks on the Profile page. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns a section with the waits of the newest training run on several ranks, which it looks up
 * when the page is shown and after edits; invisible without one. */
GtkWidget *lig_rank_section_new (LigDocument *document, GtkWidget *page);

G_END_DECLS
