/* SPDX-License-Identifier: MIT */
/* A small picture of a spread: a box from quartile to quartile with a line at the median, on a
 * scale that several of them share. */
#pragma once

#include <ligature/spread.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * lig_spread_bar_new:
 * @spread: drawn; copied
 * @min, @max: the values at the left and the right end
 * @text: the same for screen readers
 */
GtkWidget *lig_spread_bar_new (const LigSpread *spread, double min, double max, const char *text);

G_END_DECLS
