/* SPDX-License-Identifier: MIT */
#include "ui/widgets/fold.h"

#include "ui/widgets/tooltip.h"

struct _LigFold {
  AdwBin parent_instance;
  GtkWidget *button, *arrow, *rows;
  GtkLabel *title, *note;
  GtkRevealer *revealer;
};

G_DEFINE_FINAL_TYPE (LigFold, lig_fold, ADW_TYPE_BIN)

GtkWidget *
lig_fold_get_rows (LigFold *self)
{
  return self->rows;
}

gboolean
lig_fold_get_open (LigFold *self)
{
  return gtk_revealer_get_reveal_child (self->revealer);
}

void
lig_fold_set_open (LigFold *self, gboolean open)
{
  gtk_revealer_set_reveal_child (self->revealer, open);
  gtk_image_set_from_icon_name (GTK_IMAGE (self->arrow),
                                open ? "pan-down-symbolic" : "pan-end-symbolic");
  gtk_widget_set_visible (GTK_WIDGET (self->note), !open);
  gtk_accessible_update_state (GTK_ACCESSIBLE (self->button), GTK_ACCESSIBLE_STATE_EXPANDED, open,
                               -1);
}

void
lig_fold_set_note (LigFold *self, const char *note)
{
  gtk_label_set_text (self->note, note ? note : "");
  lig_tooltip_set (self->button, note && *note ? note : NULL);
}

static void
toggle (LigFold *self)
{
  lig_fold_set_open (self, !lig_fold_get_open (self));
}

static void
lig_fold_class_init (LigFoldClass *class)
{
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "fold");
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_fold_init (LigFold *self)
{
  GtkWidget *whole = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->arrow = gtk_image_new ();
  self->title = GTK_LABEL (gtk_label_new (NULL));
  self->note = GTK_LABEL (gtk_label_new (NULL));
  self->button = gtk_button_new ();
  self->revealer = GTK_REVEALER (gtk_revealer_new ());
  gtk_label_set_ellipsize (self->note, PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (self->note, 1);
  gtk_widget_set_hexpand (GTK_WIDGET (self->note), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->note), "caption");
  gtk_widget_add_css_class (GTK_WIDGET (self->note), "dim-label");
  gtk_widget_add_css_class (self->button, "flat");
  gtk_box_append (GTK_BOX (line), self->arrow);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->note));
  gtk_button_set_child (GTK_BUTTON (self->button), line);
  gtk_box_append (GTK_BOX (whole), self->button);
  gtk_box_append (GTK_BOX (whole), GTK_WIDGET (self->revealer));
  adw_bin_set_child (ADW_BIN (self), whole);
  g_signal_connect_swapped (self->button, "clicked", G_CALLBACK (toggle), self);
  lig_fold_set_open (self, FALSE);
}

GtkWidget *
lig_fold_new (const char *title, GtkWidget *rows)
{
  LigFold *self = g_object_new (LIG_TYPE_FOLD, NULL);
  self->rows = rows;
  gtk_revealer_set_child (self->revealer, rows);
  gtk_label_set_text (self->title, title);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  title, -1);
  return GTK_WIDGET (self);
}
