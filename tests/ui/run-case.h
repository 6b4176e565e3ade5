/* SPDX-License-Identifier: MIT */
/* What the tests of running share: a session with a store of its own, a window with a document, the
 * run page and the run bar, and waiting for what trainings do. */
#pragma once

#include "ui/document/edit.h"
#include "ui/page.h"
#include "ui/run/bar.h"
#include "ui/run/settings.h"

#include <adwaita.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char *folder, *store;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *page, *bar;
} Fixture;

static inline void
make_window (Fixture *f)
{
  const LigPageInfo *info;
  guint n = 0;
  while ((info = lig_page_info_nth (n++)) && !g_str_equal (info->name, "run"))
    ;
  f->page = g_object_new (info->get_type (), "document", f->doc, "session", f->session, NULL);
  f->bar = lig_run_bar_new (f->doc);
  f->window = g_object_new (GTK_TYPE_APPLICATION_WINDOW, NULL);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *toasts = adw_toast_overlay_new ();
  gtk_widget_set_vexpand (f->page, TRUE);
  gtk_box_append (GTK_BOX (box), f->page);
  gtk_box_append (GTK_BOX (box), f->bar);
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (toasts), box);
  gtk_window_set_child (GTK_WINDOW (f->window), toasts);
  gtk_window_set_default_size (GTK_WINDOW (f->window), 900, 600);
  lig_page_add_actions (LIG_PAGE (f->page), G_ACTION_MAP (f->window));
  gtk_window_present (GTK_WINDOW (f->window));
  gtk_test_widget_wait_for_draw (f->window);
}

static inline void
set_up (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  f->folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  f->store = g_build_filename (f->folder, "store.db", NULL);
  f->session = lig_session_new (f->store, &error);
  g_assert_no_error (error);
  f->doc = lig_document_new (f->session);
  lig_document_set_device (f->doc, "cpu");
  make_window (f);
}

static inline void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  g_object_unref (f->doc);
  g_object_unref (f->session);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_autofree char *command = g_strdup_printf ("rm -r '%s'", f->folder);
  g_assert_cmpint (system (command), ==, 0);
  g_free (f->folder);
  g_free (f->store);
}

/* Iterates the main loop until something holds, at most a minute. */
#define WAIT_FOR(condition) \
  do { \
    gint64 until = g_get_monotonic_time () + 60 * G_USEC_PER_SEC; \
    guint wake = g_timeout_add (5, wake_up, NULL); \
    while (!(condition) && g_get_monotonic_time () < until) \
      g_main_context_iteration (NULL, TRUE); \
    g_source_remove (wake); \
    g_assert_true (condition); \
  } while (0)

static inline gboolean
wake_up (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

static inline LigRunProgress
progress_of (LigTraining *training)
{
  LigRunProgress progress;
  lig_training_get_progress (training, &progress);
  return progress;
}

static inline LigTraining *
current (Fixture *f)
{
  return lig_train_get_current (f->doc);
}

static inline void
act (Fixture *f, const char *action)
{
  g_action_group_activate_action (G_ACTION_GROUP (f->window), action, NULL);
}

static inline gboolean
is_enabled (Fixture *f, const char *action)
{
  return g_action_group_get_action_enabled (G_ACTION_GROUP (f->window), action);
}

static inline void
wait_for_plan (Fixture *f)
{
  WAIT_FOR (!lig_document_is_stale (f->doc));
}

/* A document from an expression, with the settings of a training. */
static inline void
fill (Fixture *f, const char *expression, const char *input, const char *train)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  g_assert_no_error (error);
  g_assert_true (lig_shape_parse (input, &shape, &dtype, &error));
  lig_sequence_set_input (sequence, &shape, dtype);
  lig_sequence_set_train (sequence, train);
  lig_document_replace (f->doc, sequence, "Test");
  wait_for_plan (f);
}

/* The first widget below, or itself, that holds. */
typedef gboolean (*WidgetTest) (GtkWidget *widget, gconstpointer data);

static inline GtkWidget *
find_widget (GtkWidget *from, WidgetTest test, gconstpointer data)
{
  if (test (from, data))
    return from;
  for (GtkWidget *child = gtk_widget_get_first_child (from); child;
       child = gtk_widget_get_next_sibling (child)) {
    GtkWidget *found = find_widget (child, test, data);
    if (found)
      return found;
  }
  return NULL;
}

static inline gboolean
shows_text (GtkWidget *widget, gconstpointer text)
{
  return GTK_IS_LABEL (widget) && gtk_widget_get_mapped (widget) &&
         strstr (gtk_label_get_text (GTK_LABEL (widget)), text);
}

static inline gboolean
acts (GtkWidget *widget, gconstpointer action)
{
  return GTK_IS_ACTIONABLE (widget) && gtk_widget_get_mapped (widget) &&
         g_strcmp0 (gtk_actionable_get_action_name (GTK_ACTIONABLE (widget)), action) == 0;
}

/* In the style of the program; checkpoints go below a folder of this process. */
static inline int
run_window_tests (int argc, char **argv, void (*add) (void))
{
  g_autofree char *folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  g_setenv ("XDG_DATA_HOME", folder, TRUE);
  gtk_test_init (&argc, &argv, NULL);
  adw_init ();
  g_autoptr (GtkCssProvider) style = gtk_css_provider_new ();
  gtk_css_provider_load_from_resource (style, "/org/ligature/Ligature/ui/run/run-page.css");
  gtk_style_context_add_provider_for_display (gdk_display_get_default (),
                                              GTK_STYLE_PROVIDER (style),
                                              GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  add ();
  int status = g_test_run ();
  g_autofree char *command = g_strdup_printf ("rm -r '%s'", folder);
  return system (command) == 0 ? status : 1;
}
