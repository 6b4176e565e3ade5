/* SPDX-License-Identifier: MIT */
/* Removes a test's folder. */
#pragma once

#include <glib/gstdio.h>

/* Removes a folder and its contents, without following links. */
static inline void
remove_folder (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;
  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree char *child = g_build_filename (path, name, NULL);
    if (g_file_test (child, G_FILE_TEST_IS_DIR) && !g_file_test (child, G_FILE_TEST_IS_SYMLINK))
      remove_folder (child);
    else
      g_remove (child);
  }
  g_rmdir (path);
}
