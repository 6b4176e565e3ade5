/* SPDX-License-Identifier: MIT */
#include "ui/run/rank-row.h"

#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

static GtkWidget *
make_texts (LigRankRow *self, const char *title)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *label = gtk_label_new (title);
  self->help = GTK_LABEL (gtk_label_new (NULL));
  gtk_widget_add_css_class (GTK_WIDGET (self->help), "dim-label");
  gtk_widget_add_css_class (GTK_WIDGET (self->help), "caption");
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_xalign (self->help, 0);
  gtk_label_set_wrap (self->help, TRUE);
  gtk_label_set_width_chars (self->help, 30);
  gtk_label_set_max_width_chars (self->help, 36);
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->help));
  gtk_widget_set_hexpand (box, TRUE);
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  return box;
}

static GtkWidget *
make_reset (const char *title)
{
  g_autofree char *text = g_strdup_printf (_ ("Back to the default: %s"), title);
  GtkWidget *reset = gtk_button_new_from_icon_name ("edit-undo-symbolic");
  gtk_widget_add_css_class (reset, "flat");
  gtk_widget_set_valign (reset, GTK_ALIGN_CENTER);
  lig_tooltip_set (reset, text);
  return reset;
}

void
lig_rank_row_attach (LigRankRow *self, const char *title, GtkWidget *input, GtkGrid *to, int line)
{
  self->texts = make_texts (self, title);
  self->input = input;
  self->reset = make_reset (title);
  gtk_widget_set_valign (input, GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (input), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  gtk_grid_attach (to, self->texts, 0, line, 1, 1);
  gtk_grid_attach (to, input, 1, line, 1, 1);
  gtk_grid_attach (to, self->reset, 2, line, 1, 1);
}

void
lig_rank_row_set_visible (LigRankRow *self, gboolean visible)
{
  gtk_widget_set_visible (self->texts, visible);
  gtk_widget_set_visible (self->input, visible);
  gtk_widget_set_visible (self->reset, visible);
}
