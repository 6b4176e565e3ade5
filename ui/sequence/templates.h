/* SPDX-License-Identifier: MIT */
/* A window of sequences to begin with, each with a picture of its score. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_TEMPLATES (lig_templates_get_type ())
G_DECLARE_FINAL_TYPE (LigTemplates, lig_templates, LIG, TEMPLATES, AdwWindow)

/* A modal window; choosing a template makes it the document's sequence, as one edit. */
GtkWidget *lig_templates_new (LigDocument *doc);

/* For win.templates: opens it above the window that @widget lies in. */
void lig_templates_present (GtkWidget *widget, LigDocument *doc);

G_END_DECLS
