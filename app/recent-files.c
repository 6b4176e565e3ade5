/* SPDX-License-Identifier: MIT */
#include "app/recent-files.h"

enum { SHOWN = 8 };

static int
compare (gconstpointer a, gconstpointer b)
{
  return g_date_time_compare (gtk_recent_info_get_modified (*(GtkRecentInfo *const *) b),
                              gtk_recent_info_get_modified (*(GtkRecentInfo *const *) a));
}

/* Returns the existing local files of this program, newest first. */
static GPtrArray *
list_files (GtkRecentManager *known)
{
  GPtrArray *files = g_ptr_array_new_with_free_func ((GDestroyNotify) gtk_recent_info_unref);
  GList *items = gtk_recent_manager_get_items (known);
  for (GList *item = items; item; item = item->next) {
    GtkRecentInfo *info = item->data;
    if (gtk_recent_info_has_application (info, "Ligature") && gtk_recent_info_is_local (info) &&
        gtk_recent_info_exists (info))
      g_ptr_array_add (files, info);
    else
      gtk_recent_info_unref (info);
  }
  g_list_free (items);
  g_ptr_array_sort (files, compare);
  return files;
}

static void
append_item (GMenu *menu, GtkRecentInfo *info)
{
  g_autofree char *path = g_filename_from_uri (gtk_recent_info_get_uri (info), NULL, NULL);
  if (!path)
    return;
  g_autofree char *base = g_path_get_basename (path), *folder = g_path_get_dirname (path);
  g_autofree char *parent = g_path_get_basename (folder);
  g_autofree char *text = g_strdup_printf ("%s — %s", base, parent);
  g_autofree char *name = g_filename_display_name (text);
  /* An underscore of a name is not a mnemonic. */
  g_auto (GStrv) parts = g_strsplit (name, "_", -1);
  g_autofree char *label = g_strjoinv ("__", parts);
  g_autoptr (GMenuItem) item = g_menu_item_new (label, NULL);
  g_menu_item_set_action_and_target (item, "app.open-file", "s", path);
  g_menu_append_item (menu, item);
}

static void
fill (GtkRecentManager *known, GMenu *menu)
{
  g_autoptr (GPtrArray) files = list_files (known);
  g_menu_remove_all (menu);
  for (guint i = 0; i < files->len && i < SHOWN; i++)
    append_item (menu, files->pdata[i]);
}

void
lig_recent_files_fill (GMenu *menu)
{
  GtkRecentManager *known = gtk_recent_manager_get_default ();
  fill (known, menu);
  g_signal_connect_object (known, "changed", G_CALLBACK (fill), menu, 0);
}
