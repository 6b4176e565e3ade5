/* SPDX-License-Identifier: MIT */
/* Rows of a label, a bar and a figure: probabilities, influences. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The row of a list of bars.
 *
 * @share: the length of the bar, 0 to 1; of a signed one -1 to 1, from the middle
 * @figure: the text on the right, translated
 * @strong: whether it is the row that the others are compared with
 * @class: (nullable): a style class of the bar: `warning` */
typedef struct {
  const char *label;
  double share;
  gboolean is_signed;
  const char *figure;
  gboolean strong;
  const char *class;
} LigBarRow;

/* Returns a grid without rows. */
GtkGrid *lig_bars_new (void);
void lig_bars_clear (GtkGrid *self);
void lig_bars_add (GtkGrid *self, const LigBarRow *row);

/* Returns a bar without a label. */
GtkWidget *lig_bar_new (double share, gboolean is_signed, const char *class);

G_END_DECLS
