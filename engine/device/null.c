/* SPDX-License-Identifier: MIT */
/* Devices that are only described, by a shipped description or a JSON file: plans for them can be
 * compiled but not run. */
#include "engine/base/folders-private.h"
#include "engine/device/backend.h"
#include <ligature/folders.h>

#include <string.h>

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Adds every description in a folder whose name is not listed yet. */
static void
list_folder (GPtrArray *names, const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "devices", NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *file;
  while (dir && (file = g_dir_read_name (dir))) {
    if (!g_str_has_suffix (file, ".json"))
      continue;
    g_autofree char *description = g_strndup (file, strlen (file) - strlen (".json"));
    g_autofree char *name = g_strconcat ("null:", description, NULL);
    if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
      g_ptr_array_add (names, g_steal_pointer (&name));
  }
}

/* Searches in the same order as opening a description does, so that each name means the same
 * file. */
static void
list_descriptions (GPtrArray *names)
{
  g_auto (GStrv) folders = lig_data_folders ();
  for (char **folder = folders; *folder; folder++)
    list_folder (names, *folder);
  for (guint i = 0; lig_description_nth (i); i++) {
    g_autofree char *name = g_strconcat ("null:", lig_description_nth (i), NULL);
    if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
      g_ptr_array_add (names, g_steal_pointer (&name));
  }
  g_ptr_array_sort (names, compare_names);
}

static void
list (GPtrArray *names)
{
  g_autoptr (GPtrArray) descriptions = g_ptr_array_new_with_free_func (g_free);
  list_descriptions (descriptions);
  for (guint i = 0; i < descriptions->len; i++)
    g_ptr_array_add (names, g_strdup (descriptions->pdata[i]));
}

static gboolean
open_described (LigDevice *self, const char *rest, GError **error)
{
  if (rest)
    return lig_description_load (rest, &self->facts, &self->remark, error);
  g_strlcpy (self->facts.name, "null", sizeof self->facts.name);
  return TRUE;
}

LIG_BACKEND_TABLE (null) = {
  .info = {.name = "null",
           .form = "null[:DESCRIPTION]",
           .title = "described",
           .traits = LIG_DEVICE_DESCRIBED},
  .kind = LIG_BACKEND_NULL,
  .takes = LIG_TAKES_WORD,
  .open = open_described,
  .list = list,
};
