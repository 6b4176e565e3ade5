/* SPDX-License-Identifier: MIT */
/* A row updates with its run until it is removed from the list. */
#include "ui/run/training-row.h"

#include "ui/run/live.h"
#include "ui/run/settings.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

typedef struct {
  LigTraining *training;
  GtkWidget *row;
  GtkLabel *title, *device;
  LigRunLive live;
} Row;

static void
update (Row *self)
{
  gboolean active = lig_training_is_active (self->training);
  gboolean failed = lig_training_get_error (self->training) != NULL;
  GtkWidget *status = GTK_WIDGET (self->live.status);
  if (active && !gtk_widget_get_mapped (self->row))
    return;
  lig_run_live_update (&self->live, self->training, !active);
  gtk_widget_set_visible (GTK_WIDGET (self->live.progress), active);
  (failed ? gtk_widget_add_css_class : gtk_widget_remove_css_class) (status, "training-failed");
  if (!g_str_equal (gtk_label_get_text (self->title), lig_training_get_title (self->training)))
    gtk_label_set_text (self->title, lig_training_get_title (self->training));
  if (!g_str_equal (gtk_label_get_text (self->device), lig_training_get_device (self->training)))
    gtk_label_set_text (self->device, lig_training_get_device (self->training));
}

static void
training_progressed (LigTraining *training, Row *self)
{
  update (self);
}

static void
free_row (gpointer data)
{
  Row *self = data;
  g_signal_handlers_disconnect_by_data (self->training, self);
  lig_run_live_clear (&self->live);
  g_object_unref (self->training);
  g_free (self);
}

static GtkLabel *
add_label (GtkWidget *box, const char *class)
{
  GtkWidget *label = gtk_label_new ("");
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (label, TRUE);
  if (class) {
    gtk_widget_add_css_class (label, class);
    gtk_widget_add_css_class (label, "caption");
  }
  gtk_box_append (GTK_BOX (box), label);
  return GTK_LABEL (label);
}

GtkWidget *
lig_training_row_new (LigTraining *training)
{
  Row *self = g_new0 (Row, 1);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->training = g_object_ref (training);
  self->row = gtk_list_box_row_new ();
  self->title = add_label (line, NULL);
  self->device = add_label (line, "dim-label");
  gtk_widget_set_hexpand (GTK_WIDGET (self->device), FALSE);
  gtk_box_append (GTK_BOX (box), line);
  self->live.status = add_label (box, "dim-label");
  gtk_widget_add_css_class (GTK_WIDGET (self->live.status), "numeric");
  self->live.progress = GTK_PROGRESS_BAR (gtk_progress_bar_new ());
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->live.progress));
  gtk_widget_add_css_class (box, "training-row");
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (self->row), box);
  lig_tooltip_set (self->row, lig_training_get_title (training));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->row), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  lig_training_get_title (training), -1);
  g_signal_connect (training, "progressed", G_CALLBACK (training_progressed), self);
  g_object_set_data_full (G_OBJECT (self->row), "row", self, free_row);
  g_signal_connect_swapped (self->row, "map", G_CALLBACK (update), self);
  lig_run_live_update (&self->live, training, TRUE);
  return self->row;
}

LigTraining *
lig_training_row_get (GtkListBoxRow *row)
{
  const Row *self = g_object_get_data (G_OBJECT (row), "row");
  return self->training;
}
