/* SPDX-License-Identifier: MIT */
/* Chooses the file of another sequence, whose plan is pinned and compared with the document's. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct _LigDocument LigDocument;

/* @widget: in the page whose toasts report errors, and over whose window the chooser is shown */
void lig_compare_with_choose (GtkWidget *widget, LigDocument *document);

/* Pins the plan of the sequence in a file; an error is shown as a toast. */
void lig_compare_with_file (GtkWidget *widget, LigDocument *document, const char *path);

G_END_DECLS
