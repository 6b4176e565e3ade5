/* SPDX-License-Identifier: MIT */
/* The rows remain in the widget tree while the group is folded, so that typed text and errors are
 * kept. */
#include "ui/inspector/param-fold.h"

#include "ui/inspector/param-row.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

struct _LigParamFold {
  AdwBin parent_instance;
  GtkWidget *button, *arrow, *card;
  GtkLabel *title, *changed;
  GtkRevealer *revealer;
};

G_DEFINE_FINAL_TYPE (LigParamFold, lig_param_fold, ADW_TYPE_BIN)

GtkWidget *
lig_param_fold_get_card (LigParamFold *self)
{
  return self->card;
}

gboolean
lig_param_fold_get_open (LigParamFold *self)
{
  return gtk_revealer_get_reveal_child (self->revealer);
}

void
lig_param_fold_set_open (LigParamFold *self, gboolean open)
{
  gtk_revealer_set_reveal_child (self->revealer, open);
  gtk_image_set_from_icon_name (GTK_IMAGE (self->arrow),
                                open ? "pan-down-symbolic" : "pan-end-symbolic");
  gtk_widget_set_visible (GTK_WIDGET (self->changed), !open);
  gtk_accessible_update_state (GTK_ACCESSIBLE (self->button), GTK_ACCESSIBLE_STATE_EXPANDED, open,
                               -1);
}

void
lig_param_fold_update (LigParamFold *self)
{
  g_autoptr (GString) names = g_string_new (NULL);
  for (GtkWidget *row = gtk_widget_get_first_child (self->card); row;
       row = gtk_widget_get_next_sibling (row))
    if (LIG_IS_PARAM_ROW (row) && lig_param_row_is_changed (LIG_PARAM_ROW (row)))
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "",
                              _ (lig_param_row_get_param (LIG_PARAM_ROW (row))->label));
  gtk_label_set_text (self->changed, names->str);
  lig_tooltip_set (self->button, names->len > 0 ? names->str : NULL);
}

static void
toggle (LigParamFold *self)
{
  lig_param_fold_set_open (self, !lig_param_fold_get_open (self));
}

static void
lig_param_fold_class_init (LigParamFoldClass *class)
{
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "param-fold");
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_param_fold_init (LigParamFold *self)
{
  GtkWidget *whole = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->arrow = gtk_image_new ();
  self->title = GTK_LABEL (gtk_label_new (NULL));
  self->changed = GTK_LABEL (gtk_label_new (NULL));
  self->button = gtk_button_new ();
  self->card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->revealer = GTK_REVEALER (gtk_revealer_new ());
  gtk_label_set_ellipsize (self->changed, PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (self->changed, 1);
  gtk_widget_set_hexpand (GTK_WIDGET (self->changed), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->changed), "caption");
  gtk_widget_add_css_class (GTK_WIDGET (self->changed), "dim-label");
  gtk_widget_add_css_class (self->button, "flat");
  gtk_widget_add_css_class (self->card, "card");
  gtk_widget_add_css_class (self->card, "lines");
  gtk_box_append (GTK_BOX (line), self->arrow);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->changed));
  gtk_button_set_child (GTK_BUTTON (self->button), line);
  gtk_revealer_set_child (self->revealer, self->card);
  gtk_box_append (GTK_BOX (whole), self->button);
  gtk_box_append (GTK_BOX (whole), GTK_WIDGET (self->revealer));
  adw_bin_set_child (ADW_BIN (self), whole);
  g_signal_connect_swapped (self->button, "clicked", G_CALLBACK (toggle), self);
  lig_param_fold_set_open (self, FALSE);
}

GtkWidget *
lig_param_fold_new (const char *title)
{
  LigParamFold *self = g_object_new (LIG_TYPE_PARAM_FOLD, NULL);
  gtk_label_set_text (self->title, title);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  title, -1);
  return GTK_WIDGET (self);
}
