/* SPDX-License-Identifier: MIT */
/* A card around a picture: its heading, the mark under the pointer or the keys, a menu. */
#include "ui/widgets/picture-view.h"

#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

/* Shows the mark's text on one line; without a mark, the picture's description. */
static gboolean
to_line (GBinding *binding, const GValue *from, GValue *to, gpointer data)
{
  const char *text = g_value_get_string (from);
  g_auto (GStrv) parts = g_strsplit (text ? text : data, "\n", -1);
  g_value_take_string (to, g_strjoinv (" · ", parts));
  return TRUE;
}

static GtkWidget *
new_caption (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_widget_add_css_class (label, class);
  gtk_widget_add_css_class (label, "dim-label");
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  return label;
}

static void
press_button (GtkWidget *view)
{
  gtk_widget_activate_action (view, "picture.menu", NULL);
}

GtkWidget *
lig_picture_view_wrap (LigPictureView *self, const char *title, const char *subtitle)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *words = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *heading = gtk_label_new (title);
  GtkWidget *line = new_caption (subtitle, "caption");
  GtkWidget *button = gtk_button_new_from_icon_name ("view-more-symbolic");
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "picture-card");
  gtk_widget_add_css_class (head, "picture-head");
  gtk_widget_add_css_class (heading, "heading");
  gtk_label_set_xalign (GTK_LABEL (heading), 0);
  gtk_widget_set_hexpand (words, TRUE);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  lig_tooltip_set (button, _ ("Copy or save the picture"));
  g_signal_connect_object (button, "clicked", G_CALLBACK (press_button), self, G_CONNECT_SWAPPED);
  gtk_box_append (GTK_BOX (words), heading);
  gtk_box_append (GTK_BOX (words), line);
  gtk_box_append (GTK_BOX (head), words);
  gtk_box_append (GTK_BOX (head), button);
  gtk_box_append (GTK_BOX (card), head);
  gtk_box_append (GTK_BOX (card), GTK_WIDGET (self));
  g_object_bind_property_full (self, "mark-text", line, "label", G_BINDING_SYNC_CREATE, to_line,
                               NULL, g_strdup (subtitle), g_free);
  return card;
}
