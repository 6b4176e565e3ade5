/* SPDX-License-Identifier: MIT */
/* The devices of this machine and the profiles that are shipped, by name. */
#include "engine/device/device-private.h"
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

GStrv
lig_device_list (void)
{
  g_autoptr (GStrvBuilder) list = g_strv_builder_new ();
  g_autoptr (GPtrArray) profiles = g_ptr_array_new_with_free_func (g_free);
  g_strv_builder_add (list, "cpu");
  const char *reason;
  char why[256];
  const LigBackend *cuda = lig_cuda_backend (&reason);
  int count = cuda ? cuda->count (why, sizeof why) : 0;
  for (int i = 0; i < count; i++) {
    g_autofree char *name = g_strdup_printf ("cuda:%d", i);
    g_strv_builder_add (list, name);
  }
  list_profiles (profiles);
  for (guint i = 0; i < profiles->len; i++)
    g_strv_builder_add (list, profiles->pdata[i]);
  return g_strv_builder_end (list);
}
