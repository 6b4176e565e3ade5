/* SPDX-License-Identifier: MIT */
/* The file of the store: its name, its checks, and the replacement of a damaged one. */
#include "engine/store/file.h"
#include "engine/store/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static gboolean
fail (GError **error, const char *doing, const char *path, int reason)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("cannot %s '%s': %s"), doing, path,
               g_strerror (reason));
  return FALSE;
}

char *
lig_store_file_name (const char *path)
{
  if (!path)
    path = g_getenv ("LIGATURE_STORE");
  if (path && *path)
    return g_canonicalize_filename (path, NULL);
  return g_build_filename (g_get_user_data_dir (), "ligature", "ligature.db", NULL);
}

char *
lig_store_file_uri (const char *path, const char *parameters)
{
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL);
  return g_strconcat (uri ? uri : "file:", "?", parameters, NULL);
}

gboolean
lig_store_file_fail_newer (const char *path, gint64 version, int newest, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
               _ ("store '%s' has schema version %" PRId64
                  ", this program supports versions up to %d; update Ligature"),
               path, version, newest);
  return FALSE;
}

/* The contents of the file itself, without those of its write-ahead log. */
typedef struct {
  gboolean sqlite; /* whether it begins like an SQLite database */
  gint64 version, application, tables;
} Contents;

/* Opens the database as immutable, so that SQLite neither locks it nor creates companion files. The
 * file must not be read without SQLite: closing it would drop the locks of this process on it. */
static Contents
read_contents (const char *path)
{
  static const char magic[16] = "SQLite format 3";
  g_autoptr (sqlite3) db = NULL;
  g_autofree char *immutable = lig_store_file_uri (path, "immutable=1");
  Contents contents = {0};
  char begin[sizeof magic] = {0};
  sqlite3_file *file = NULL;
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  if (sqlite3_open_v2 (immutable, &db, flags, NULL) != SQLITE_OK ||
      sqlite3_file_control (db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
      !file->pMethods || file->pMethods->xRead (file, begin, sizeof begin, 0) != SQLITE_OK)
    return contents;
  contents.sqlite = memcmp (begin, magic, sizeof magic) == 0;
  lig_sql_get (db, "PRAGMA user_version", &contents.version, NULL);
  lig_sql_get (db, "PRAGMA application_id", &contents.application, NULL);
  lig_sql_get (db, "SELECT count (*) FROM sqlite_master", &contents.tables, NULL);
  return contents;
}

gboolean
lig_store_file_fail_foreign (const char *path, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
               _ ("'%s' is the database of another program; name another file"), path);
  return FALSE;
}

/* Returns whether an existing file may be a store, or is empty and may become one. */
static gboolean
check_contents (const char *path, const struct stat *info, int newest, GError **error)
{
  Contents contents = read_contents (path);
  if (info->st_size > 0 && !contents.sqlite) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
                 _ ("'%s' is not a store, expected an SQLite database; the file was not changed, "
                    "name another one"),
                 path);
    return FALSE;
  }
  if (contents.version > newest)
    return lig_store_file_fail_newer (path, contents.version, newest, error);
  /* If both are zero, they may be only in the write-ahead log so far. */
  if (contents.application != LIG_STORE_APPLICATION && (contents.application || contents.tables))
    return lig_store_file_fail_foreign (path, error);
  return TRUE;
}

static gboolean
check_kind (const char *path, const struct stat *info, GError **error)
{
  if (S_ISDIR (info->st_mode))
    return fail (error, _ ("open store"), path, EISDIR);
  if (S_ISREG (info->st_mode))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("cannot open '%s': not a regular file"), path);
  return FALSE;
}

/* Returns the path without symbolic links, as SQLite opens it (transfer full). */
static char *
resolve (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path), *name = g_path_get_basename (path);
  char *file = realpath (path, NULL), *place = file ? NULL : realpath (folder, NULL);
  char *whole = file ? g_strdup (file) : g_build_filename (place ? place : folder, name, NULL);
  free (file);
  free (place);
  return whole;
}

/* SQLite does not accept longer names, including those of the companion files, and reports neither
 * the name nor the reason. */
static gboolean
check_length (const char *path, GError **error)
{
  enum { COMPANION = sizeof "-journal" - 1 };
  sqlite3_vfs *system = sqlite3_vfs_find (NULL);
  g_autofree char *real = resolve (path);
  gsize max = system ? (gsize) system->mxPathname - COMPANION : 504, length = strlen (real);
  if (length <= max)
    return TRUE;
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_STORE,
    _ ("store '%s': the path has %zu bytes, at most %zu are supported; name another file"), path,
    length, max);
  return FALSE;
}

gboolean
lig_store_file_check_existing (const char *path, int newest, GError **error)
{
  struct stat info;
  if (!check_length (path, error))
    return FALSE;
  if (stat (path, &info) != 0 && errno == ENOENT) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
                 _ ("store '%s' does not exist; a run or a profile creates it"), path);
    return FALSE;
  }
  if (stat (path, &info) != 0)
    return fail (error, _ ("open store"), path, errno);
  if (!check_kind (path, &info, error))
    return FALSE;
  if (g_access (path, R_OK) != 0)
    return fail (error, _ ("read store"), path, errno);
  if (info.st_size == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("'%s' is not a store: the file is empty"),
                 path);
    return FALSE;
  }
  return check_contents (path, &info, newest, error);
}

gboolean
lig_store_file_has_log (const char *path)
{
  g_autofree char *log = g_strconcat (path, "-wal", NULL);
  struct stat info;
  return stat (log, &info) == 0 && info.st_size > 0;
}

gboolean
lig_store_file_is_writable (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  /* SQLite creates companion files in the same folder. */
  return g_access (path, R_OK | W_OK) == 0 && g_access (folder, W_OK | X_OK) == 0;
}

gboolean
lig_store_file_check_writable (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  if (g_file_test (path, G_FILE_TEST_EXISTS) && g_access (path, R_OK | W_OK) != 0)
    return fail (error, _ ("write store"), path, errno);
  if (g_access (folder, W_OK | X_OK) != 0)
    return fail (error, _ ("write to the folder of the store,"), folder, errno);
  return TRUE;
}

/* Creates the file readable and writable only for this user, regardless of the umask; SQLite gives
 * its companion files the same mode. Closing a file drops the locks of this process on it, so no
 * other thread may open it before this function returns. */
gboolean
lig_store_file_make (const char *path, GError **error)
{
  static GMutex lock;
  g_mutex_lock (&lock);
  int fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int reason = errno;
  if (fd >= 0)
    close (fd);
  g_mutex_unlock (&lock);
  return fd >= 0 || reason == EEXIST || fail (error, _ ("create store"), path, reason);
}

gboolean
lig_store_file_prepare (const char *path, int newest, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  struct stat info;
  if (!check_length (path, error))
    return FALSE;
  if (g_mkdir_with_parents (folder, 0700) != 0)
    return fail (error, _ ("create the folder of the store,"), folder, errno);
  if (stat (path, &info) == 0 &&
      (!check_kind (path, &info, error) || !check_contents (path, &info, newest, error)))
    return FALSE;
  return lig_store_file_check_writable (path, error) && lig_store_file_make (path, error);
}

gboolean
lig_store_file_remember (const char *path, struct stat *file, GError **error)
{
  return stat (path, file) == 0 || fail (error, _ ("open store"), path, errno);
}

gboolean
lig_store_file_is_same (const char *path, const struct stat *opened, GError **error)
{
  struct stat now;
  gboolean exists = stat (path, &now) == 0;
  if (exists && now.st_ino == opened->st_ino && now.st_dev == opened->st_dev)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s' was %s while it was open"), path,
               exists ? _ ("replaced") : _ ("deleted"));
  return FALSE;
}

/* Renames a file unless the new name exists. */
static int
move (const char *from, const char *to)
{
  int result = renameat2 (AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
  if (result == 0 || (errno != EINVAL && errno != ENOSYS))
    return result;
  /* This file system cannot check atomically, so check first. */
  if (g_file_test (to, G_FILE_TEST_EXISTS)) {
    errno = EEXIST;
    return -1;
  }
  return g_rename (from, to);
}

gboolean
lig_store_file_name_copy (const char *from, const char *to, GError **error)
{
  return move (from, to) == 0 || errno == EEXIST ||
         fail (error, _ ("keep a copy of the store,"), to, errno);
}

/* Returns a name that is unused for the file and its companions. */
static char *
find_name (const char *path)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *stamp = g_date_time_format (now, "%Y%m%d-%H%M%S");
  g_autofree char *name = g_strdup_printf ("%s.corrupt-%s", path, stamp);
  for (int i = 2;; i++) {
    g_autofree char *journal = g_strconcat (name, "-wal", NULL);
    g_autofree char *shared = g_strconcat (name, "-shm", NULL);
    if (!g_file_test (name, G_FILE_TEST_EXISTS) && !g_file_test (journal, G_FILE_TEST_EXISTS) &&
        !g_file_test (shared, G_FILE_TEST_EXISTS))
      return g_steal_pointer (&name);
    g_free (name);
    name = g_strdup_printf ("%s.corrupt-%s-%d", path, stamp, i);
  }
}

/* Renames the database last: if this fails earlier, the next open finds the damage again. */
static gboolean
move_all (const char *path, const char *why, char **warning, GError **error)
{
  static const char *const suffixes[] = {"-wal", "-shm", "-journal", ""};
  g_autofree char *name = find_name (path);
  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++) {
    g_autofree char *from = g_strconcat (path, suffixes[i], NULL);
    g_autofree char *to = g_strconcat (name, suffixes[i], NULL);
    if (move (from, to) != 0 && errno != ENOENT)
      return fail (error, _ ("set aside the damaged store"), from, errno);
  }
  g_free (*warning);
  *warning =
    g_strdup_printf (_ ("%s; it was set aside as '%s', and a new one was created"), why, name);
  return TRUE;
}

gboolean
lig_store_file_set_aside (
  const char *path, const struct stat *seen, const char *why, char **warning, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  struct stat now;
  gboolean done = TRUE;
  /* Two processes may find the same damage. The lock on the folder prevents the second of them from
   * setting aside the new database. Without such locks only the comparison of identities protects
   * it. */
  int lock = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock >= 0)
    flock (lock, LOCK_EX);
  if (stat (path, &now) == 0 && now.st_ino == seen->st_ino && now.st_dev == seen->st_dev)
    done = move_all (path, why, warning, error);
  if (lock >= 0)
    close (lock);
  return done;
}
