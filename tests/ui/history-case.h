/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the History page: a window with the page, and waiting. */
#pragma once

#include "tests/store/case.h"
#include "ui/document/document.h"
#include "ui/history/history-page.h"
#include "ui/session/session.h"

#include <adwaita.h>
#include <math.h>
#include <stdlib.h>

typedef struct {
  Fixture files;
  LigSession *session;
  LigDocument *document;
  GtkWidget *window;
  LigHistoryPage *page;
} Page;

/* --- Waiting ------------------------------------------------------------------------------- */

typedef gboolean (*Condition) (Page *p);

static inline gboolean
wake (gpointer unused)
{
  return G_SOURCE_CONTINUE;
}

/* Returns the seconds that passed. */
static inline double
wait_until (Page *p, Condition condition, double seconds)
{
  gint64 start = g_get_monotonic_time ();
  guint source = g_timeout_add (5, wake, NULL);
  while (!condition (p) && (double) (g_get_monotonic_time () - start) / 1e6 < seconds * SLOWNESS)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (source);
  g_assert_true (condition (p));
  return (double) (g_get_monotonic_time () - start) / 1e6;
}

static guint wanted_count;

static inline gboolean
has_count (Page *p)
{
  return lig_run_list_is_loaded (p->page->list) &&
         lig_run_list_get_count (p->page->list) == wanted_count;
}

static inline double
wait_for_count (Page *p, guint count, double seconds)
{
  wanted_count = count;
  return wait_until (p, has_count, seconds);
}

static inline const LigRunRow *
row_at (Page *p, guint position)
{
  g_autoptr (LigRunItem) item = g_list_model_get_item (G_LIST_MODEL (p->page->list), position);
  return item ? lig_run_item_get_row (item) : NULL;
}

static guint wanted_row;

static inline gboolean
has_row (Page *p)
{
  return row_at (p, wanted_row) != NULL;
}

static inline const LigRunRow *
wait_for_row (Page *p, guint position)
{
  wanted_row = position;
  wait_until (p, has_row, 5);
  return row_at (p, position);
}

/* --- A window with the page ---------------------------------------------------------------- */

static inline void
show_page (Page *p, const char *store)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSimpleActionGroup) actions = g_simple_action_group_new ();
  p->session = lig_session_new (store, &error);
  g_assert_no_error (error);
  p->document = lig_document_new (p->session);
  p->page =
    g_object_new (LIG_TYPE_HISTORY_PAGE, "document", p->document, "session", p->session, NULL);
  p->window = adw_window_new ();
  GtkWidget *overlay = adw_toast_overlay_new ();
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (overlay), GTK_WIDGET (p->page));
  adw_window_set_content (ADW_WINDOW (p->window), overlay);
  gtk_window_set_default_size (GTK_WINDOW (p->window), 1400, 860);
  lig_page_add_actions (LIG_PAGE (p->page), G_ACTION_MAP (actions));
  gtk_widget_insert_action_group (p->window, "win", G_ACTION_GROUP (actions));
  gtk_window_present (GTK_WINDOW (p->window));
  gtk_test_widget_wait_for_draw (p->window);
}

static inline void
close_page (Page *p)
{
  gpointer list = p->page->list;
  g_object_add_weak_pointer (list, &list);
  gtk_window_destroy (GTK_WINDOW (p->window));
  g_clear_object (&p->document);
  for (int i = 0; list && i < 1000; i++) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (1000);
  }
  g_assert_null (list);
  g_clear_object (&p->session);
}

static inline void
begin_test (Page *p, gconstpointer data)
{
  set_up (&p->files, NULL);
}

static inline void
end_test (Page *p, gconstpointer data)
{
  tear_down (&p->files, NULL);
}

static gboolean loaded;

static inline void
note_loaded (void)
{
  loaded = TRUE;
}

static inline gboolean
is_loaded (Page *p)
{
  return loaded;
}
