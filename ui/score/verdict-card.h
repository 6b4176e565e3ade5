/* SPDX-License-Identifier: MIT */
/* The verdict card explains why ops are or are not fused into one kernel, separately for forward
 * and backward, and offers edits. */
#pragma once

#include "ui/document/document.h"
#include <ligature/plan.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_VERDICT_CARD (lig_verdict_card_get_type ())
G_DECLARE_FINAL_TYPE (LigVerdictCard, lig_verdict_card, LIG, VERDICT_CARD, GtkWidget)

/**
 * lig_verdict_card_new:
 * @first_expanded, @last_expanded: indexes of ops of the plan: the two around a gap, or the first
 *   and last of a bracket
 * @pass: that of a bracket; %LIG_PASS_JOINT: a gap, about both passes
 *
 * Returns a new card. After an edit, it closes the popover that contains it.
 */
GtkWidget *
lig_verdict_card_new (LigDocument *document, int first_expanded, int last_expanded, LigPass pass);

/* Limits the height, beyond which the card scrolls. */
void lig_verdict_card_set_height (LigVerdictCard *self, int height);

/* Returns the card's title, for the popover around it. */
const char *lig_verdict_card_get_title (LigVerdictCard *self);

/* Empties the card, so that it keeps neither document nor plan alive. */
void lig_verdict_card_clear (LigVerdictCard *self);

G_END_DECLS
