/* SPDX-License-Identifier: MIT */
/* The file of the store, seen from outside. */
#include "engine/store/file.h"
#include "engine/store/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static gboolean
fail (GError **error, const char *doing, const char *path, int reason)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, "cannot %s '%s': %s", doing, path,
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
lig_store_file_is_newer (const char *path, gint64 version, int newest, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
               "store '%s' has schema version %" G_GINT64_FORMAT
               ", this program knows versions up to %d",
               path, version, newest);
  return FALSE;
}

/* The contents of the file itself, without what lies in a write-ahead log beside it. */
typedef struct {
  gboolean sqlite; /* it begins as a database does */
  gint64 version, application, tables;
} Contents;

/* An immutable database is read without locks and without making files beside it; reading it past
 * SQLite would drop the locks that this process has on it. */
static Contents
look_into (const char *path)
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
lig_store_file_is_foreign (const char *path, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, "'%s' is the database of another program", path);
  return FALSE;
}

/* Whether a file that is there may be a store. An empty one may become one. */
static gboolean
check_contents (const char *path, const struct stat *info, int newest, GError **error)
{
  Contents contents = look_into (path);
  if (info->st_size > 0 && !contents.sqlite) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
                 "'%s' is no store: it does not begin as an SQLite database does; it was left as "
                 "it is, name another file",
                 path);
    return FALSE;
  }
  if (contents.version > newest)
    return lig_store_file_is_newer (path, contents.version, newest, error);
  /* Both zero: what it says may still stand in the log alone. */
  if (contents.application != LIG_STORE_APPLICATION && (contents.application || contents.tables))
    return lig_store_file_is_foreign (path, error);
  return TRUE;
}

static gboolean
check_kind (const char *path, const struct stat *info, GError **error)
{
  if (S_ISDIR (info->st_mode))
    return fail (error, "open store", path, EISDIR);
  if (S_ISREG (info->st_mode))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, "cannot open store '%s': it is no regular file",
               path);
  return FALSE;
}

gboolean
lig_store_file_check_existing (const char *path, int newest, GError **error)
{
  struct stat info;
  if (stat (path, &info) != 0 && errno == ENOENT) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
                 "there is no store '%s'; a training or a profile makes one", path);
    return FALSE;
  }
  if (stat (path, &info) != 0)
    return fail (error, "open store", path, errno);
  if (!check_kind (path, &info, error))
    return FALSE;
  if (g_access (path, R_OK) != 0)
    return fail (error, "read store", path, errno);
  if (info.st_size == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, "'%s' is no store: it is empty", path);
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
  /* SQLite keeps files beside the database. */
  return g_access (path, R_OK | W_OK) == 0 && g_access (folder, W_OK | X_OK) == 0;
}

gboolean
lig_store_file_check_writable (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  if (g_file_test (path, G_FILE_TEST_EXISTS) && g_access (path, R_OK | W_OK) != 0)
    return fail (error, "write store", path, errno);
  if (g_access (folder, W_OK | X_OK) != 0)
    return fail (error, "write in the folder of the store,", folder, errno);
  return TRUE;
}

/* Others have no business in it, whatever the umask; SQLite gives the files beside it the same
 * mode. Closing a file drops the locks that this process has on it, so nobody may open it before
 * this is done. */
static gboolean
make_file (const char *path, GError **error)
{
  static GMutex lock;
  g_mutex_lock (&lock);
  int fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int reason = errno;
  if (fd >= 0)
    close (fd);
  g_mutex_unlock (&lock);
  return fd >= 0 || reason == EEXIST || fail (error, "make store", path, reason);
}

gboolean
lig_store_file_prepare (const char *path, int newest, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  struct stat info;
  if (g_mkdir_with_parents (folder, 0700) != 0)
    return fail (error, "make the folder of the store,", folder, errno);
  if (stat (path, &info) == 0 &&
      (!check_kind (path, &info, error) || !check_contents (path, &info, newest, error)))
    return FALSE;
  return lig_store_file_check_writable (path, error) && make_file (path, error);
}

gboolean
lig_store_file_remember (const char *path, struct stat *file, GError **error)
{
  return stat (path, file) == 0 || fail (error, "open store", path, errno);
}

gboolean
lig_store_file_is_there (const char *path, const struct stat *opened, GError **error)
{
  struct stat now;
  gboolean there = stat (path, &now) == 0;
  if (there && now.st_ino == opened->st_ino && now.st_dev == opened->st_dev)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, "store '%s' was %s while it was open", path,
               there ? "replaced" : "deleted");
  return FALSE;
}

/* Renames unless there is something of the new name. */
static int
move (const char *from, const char *to)
{
  int result = renameat2 (AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
  if (result == 0 || (errno != EINVAL && errno != ENOSYS))
    return result;
  /* This file system cannot promise it, so ask first. */
  if (g_file_test (to, G_FILE_TEST_EXISTS)) {
    errno = EEXIST;
    return -1;
  }
  return g_rename (from, to);
}

/* A name that neither the file nor its companions have yet. */
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

/* The database goes last: until then the next opening finds it damaged again. */
static gboolean
move_all (const char *path, const char *why, char **warning, GError **error)
{
  static const char *const suffixes[] = {"-wal", "-shm", "-journal", ""};
  g_autofree char *name = find_name (path);
  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++) {
    g_autofree char *from = g_strconcat (path, suffixes[i], NULL);
    g_autofree char *to = g_strconcat (name, suffixes[i], NULL);
    if (move (from, to) != 0 && errno != ENOENT)
      return fail (error, "set aside the damaged store", from, errno);
  }
  g_free (*warning);
  *warning = g_strdup_printf ("%s; it was set aside as '%s' and a new one was made", why, name);
  return TRUE;
}

gboolean
lig_store_file_set_aside (
  const char *path, const struct stat *seen, const char *why, char **warning, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  struct stat now;
  gboolean done = TRUE;
  /* The lock on the folder keeps two processes from setting aside one after the other, the second
   * of them the new database. A file system without such locks leaves it at the comparison. */
  int lock = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock >= 0)
    flock (lock, LOCK_EX);
  if (stat (path, &now) == 0 && now.st_ino == seen->st_ino && now.st_dev == seen->st_dev)
    done = move_all (path, why, warning, error);
  if (lock >= 0)
    close (lock);
  return done;
}
