/* SPDX-License-Identifier: MIT */
/* A legend of the brackets' colours, shown while a figure determines them. */
#pragma once

#include "ui/score/sheet.h"

G_BEGIN_DECLS

/* Returns a widget that updates with the sheet. */
GtkWidget *lig_score_legend_new (LigScoreSheet *sheet);

G_END_DECLS
