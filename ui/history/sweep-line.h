/* SPDX-License-Identifier: MIT */
/* A setting of a new sweep and the values to try. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_SWEEP_LINE (lig_sweep_line_get_type ())
G_DECLARE_FINAL_TYPE (LigSweepLine, lig_sweep_line, LIG, SWEEP_LINE, GtkBox)

/**
 * LigSweepLine::changed, LigSweepLine::removed:
 *
 * Emitted when the setting or its values changed; when the user removes the line.
 */

/* Returns a line for one of the settings of the document, with these values. */
GtkWidget *lig_sweep_line_new (LigDocument *doc, const char *key, const char *values);

/* Returns: (transfer full) (nullable): `lr=0.1,0.01`, null without values. */
char *lig_sweep_line_get_over (LigSweepLine *self);

/* Shows an error below the values; null: none. */
void lig_sweep_line_set_error (LigSweepLine *self, const char *message);

G_END_DECLS
