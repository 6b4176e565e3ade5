/* SPDX-License-Identifier: MIT */
/* The overview of the score next to its scrolled window: every bracket of both passes, coloured by
 * its figure, and a frame around the visible part. */
#pragma once

#include "ui/score/sheet.h"

G_BEGIN_DECLS

#define LIG_TYPE_SCORE_STRIP (lig_score_strip_get_type ())
G_DECLARE_FINAL_TYPE (LigScoreStrip, lig_score_strip, LIG, SCORE_STRIP, GtkWidget)

/* Shows a sheet that an adjustment scrolls. */
void
lig_score_strip_set_sheet (LigScoreStrip *self, LigScoreSheet *sheet, GtkAdjustment *adjustment);

G_END_DECLS
