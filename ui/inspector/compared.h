/* SPDX-License-Identifier: MIT */
/* The inspector's section on the pinned plan, and the buttons that pin one. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Updates itself when the document changes. */
GtkWidget *lig_compared_new (LigDocument *document);

G_END_DECLS
