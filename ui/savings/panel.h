/* SPDX-License-Identifier: MIT */
/* The panel Savings: every change that would save time or memory, best first, and what fits the
 * device. It takes the place of the score. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

typedef struct _LigDocument LigDocument;

#define LIG_TYPE_SAVINGS_PANEL (lig_savings_panel_get_type ())
G_DECLARE_FINAL_TYPE (LigSavingsPanel, lig_savings_panel, LIG, SAVINGS_PANEL, AdwBin)

GtkWidget *lig_savings_panel_new (LigDocument *document);

G_END_DECLS
