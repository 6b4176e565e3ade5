/* SPDX-License-Identifier: MIT */
/* Style classes that reflect a state. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Adds the class if `on`, else removes it, without a notification if nothing changes. */
static inline void
lig_css_class_set (GtkWidget *widget, const char *name, gboolean on)
{
  if (on && !gtk_widget_has_css_class (widget, name))
    gtk_widget_add_css_class (widget, name);
  else if (!on && gtk_widget_has_css_class (widget, name))
    gtk_widget_remove_css_class (widget, name);
}

G_END_DECLS
