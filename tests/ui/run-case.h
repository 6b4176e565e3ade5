/* SPDX-License-Identifier: MIT */
/* Shared by the tests of running: a window with a document, the Run page and the run bar, and
 * waiting for runs. */
#pragma once

#include "tests/ui/case.h"
#include "ui/document/edit.h"
#include "ui/page.h"
#include "ui/run/bar.h"
#include "ui/run/settings.h"
#include "ui/widgets/fold.h"

#include <glib/gstdio.h>
#include <math.h>

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *page, *bar;
} Fixture;

static inline gboolean
is_closed (GtkWidget *widget, gconstpointer data)
{
  return LIG_IS_FOLD (widget) && !lig_fold_get_open (LIG_FOLD (widget));
}

/* Opens all groups of settings in a popover. */
static inline void
open_groups (GtkWidget *popover)
{
  GtkWidget *group;
  while ((group = find_widget (popover, is_closed, NULL)))
    lig_fold_set_open (LIG_FOLD (group), TRUE);
}

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
  lig_page_add_actions (LIG_PAGE (f->page), G_ACTION_MAP (f->window));
  show_in (f->window, toasts, 900, 600);
}

static inline void
set_up (Fixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "cpu");
  make_window (f);
}

static inline void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  free_document (f->folder, f->session, f->doc);
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

/* Fills the document from an expression, with training settings. */
static inline void
prepare (Fixture *f, const char *expression, const char *input, const char *train)
{
  fill_with (f->doc, expression, input, train);
  wait_for_plan (f->doc);
}

/* Loads the program's style. */
static inline void
load_run_style (void)
{
  g_autoptr (GtkCssProvider) style = gtk_css_provider_new ();
  gtk_css_provider_load_from_resource (style, "/org/ligature/Ligature/ui/run/run-page.css");
  gtk_style_context_add_provider_for_display (gdk_display_get_default (),
                                              GTK_STYLE_PROVIDER (style),
                                              GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
}
