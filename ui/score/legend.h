/* SPDX-License-Identifier: MIT */
/* The meaning of the brackets' colours, shown while they are coloured by a figure. */
#pragma once

#include "ui/score/sheet.h"

G_BEGIN_DECLS

/* Returns a widget that follows the sheet. */
GtkWidget *lig_score_legend_new (LigScoreSheet *sheet);

G_END_DECLS
