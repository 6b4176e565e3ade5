/* SPDX-License-Identifier: MIT */
/* Tables of a plan's steps and of its values: sorted by any column, searched. */
#pragma once

#include "ui/plan/links.h"
#include "ui/plan/list.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_PLAN_TABLE (lig_plan_table_get_type ())
G_DECLARE_FINAL_TYPE (LigPlanTable, lig_plan_table, LIG, PLAN_TABLE, GtkWidget)

/* Signals `activated` with the #LigPlanItem of a row, and `selected`. */
GtkWidget *lig_plan_table_new (LigPlanListKind kind);
void lig_plan_table_set_plan (LigPlanTable *self, LigPlan *plan);

/* Shows the rows that contain the text; all for null or an empty text. */
void lig_plan_table_search (LigPlanTable *self, const char *text);

/* Selects the row of a step or value, and scrolls to it; returns FALSE if the search hides it. */
gboolean lig_plan_table_select (LigPlanTable *self, guint index);

/* Returns the number of the selected step or value, or -1. */
int lig_plan_table_get_selected (LigPlanTable *self);

/* Marks the rows that are connected with the step of the links, which must live until the next
 * call.
 * @links: (nullable) */
void lig_plan_table_set_links (LigPlanTable *self, LigPlanLinks *links);

/* Returns the rows as shown. */
GListModel *lig_plan_table_get_rows (LigPlanTable *self);
GtkColumnView *lig_plan_table_get_view (LigPlanTable *self);

G_END_DECLS
