/* SPDX-License-Identifier: MIT */
/* An amount that is saved or costs: its text above a bar to the left or to the right of zero. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* @text: `−3.80 ms`, translated. @share: of the largest amount of its list, -1 to 1, negative if it
 * is saved; NaN: unknown */
GtkWidget *lig_saving_amount_new (const char *text, double share);

G_END_DECLS
