/* SPDX-License-Identifier: MIT */
/* What the two files of the page History share: its parts, and what is done with selected runs. */
#pragma once

#include "ui/history/chart.h"
#include "ui/history/columns.h"
#include "ui/history/edits.h"
#include "ui/history/filters.h"
#include "ui/history/run-compare.h"
#include "ui/history/run-detail.h"
#include "ui/page.h"

G_BEGIN_DECLS

#define LIG_TYPE_HISTORY_PAGE (lig_history_page_get_type ())
G_DECLARE_FINAL_TYPE (LigHistoryPage, lig_history_page, LIG, HISTORY_PAGE, LigPage)

struct _LigHistoryPage {
  LigPage parent_instance;
  LigHistoryFilters *filters;
  GtkStack *states, *matches, *side, *study;
  GtkRevealer *trouble;
  GtkLabel *trouble_text, *many, *study_title;
  AdwStatusPage *broken;
  GtkColumnView *view;
  LigRunDetail *detail;
  LigHistoryChart *preview, *overlay;
  LigRunCompare *compare;
  GMenuModel *menu;
  LigRunList *list;
  GtkSliceListModel *rows; /* held by the selection */
  GtkMultiSelection *selection;
  LigHistoryColumns *columns;
  LigHistoryEdits *edits;
  GPtrArray *deletions; /* of what can still be undone, the last one last */
  GHashTable *kept;     /* keys that stay selected while the list changes */
  guint poll_source, study_serial;
};

/* Makes the actions history.*. */
void lig_history_install_actions (GtkWidgetClass *class);

/* Enables those that the selection allows. */
void lig_history_update_actions (LigHistoryPage *self);

/* The commands that make the selected runs again, else that which lists all. */
char *lig_history_to_command (LigPage *page);

/* Of the items of `deletions`. */
void lig_history_free_deletion (gpointer deletion);

/* Really deletes what was hidden. */
void lig_history_delete_hidden (LigHistoryPage *self);

/* A deletion that failed: the runs are in the list again. */
void lig_history_show_undeleted (LigHistoryPage *self);

LigStore *lig_history_get_store (LigHistoryPage *self);

/* Keys of the selected runs, in the order of the list. */
GArray *lig_history_get_selected (LigHistoryPage *self);

/* (transfer full) (nullable): the only selected run. */
LigRunItem *lig_history_get_only (LigHistoryPage *self);

/* Shows the selected runs side by side: `overlay` or `compare`. */
void lig_history_study (LigHistoryPage *self, const char *how);
void lig_history_end_study (LigHistoryPage *self);

G_END_DECLS
