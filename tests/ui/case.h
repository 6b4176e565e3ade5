/* SPDX-License-Identifier: MIT */
/* Shared by the tests of widgets: showing one, finding its parts, waiting for a frame, and `main`.
 */
#pragma once

#include "tests/document/case.h"

#include <adwaita.h>

static inline void
note_paint (gboolean *painted)
{
  *painted = TRUE;
}

/* gtk_test_widget_wait_for_draw() removes a source that may already have run on a busy machine. */
static inline void
wait_for_frame (GtkWidget *window)
{
  gboolean painted = FALSE;
  GdkFrameClock *clock = gtk_widget_get_frame_clock (window);
  gulong handler =
    g_signal_connect_swapped (clock, "after-paint", G_CALLBACK (note_paint), &painted);
  gtk_widget_queue_draw (window);
  while (!painted)
    g_main_context_iteration (NULL, TRUE);
  g_signal_handler_disconnect (clock, handler);
}

/* @window: a new one, without a child */
static inline void
show_in (GtkWidget *window, GtkWidget *child, int width, int height)
{
  gtk_window_set_default_size (GTK_WINDOW (window), width, height);
  gtk_window_set_child (GTK_WINDOW (window), child);
  gtk_window_present (GTK_WINDOW (window));
  wait_for_frame (window);
}

/* Returns the first widget in @root, including @root, for which @test holds, or null. */
typedef gboolean (*WidgetTest) (GtkWidget *widget, gconstpointer data);

static inline GtkWidget *
find_widget (GtkWidget *root, WidgetTest test, gconstpointer data)
{
  if (test (root, data))
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child;
       child = gtk_widget_get_next_sibling (child)) {
    GtkWidget *found = find_widget (child, test, data);
    if (found)
      return found;
  }
  return NULL;
}

static inline gboolean
has_type (GtkWidget *widget, gconstpointer type)
{
  return G_TYPE_CHECK_INSTANCE_TYPE (widget, *(const GType *) type);
}

static inline gpointer
find_type (GtkWidget *root, GType type)
{
  return find_widget (root, has_type, &type);
}

static inline gboolean
shows_text (GtkWidget *widget, gconstpointer text)
{
  return GTK_IS_LABEL (widget) && gtk_widget_get_mapped (widget) &&
         strstr (gtk_label_get_text (GTK_LABEL (widget)), text);
}

static inline gboolean
has_action (GtkWidget *widget, gconstpointer action)
{
  return GTK_IS_ACTIONABLE (widget) && gtk_widget_get_mapped (widget) &&
         g_strcmp0 (gtk_actionable_get_action_name (GTK_ACTIONABLE (widget)), action) == 0;
}

/* Calls @add, which adds the tests, and runs them. The process has its own user data folder. */
static inline int
run_window_tests (int argc, char **argv, void (*add) (void))
{
  char *folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  g_setenv ("XDG_DATA_HOME", folder, TRUE);
  gtk_test_init (&argc, &argv, NULL);
  adw_init ();
  add ();
  int status = g_test_run ();
  remove_folder (folder);
  return status;
}
