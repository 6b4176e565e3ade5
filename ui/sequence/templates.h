/* SPDX-License-Identifier: MIT */
/* A window of example sequences, each with a picture of its score. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_TEMPLATES (lig_templates_get_type ())
G_DECLARE_FINAL_TYPE (LigTemplates, lig_templates, LIG, TEMPLATES, AdwWindow)

/* Returns a modal window; choosing a template makes it the document's sequence, as one edit. */
GtkWidget *lig_templates_new (LigDocument *doc);

/* Opens it above the window that contains @widget, for win.templates. */
void lig_templates_present (GtkWidget *widget, LigDocument *doc);

G_END_DECLS
