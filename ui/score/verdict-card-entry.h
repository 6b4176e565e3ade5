/* SPDX-License-Identifier: MIT */
/* One entry of the verdict card: a fusion, its gain, the reason, and buttons for edits. */
#pragma once

#include "ui/document/document.h"
#include <ligature/plan.h>
#include <ligature/verdict.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns a label that wraps. @class: (nullable): a CSS class */
GtkWidget *lig_card_label_new (const char *text, const char *class);

/* Returns an entry for a verdict of the plan. @fence: (nullable): the path of the fence that the
 * card's own button removes; the entry gets no button for it */
GtkWidget *lig_card_entry_new (LigDocument *document,
                               LigPlan *plan,
                               const LigVerdict *verdict,
                               const char *fence);

/* Returns the kernels of a group and the bytes that they move. */
GtkWidget *lig_card_kernels_new (LigPlan *plan, const LigPlanGroup *group);

/* Returns one line for a fusion with a pattern that does not match. */
GtkWidget *lig_card_miss_new (const LigVerdict *verdict);

/* Finds the first op of the sequence after plan op @first and up to @last, and returns a button
 * that adds or removes a fence before it. If there is a fence, its path is in @fence, and the
 * button shows the largest gain of the @verdicts that the fence blocks. Returns: (nullable)
 * @fence: (out) (transfer full) (nullable) */
GtkWidget *lig_card_fence_new (
  LigDocument *document, LigPlan *plan, int first, int last, GPtrArray *verdicts, char **fence);

G_END_DECLS
