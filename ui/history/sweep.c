/* SPDX-License-Identifier: MIT */
/* The view of a sweep is a child of the page's stack, made when it is first shown. */
#include "ui/history/sweep.h"

#include "ui/history/repeat-row.h"
#include "ui/history/sweep-dialog.h"
#include "ui/history/sweep-view.h"
#include "ui/run/settings.h"
#include "ui/widgets/toast.h"
#include <ligature/sequence.h>

#include <glib/gi18n.h>

/* Shows the policy where the window keeps it, because that one has precedence over the file's. */
static void
use_policy (LigDocument *document, LigSweep *sweep, const LigSweepPoint *point)
{
  guint count;
  const LigSweepAxis *axes = lig_sweep_get_axes (sweep, &count);
  for (guint i = 0; i < count; i++)
    if (g_str_equal (axes[i].key, "policy"))
      lig_train_set_policy (document, point->values[i]);
}

/* Sets the values of a point in the document as one edit. */
static void
use_point (LigHistoryPage *self, int number, LigSweepView *view)
{
  guint count;
  GError *error = NULL;
  LigSweep *sweep = lig_sweep_view_get_sweep (view);
  LigDocument *document = lig_page_get_document (LIG_PAGE (self));
  if (number < 0 || !sweep)
    return;
  g_autofree char *settings = lig_sweep_describe_settings (sweep, (guint) number);
  g_autoptr (LigSequence) sequence =
    lig_sweep_apply_point (sweep, (guint) number, lig_document_get_sequence (document), &error);
  if (!sequence) {
    lig_toast_error (GTK_WIDGET (self), error);
    return;
  }
  g_autofree char *before = lig_sequence_to_json (lig_document_get_sequence (document));
  g_autofree char *after = lig_sequence_to_json (sequence);
  gboolean same = g_str_equal (before, after);
  g_autofree char *text = g_strdup_printf (
    same ? _ ("The sequence already has %s") : _ ("The sequence now has %s"), settings);
  g_autofree char *label = g_strdup_printf (_ ("Use %s"), settings);
  if (!same)
    lig_document_replace (document, sequence, label);
  use_policy (document, sweep, &lig_sweep_get_points (sweep, &count)[number]);
  lig_toast (GTK_WIDGET (self), text, same ? NULL : _ ("_Undo"), same ? NULL : "win.undo-document");
}

static LigSweepView *
get_view (LigHistoryPage *self)
{
  GtkWidget *view = gtk_stack_get_child_by_name (self->states, "sweep");
  if (!view) {
    view = lig_sweep_view_new (lig_page_get_session (LIG_PAGE (self)));
    g_signal_connect_object (view, "use", G_CALLBACK (use_point), self, G_CONNECT_SWAPPED);
    gtk_stack_add_named (self->states, view, "sweep");
  }
  return LIG_SWEEP_VIEW (view);
}

void
lig_history_show_sweep (LigHistoryPage *self, const char *sweep)
{
  lig_sweep_view_open (get_view (self), sweep);
  gtk_stack_set_visible_child_name (self->states, "sweep");
}

char *
lig_history_find_sweep (LigHistoryPage *self, char **title)
{
  gboolean shown = g_strcmp0 (gtk_stack_get_visible_child_name (self->states), "sweep") == 0;
  LigSweep *sweep = shown ? lig_sweep_view_get_sweep (get_view (self)) : NULL;
  if (!sweep || !lig_sweep_get_uuid (sweep))
    return NULL;
  *title = g_strdup (lig_sweep_get_name (sweep));
  return g_strdup (lig_sweep_get_uuid (sweep));
}

gboolean
lig_history_leave_sweep (LigHistoryPage *self)
{
  if (g_strcmp0 (gtk_stack_get_visible_child_name (self->states), "sweep") != 0)
    return FALSE;
  gtk_stack_set_visible_child_name (self->states, "list");
  lig_history_update_state (self);
  gtk_widget_grab_focus (GTK_WIDGET (self->view));
  return TRUE;
}

static void
start_sweep (LigHistoryPage *self, LigSweep *sweep)
{
  LigSession *session = lig_page_get_session (LIG_PAGE (self));
  if (!lig_session_get_store (session)) {
    lig_toast_error (GTK_WIDGET (self),
                     g_error_new_literal (LIG_ERROR, LIG_ERROR_STORE,
                                          _ ("a sweep needs a store; choose one first")));
    return;
  }
  lig_sweep_view_follow (get_view (self), lig_sweeping_start (session, g_object_ref (sweep)));
  gtk_stack_set_visible_child_name (self->states, "sweep");
  gtk_widget_activate_action (GTK_WIDGET (self), "win.page", "s", "history");
}

void
lig_history_ask_sweep (LigHistoryPage *self)
{
  GtkWidget *dialog = lig_sweep_dialog_new (lig_page_get_document (LIG_PAGE (self)),
                                            GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self))));
  g_signal_connect_object (dialog, "start", G_CALLBACK (start_sweep), self, G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (dialog));
}

void
lig_history_repeat (LigHistoryPage *self)
{
  LigSession *session = lig_page_get_session (LIG_PAGE (self));
  g_autoptr (LigRunItem) item = lig_history_get_only (self);
  const LigRunRow *row = item ? lig_run_item_get_row (item) : NULL;
  if (!row || !lig_session_get_store (session))
    return;
  lig_repeating_start (session, row->uuid);
  lig_repeat_row_show (lig_run_detail_get_repeat_row (self->detail), session, row->uuid);
}
