/* SPDX-License-Identifier: MIT */
/* Shared by the files of the History page: its parts, and the actions on selected runs. */
#pragma once

#include "ui/history/chart.h"
#include "ui/history/columns.h"
#include "ui/history/edits.h"
#include "ui/history/filters.h"
#include "ui/history/groups.h"
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
  GtkRevealer *error_revealer;
  GtkLabel *error_text, *many, *study_title;
  AdwStatusPage *broken;
  GtkColumnView *view;
  LigRunDetail *detail;
  LigHistoryChart *preview, *overlay;
  LigRunCompare *compare;
  LigHistoryGroups *groups;
  GMenuModel *menu;
  LigRunList *list;
  GtkSliceListModel *rows; /* owned by the selection */
  GtkMultiSelection *selection;
  LigHistoryColumns *columns;
  LigHistoryEdits *edits;
  GPtrArray *deletions; /* that can be undone, the most recent last */
  GPtrArray *undeleted; /* GArray: keys of undone deletions, the most recent last */
  GHashTable *kept;     /* keys that stay selected while the list changes */
  guint poll_source, study_serial;
};

/* Creates the actions history.*. */
void lig_history_install_actions (GtkWidgetClass *class);

/* Enables the actions that the selection allows. */
void lig_history_update_actions (LigHistoryPage *self);

/* Returns the commands that repeat the selected runs, or one that lists all runs. */
char *lig_history_to_command (LigPage *page);

/* Return the selected run, and the sweep that is shown instead of the list, for reports. */
char *lig_history_find_run (LigPage *page, char **title);
char *lig_history_find_sweep (LigHistoryPage *self, char **title);

/* Frees an item of `deletions`. */
void lig_history_free_deletion (gpointer deletion);

/* List and undo the deletions. */
GStrv lig_history_list_edits (LigPage *page, gboolean redo);
void lig_history_step (LigPage *page, int steps);

/* Notes that the store has written all deletions, or failed to; and after the list has been read
 * again, stops hiding their runs from it, which the trash shows. */
void lig_history_note_written (LigHistoryPage *self);
void lig_history_show_written (LigHistoryPage *self);

LigStore *lig_history_get_store (LigHistoryPage *self);

/* Returns: (transfer full): the positions of the selected runs in the list. */
GtkBitset *lig_history_get_positions (LigHistoryPage *self);

/* Returns: (transfer full) (nullable): the sweep of the only selected row, a fold or a run. */
char *lig_history_get_sweep (LigHistoryPage *self);

/* Returns the keys of the selected runs, in the order of the list, those of folds included. */
GArray *lig_history_get_selected (LigHistoryPage *self);

/* Returns: (transfer full) (nullable): the only selected run. */
LigRunItem *lig_history_get_only (LigHistoryPage *self);

/* Shows the list, its groups, a message, or the comparison. */
void lig_history_update_state (LigHistoryPage *self);

/* Shows the selected runs together: `overlay` or `compare`; null for the preview next to the list.
 */
void lig_history_study (LigHistoryPage *self, const char *how);

/* Compares two runs, given by their uuids. */
void lig_history_compare (LigHistoryPage *self, const char *run, const char *other);
void lig_history_end_study (LigHistoryPage *self);

G_END_DECLS
