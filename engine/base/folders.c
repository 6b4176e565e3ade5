/* SPDX-License-Identifier: MIT */
/* The installation folders; no other file is compiled with their paths. */
#include "engine/base/folders-private.h"
#include <ligature/folders.h>

GStrv
lig_data_folders (void)
{
  g_autoptr (GStrvBuilder) folders = g_strv_builder_new ();
  if (g_getenv ("LIGATURE_DATA"))
    g_strv_builder_add (folders, g_getenv ("LIGATURE_DATA"));
  g_strv_builder_add_many (folders, LIG_DATA_DIR, LIG_SOURCE_DATA_DIR, NULL);
  return g_strv_builder_end (folders);
}

char *
lig_data_find (const char *name)
{
  g_auto (GStrv) folders = lig_data_folders ();
  for (char **folder = folders; *folder; folder++) {
    g_autofree char *path = g_build_filename (*folder, name, NULL);
    if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
      return g_steal_pointer (&path);
  }
  return NULL;
}

const char *
lig_locale_folder (void)
{
  const char *built = LIG_BUILT_LOCALE_DIR;
  return g_file_test (built, G_FILE_TEST_IS_DIR) ? built : LIG_LOCALE_DIR;
}

const char *
lig_module_folder (void)
{
  return LIG_MODULE_DIR;
}
