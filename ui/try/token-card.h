/* SPDX-License-Identifier: MIT */
/* The card of a generated token: its probability, and the tokens that were more or less likely. */
#pragma once

#include <gtk/gtk.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Returns a popover that leaves the focus where it is. */
GtkWidget *lig_token_card_new (void);

/* Shows a token: a line of `lig generate --lines`. Returns the same as a sentence (transfer
 * full). */
char *lig_token_card_fill (GtkWidget *card, JsonObject *line);

/* Returns the text of a token in a form that shows spaces and line breaks (transfer full). */
char *lig_token_to_visible (const char *text);

/* Formats a probability as `31 %`, `4.2 %` or `< 0.1 %` (transfer full). */
char *lig_token_percent (double probability);

G_END_DECLS
