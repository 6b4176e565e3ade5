/* SPDX-License-Identifier: MIT */
/* The largest batch and the longest context on the document's device, and the time per
 * token as a curve. */
#pragma once

#include "ui/document/savings.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns the card of an axis, which is hidden while there is nothing to show. */
GtkWidget *lig_capacity_card_new (LigDocument *document, LigCapacityAxis axis);

G_END_DECLS
