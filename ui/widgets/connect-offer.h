/* SPDX-License-Identifier: MIT */
/* Offers to connect an op that was just added with the open end of a branch. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * lig_connect_offer:
 * @widget: anywhere in the window
 * @document: a document whose only selected op was just added
 *
 * Shows a toast with a button that connects the op, if it starts or reads a branch and another op
 * has an open end for it; otherwise does nothing.
 */
void lig_connect_offer (GtkWidget *widget, LigDocument *document);

G_END_DECLS
