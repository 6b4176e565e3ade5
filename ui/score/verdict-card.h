/* SPDX-License-Identifier: MIT */
/* The verdict card: why there is or is not one kernel at a place, and what to do about it. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_VERDICT_CARD (lig_verdict_card_get_type ())
G_DECLARE_FINAL_TYPE (LigVerdictCard, lig_verdict_card, LIG, VERDICT_CARD, GtkWidget)

/**
 * lig_verdict_card_new:
 * @first_expanded, @last_expanded: ops of the plan: the two around a gap, or those of a bracket
 *
 * Closes the popover that it lies in after an edit.
 */
GtkWidget *lig_verdict_card_new (LigDocument *document, int first_expanded, int last_expanded);

G_END_DECLS
