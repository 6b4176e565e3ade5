/* SPDX-License-Identifier: MIT */
/* The values of one step: a button for each, which follows the value. */
#pragma once

#include "ui/plan/links.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_PLAN_OPERANDS (lig_plan_operands_get_type ())
G_DECLARE_FINAL_TYPE (LigPlanOperands, lig_plan_operands, LIG, PLAN_OPERANDS, GtkWidget)

/* Signal `follow` with the number of the step that a value leads to. */
GtkWidget *lig_plan_operands_new (void);

/* Shows the values of the step of the links, which must live until the next call; hides itself
 * without a step. The button of the value that was followed last keeps the focus.
 * @links: (nullable) */
void lig_plan_operands_show (LigPlanOperands *self, LigPlan *plan, LigPlanLinks *links);

/* Follows a value like its button; does nothing if it leads nowhere. */
void lig_plan_operands_follow (LigPlanOperands *self, int value);

G_END_DECLS
