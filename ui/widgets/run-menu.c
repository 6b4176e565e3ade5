/* SPDX-License-Identifier: MIT */
#include "ui/widgets/run-menu.h"

#include "ui/session/task.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"
#include <ligature/store.h>

#include <glib/gi18n.h>
#include <math.h>

/* The maximum number of runs that are listed, and of those that are read for it; the history has
 * all. */
enum { MAX_RUNS = 20, MAX_READ = 500 };

struct _LigRunMenu {
  AdwBin parent_instance;
  GtkMenuButton *button;
  GtkListBox *list;
  GtkWidget *empty;
  LigStore *store;
  char *run;
  guint serial;
};

G_DEFINE_FINAL_TYPE (LigRunMenu, lig_run_menu, ADW_TYPE_BIN)

static guint chosen_signal;

/* --- The list ------------------------------------------------------------------------------ */

static char *
describe (const LigRunRow *row)
{
  gboolean validated = isfinite (row->eval_loss);
  double loss = validated ? row->eval_loss : row->last_loss;
  g_autofree char *ago = lig_figure_ago (row->started);
  if (!isfinite (loss))
    return g_steal_pointer (&ago);
  g_autofree char *text =
    g_strdup_printf (validated ? _ ("validation loss %.4g") : _ ("loss %.4g"), loss);
  return g_strdup_printf ("%s · %s", text, ago);
}

static void
append_label (GtkWidget *box, const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (label, class);
  lig_tooltip_when_cut (GTK_LABEL (label));
  gtk_box_append (GTK_BOX (box), label);
}

static GtkWidget *
make_row (const LigRunRow *run)
{
  GtkWidget *row = gtk_list_box_row_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  g_autofree char *excerpt = lig_figure_excerpt (run->name);
  const char *name = *excerpt ? excerpt : _ ("Without a name");
  g_autofree char *text = describe (run);
  append_label (box, name, "heading");
  append_label (box, text, "dim-label");
  gtk_widget_add_css_class (box, "run-menu-row");
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
  g_object_set_data_full (G_OBJECT (row), "run", g_strdup (run->uuid), g_free);
  return row;
}

static void
fill (LigRunMenu *self, GPtrArray *rows)
{
  GtkWidget *child;
  guint listed = 0;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->list))))
    gtk_list_box_remove (self->list, child);
  for (guint i = 0; rows && i < rows->len && listed < MAX_RUNS; i++) {
    const LigRunRow *row = rows->pdata[i];
    /* The runs of a sweep are compared by its own view. */
    if (row->point >= 0 || g_strcmp0 (row->uuid, self->run) == 0)
      continue;
    gtk_list_box_append (self->list, make_row (row));
    listed++;
  }
  gtk_widget_set_visible (self->empty, listed == 0);
}

/* --- Reading on a thread ------------------------------------------------------------------- */

static void
read_runs (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const LigRunFilter filter = {.kind = "train", .limit = MAX_READ};
  g_task_return_pointer (task, lig_store_list_runs (data, &filter, NULL),
                         (GDestroyNotify) g_ptr_array_unref);
}

static void
take_runs (GObject *source, GAsyncResult *result, gpointer serial)
{
  LigRunMenu *self = LIG_RUN_MENU (source);
  g_autoptr (GPtrArray) rows = g_task_propagate_pointer (G_TASK (result), NULL);
  if (self->list && GPOINTER_TO_UINT (serial) == self->serial)
    fill (self, rows);
}

static void
look (LigRunMenu *self)
{
  if (!self->store)
    return;
  g_autoptr (GTask) task = g_task_new (self, NULL, take_runs, GUINT_TO_POINTER (++self->serial));
  g_task_set_task_data (task, g_object_ref (self->store), g_object_unref);
  lig_task_run (task, read_runs);
}

static void
row_activated (LigRunMenu *self, GtkListBoxRow *row)
{
  g_autofree char *run = g_strdup (g_object_get_data (G_OBJECT (row), "run"));
  gtk_menu_button_popdown (self->button);
  g_signal_emit (self, chosen_signal, 0, run);
}

/* --- The run ------------------------------------------------------------------------------- */

void
lig_run_menu_set_run (LigRunMenu *self, LigStore *store, const char *run)
{
  gboolean same = g_strcmp0 (run, self->run) == 0 && store == self->store;
  gtk_widget_set_sensitive (GTK_WIDGET (self), store && run);
  if (same)
    return;
  g_free (self->run);
  self->run = g_strdup (run);
  g_set_object (&self->store, store);
  fill (self, NULL);
}

const char *
lig_run_menu_get_run (LigRunMenu *self)
{
  return self->run;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_run_menu_dispose (GObject *object)
{
  LigRunMenu *self = LIG_RUN_MENU (object);
  adw_bin_set_child (ADW_BIN (self), NULL);
  self->list = NULL;
  g_clear_object (&self->store);
  g_clear_pointer (&self->run, g_free);
  G_OBJECT_CLASS (lig_run_menu_parent_class)->dispose (object);
}

static void
lig_run_menu_class_init (LigRunMenuClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_run_menu_dispose;
  chosen_signal = g_signal_new ("chosen", LIG_TYPE_RUN_MENU, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                G_TYPE_NONE, 1, G_TYPE_STRING);
}

static GtkWidget *
make_content (LigRunMenu *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  self->empty = gtk_label_new (_ ("The store has no other training run."));
  gtk_widget_add_css_class (self->empty, "dim-label");
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), GTK_WIDGET (self->list));
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled), 360);
  gtk_widget_set_size_request (box, 300, -1);
  gtk_box_append (GTK_BOX (box), scrolled);
  gtk_box_append (GTK_BOX (box), self->empty);
  return box;
}

static void
lig_run_menu_init (LigRunMenu *self)
{
  GtkWidget *popover = gtk_popover_new ();
  self->button = GTK_MENU_BUTTON (gtk_menu_button_new ());
  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_NONE);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "navigation-sidebar");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Other runs"), -1);
  gtk_popover_set_child (GTK_POPOVER (popover), make_content (self));
  gtk_menu_button_set_popover (self->button, popover);
  gtk_menu_button_set_label (self->button, _ ("Compare _with…"));
  gtk_menu_button_set_use_underline (self->button, TRUE);
  gtk_widget_set_tooltip_text (
    GTK_WIDGET (self->button),
    _ ("Compare the settings and the results with those of another run"));
  gtk_widget_set_valign (GTK_WIDGET (self->button), GTK_ALIGN_CENTER);
  gtk_widget_set_sensitive (GTK_WIDGET (self), FALSE);
  adw_bin_set_child (ADW_BIN (self), GTK_WIDGET (self->button));
  g_signal_connect_swapped (self->list, "row-activated", G_CALLBACK (row_activated), self);
  g_signal_connect_swapped (popover, "show", G_CALLBACK (look), self);
}
