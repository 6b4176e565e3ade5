/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the score's view controls: settings, actions and keys. */
#pragma once

#include "tests/ui/score-case.h"

#include <math.h>

static inline void
settle (Fixture *f)
{
  wait_for_plan (f->doc);
  /* A change to compact rows, or a zoom, is laid out one frame after the decision. */
  for (guint i = 0; i < 3; i++) {
    wait_for_frame (f->window);
    while (g_main_context_iteration (NULL, FALSE))
      continue;
  }
}

static inline GSettings *
settings_of (Fixture *f)
{
  return lig_session_get_settings (f->session);
}

static inline void
set_up_view (Fixture *f, gconstpointer data)
{
  make_score (f, "null:h200");
  g_settings_set_string (settings_of (f), "score-rows", "automatic");
  g_settings_set_string (settings_of (f), "score-colour", "fusion");
  show_in (f->window, f->score, 1200, 800);
  settle (f);
}

static inline void
show (Fixture *f, const char *expression)
{
  fill_with (f->doc, expression, "64x64:bf16", NULL);
  settle (f);
}

static inline void
show_rows (Fixture *f, guint rows)
{
  show_long (f, usual_ops, rows);
  settle (f);
}

static inline void
act (Fixture *f, const char *action)
{
  g_autofree char *name = g_strconcat ("view.", action, NULL);
  g_assert_true (gtk_widget_activate_action (f->score, name, NULL));
  settle (f);
}

/* Presses a key that a controller or the class of the widget has bound. */
static inline void
press (Fixture *f, GtkWidget *widget, const char *key)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);
  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++) {
    g_autoptr (GObject) controller = g_list_model_get_item (controllers, i);
    if (!GTK_IS_SHORTCUT_CONTROLLER (controller))
      continue;
    for (guint k = 0; k < g_list_model_get_n_items (G_LIST_MODEL (controller)); k++) {
      g_autoptr (GtkShortcut) shortcut = g_list_model_get_item (G_LIST_MODEL (controller), k);
      g_autofree char *trigger =
        gtk_shortcut_trigger_to_string (gtk_shortcut_get_trigger (shortcut));
      g_auto (GStrv) keys = g_strsplit (trigger, "|", -1);
      if (!g_strv_contains ((const char *const *) keys, key))
        continue;
      g_assert_true (gtk_shortcut_action_activate (gtk_shortcut_get_action (shortcut), 0, widget,
                                                   gtk_shortcut_get_arguments (shortcut)));
      settle (f);
      return;
    }
  }
  g_error ("nothing is bound to %s", key);
}
