/* SPDX-License-Identifier: MIT */
#include "ui/score/compare-with.h"

#include "ui/document/pin.h"
#include "ui/widgets/toast.h"
#include <ligature/plan.h>

#include <glib/gi18n.h>

#define DOCUMENT "lig-document"

void
lig_compare_with_file (GtkWidget *widget, LigDocument *document, const char *path)
{
  GError *error = NULL;
  g_auto (GStrv) warnings = NULL;
  LigSequence *sequence = lig_sequence_load (path, &warnings, &error);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *title = g_filename_display_name (base);
  if (!sequence)
    lig_toast_error (widget, error);
  else if (!lig_document_get_plan (document) || lig_document_is_stale (document)) {
    g_object_unref (sequence);
    lig_toast (widget, _ ("The current sequence has a problem: solve it first"), NULL, NULL);
  } else
    lig_document_pin_sequence (document, sequence, title);
}

static void
take_file (GtkNativeDialog *dialog, int response, GtkWidget *widget)
{
  g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  g_autofree char *path = file ? g_file_get_path (file) : NULL;
  if (response == GTK_RESPONSE_ACCEPT && path)
    lig_compare_with_file (widget, g_object_get_data (G_OBJECT (dialog), DOCUMENT), path);
  g_object_unref (dialog);
}

void
lig_compare_with_choose (GtkWidget *widget, LigDocument *document)
{
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
    _ ("Compare with another sequence"), GTK_WINDOW (gtk_widget_get_root (widget)),
    GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Compare"), _ ("_Cancel"));
  GtkFileFilter *filter = gtk_file_filter_new ();
  gtk_file_filter_set_name (filter, _ ("Sequences"));
  gtk_file_filter_add_suffix (filter, "lig");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), filter);
  g_object_unref (filter);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  g_object_set_data_full (G_OBJECT (dialog), DOCUMENT, g_object_ref (document), g_object_unref);
  g_signal_connect_object (dialog, "response", G_CALLBACK (take_file), widget, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}
