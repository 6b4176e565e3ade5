/* SPDX-License-Identifier: MIT */
#include "app/help-overlay.h"

#include "ui/page.h"

#include <glib/gi18n.h>

/* Returns the file of the overlay with the keys of all pages. */
static char *
describe_keys (void)
{
  const LigPageInfo *info;
  g_autoptr (GBytes) bytes =
    g_resources_lookup_data ("/org/ligature/Ligature/app/help-overlay.ui", 0, NULL);
  GString *text =
    g_string_new_len (g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  g_autoptr (GString) pages = g_string_new (NULL);
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    g_autofree char *page =
      g_markup_printf_escaped ("<child><object class=\"GtkShortcutsShortcut\">"
                               "<property name=\"title\">%s</property>"
                               "<property name=\"accelerator\">&lt;Alt&gt;%u</property>"
                               "</object></child>",
                               _ (info->title), i + 1);
    g_string_append (pages, page);
  }
  g_string_replace (text, "<!-- pages -->", pages->str, 1);
  return g_string_free (text, FALSE);
}

/* The overlay is created when it is requested: windows open faster without it. */
void
lig_help_overlay_show (GtkWindow *parent)
{
  g_autofree char *text = describe_keys ();
  g_autoptr (GtkBuilder) builder = gtk_builder_new_from_string (text, -1);
  GtkWindow *overlay = GTK_WINDOW (gtk_builder_get_object (builder, "help_overlay"));
  gtk_window_set_transient_for (overlay, parent);
  gtk_window_present (overlay);
}
