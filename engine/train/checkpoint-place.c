/* SPDX-License-Identifier: MIT */
/* Restricts where a run may write: a file from an untrusted sender must not choose an arbitrary
 * path on this machine. */
#include "engine/base/file.h"
#include "engine/train/checkpoint.h"
#include <ligature/run.h>
#include <ligature/tensor-file.h>

#include <glib/gstdio.h>

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *
lig_run_resolve_place (const char *path)
{
  g_autofree char *there = g_canonicalize_filename (path, NULL);
  g_autofree char *rest = g_strdup ("");
  for (;;) {
    g_autofree char *real = realpath (there, NULL);
    if (real)
      return *rest ? g_build_filename (real, rest, NULL) : g_steal_pointer (&real);
    g_autofree char *name = g_path_get_basename (there), *outer = g_path_get_dirname (there);
    char *longer = *rest ? g_build_filename (name, rest, NULL) : g_strdup (name);
    g_free (rest);
    rest = longer;
    if (g_str_equal (outer, there))
      return g_build_filename (there, rest, NULL);
    g_free (there);
    there = g_steal_pointer (&outer);
  }
}

static gboolean
is_below (const char *path, const char *folder)
{
  g_autofree char *outer = lig_run_resolve_place (folder);
  gsize length = strlen (outer);
  return g_str_has_prefix (path, outer) && (outer[length - 1] == '/' || path[length] == '/');
}

gboolean
lig_run_settings_confine (LigRunSettings *self, const char *folder, GError **error)
{
  g_return_val_if_fail (self && folder, FALSE);
  g_autofree char *base = g_canonicalize_filename (folder, NULL);
  g_autofree char *data = g_build_filename (g_get_user_data_dir (), "ligature", NULL);
  if (!self->checkpoint)
    return TRUE;
  g_autofree char *path = g_canonicalize_filename (self->checkpoint, base);
  /* A link at the end of the path is followed, like those within it. */
  g_autofree char *real = lig_run_resolve_place (path);
  if (!is_below (real, base) && !is_below (real, data)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("$.train.checkpoint: '%s' is neither below the file's folder '%s' nor below "
                    "'%s'; move it there, or set the checkpoint outside the file"),
                 self->checkpoint, base, data);
    return lig_error_set_path (error, "$.train.checkpoint");
  }
  g_free (self->checkpoint);
  self->checkpoint = g_steal_pointer (&path);
  return TRUE;
}

static gboolean
reject (const char *path, const char *why, GError **error)
{
  g_autofree char *name = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("cannot write the checkpoint '%s': %s"), name,
               why);
  return FALSE;
}

/* Returns whether the file may be replaced: it is empty or a checkpoint. */
static gboolean
is_replaceable (const char *path, const GStatBuf *info)
{
  if (info->st_size == 0)
    return TRUE;
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, NULL);
  return file && lig_tensor_file_get_metadata (file, "ligature.checkpoint");
}

/* Returns whether SQLite keeps rows of a database in a file of this name. Only the name counts,
 * because SQLite recreates an empty or missing file in its next transaction. */
static gboolean
is_companion (const char *path)
{
  static const char magic[] = "SQLite format 3";
  static const char *const endings[] = {"-wal", "-shm", "-journal"};
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    if (!g_str_has_suffix (path, endings[i]))
      continue;
    g_autofree char *database = g_strndup (path, strlen (path) - strlen (endings[i]));
    char head[sizeof magic] = "";
    gsize size = 0;
    int fd = lig_open_file (database, &size, NULL);
    gboolean is = fd >= 0 && lig_read_at (fd, database, 0, head, sizeof head, NULL) &&
                  memcmp (head, magic, sizeof magic) == 0;
    if (fd >= 0)
      close (fd);
    return is;
  }
  return FALSE;
}

gboolean
lig_run_check_place (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  GStatBuf info;
  gboolean exists = g_stat (path, &info) == 0;
  if (exists && !S_ISREG (info.st_mode))
    return reject (
      path, S_ISDIR (info.st_mode) ? _ ("it is a folder") : _ ("it is not a regular file"), error);
  if (exists && !is_replaceable (path, &info))
    return reject (
      path,
      _ ("the existing file is not a checkpoint and would be lost; choose another name "
         "or move it away"),
      error);
  if (is_companion (path))
    return reject (path, _ ("SQLite keeps data of the database in this file; choose another name"),
                   error);
  if (g_access (folder, W_OK | X_OK) != 0)
    return reject (path, g_strerror (errno), error);
  return TRUE;
}

gboolean
lig_run_make_folder (const char *folder, GError **error)
{
  return g_mkdir_with_parents (folder, 0700) == 0 || reject (folder, g_strerror (errno), error);
}
