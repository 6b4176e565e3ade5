/* SPDX-License-Identifier: MIT */
/* A tooltip's window belongs to GTK: it is recognized by its type's name, when it has a surface and
 * is not shown yet. */
#include "ui/widgets/tooltip.h"

static gboolean
has_open_menu (GtkWidget *widget)
{
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    if (GTK_IS_POPOVER (child) && gtk_widget_get_visible (child))
      return TRUE;
  return FALSE;
}

/* The tooltip of a button whose menu is open would cover the menu. */
static gboolean
keep_off (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  if (has_open_menu (widget))
    g_signal_stop_emission_by_name (widget, "query-tooltip");
  return FALSE;
}

static gboolean
let_through (GSignalInvocationHint *hint, guint count, const GValue *values, gpointer data)
{
  GtkWidget *widget = g_value_get_object (&values[0]);
  gboolean opens = GTK_IS_MENU_BUTTON (widget) || GTK_IS_DROP_DOWN (widget);
  if (opens && !g_signal_handler_find (widget, G_SIGNAL_MATCH_FUNC, 0, 0, NULL, keep_off, NULL))
    g_signal_connect (widget, "query-tooltip", G_CALLBACK (keep_off), NULL);
  GdkSurface *surface = g_str_equal (G_OBJECT_TYPE_NAME (widget), "GtkTooltipWindow")
                          ? gtk_native_get_surface (GTK_NATIVE (widget))
                          : NULL;
  cairo_region_t *nothing = surface ? cairo_region_create () : NULL;
  if (surface)
    gdk_surface_set_input_region (surface, nothing);
  g_clear_pointer (&nothing, cairo_region_destroy);
  return TRUE;
}

void
lig_tooltips_let_through (void)
{
  /* Signals exist once the class is initialized. */
  g_type_class_unref (g_type_class_ref (GTK_TYPE_WIDGET));
  guint realize = g_signal_lookup ("realize", GTK_TYPE_WIDGET);
  g_signal_add_emission_hook (realize, 0, let_through, NULL, NULL);
}

void
lig_tooltip_set (GtkWidget *widget, const char *text)
{
  if (g_strcmp0 (gtk_widget_get_tooltip_text (widget), text) == 0)
    return;
  /* GTK asks only for visible widgets. */
  gboolean conceal = !gtk_widget_get_root (widget) && gtk_widget_get_visible (widget);
  if (conceal)
    gtk_widget_set_visible (widget, FALSE);
  gtk_widget_set_tooltip_text (widget, text);
  if (conceal)
    gtk_widget_set_visible (widget, TRUE);
}

static gboolean
query (GtkLabel *label, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  gboolean cut = pango_layout_is_ellipsized (gtk_label_get_layout (label));
  gtk_tooltip_set_text (tooltip, cut ? gtk_label_get_text (label) : NULL);
  return cut;
}

void
lig_tooltip_when_cut (GtkLabel *label)
{
  gtk_widget_set_has_tooltip (GTK_WIDGET (label), TRUE);
  g_signal_connect (label, "query-tooltip", G_CALLBACK (query), NULL);
}

void
lig_tooltip_forget (GtkWidget *widget)
{
  gboolean target = gtk_widget_get_can_target (widget);
  gtk_widget_set_can_target (widget, FALSE);
  gtk_widget_trigger_tooltip_query (widget);
  gtk_widget_set_can_target (widget, target);
}
