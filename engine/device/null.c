/* SPDX-License-Identifier: MIT */
/* Devices that are only described, by a shipped profile or a JSON file: plans are made for them. */
#include "engine/device/backend.h"
#include <ligature/folders.h>

#include <string.h>

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Every profile of a folder whose name is not listed yet. */
static void
list_folder (GPtrArray *names, const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "devices", NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *file;
  while (dir && (file = g_dir_read_name (dir))) {
    if (!g_str_has_suffix (file, ".json"))
      continue;
    g_autofree char *profile = g_strndup (file, strlen (file) - strlen (".json"));
    g_autofree char *name = g_strconcat ("null:", profile, NULL);
    if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
      g_ptr_array_add (names, g_steal_pointer (&name));
  }
}

/* In the order in which a profile is looked for, so that each name means what opening it gives. */
static void
list_profiles (GPtrArray *names)
{
  g_auto (GStrv) folders = lig_data_folders ();
  for (char **folder = folders; *folder; folder++)
    list_folder (names, *folder);
  for (guint i = 0; lig_profile_nth (i); i++) {
    g_autofree char *name = g_strconcat ("null:", lig_profile_nth (i), NULL);
    if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
      g_ptr_array_add (names, g_steal_pointer (&name));
  }
  g_ptr_array_sort (names, compare_names);
}

static void
list (GPtrArray *names)
{
  g_autoptr (GPtrArray) profiles = g_ptr_array_new_with_free_func (g_free);
  list_profiles (profiles);
  for (guint i = 0; i < profiles->len; i++)
    g_ptr_array_add (names, g_strdup (profiles->pdata[i]));
}

static gboolean
open_profile (LigDevice *self, const char *rest, GError **error)
{
  if (rest)
    return lig_profile_load (rest, &self->facts, error);
  g_strlcpy (self->facts.name, "null", sizeof self->facts.name);
  return TRUE;
}

LIG_BACKEND_TABLE (null) = {
  .info = {.name = "null",
           .form = "null[:PROFILE]",
           .title = "described",
           .traits = LIG_DEVICE_DESCRIBED},
  .kind = LIG_BACKEND_NULL,
  .takes = LIG_TAKES_WORD,
  .open = open_profile,
  .list = list,
};
