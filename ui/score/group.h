/* SPDX-License-Identifier: MIT */
/* A bracket of a rail: the ops that one kernel computes, or the sum of a block. */
#pragma once

#include "ui/score/map.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_SCORE_GROUP (lig_score_group_get_type ())
G_DECLARE_FINAL_TYPE (LigScoreGroup, lig_score_group, LIG, SCORE_GROUP, GtkWidget)

GtkWidget *lig_score_group_new (LigPass pass);

/* Sets the bracket's number on the map's rail; lig_score_group_bind() fills in its content. */
void lig_score_group_place (LigScoreGroup *self, const LigScoreMap *map, guint number);
void lig_score_group_bind (LigScoreGroup *self, const LigScoreMap *map, guint number);

/* Returns the first and the last op of the plan; FALSE for a block's sum. */
gboolean lig_score_group_get_ops (LigScoreGroup *self, int *first, int *last);

G_END_DECLS
