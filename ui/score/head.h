/* SPDX-License-Identifier: MIT */
/* The heads of the score's columns: time and savings of each pass, and the input. */
#pragma once

#include "ui/score/sheet.h"

G_BEGIN_DECLS

#define LIG_TYPE_SCORE_HEAD (lig_score_head_get_type ())
G_DECLARE_FINAL_TYPE (LigScoreHead, lig_score_head, LIG, SCORE_HEAD, GtkWidget)

void lig_score_head_update (LigScoreHead *self, LigScoreSheet *sheet);

G_END_DECLS
