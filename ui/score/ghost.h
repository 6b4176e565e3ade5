/* SPDX-License-Identifier: MIT */
/* The document's preview over the score's sheet: changed groups as dashed brackets, and a line with
 * the step's time and its change. */
#pragma once

#include "ui/document/document.h"
#include "ui/score/host.h"

G_BEGIN_DECLS

#define LIG_TYPE_SCORE_GHOST (lig_score_ghost_get_type ())
G_DECLARE_FINAL_TYPE (LigScoreGhost, lig_score_ghost, LIG, SCORE_GHOST, GtkWidget)

/* Returns a child of @host, which allocates it on top of itself and draws it last. */
GtkWidget *lig_score_ghost_new (LigScoreHost *host, LigDocument *document);

/* Keeps the line in sight after scrolling. */
void lig_score_ghost_follow (LigScoreGhost *self);

/* Returns the number of dashed brackets, and the extent of one. */
guint lig_score_ghost_count (LigScoreGhost *self);
void lig_score_ghost_get (LigScoreGhost *self, guint n, LigPass *pass, int *y, int *height);

/* Returns the line's text; empty without a preview. */
const char *lig_score_ghost_get_text (LigScoreGhost *self);

G_END_DECLS
