/* SPDX-License-Identifier: MIT */
/* The inspector's section on the changes that would save most. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct _LigDocument LigDocument;

/* Returns the section, hidden while there is nothing to save. */
GtkWidget *lig_best_savings_new (LigDocument *document);

G_END_DECLS
