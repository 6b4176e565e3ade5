/* SPDX-License-Identifier: MIT */
/* The verdict card explains why ops are or are not fused into one kernel, and offers edits. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_VERDICT_CARD (lig_verdict_card_get_type ())
G_DECLARE_FINAL_TYPE (LigVerdictCard, lig_verdict_card, LIG, VERDICT_CARD, GtkWidget)

/**
 * lig_verdict_card_new:
 * @first_expanded, @last_expanded: indexes of ops of the plan: the two around a gap, or the first
 *   and last of a bracket
 *
 * Returns a new card. After an edit, it closes the popover that contains it.
 */
GtkWidget *lig_verdict_card_new (LigDocument *document, int first_expanded, int last_expanded);

G_END_DECLS
