/* SPDX-License-Identifier: MIT */
/* Reading a store creates, renames and writes nothing, for any contents of the path and its
 * folder. */
#include "engine/store/tuning.h"
#include "tests/store/case.h"
#include <ligature/store-histograms.h>
#include <ligature/store-select.h>

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static int
compare (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Returns the name and content of every file in the folder, so that any change is detected. */
static char *
describe_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  const char *name;
  while ((name = g_dir_read_name (dir))) {
    g_autofree char *path = g_build_filename (folder, name, NULL), *data = NULL;
    gsize size = 0;
    g_assert_true (g_file_get_contents (path, &data, &size, NULL));
    g_autofree char *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA1, (guchar *) data, size);
    g_ptr_array_add (lines, g_strdup_printf ("%s %s", name, sum));
  }
  g_ptr_array_sort (lines, compare);
  g_ptr_array_add (lines, NULL);
  return g_strjoinv ("\n", (char **) lines->pdata);
}

static void
assert_rejected (const char *path, LigStoreAccess access, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (lig_store_open_existing (path, access, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, path));
  g_assert_nonnull (strstr (error->message, part));
}

static LigStore *
open_reading (const char *path)
{
  g_autoptr (GError) error = NULL;
  LigStore *store = lig_store_open_existing (path, LIG_STORE_READ, &error);
  g_assert_no_error (error);
  return store;
}

static void
test_missing (Fixture *f, gconstpointer data)
{
  g_autofree char *deep = g_build_filename (f->folder, "a", "b", "runs.db", NULL);
  for (LigStoreAccess access = LIG_STORE_READ; access <= LIG_STORE_CHANGE; access++) {
    assert_rejected (deep, access, "does not exist");
    assert_rejected (f->path, access, "does not exist");
  }
  g_autofree char *after = describe_folder (f->folder);
  g_assert_cmpstr (after, ==, "");
}

/* A text file is rejected, for writing as well: only damaged SQLite files may be set aside. */
static void
test_text (Fixture *f, gconstpointer data)
{
  static const char *const texts[] = {"notes\n", "SQLite format 2 and more of it, longer than that",
                                      "this is my shopping list, not a database; long enough"};
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_true (g_file_set_contents (f->path, texts[i], -1, NULL));
    g_autofree char *before = describe_folder (f->folder);
    assert_rejected (f->path, LIG_STORE_READ, "is not a store");
    assert_rejected (f->path, LIG_STORE_CHANGE, "is not a store");
    g_assert_null (lig_store_open (f->path, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
    g_autofree char *after = describe_folder (f->folder);
    g_assert_cmpstr (before, ==, after);
  }
}

/* Folders, empty files and endless devices are rejected. */
static void
test_no_file (Fixture *f, gconstpointer data)
{
  g_assert_true (g_file_set_contents (f->path, "", 0, NULL));
  assert_rejected (f->path, LIG_STORE_READ, "empty");
  assert_rejected ("/dev/zero", LIG_STORE_READ, "not a regular file");
  assert_rejected (f->folder, LIG_STORE_READ, g_strerror (EISDIR));
}

static void
test_nothing_changes (Fixture *f, gconstpointer data)
{
  LigStore *store = open_store (f->path);
  g_autofree char *run = begin (store, "mlp");
  lig_store_add_metric (store, run, 3, LIG_METRIC_LOSS, 0.5);
  g_assert_true (lig_store_finish_run (store, run, "done", NULL, NULL));
  g_object_unref (store);
  g_autofree char *before = describe_folder (f->folder);
  g_autoptr (LigStore) reading = open_reading (f->path);
  g_autoptr (LigRunRow) row = find (reading, "last");
  g_assert_cmpstr (row->uuid, ==, run);
  assert_metric (reading, run, LIG_METRIC_LOSS, 1, 0.5);
  g_clear_object (&reading);
  g_autofree char *after = describe_folder (f->folder);
  g_assert_cmpstr (before, ==, after);
}

/* Rows that a killed process left in the write-ahead log are read, and remain in the log. */
static void
test_log_stays (Fixture *f, gconstpointer data)
{
  sqlite3 *db = NULL;
  LigStore *store = open_store (f->path);
  g_free (begin (store, "mlp"));
  g_object_unref (store);
  g_assert_cmpint (sqlite3_open (f->path, &db), ==, SQLITE_OK);
  sqlite3_db_config (db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  sqlite3_exec (db, "UPDATE run SET notes = 'in the log'", NULL, NULL, NULL);
  sqlite3_close (db);
  g_autofree char *log = g_strconcat (f->path, "-wal", NULL), *before = NULL, *after = NULL;
  gsize size = 0, later = 0;
  g_assert_true (g_file_get_contents (log, &before, &size, NULL));
  g_assert_cmpuint (size, >, 0);
  g_autoptr (LigStore) reading = open_reading (f->path);
  g_autoptr (LigRunRow) row = find (reading, "last");
  g_assert_cmpstr (row->notes, ==, "in the log");
  g_clear_object (&reading);
  g_assert_true (g_file_get_contents (log, &after, &later, NULL));
  g_assert_cmpmem (before, size, after, later);
}

/* A store of an older schema is read without migrating it, and a run whose process is gone is read
 * as interrupted without storing that. */
static void
test_older (Fixture *f, gconstpointer data)
{
  LigStore *store = open_store (f->path);
  g_free (begin (store, "old"));
  g_object_unref (store);
  execute (
    f->path,
    "DROP TABLE sweep; DROP TABLE spread; DROP TABLE recipe_error; DROP TABLE sample;"
    "DROP TABLE expert_load;"
    "DROP TABLE histogram;"
    "DROP INDEX run_by_sweep; DROP INDEX run_deleted; ALTER TABLE run DROP COLUMN deleted;"
    "ALTER TABLE run DROP COLUMN eval_rows;"
    "ALTER TABLE run DROP COLUMN sweep; ALTER TABLE run DROP COLUMN point;"
    "ALTER TABLE run DROP COLUMN inputs; DROP INDEX run_list; ALTER TABLE run DROP COLUMN step_ms;"
    "ALTER TABLE run DROP COLUMN parent; ALTER TABLE run DROP COLUMN saved_step;"
    "ALTER TABLE tuning DROP COLUMN noise; PRAGMA user_version = 2;"
    "UPDATE run SET heartbeat = 1");
  g_autofree char *before = describe_folder (f->folder);
  g_autoptr (LigStore) reading = open_reading (f->path);
  g_autoptr (LigRunRow) row = find (reading, "last");
  g_assert_cmpstr (row->name, ==, "old");
  g_assert_cmpstr (row->status, ==, "interrupted");
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) histograms = lig_store_list_histograms (reading, row->uuid, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (histograms), ==, 0);
  g_clear_object (&reading);
  g_autofree char *after = describe_folder (f->folder);
  g_assert_cmpstr (before, ==, after);
}

static void
test_writing_fails (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  LigStore *store = open_store (f->path);
  g_autofree char *run = begin (store, "mlp");
  g_object_unref (store);
  g_autoptr (LigStore) reading = open_reading (f->path);
  LigRunRecord record = example;
  g_assert_null (lig_store_begin_run (reading, &record, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
  g_clear_error (&error);
  g_assert_false (lig_store_set_star (reading, run, TRUE, &error));
  g_assert_nonnull (strstr (error->message, "reading"));
  g_clear_error (&error);
  g_assert_false (lig_store_put_tuning (reading, "k", 1, 0, "c", NULL));
  lig_store_add_metric (reading, run, 1, "loss", 1);
  g_assert_false (lig_store_flush (reading, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
}

static void
test_damaged (Fixture *f, gconstpointer data)
{
  g_autofree char *content = NULL;
  gsize size = 0;
  LigStore *store = open_store (f->path);
  g_free (begin (store, "lost"));
  g_object_unref (store);
  g_assert_true (g_file_get_contents (f->path, &content, &size, NULL));
  memset (content + 100, 0xa5, size - 100);
  g_assert_true (g_file_set_contents (f->path, content, (gssize) size, NULL));
  g_autofree char *before = describe_folder (f->folder);
  assert_rejected (f->path, LIG_STORE_READ, "malformed");
  assert_rejected (f->path, LIG_STORE_CHANGE, "malformed");
  g_autofree char *after = describe_folder (f->folder);
  g_assert_cmpstr (before, ==, after);
}

static void
test_modes (Fixture *f, gconstpointer data)
{
  static const mode_t masks[] = {0, 0022, 0077};
  for (guint i = 0; i < G_N_ELEMENTS (masks); i++) {
    struct stat info;
    g_autofree char *name = g_strdup_printf ("of-%03o", masks[i]);
    g_autofree char *path = g_build_filename (f->folder, name, "runs.db", NULL);
    g_autofree char *folder = g_path_get_dirname (path), *log = g_strconcat (path, "-wal", NULL);
    mode_t before = umask (masks[i]);
    g_autoptr (LigStore) store = open_store (path);
    g_free (begin (store, "mlp"));
    umask (before);
    g_assert_cmpint (stat (path, &info), ==, 0);
    g_assert_cmpuint (info.st_mode & 0777, ==, 0600);
    g_assert_cmpint (stat (log, &info), ==, 0);
    g_assert_cmpuint (info.st_mode & 0777, ==, 0600);
    g_assert_cmpint (stat (folder, &info), ==, 0);
    g_assert_cmpuint (info.st_mode & 0777, ==, 0700);
  }
}

static int
child_read_only (const char *path)
{
  if (geteuid () == 0 && setuid (65534) != 0)
    return 1;
  g_autoptr (LigStore) store = open_reading (path);
  g_autoptr (LigRunRow) row = find (store, "last");
  g_assert_cmpstr (row->name, ==, "mlp");
  return 0;
}

/* The file, its folder, or both cannot be written, as on a read-only medium. */
static void
test_read_only (Fixture *f, gconstpointer data)
{
  LigStore *store = open_store (f->path);
  g_free (begin (store, "mlp"));
  g_object_unref (store);
  g_autofree char *before = describe_folder (f->folder);
  for (int i = 0; i < 3; i++) {
    g_assert_cmpint (g_chmod (f->folder, i == 0 ? 0777 : 0555), ==, 0);
    g_assert_cmpint (g_chmod (f->path, i == 1 ? 0666 : 0444), ==, 0);
    g_autoptr (GSubprocess) child = spawn ("read-only", f->path);
    g_assert_true (g_subprocess_wait_check (child, NULL, NULL));
    g_autofree char *after = describe_folder (f->folder);
    g_assert_cmpstr (before, ==, after);
  }
  g_chmod (f->folder, 0700);
}

static void
test_last (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  LigRunRecord record = example;
  g_autofree char *training = lig_store_begin_run (store, &record, NULL);
  g_assert_null (lig_store_select_run (store, "last", "profile", NULL, &error));
  g_assert_nonnull (strstr (error->message, "profile"));
  record.kind = "profile";
  g_autofree char *profile = lig_store_begin_run (store, &record, NULL);
  g_autoptr (LigRunRow) any = lig_store_select_run (store, "last", NULL, NULL, NULL);
  g_autoptr (LigRunRow) trained = lig_store_select_run (store, "last", "train", NULL, NULL);
  g_autoptr (LigRunRow) profiled = lig_store_select_run (store, "last", "profile", NULL, NULL);
  g_assert_cmpstr (any->uuid, ==, profile);
  g_assert_cmpstr (trained->uuid, ==, training);
  g_assert_cmpstr (profiled->uuid, ==, profile);
}

/* Invalid rows that another program wrote are read as valid text and as ranges that a sequence can
 * have. */
static void
test_hostile_rows (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  LigStore *made = open_store (f->path);
  g_autofree char *run = begin (made, "mlp");
  /* A process that has the store open would write heartbeats. */
  g_object_unref (made);
  execute (f->path,
           "INSERT INTO metric VALUES (1, x'000102', 1, 2.0), (1, cast (x'61f0' AS text), 1, 3.0),"
           " (1, 'good', 1, 4.0), (1, '', 1, 5.0);"
           "INSERT INTO fusion (run, pass, \"group\", first_op, count, fusion) VALUES"
           " (1, cast (x'66f0' AS text), 0, -9223372036854775808, 9223372036854775807, NULL);"
           "UPDATE experiment SET name = cast (x'41f0' AS text);"
           "UPDATE run SET heartbeat = -9223372036854775808, started = 9223372036854775807");
  g_autoptr (LigStore) store = open_reading (f->path);
  g_auto (GStrv) names = lig_store_get_metric_names (store, run, &error);
  g_assert_no_error (error);
  g_assert_true (g_strv_contains ((const char *const *) names, "good"));
  for (char **name = names; *name; name++) {
    g_assert_true (g_utf8_validate (*name, -1, NULL));
    g_assert_cmpstr (*name, !=, "");
  }
  g_autoptr (GPtrArray) fusions = lig_store_get_fusions (store, run, &error);
  const LigFusionRow *fusion = fusions->pdata[0];
  g_assert_true (g_utf8_validate (fusion->pass, -1, NULL));
  g_assert_cmpint (fusion->first_op, >=, 0);
  g_assert_cmpint (fusion->count, <=, 1000000);
  g_autoptr (LigRunRow) row = find (store, run);
  g_assert_true (g_utf8_validate (row->name, -1, NULL));
  g_assert_cmpstr (row->status, ==, "interrupted");
}

int
main (int argc, char **argv)
{
  program = argv[0];
  if (argc == 4 && strcmp (argv[1], "--child") == 0)
    return child_read_only (argv[3]);
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) \
  g_test_add ("/store-reading/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("missing", test_missing);
  ADD ("text", test_text);
  ADD ("no-file", test_no_file);
  ADD ("nothing-changes", test_nothing_changes);
  ADD ("log-stays", test_log_stays);
  ADD ("older", test_older);
  ADD ("writing-fails", test_writing_fails);
  ADD ("damaged", test_damaged);
  ADD ("modes", test_modes);
  ADD ("read-only", test_read_only);
  ADD ("last", test_last);
  ADD ("hostile-rows", test_hostile_rows);
  return g_test_run ();
}
