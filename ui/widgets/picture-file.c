/* SPDX-License-Identifier: MIT */
/* Pictures as files and on the clipboard. */
#include "ui/widgets/picture-private.h"

#include "ui/widgets/toast.h"
#include <ligature/report.h>

#include <glib/gi18n.h>
#include <string.h>

static void
save (LigPictureView *self, const char *path)
{
  g_autoptr (GError) error = NULL;
  const char *dot = strrchr (path, '.');
  g_autoptr (GBytes) bytes = lig_picture_view_to_file (self, dot ? dot + 1 : "", &error);
  if (bytes && lig_report_save (bytes, path, &error)) {
    g_autofree char *name = g_path_get_basename (path);
    g_autofree char *text = g_strdup_printf (_ ("The picture is in “%s”"), name);
    lig_toast (GTK_WIDGET (self), text, NULL, NULL);
    return;
  }
  lig_toast_error (GTK_WIDGET (self), g_steal_pointer (&error));
}

static void
take_file (GtkNativeDialog *dialog, int response, gpointer data)
{
  LigPictureView *self = data;
  if (response == GTK_RESPONSE_ACCEPT) {
    g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
    g_autofree char *path = file ? g_file_get_path (file) : NULL;
    if (path)
      save (self, path);
  }
  g_object_unref (dialog);
}

static void export(GtkWidget *widget, const char *action, GVariant *argument)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  g_autofree char *name = g_strdup_printf ("%s.%s", lig_picture_view_get_name (self),
                                           action + strlen ("picture.export-"));
  GtkFileChooserNative *dialog =
    gtk_file_chooser_native_new (_ ("Save picture"), GTK_WINDOW (gtk_widget_get_root (widget)),
                                 GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Save"), _ ("_Cancel"));
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  g_signal_connect_object (dialog, "response", G_CALLBACK (take_file), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
export_to (GtkWidget *widget, const char *action, GVariant *argument)
{
  save (LIG_PICTURE_VIEW (widget), g_variant_get_string (argument, NULL));
}

/* Copies an image for programs that paste images, and SVG for those that accept it. */
static void
copy (GtkWidget *widget, const char *action, GVariant *argument)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) png = lig_picture_view_to_file (self, "png", &error);
  g_autoptr (GBytes) svg = png ? lig_picture_view_to_file (self, "svg", &error) : NULL;
  if (!svg) {
    lig_toast_error (widget, g_steal_pointer (&error));
    return;
  }
  GdkContentProvider *all[] = {gdk_content_provider_new_for_bytes ("image/png", png),
                               gdk_content_provider_new_for_bytes ("image/svg+xml", svg)};
  g_autoptr (GdkContentProvider) content = gdk_content_provider_new_union (all, G_N_ELEMENTS (all));
  gdk_clipboard_set_content (gtk_widget_get_clipboard (widget), content);
  lig_toast (widget, _ ("The picture is on the clipboard"), NULL, NULL);
}

void
lig_picture_view_install_files (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "picture.export-png", NULL, export);
  gtk_widget_class_install_action (widget_class, "picture.export-svg", NULL, export);
  gtk_widget_class_install_action (widget_class, "picture.export-pdf", NULL, export);
  gtk_widget_class_install_action (widget_class, "picture.export-to", "s", export_to);
  gtk_widget_class_install_action (widget_class, "picture.copy", NULL, copy);
}
