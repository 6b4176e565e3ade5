/* SPDX-License-Identifier: MIT */
/* Opens, migrates and closes the store. */
#include "engine/store.h"
#include "engine/store/file.h"
#include "engine/store/guard.h"
#include "engine/store/private.h"
#include "engine/store/process.h"

#include <string.h>

/* Files up to this size are read through when they are opened, to find damage before it is
 * written to: some 50 ms. Beyond it damage is found where it is met. */
#define CHECKED_SIZE (4 << 20)

/* `LIGA`, as schema.sql sets it. */
#define APPLICATION_ID 1279870785

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

/* The statements of one numbered block of the schema, NULL beyond the last. */
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

/* Runs the missing blocks, all or none. The version is read again within the transaction, as
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
    done = lig_store_file_is_newer (sqlite3_db_filename (db, "main"), version, newest, error);
  while (done && version < newest) {
    g_autofree char *block = get_block (++version);
    g_autofree char *stamp = g_strdup_printf ("PRAGMA user_version = %d", (int) version);
    done = lig_sql_exec (db, block, error) && lig_sql_exec (db, stamp, error);
  }
  return lig_sql_end (db, done, error);
}

/* Whether the database is a store that this program may use; nothing is written. All is read in one
 * transaction, as another process may be making the tables of the same file. */
static gboolean
check_owner (sqlite3 *db, const char *path, GError **error)
{
  gint64 version = 0, application = 0, tables = 0;
  int newest = get_newest_version ();
  gboolean done = lig_sql_exec (db, "BEGIN", error) &&
                  lig_sql_get (db, "PRAGMA user_version", &version, error) &&
                  lig_sql_get (db, "PRAGMA application_id", &application, error) &&
                  lig_sql_get (db, "SELECT count (*) FROM sqlite_master", &tables, error);
  /* On failure the database is closed next, and what SQLite last said tells damage apart. */
  if (!done || !lig_sql_exec (db, "COMMIT", error))
    return FALSE;
  if (version > newest)
    return lig_store_file_is_newer (path, version, newest, error);
  if (application != APPLICATION_ID && (version || application || tables)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, "'%s' is the database of another program",
                 path);
    return FALSE;
  }
  if (sqlite3_db_readonly (db, "main")) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, "cannot write store '%s': read only", path);
    return FALSE;
  }
  return TRUE;
}

/* Sets `damaged` where the file's pages contradict each other. */
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
  /* The text names the database in a line of its own before the finding. */
  const char *line = strrchr (found, '\n');
  *damaged = strcmp (found, "ok") != 0;
  if (*damaged)
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, "store '%s': database is damaged: %s",
                 sqlite3_db_filename (db, "main"), line ? line + 1 : found);
  return !*damaged;
}

/* Changing to WAL needs the file alone and does not wait by itself. */
static gboolean
set_journal (sqlite3 *db, GError **error)
{
  for (int i = 0;; i++) {
    int code = sqlite3_exec (db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    if (code == SQLITE_OK)
      break;
    if ((code & 0xff) != SQLITE_BUSY || i == 250)
      return lig_sql_fail (db, "cannot open", error);
    g_usleep (20000);
  }
  return lig_sql_exec (db,
                       "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;"
                       "PRAGMA journal_size_limit = 67108864",
                       error);
}

/* Opens the file for writing. `damaged` is set where it fails because of what is in the file. */
static sqlite3 *
open_database (const char *path, const struct stat *seen, gboolean *damaged, GError **error)
{
  g_autoptr (sqlite3) db = NULL;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2 (path, &db, flags, NULL) != SQLITE_OK) {
    lig_sql_fail (db, "cannot open", error);
    return NULL;
  }
  sqlite3_busy_timeout (db, 5000);
  /* What a newer program left in the write-ahead log must stay there, so until the owner is known
   * closing may not bring it into the file. */
  sqlite3_db_config (db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  gboolean done = check_owner (db, path, error) && check_pages (db, seen, damaged, error);
  if (done) {
    sqlite3_db_config (db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    done = set_journal (db, error) && migrate (db, error);
  }
  if (done)
    return g_steal_pointer (&db);
  *damaged = *damaged || lig_sql_is_damage (db);
  return NULL;
}

/* Opens the file, or sets a damaged one aside and makes a new one. */
static gboolean
open_or_replace (LigStore *self, GError **error)
{
  for (int tries = 0;; tries++) {
    g_autoptr (GError) failure = NULL;
    gboolean damaged = FALSE;
    struct stat seen = {0};
    gboolean existed = stat (self->path, &seen) == 0;
    self->db = open_database (self->path, &seen, &damaged, &failure);
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

/* Writes down that the runs of processes that are gone were interrupted. They read so anyway,
 * therefore a failure is no reason not to open. */
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

LigStore *
lig_store_open (const char *path, GError **error)
{
  g_autoptr (LigStore) self = g_object_new (LIG_TYPE_STORE, NULL);
  self->path = lig_store_file_name (path);
  if (!lig_store_file_check (self->path, get_newest_version (), error) ||
      !open_or_replace (self, error))
    return NULL;
  mark_interrupted (self);
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
