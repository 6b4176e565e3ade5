/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the score's room: a score in a window, its map, its actions and keys. */
#pragma once

#include "tests/ui/case.h"
#include "ui/score/score.h"
#include "ui/score/sheet.h"

#include <math.h>

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *score;
  LigScoreSheet *sheet;
  GtkAdjustment *adjustment;
} Fixture;

static inline void
wait_for_score (Fixture *f)
{
  wait_for_plan (f->doc);
  /* Rows that became compact, or a zoom, are laid out in the frame after the one that decides. */
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
set_up (Fixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "null:h200");
  g_settings_set_string (settings_of (f), "score-rows", "automatic");
  g_settings_set_string (settings_of (f), "score-colour", "fusion");
  f->window = gtk_window_new ();
  f->score = lig_score_view_new (f->doc);
  f->sheet = find_type (f->score, LIG_TYPE_SCORE_SHEET);
  GtkWidget *scroller = gtk_widget_get_ancestor (GTK_WIDGET (f->sheet), GTK_TYPE_SCROLLED_WINDOW);
  f->adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scroller));
  show_in (f->window, f->score, 1200, 800);
  wait_for_score (f);
}

static inline void
tear_down (Fixture *f, gconstpointer data)
{
  GtkWidget *score = f->score;
  g_object_add_weak_pointer (G_OBJECT (score), (gpointer *) &score);
  gtk_window_destroy (GTK_WINDOW (f->window));
  WAIT_FOR (!score);
  g_object_unref (f->doc);
  g_object_unref (f->session);
  remove_folder (f->folder);
}

static inline void
show (Fixture *f, const char *expression)
{
  fill_with (f->doc, expression, "64x64:bf16", NULL);
  wait_for_score (f);
}

static inline void
show_long (Fixture *f, guint rows)
{
  static const char *const ops[] = {"layer-norm", "linear(64)", "gelu", "linear(64)"};
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < rows; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? " ! " : "", ops[i % 4]);
  show (f, text->str);
}

static inline const LigScoreMap *
map_of (Fixture *f)
{
  return lig_score_sheet_get_map (f->sheet);
}

static inline const LigScoreSlot *
slot_at (Fixture *f, guint n)
{
  return lig_score_map_get_slot (map_of (f), n);
}

static inline void
act (Fixture *f, const char *action)
{
  g_autofree char *name = g_strconcat ("room.", action, NULL);
  g_assert_true (gtk_widget_activate_action (f->score, name, NULL));
  wait_for_score (f);
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
      wait_for_score (f);
      return;
    }
  }
  g_error ("nothing is bound to %s", key);
}
