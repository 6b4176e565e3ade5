/* SPDX-License-Identifier: MIT */
/* Toasts appear in the overlay that contains the widget, or that an ancestor named. */
#include "ui/widgets/toast.h"

#include "ui/widgets/figures.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

void
lig_toast_set_overlay (GtkWidget *widget, GtkWidget *overlay)
{
  g_object_set_data (G_OBJECT (widget), "toasts", overlay);
}

GtkWidget *
lig_toast_find_overlay (GtkWidget *widget)
{
  GtkWidget *overlay = NULL;
  for (; widget && !overlay; widget = gtk_widget_get_parent (widget))
    overlay =
      ADW_IS_TOAST_OVERLAY (widget) ? widget : g_object_get_data (G_OBJECT (widget), "toasts");
  return overlay;
}

void
lig_toast (GtkWidget *widget, const char *text, const char *button, const char *action)
{
  GtkWidget *overlay = lig_toast_find_overlay (widget);
  if (!overlay)
    return;
  g_autofree char *markup = g_markup_escape_text (text, -1);
  AdwToast *toast = adw_toast_new (markup);
  if (button) {
    adw_toast_set_button_label (toast, button);
    adw_toast_set_detailed_action_name (toast, action);
    adw_toast_set_timeout (toast, 10); /* seconds: the user has to read the button, then reach it */
  }
  /* The newest toast is shown at once, not after the earlier ones. */
  adw_toast_set_priority (toast, ADW_TOAST_PRIORITY_HIGH);
  adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (overlay), toast);
}

void
lig_toast_exported (GtkWidget *widget, const char *path)
{
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *name = g_filename_display_name (base);
  g_autofree char *text = g_strdup_printf (_ ("Exported “%s”"), name);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GVariant) target = g_variant_ref_sink (g_variant_new_string (folder));
  g_autofree char *action = g_action_print_detailed_name ("win.open-folder", target);
  lig_toast (widget, text, _ ("_Open folder"), action);
}

void
lig_toast_error (GtkWidget *widget, GError *error)
{
  g_autofree char *text = lig_figure_sentence (error->message);
  lig_toast (widget, text, NULL, NULL);
  g_error_free (error);
}
