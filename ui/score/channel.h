/* SPDX-License-Identifier: MIT */
/* A channel of the score from one row to another: focused, renamed and disconnected like a row. The
 * sheet draws it; the widget covers its lane. */
#pragma once

#include "ui/score/map.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_SCORE_CHANNEL (lig_score_channel_get_type ())
G_DECLARE_FINAL_TYPE (LigScoreChannel, lig_score_channel, LIG, SCORE_CHANNEL, GtkWidget)

GtkWidget *lig_score_channel_new (LigDocument *document);

/* Shows the channel of that number in the map's arcs. */
void lig_score_channel_bind (LigScoreChannel *self, const LigScoreMap *map, guint number);

guint lig_score_channel_get_number (LigScoreChannel *self);

/* Returns whether it has the focus or the pointer, and so is highlighted. */
gboolean lig_score_channel_is_lit (LigScoreChannel *self);

/* Opens the entry for its name. */
void lig_score_channel_rename (LigScoreChannel *self);

G_END_DECLS
