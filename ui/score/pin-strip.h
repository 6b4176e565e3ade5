/* SPDX-License-Identifier: MIT */
/* The line above the score while a plan is pinned: both plans' step times, and a switch that shows
 * both plans next to each other.
 *
 * Actions: pin.compare shows both plans; pin.save, and pin.save-to with a path, save their
 * comparison as a report; pin.device with a name pins the plan of another device, pin.present the
 * current one; pin.remove. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_PIN_STRIP (lig_pin_strip_get_type ())
G_DECLARE_FINAL_TYPE (LigPinStrip, lig_pin_strip, LIG, PIN_STRIP, GtkWidget)

/* Adds a strip at the top of @place, whose other children the comparison replaces. */
LigPinStrip *lig_pin_strip_attach (GtkBox *place, LigDocument *document);

gboolean lig_pin_strip_is_comparing (LigPinStrip *self);

/* Returns the line with both step times. */
const char *lig_pin_strip_get_text (LigPinStrip *self);

G_END_DECLS
