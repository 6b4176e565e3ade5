/* SPDX-License-Identifier: MIT */
/* A saving as a row: what to change, time and memory, and the buttons that try and make it. */
#pragma once

#include "ui/document/savings.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The largest amounts of a list, to which the bars of its rows are scaled. */
typedef struct {
  double seconds, memory;
} LigSavingScale;

void lig_saving_scale_find (LigSavingScale *self, GPtrArray *savings);

/* Returns the buttons Try and Apply of a saving of the current plan. Try leads to the score, which
 * shows the preview until Escape or the next edit. */
GtkWidget *lig_saving_buttons_new (LigDocument *document, const LigSaving *saving);

/* Returns a row for the panel. @columns: (array length=3): size groups of time, memory, buttons */
GtkWidget *lig_saving_row_new (LigDocument *document,
                               const LigSaving *saving,
                               const LigSavingScale *scale,
                               GtkSizeGroup *const columns[3]);

G_END_DECLS
