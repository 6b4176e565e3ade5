/* SPDX-License-Identifier: MIT */
/* Opens, migrates and closes the store. */
#include "engine/store/file.h"
#include "engine/store/guard.h"
#include "engine/store/private.h"
#include "engine/store/process.h"
#include <ligature/store.h>

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Files up to this size are checked completely when they are opened, which takes about 50 ms, so
 * that a damaged file is never written. In larger files damage is found when SQLite reads it. */
#define CHECKED_SIZE (4 << 20)

static const char schema[] =
#include "engine/store/schema.h"
  ;

G_DEFINE_FINAL_TYPE (LigStore, lig_store, G_TYPE_OBJECT)

static void
lig_store_finalize (GObject *object)
{
  LigStore *self = LIG_STORE (object);
  gboolean broken = self->writer && lig_writer_is_broken (self->writer);
  g_clear_pointer (&self->writer, lig_writer_free);
  if (broken) {
    lig_guard_abandon (self->reader);
  } else {
    sqlite3_close (self->reader);
    sqlite3_close (self->db);
  }
  g_mutex_clear (&self->write_lock);
  g_mutex_clear (&self->read_lock);
  g_free (self->path);
  g_free (self->warning);
  G_OBJECT_CLASS (lig_store_parent_class)->finalize (object);
}

static void
lig_store_class_init (LigStoreClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_store_finalize;
}

static void
lig_store_init (LigStore *self)
{
  g_mutex_init (&self->write_lock);
  g_mutex_init (&self->read_lock);
}

/* Returns (transfer full) the statements of one numbered block of the schema, NULL after the last.
 */
static char *
get_block (int version)
{
  g_autofree char *begin = g_strdup_printf ("\n-- %d\n", version);
  g_autofree char *end = g_strdup_printf ("\n-- %d\n", version + 1);
  const char *block = strstr (schema, begin);
  if (!block)
    return NULL;
  const char *next = strstr (block, end);
  return next ? g_strndup (block, next - block) : g_strdup (block);
}

static int
get_newest_version (void)
{
  for (int version = 0;; version++) {
    g_autofree char *next = get_block (version + 1);
    if (!next)
      return version;
  }
}

/* Runs the missing blocks, all or none. The version is read again within the transaction, because
 * another process may be opening the same file. */
static gboolean
migrate (sqlite3 *db, GError **error)
{
  int newest = get_newest_version ();
  gint64 version = 0;
  if (!lig_sql_get (db, "PRAGMA user_version", &version, error))
    return FALSE;
  if (version == newest)
    return TRUE;
  if (!lig_sql_begin (db, error))
    return FALSE;
  gboolean done = lig_sql_get (db, "PRAGMA user_version", &version, error);
  if (done && version > newest)
    done = lig_store_file_fail_newer (sqlite3_db_filename (db, "main"), version, newest, error);
  while (done && version < newest) {
    g_autofree char *block = get_block (++version);
    g_autofree char *stamp = g_strdup_printf ("PRAGMA user_version = %d", (int) version);
    done = lig_sql_exec (db, block, error) && lig_sql_exec (db, stamp, error);
  }
  return lig_sql_end (db, done, error);
}

/* Copies a whole database. */
static gboolean
copy_database (sqlite3 *source, sqlite3 *copy, GError **error)
{
  sqlite3_backup *backup = sqlite3_backup_init (copy, "main", source, "main");
  gboolean done = backup && sqlite3_backup_step (backup, -1) == SQLITE_DONE;
  if (!done)
    lig_sql_fail (backup ? source : copy, _ ("cannot copy"), error);
  if (backup)
    sqlite3_backup_finish (backup);
  return done;
}

/* Keeps a copy of a store with an older schema, because an older Ligature cannot read the newer
 * one. The copy gets its name when it is complete; an existing copy is kept. */
static gboolean
keep_older (sqlite3 *db, const char *path, char **warning, GError **error)
{
  int newest = get_newest_version ();
  gint64 version = 0;
  if (!lig_sql_get (db, "PRAGMA user_version", &version, error))
    return FALSE;
  if (version == 0 || version >= newest)
    return TRUE;
  g_autofree char *name = g_strdup_printf ("%s.before-%d", path, newest);
  g_autofree char *part = g_strdup_printf ("%s.part-%d", name, (int) getpid ());
  g_autoptr (sqlite3) copy = NULL;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX;
  if (!lig_store_file_make (part, error))
    return FALSE;
  gboolean done = sqlite3_open_v2 (part, &copy, flags, NULL) == SQLITE_OK
                    ? copy_database (db, copy, error)
                    : lig_sql_fail (copy, _ ("cannot copy"), error);
  g_clear_pointer (&copy, sqlite3_close);
  done = done && lig_store_file_name_copy (part, name, error);
  g_unlink (part);
  if (done)
    *warning = g_strdup_printf (_ ("store '%s' was migrated from schema version %d to %d, which "
                                   "older programs cannot read; '%s' is a copy of the old one"),
                                path, (int) version, newest, name);
  return done;
}

/* Returns whether the database is a store that this program may use; writes nothing. Reads in one
 * transaction, because another process may be creating the tables of the same file. */
static gboolean
check_owner (sqlite3 *db, const char *path, GError **error)
{
  gint64 version = 0, application = 0, tables = 0;
  int newest = get_newest_version ();
  gboolean done = lig_sql_exec (db, "BEGIN", error) &&
                  lig_sql_get (db, "PRAGMA user_version", &version, error) &&
                  lig_sql_get (db, "PRAGMA application_id", &application, error) &&
                  lig_sql_get (db, "SELECT count (*) FROM sqlite_master", &tables, error);
  /* On failure the transaction stays open: the caller closes the database, and the last error code
   * of SQLite must remain, because the caller recognizes damage by it. */
  if (!done || !lig_sql_exec (db, "COMMIT", error))
    return FALSE;
  if (version > newest)
    return lig_store_file_fail_newer (path, version, newest, error);
  if (application != LIG_STORE_APPLICATION && (version || application || tables))
    return lig_store_file_fail_foreign (path, error);
  return TRUE;
}

/* Checks the pages of a small file; sets `damaged` if they contradict each other. */
static gboolean
check_pages (sqlite3 *db, const struct stat *seen, gboolean *damaged, GError **error)
{
  if (seen->st_size > CHECKED_SIZE)
    return TRUE;
  g_autoptr (sqlite3_stmt) statement = lig_sql_prepare (db, error, "PRAGMA quick_check (1)", "");
  g_autoptr (GError) failure = NULL;
  if (!statement)
    return FALSE;
  if (!lig_sql_next (statement, &failure)) {
    if (failure)
      g_propagate_error (error, g_steal_pointer (&failure));
    return !failure;
  }
  const char *found = lig_sql_string (statement, 0);
  /* A separate line before the finding names the database. */
  const char *line = strrchr (found, '\n');
  *damaged = strcmp (found, "ok") != 0;
  if (*damaged)
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s': database is damaged: %s"),
                 sqlite3_db_filename (db, "main"), line ? line + 1 : found);
  return !*damaged;
}

/* Changing to WAL mode needs exclusive access, and SQLite does not wait for it. */
static gboolean
set_journal (sqlite3 *db, GError **error)
{
  for (int i = 0;; i++) {
    int code = sqlite3_exec (db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    if (code == SQLITE_OK)
      break;
    if ((code & 0xff) != SQLITE_BUSY || i == 250)
      return lig_sql_fail (db, _ ("cannot open"), error);
    g_usleep (20000);
  }
  return lig_sql_exec (db,
                       "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;"
                       "PRAGMA journal_size_limit = 67108864",
                       error);
}

static gboolean
check_writable (sqlite3 *db, const char *path, GError **error)
{
  if (!sqlite3_db_readonly (db, "main"))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("cannot write store '%s': read only"), path);
  return FALSE;
}

/* Opens the file for writing. Sets `damaged` if this fails because of the content of the file. */
static sqlite3 *
open_database (
  const char *path, const struct stat *seen, gboolean *damaged, char **warning, GError **error)
{
  g_autoptr (sqlite3) db = NULL;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2 (path, &db, flags, NULL) != SQLITE_OK) {
    lig_sql_fail (db, _ ("cannot open"), error);
    return NULL;
  }
  sqlite3_busy_timeout (db, 5000);
  /* The write-ahead log may be that of a newer program, and must then be kept. So until the owner
   * is known, closing must not copy the log into the file. */
  sqlite3_db_config (db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, lig_store_file_has_log (path), NULL);
  gboolean done = check_owner (db, path, error) && check_writable (db, path, error) &&
                  check_pages (db, seen, damaged, error);
  if (done) {
    sqlite3_db_config (db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    done = set_journal (db, error) && keep_older (db, path, warning, error) && migrate (db, error);
  }
  if (done)
    return g_steal_pointer (&db);
  *damaged = *damaged || lig_sql_is_damage (db);
  return NULL;
}

/* Opens the file, or sets a damaged one aside and creates a new one. */
static gboolean
open_or_replace (LigStore *self, GError **error)
{
  for (int tries = 0;; tries++) {
    g_autoptr (GError) failure = NULL;
    gboolean damaged = FALSE;
    struct stat seen = {0};
    if (!lig_store_file_prepare (self->path, get_newest_version (), error))
      return FALSE;
    gboolean existed = stat (self->path, &seen) == 0;
    self->db = open_database (self->path, &seen, &damaged, &self->warning, &failure);
    if (self->db)
      return lig_store_file_remember (self->path, &self->file, error);
    if (!damaged || !existed || tries == 3) {
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }
    if (!lig_store_file_set_aside (self->path, &seen, failure->message, &self->warning, error))
      return FALSE;
  }
}

/* Marks the runs of processes that are gone as interrupted. Reading reports them as interrupted in
 * any case, so a failure is ignored. */
static void
mark_interrupted (LigStore *self)
{
  static const char find[] =
    "SELECT id, boot, pid, process_start, heartbeat FROM run WHERE status = 'running'";
  static const char mark[] = "UPDATE run SET status = 'interrupted', ended = heartbeat"
                             " WHERE id = ?1 AND status = 'running' AND heartbeat = ?2";
  g_autoptr (GArray) gone = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (sqlite3_stmt) statement = lig_sql_prepare (self->db, NULL, find, "");
  while (statement && lig_sql_next (statement, NULL)) {
    gint64 pair[] = {sqlite3_column_int64 (statement, 0), sqlite3_column_int64 (statement, 4)};
    if (lig_process_is_gone (lig_sql_string (statement, 1), sqlite3_column_int64 (statement, 2),
                             sqlite3_column_int64 (statement, 3), pair[1]))
      g_array_append_vals (gone, pair, 2);
  }
  if (!gone->len || !lig_sql_begin (self->db, NULL))
    return;
  gboolean done = TRUE;
  for (guint i = 0; done && i < gone->len; i += 2)
    done = lig_sql_run (self->db, NULL, mark, "ii", g_array_index (gone, gint64, i),
                        g_array_index (gone, gint64, i + 1));
  lig_sql_end (self->db, done, NULL);
}

/* Opens an existing store for changes; a damaged file is an error and is not replaced. */
static gboolean
open_existing (LigStore *self, GError **error)
{
  gboolean damaged = FALSE;
  struct stat seen = {0};
  if (!lig_store_file_check_writable (self->path, error) ||
      !lig_store_file_remember (self->path, &seen, error))
    return FALSE;
  self->db = open_database (self->path, &seen, &damaged, &self->warning, error);
  return self->db && lig_store_file_remember (self->path, &self->file, error);
}

/* --- Opening for reading -------------------------------------------------------------------- */

/* Returns whether the database can be read and is a store. */
static gboolean
check_read (LigStore *self, sqlite3 *db, GError **error)
{
  sqlite3_busy_timeout (db, 5000);
  return lig_sql_exec (db, "PRAGMA query_only = ON", error) && check_owner (db, self->path, error);
}

/* Opens the database together with its write-ahead log, which SQLite creates even for reading. Only
 * a connection that may write removes a log that it created. If a log exists (@log), it is kept,
 * because it may contain the data of a killed process. */
static sqlite3 *
open_with_log (LigStore *self, gboolean log, GError **error)
{
  g_autoptr (sqlite3) db = NULL;
  gboolean writable = lig_store_file_is_writable (self->path);
  int access = writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  if (sqlite3_open_v2 (self->path, &db, access | SQLITE_OPEN_FULLMUTEX, NULL) != SQLITE_OK) {
    lig_sql_fail (db, _ ("cannot open"), error);
    return NULL;
  }
  sqlite3_db_config (db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, log, NULL);
  return check_read (self, db, error) ? g_steal_pointer (&db) : NULL;
}

/* Opens the file without locks and companion files, if this process cannot write it; usually the
 * medium is read-only. */
static sqlite3 *
open_immutable (LigStore *self, GError **error)
{
  g_autoptr (sqlite3) db = NULL;
  g_autofree char *uri = lig_store_file_uri (self->path, "immutable=1");
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2 (uri, &db, flags, NULL) != SQLITE_OK) {
    lig_sql_fail (db, _ ("cannot open"), error);
    return NULL;
  }
  return check_read (self, db, error) ? g_steal_pointer (&db) : NULL;
}

/* Returns @from, or a private copy migrated to the newest schema if its schema is older. */
static sqlite3 *
copy_if_older (sqlite3 *from, GError **error)
{
  g_autoptr (sqlite3) source = from;
  g_autoptr (sqlite3) copy = NULL;
  gint64 version = 0;
  if (!lig_sql_get (source, "PRAGMA user_version", &version, error))
    return NULL;
  if (version == get_newest_version ())
    return g_steal_pointer (&source);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2 ("", &copy, flags, NULL) != SQLITE_OK) {
    lig_sql_fail (copy, _ ("cannot copy"), error);
    return NULL;
  }
  if (!copy_database (source, copy, error))
    return NULL;
  return migrate (copy, error) ? g_steal_pointer (&copy) : NULL;
}

static gboolean
open_for_reading (LigStore *self, GError **error)
{
  g_autoptr (GError) failure = NULL;
  sqlite3 *db = NULL;
  gboolean has_log = lig_store_file_has_log (self->path);
  if (has_log || lig_store_file_is_writable (self->path))
    db = open_with_log (self, has_log, &failure);
  if (!db && !lig_store_file_is_writable (self->path)) {
    db = open_immutable (self, error);
    if (db && has_log)
      self->warning =
        g_strdup_printf ("the write-ahead log '%s-wal' is ignored, because its folder "
                         "cannot be written; the newest rows may be missing",
                         self->path);
  } else if (!db) {
    g_propagate_error (error, g_steal_pointer (&failure));
  }
  self->reader = db ? copy_if_older (db, error) : NULL;
  return self->reader && lig_store_file_remember (self->path, &self->file, error);
}

/* --- Opening -------------------------------------------------------------------------------- */

LigStore *
lig_store_open (const char *path, GError **error)
{
  g_autoptr (LigStore) self = g_object_new (LIG_TYPE_STORE, NULL);
  self->path = lig_store_file_name (path);
  if (!open_or_replace (self, error))
    return NULL;
  mark_interrupted (self);
  self->writer = lig_writer_new (self->db, &self->write_lock);
  return g_steal_pointer (&self);
}

LigStore *
lig_store_open_existing (const char *path, LigStoreAccess access, GError **error)
{
  g_autoptr (LigStore) self = g_object_new (LIG_TYPE_STORE, NULL);
  self->path = lig_store_file_name (path);
  if (!lig_store_file_check_existing (self->path, get_newest_version (), error) ||
      !(access == LIG_STORE_READ ? open_for_reading (self, error) : open_existing (self, error)))
    return NULL;
  if (access == LIG_STORE_CHANGE)
    mark_interrupted (self);
  /* Without a database the writer fails when it is flushed, because it cannot write. */
  self->writer = lig_writer_new (self->db, &self->write_lock);
  return g_steal_pointer (&self);
}

const char *
lig_store_get_path (LigStore *self)
{
  g_return_val_if_fail (LIG_IS_STORE (self), NULL);
  return self->path;
}

const char *
lig_store_get_warning (LigStore *self)
{
  g_return_val_if_fail (LIG_IS_STORE (self), NULL);
  return self->warning;
}
