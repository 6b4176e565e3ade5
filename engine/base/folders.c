/* SPDX-License-Identifier: MIT */
/* The installation folders, whose paths are compiled into this file only, and the folders of a
 * build. No path of a build or of the source is compiled in. */
#include "engine/base/folders-private.h"
#include <ligature/folders.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

/* Meson writes this file into the build folder; it contains the path of the source. */
#define MARK "ligature-source"

/* The maximum number of folders between a library or program and its build folder: tests/ui. */
#define MAX_LEVELS 2

typedef struct {
  char *folder; /* null unless this code is in a build folder */
  char *source;
} Build;

/* Returns the file that contains this code (transfer full), or null: the library or, if it is
 * linked with a program, the program, which dladdr() would name by argv[0]. */
static char *
find_object (void)
{
  Dl_info info;
  struct link_map *map = NULL;
  if (!dladdr1 ((void *) find_object, &info, (void **) &map, RTLD_DL_LINKMAP) || !map)
    return NULL;
  return realpath (*map->l_name ? map->l_name : "/proc/self/exe", NULL);
}

/* Returns the path in the folder's mark (transfer full), or null if it has none. The mark belongs
 * to the owner of the library or program, so that other users cannot make a folder around an
 * installed one, such as /tmp around /tmp/lib, look like a build. */
static char *
read_mark (const char *folder, uid_t owner)
{
  char source[PATH_MAX];
  struct stat info;
  g_autofree char *path = g_build_filename (folder, MARK, NULL);
  int file = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return NULL;
  ssize_t length = fstat (file, &info) == 0 && S_ISREG (info.st_mode) && info.st_uid == owner
                     ? read (file, source, sizeof source)
                     : -1;
  close (file);
  return length > 0 ? g_strstrip (g_strndup (source, (gsize) length)) : NULL;
}

static void
find_build (Build *build)
{
  struct stat info;
  g_autofree char *object = find_object ();
  if (!object || stat (object, &info) != 0)
    return;
  g_autofree char *folder = g_path_get_dirname (object);
  for (int level = 0; level < MAX_LEVELS && !build->source; level++) {
    char *parent = g_path_get_dirname (folder);
    g_free (folder);
    folder = parent;
    build->source = read_mark (folder, info.st_uid);
  }
  if (build->source)
    build->folder = g_steal_pointer (&folder);
}

static const Build *
get_build (void)
{
  static Build build;
  static gsize done;
  if (g_once_init_enter (&done)) {
    find_build (&build);
    g_once_init_leave (&done, 1);
  }
  return &build;
}

const char *
lig_build_folder (void)
{
  return get_build ()->folder;
}

GStrv
lig_data_folders (void)
{
  g_autoptr (GStrvBuilder) folders = g_strv_builder_new ();
  if (g_getenv ("LIGATURE_DATA"))
    g_strv_builder_add (folders, g_getenv ("LIGATURE_DATA"));
  if (lig_build_folder ()) {
    g_autofree char *data = g_build_filename (get_build ()->source, "data", NULL);
    g_strv_builder_add (folders, data);
  }
  g_strv_builder_add (folders, LIG_DATA_DIR);
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

GStrv
lig_schema_folders (void)
{
  g_autoptr (GStrvBuilder) folders = g_strv_builder_new ();
  if (lig_build_folder ()) {
    g_autofree char *built = g_build_filename (lig_build_folder (), "data", NULL);
    g_strv_builder_add (folders, built);
  }
  g_strv_builder_add (folders, LIG_SCHEMA_DIR);
  return g_strv_builder_end (folders);
}

/* Checks for the catalogue of any language: the folder exists before a catalogue is built. */
static gboolean
has_catalogue (const char *folder)
{
  g_autoptr (GDir) languages = g_dir_open (folder, 0, NULL);
  const char *language;
  while (languages && (language = g_dir_read_name (languages))) {
    g_autofree char *catalogue =
      g_build_filename (folder, language, "LC_MESSAGES", GETTEXT_PACKAGE ".mo", NULL);
    if (g_file_test (catalogue, G_FILE_TEST_IS_REGULAR))
      return TRUE;
  }
  return FALSE;
}

const char *
lig_locale_folder (void)
{
  static char *built;
  static gsize done;
  if (g_once_init_enter (&done)) {
    char *folder = lig_build_folder () ? g_build_filename (lig_build_folder (), "po", NULL) : NULL;
    if (folder && has_catalogue (folder))
      built = g_steal_pointer (&folder);
    g_free (folder);
    g_once_init_leave (&done, 1);
  }
  return built ? built : LIG_LOCALE_DIR;
}

const char *
lig_module_folder (void)
{
  return LIG_MODULE_DIR;
}
