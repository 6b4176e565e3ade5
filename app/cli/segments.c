/* SPDX-License-Identifier: MIT */
#include "app/cli/segments.h"

#include <glib/gstdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "/dev/shm"

/* Seconds after which ranks that create a segment have opened it. */
enum { YOUNG = 10 };

/* Adds the text of the memory map of each process to the list. Those of other users cannot be read,
 * and do not use this user's segments. */
static GPtrArray *
read_maps (void)
{
  g_autoptr (GDir) processes = g_dir_open ("/proc", 0, NULL);
  GPtrArray *maps = g_ptr_array_new_with_free_func (g_free);
  const char *name;
  while (processes && (name = g_dir_read_name (processes))) {
    g_autofree char *path = g_build_filename ("/proc", name, "maps", NULL);
    char *text;
    if (g_ascii_isdigit (*name) && g_file_get_contents (path, &text, NULL, NULL))
      g_ptr_array_add (maps, text);
  }
  return maps;
}

static gboolean
is_open (const GPtrArray *maps, const char *path)
{
  for (guint i = 0; i < maps->len; i++)
    if (strstr (maps->pdata[i], path))
      return TRUE;
  return FALSE;
}

void
lig_cli_remove_left_segments (void)
{
  g_autofree char *prefix = g_strdup_printf ("vader_segment.%s.", g_get_host_name ());
  g_autoptr (GDir) folder = g_dir_open (FOLDER, 0, NULL);
  g_autoptr (GPtrArray) maps = NULL;
  const char *name;
  while (folder && (name = g_dir_read_name (folder))) {
    g_autofree char *path = g_build_filename (FOLDER, name, NULL);
    GStatBuf status;
    if (!g_str_has_prefix (name, prefix) || g_lstat (path, &status) != 0 ||
        status.st_uid != geteuid () || time (NULL) - status.st_mtime < YOUNG)
      continue;
    if (!maps)
      maps = read_maps ();
    if (!is_open (maps, path))
      g_unlink (path);
  }
}
