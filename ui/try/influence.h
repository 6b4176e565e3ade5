/* SPDX-License-Identifier: MIT */
/* The columns that move a prediction most: gradient times input. */
#pragma once

#include <gtk/gtk.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Fills the bars with the columns of the largest influence, the largest first. @influence:
 * (nullable): a number for each feature of the model */
void lig_influence_show (GtkGrid *bars, JsonObject *model, JsonArray *influence);

G_END_DECLS
