/* SPDX-License-Identifier: MIT */
/* The store: schemas, files that are not stores, and reading back written data. */
#include "engine/store/errors.h"
#include "engine/store/tuning.h"
#include "engine/store/writing.h"
#include "tests/store/case.h"
#include <ligature/store-histograms.h>
#include <ligature/store-spreads.h>

#include <errno.h>
#include <math.h>
#include <unistd.h>

#define NEWEST 13

static GBytes *
read_file (const char *path)
{
  char *data = NULL;
  gsize size = 0;
  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  return g_bytes_new_take (data, size);
}

static guint
count_files (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;
  while (g_dir_read_name (dir))
    n++;
  return n;
}

static void
assert_fails (const char *path, const char *part, const char *other_part)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (lig_store_open (path, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, path));
  g_assert_nonnull (strstr (error->message, part));
  g_assert_nonnull (strstr (error->message, other_part));
}

static void
test_fresh (Fixture *f, gconstpointer data)
{
  g_autofree char *deep = g_build_filename (f->folder, "a", "b", "runs.db", NULL);
  g_setenv ("LIGATURE_STORE", deep, TRUE);
  g_autoptr (LigStore) store = open_store (NULL);
  g_unsetenv ("LIGATURE_STORE");
  g_assert_cmpstr (lig_store_get_path (store), ==, deep);
  g_assert_null (lig_store_get_warning (store));
  g_assert_finalize_object (g_steal_pointer (&store));
  assert_query (deep, "PRAGMA user_version", G_STRINGIFY (NEWEST));
  assert_query (deep, "PRAGMA journal_mode", "wal");
  /* An empty file becomes a new store. */
  g_assert_true (g_file_set_contents (f->path, "", 0, NULL));
  store = open_store (f->path);
  g_assert_null (lig_store_get_warning (store));
}

/* The parts of schema version 1 that the later versions need. */
static const char version_1[] =
  "PRAGMA application_id = 1279870785; PRAGMA user_version = 1;"
  "CREATE TABLE experiment (id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL,"
  " sequence TEXT NOT NULL, UNIQUE (name, hash));"
  "CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE,"
  " experiment INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE, kind TEXT NOT NULL,"
  " device TEXT NOT NULL, dtype TEXT NOT NULL, recipe TEXT NOT NULL, policy TEXT NOT NULL,"
  " seed INTEGER NOT NULL, settings TEXT NOT NULL, versions TEXT NOT NULL, status TEXT NOT NULL,"
  " message TEXT, started INTEGER NOT NULL, ended INTEGER, host TEXT NOT NULL,"
  " boot TEXT NOT NULL, pid INTEGER NOT NULL, process_start INTEGER NOT NULL,"
  " heartbeat INTEGER NOT NULL, revision TEXT, notes TEXT NOT NULL DEFAULT '',"
  " starred INTEGER NOT NULL DEFAULT 0);"
  "CREATE TABLE tag (run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, tag TEXT NOT NULL,"
  " PRIMARY KEY (run, tag)) WITHOUT ROWID;"
  "CREATE TABLE metric (run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
  " name TEXT NOT NULL, step INTEGER NOT NULL, value REAL, PRIMARY KEY (run, name, step))"
  " WITHOUT ROWID;"
  "CREATE TABLE timing (run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, pass TEXT NOT NULL,"
  " \"group\" INTEGER NOT NULL, step INTEGER NOT NULL, microseconds REAL, bytes REAL, flops REAL,"
  " PRIMARY KEY (run, pass, \"group\", step)) WITHOUT ROWID;"
  "CREATE TABLE tuning (key TEXT PRIMARY KEY, microseconds REAL, choice TEXT,"
  " measured INTEGER NOT NULL) WITHOUT ROWID;"
  "INSERT INTO tuning VALUES ('a price', 12.5, NULL, 1), ('a matmul', 3.5, 'ab', 1);"
  "INSERT INTO experiment VALUES (1, 'old', 'h', '{}');"
  "INSERT INTO run VALUES (7, 'abcd0000-0000-4000-8000-000000000000', 1, 'train', 'cpu', 'fp32',"
  " 'none', 'all', 5, '{}', '{}', 'done', NULL, 1000, 2000, 'h', 'b', 1, 1, 2000, NULL, '', 1);"
  "INSERT INTO metric VALUES (7, 'loss', 0, 4.0), (7, 'loss', 9, 2.5), (7, 'eval-loss', 5, 3.0),"
  " (7, 'step-ms', 1, 9.0), (7, 'step-ms', 2, 2.0), (7, 'step-ms', 3, 4.0);";

/* The migration is reported, and a copy of the old store is kept, readable only by this user. */
static void
check_copy (Fixture *f, LigStore *store)
{
  GStatBuf info;
  g_autofree char *copy = g_strconcat (f->path, ".before-" G_STRINGIFY (NEWEST), NULL);
  const char *warning = lig_store_get_warning (store);
  g_assert_nonnull (strstr (warning, "from schema version 1 to " G_STRINGIFY (NEWEST)));
  g_assert_nonnull (strstr (warning, copy));
  g_assert_cmpint (g_stat (copy, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0600);
  assert_query (copy, "PRAGMA user_version", "1");
  assert_query (copy, "SELECT count (*) FROM metric", "6");
  assert_query (copy, "SELECT name FROM experiment", "old");
  /* The store with its companions, and nothing besides the copy. */
  g_assert_cmpuint (count_files (f->folder), <=, 6);
}

static void
test_migrate (Fixture *f, gconstpointer data)
{
  execute (f->path, version_1);
  g_autoptr (LigStore) store = open_store (f->path);
  g_autoptr (LigRunRow) row = find (store, "abcd");
  check_copy (f, store);
  g_assert_cmpstr (row->name, ==, "old");
  g_assert_cmpint (row->last_step, ==, 9);
  g_assert_cmpfloat (row->first_loss, ==, 4);
  g_assert_cmpfloat (row->last_loss, ==, 2.5);
  g_assert_cmpfloat (row->eval_loss, ==, 3);
  g_assert_true (isnan (row->eval_accuracy));
  g_assert_cmpfloat (row->step_ms, ==, 4);
  g_assert_true (row->starred);
  g_assert_cmpstr (row->sweep, ==, "");
  g_assert_cmpint (row->point, ==, -1);
  /* A time of unknown noise is measured again; a chosen algorithm is kept. */
  g_assert_false (lig_store_get_tuning (store, "a price", NULL, NULL, NULL));
  g_assert_true (lig_store_get_tuning (store, "a matmul", NULL, NULL, NULL));
  assert_query (f->path, "PRAGMA user_version", G_STRINGIFY (NEWEST));
  /* Version 7 has no spreads for older runs, and takes new ones. */
  g_autoptr (GError) error = NULL;
  LigSpreadRow step = {"step", 15, 2000, 1900, 2200};
  g_autoptr (GPtrArray) none = lig_store_get_spreads (store, row->uuid, &error);
  g_assert_cmpuint (none->len, ==, 0);
  g_assert_true (lig_store_put_spread (store, row->uuid, &step, &error));
  g_autoptr (GPtrArray) spreads = lig_store_get_spreads (store, row->uuid, &error);
  g_assert_cmpuint (spreads->len, ==, 1);
  /* Version 8 has the errors of recipes. */
  LigRecipeErrorRow errors = {
    (char *) row->uuid, (char *) "c", (char *) "fp8-rows", (char *) "[]", 1, 2, 3};
  g_assert_true (lig_store_put_errors (store, &errors, &error));
  g_autoptr (GPtrArray) rows = lig_store_get_errors (store, row->uuid, &error);
  g_assert_cmpuint (rows->len, ==, 1);
  /* Version 11 has histograms: an older run has none, and takes new ones. */
  LigHistogram histogram;
  LigHistogramEntry entry = {"0.weight", TRUE, &histogram};
  lig_histogram_init (&histogram);
  g_autoptr (GPtrArray) before = lig_store_get_histograms (store, row->uuid, NULL, 0, &error);
  g_assert_cmpuint (before->len, ==, 0);
  g_assert_true (lig_store_add_histograms (store, row->uuid, 9, &entry, 1, &error));
  g_autoptr (GPtrArray) after = lig_store_get_histograms (store, row->uuid, NULL, 0, &error);
  g_assert_cmpuint (after->len, ==, 1);
}

/* A failed migration leaves the database unchanged. */
static void
test_migrate_fails (Fixture *f, gconstpointer data)
{
  execute (f->path, version_1);
  execute (f->path, "ALTER TABLE run ADD COLUMN last_loss REAL");
  assert_fails (f->path, "duplicate column", "last_loss");
  assert_query (f->path, "PRAGMA user_version", "1");
  assert_query (f->path, "SELECT count (*) FROM pragma_table_info ('run')", "24");
}

/* A copy from before an earlier migration to the same version is kept. */
static void
test_migrate_again (Fixture *f, gconstpointer data)
{
  g_autofree char *copy = g_strconcat (f->path, ".before-" G_STRINGIFY (NEWEST), NULL);
  g_autofree char *text = NULL;
  execute (f->path, version_1);
  g_assert_true (g_file_set_contents (copy, "kept", -1, NULL));
  g_object_unref (open_store (f->path));
  g_assert_true (g_file_get_contents (copy, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "kept");
  /* A store of this version is neither copied nor announced. */
  g_assert_cmpint (g_remove (copy), ==, 0);
  g_autoptr (LigStore) store = open_store (f->path);
  g_assert_null (lig_store_get_warning (store));
  g_assert_false (g_file_test (copy, G_FILE_TEST_EXISTS));
}

/* SQLite accepts names of up to 504 bytes; longer ones are rejected before a file is created. */
static void
test_long_path (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) folder = g_string_new (f->folder);
  while (folder->len < 400)
    g_string_append (folder, "/a-folder-with-a-name-of-some-length");
  g_assert_cmpint (g_mkdir_with_parents (folder->str, 0700), ==, 0);
  for (gsize length = 503; length <= 520; length++) {
    g_autoptr (GString) path = g_string_new (folder->str);
    g_string_append_c (path, '/');
    while (path->len < length)
      g_string_append_c (path, 'x');
    if (length <= 504)
      g_object_unref (open_store (path->str));
    else
      assert_fails (path->str, "bytes, at most 504 are supported", "name another file");
    g_assert_true (g_file_test (path->str, G_FILE_TEST_EXISTS) == (length <= 504));
  }
  /* A short name of a long path is as long as the path. */
  g_autofree char *link = g_build_filename (f->folder, "link", NULL);
  g_autoptr (GString) behind = g_string_new (link);
  g_string_append_c (behind, '/');
  for (gsize i = folder->len; i < 510; i++)
    g_string_append_c (behind, 'y');
  g_assert_cmpint (symlink (folder->str, link), ==, 0);
  assert_fails (behind->str, "at most 504 are supported", "name another file");
}

/* All runs of a list are deleted, or none; compacting gives their space back. */
static void
test_delete_many (Fixture *f, gconstpointer data)
{
  GStatBuf before, after;
  g_autoptr (GError) error = NULL;
  g_object_unref (open_store (f->path));
  execute (f->path, LIG_TEST_MANY_RUNS);
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree const char **names = g_new0 (const char *, 60000);
  g_autoptr (GStringChunk) texts = g_string_chunk_new (1 << 20);
  for (guint64 i = 1; i <= 60000; i++) {
    g_autofree char *name =
      g_strdup_printf ("%08x-0000-4000-8000-%012x", (guint32) (i * 2654435761u), (guint) i);
    names[i - 1] = g_string_chunk_insert (texts, name);
  }
  const char *last = names[59999];
  names[59999] = "missing";
  g_assert_false (lig_store_delete_runs (store, names, 60000, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
  g_clear_error (&error);
  assert_query (f->path, "SELECT count (*) FROM run", "100000");
  names[59999] = last;
  g_assert_true (lig_store_delete_runs (store, names, 60000, &error));
  g_assert_no_error (error);
  assert_query (f->path, "SELECT count (*) FROM run", "40000");
  g_assert_cmpint (g_stat (f->path, &before), ==, 0);
  g_assert_true (lig_store_compact (store, &error));
  g_assert_no_error (error);
  g_assert_cmpint (g_stat (f->path, &after), ==, 0);
  g_assert_cmpint (after.st_size, <, before.st_size * 6 / 10);
  assert_query (f->path, "PRAGMA integrity_check", "ok");
  assert_query (f->path, "SELECT count (*) FROM run", "40000");
}

static void
test_newer (Fixture *f, gconstpointer data)
{
  g_object_unref (open_store (f->path));
  execute (f->path, "PRAGMA user_version = 99");
  g_autoptr (GBytes) before = read_file (f->path);
  guint files = count_files (f->folder);
  assert_fails (f->path, "99", G_STRINGIFY (NEWEST));
  g_autoptr (GBytes) after = read_file (f->path);
  g_assert_true (g_bytes_equal (before, after));
  g_assert_cmpuint (count_files (f->folder), ==, files);
}

/* The newer version is only in the write-ahead log of a process that was killed. */
static void
test_newer_log (Fixture *f, gconstpointer data)
{
  g_autofree char *log = g_strconcat (f->path, "-wal", NULL);
  sqlite3 *db = NULL;
  g_object_unref (open_store (f->path));
  g_assert_cmpint (sqlite3_open (f->path, &db), ==, SQLITE_OK);
  sqlite3_db_config (db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  sqlite3_exec (db, "PRAGMA user_version = 99", NULL, NULL, NULL);
  sqlite3_close (db);
  g_autoptr (GBytes) before = read_file (f->path), log_before = read_file (log);
  g_assert_cmpuint (g_bytes_get_size (log_before), >, 0);
  assert_fails (f->path, "99", G_STRINGIFY (NEWEST));
  g_autoptr (GBytes) after = read_file (f->path), log_after = read_file (log);
  g_assert_true (g_bytes_equal (before, after));
  g_assert_true (g_bytes_equal (log_before, log_after));
}

static void
test_foreign (Fixture *f, gconstpointer data)
{
  execute (f->path, "CREATE TABLE cookies (name)");
  g_autoptr (GBytes) before = read_file (f->path);
  assert_fails (f->path, "another program", "");
  g_autoptr (GBytes) after = read_file (f->path);
  g_assert_true (g_bytes_equal (before, after));
}

/* Checks that the file that was set aside has the old content, and that the store works. */
static void
assert_set_aside (Fixture *f, GBytes *before)
{
  g_autoptr (LigStore) store = open_store (f->path);
  const char *warning = lig_store_get_warning (store);
  g_assert_nonnull (warning);
  g_test_message ("%s", warning);
  const char *name = strstr (warning, "aside as '");
  g_assert_nonnull (name);
  g_auto (GStrv) parts = g_strsplit (name, "'", 3);
  g_assert_true (g_str_has_prefix (parts[1], f->path));
  g_assert_nonnull (strstr (parts[1], ".corrupt-2"));
  g_autoptr (GBytes) kept = read_file (parts[1]);
  g_assert_true (g_bytes_equal (before, kept));
  g_autofree char *run = begin (store, "after");
}

/* The file begins like a database but is none. */
static void
test_corrupt (Fixture *f, gconstpointer data)
{
  static const char note[] =
    "SQLite format 3\0only the first bytes of this file are those of a database, but it is as long "
    "as the header of one";
  for (int i = 0; i < 3; i++) {
    g_assert_true (g_file_set_contents (f->path, note, sizeof note, NULL));
    g_autoptr (GBytes) before = read_file (f->path);
    assert_set_aside (f, before);
  }
  /* Three files set aside within a second have different names. */
  g_assert_cmpuint (count_files (f->folder), >=, 4);
}

static void
test_corrupt_pages (Fixture *f, gconstpointer data)
{
  for (int truncate_it = 0; truncate_it < 2; truncate_it++) {
    g_autoptr (LigStore) store = open_store (f->path);
    for (int i = 0; i < 50; i++)
      g_free (begin (store, "lost"));
    g_clear_object (&store);
    g_autoptr (GBytes) whole = read_file (f->path);
    g_autoptr (GByteArray) bytes = g_byte_array_new ();
    gsize size;
    const guint8 *from = g_bytes_get_data (whole, &size);
    g_byte_array_append (bytes, from, size);
    if (truncate_it)
      g_byte_array_set_size (bytes, size / 2);
    else
      memset (bytes->data + 4096, 0xa5, size - 4096);
    g_assert_true (g_file_set_contents (f->path, (char *) bytes->data, bytes->len, NULL));
    g_autoptr (GBytes) before = read_file (f->path);
    assert_set_aside (f, before);
  }
}

static int
child_read_only (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_path_get_dirname (path);
  if (geteuid () == 0 && setuid (65534) != 0)
    return 1;
  g_assert_null (lig_store_open (path, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
  g_assert_nonnull (strstr (error->message, g_access (path, W_OK) == 0 ? folder : path));
  g_assert_nonnull (strstr (error->message, g_strerror (EACCES)));
  return 0;
}

static void
test_read_only (Fixture *f, gconstpointer data)
{
  g_object_unref (open_store (f->path));
  for (int folder = 0; folder < 2; folder++) {
    g_assert_cmpint (g_chmod (f->folder, folder ? 0555 : 0777), ==, 0);
    g_assert_cmpint (g_chmod (f->path, folder ? 0666 : 0444), ==, 0);
    g_autoptr (GSubprocess) child = spawn ("read-only", f->path);
    g_assert_true (g_subprocess_wait_check (child, NULL, NULL));
  }
  g_chmod (f->folder, 0700);
  assert_fails (f->folder, "irectory", "");
}

static void
test_round_trip (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "mlp");
  for (int i = 0; i < 10; i++)
    lig_store_add_metric (store, run, i, LIG_METRIC_LOSS, 10.0 - i);
  lig_store_add_metric (store, run, 3, LIG_METRIC_LOSS, INFINITY);
  lig_store_add_metric (store, run, 12, LIG_METRIC_EVAL_LOSS, NAN);
  lig_store_add_metric (store, run, 9, LIG_METRIC_EVAL_ACCURACY, 0.5);
  g_assert_true (lig_store_finish_run (store, run, "failed", "it diverged", &error));
  g_assert_no_error (error);
  g_autoptr (LigRunRow) found = find (store, run);
  g_autoptr (LigRunRow) row = lig_run_row_copy (found);
  g_assert_cmpstr (row->uuid, ==, run);
  g_assert_cmpstr (row->sequence, ==, example.sequence);
  g_assert_cmpstr (row->settings, ==, example.settings);
  g_assert_true (row->seed == example.seed);
  g_assert_cmpstr (row->status, ==, "failed");
  g_assert_cmpstr (row->message, ==, "it diverged");
  g_assert_cmpint (row->ended, >=, row->started);
  g_assert_cmpint (row->last_step, ==, 12);
  g_assert_cmpfloat (row->first_loss, ==, 10);
  g_assert_cmpfloat (row->last_loss, ==, 1);
  g_assert_true (isnan (row->eval_loss));
  g_assert_cmpfloat (row->eval_accuracy, ==, 0.5);
  assert_metric (store, run, LIG_METRIC_LOSS, 10, 1);
  assert_metric (store, run, "nothing", 0, 0);
  g_auto (GStrv) names = lig_store_get_metric_names (store, run, &error);
  g_autofree char *joined = g_strjoinv (" ", names);
  g_assert_cmpstr (joined, ==, "eval-accuracy eval-loss loss");
}

static void
test_details (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "mlp");
  for (int i = 0; i < 2; i++) {
    lig_store_add_timing (store, run, 5, 1, "forward", 12.5, 1e9, 2e9);
    lig_store_add_fusion (store, run, "forward", 0, 0, 1, NULL);
    lig_store_add_fusion (store, run, "forward", 1, 1, 3, "forward-linear-bias-activation");
    lig_store_add_verdict (store, run, "f", "joint", 2, 3, FALSE, "dtype", "fp32", "bf16", "no");
    lig_store_add_artifact (store, run, "checkpoint", "/tmp/x.safetensors");
  }
  g_assert_true (lig_store_flush (store, &error));
  g_autoptr (GPtrArray) timings = lig_store_get_timings (store, run, &error);
  g_autoptr (GPtrArray) fusions = lig_store_get_fusions (store, run, &error);
  g_autoptr (GPtrArray) verdicts = lig_store_get_verdicts (store, run, &error);
  g_autoptr (GPtrArray) artifacts = lig_store_get_artifacts (store, run, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (timings->len, ==, 1);
  g_assert_cmpfloat (((LigTimingRow *) timings->pdata[0])->flops, ==, 2e9);
  g_assert_cmpuint (fusions->len, ==, 2);
  g_assert_null (((LigFusionRow *) fusions->pdata[0])->fusion);
  g_assert_cmpint (((LigFusionRow *) fusions->pdata[1])->count, ==, 3);
  g_assert_cmpuint (verdicts->len, ==, 1);
  g_assert_cmpstr (((LigVerdictRow *) verdicts->pdata[0])->required, ==, "bf16");
  g_assert_false (((LigVerdictRow *) verdicts->pdata[0])->taken);
  g_assert_cmpint (((LigVerdictRow *) verdicts->pdata[0])->first_op, ==, 2);
  g_assert_cmpuint (artifacts->len, ==, 1);
  g_assert_cmpstr (((LigArtifactRow *) artifacts->pdata[0])->kind, ==, "checkpoint");
}

static void
assert_not_found (LigStore *store, const char *selector, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (lig_store_find_run (store, selector, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
  g_assert_nonnull (strstr (error->message, part));
}

static void
test_selectors (Fixture *f, gconstpointer data)
{
  g_autoptr (LigStore) store = open_store (f->path);
  assert_not_found (store, "last", "last");
  g_free (begin (store, "a"));
  g_free (begin (store, "b"));
  execute (f->path, "UPDATE run SET uuid = 'abcd1' || substr (uuid, 6) WHERE id = 1;"
                    "UPDATE run SET uuid = 'abcd2' || substr (uuid, 6) WHERE id = 2;");
  g_autoptr (LigRunRow) first = find (store, "ABCD1");
  g_assert_cmpstr (first->name, ==, "a");
  g_autoptr (LigRunRow) last = find (store, "last");
  g_assert_cmpstr (last->name, ==, "b");
  assert_not_found (store, "abcd", "matches 2");
  assert_not_found (store, "abc", "at least 4 characters");
  assert_not_found (store, "abcd3", "abcd3");
}

static guint
count_runs (LigStore *store, LigRunFilter filter)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) runs = lig_store_list_runs (store, &filter, &error);
  g_assert_no_error (error);
  return runs->len;
}

static void
test_edit (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *one = begin (store, "One"), *two = begin (store, "two");
  g_assert_true (lig_store_set_star (store, one, TRUE, &error));
  g_assert_true (lig_store_set_note (store, one, "a fine run", &error));
  g_assert_true (lig_store_add_tag (store, one, "good", &error));
  g_assert_true (lig_store_add_tag (store, one, "best", &error));
  g_assert_true (lig_store_add_tag (store, one, "best", &error));
  g_assert_false (lig_store_add_tag (store, one, "", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
  g_clear_error (&error);
  g_autoptr (LigRunRow) row = find (store, one);
  g_autofree char *tags = g_strjoinv (" ", row->tags);
  g_assert_cmpstr (tags, ==, "best good");
  g_assert_cmpstr (row->notes, ==, "a fine run");
  g_assert_true (lig_store_finish_run (store, two, "done", NULL, &error));
  g_assert_cmpuint (count_runs (store, (LigRunFilter){0}), ==, 2);
  g_assert_cmpuint (count_runs (store, (LigRunFilter){.limit = 1}), ==, 1);
  g_assert_cmpuint (count_runs (store, (LigRunFilter){.starred = TRUE}), ==, 1);
  g_assert_cmpuint (count_runs (store, (LigRunFilter){.tag = "best"}), ==, 1);
  g_assert_cmpuint (count_runs (store, (LigRunFilter){.text = "FINE"}), ==, 1);
  g_assert_cmpuint (count_runs (store, (LigRunFilter){.text = "one"}), ==, 1);
  g_assert_cmpuint (count_runs (store, (LigRunFilter){.status = "running"}), ==, 1);
  g_assert_cmpuint (count_runs (store, (LigRunFilter){.status = "done"}), ==, 1);
  g_assert_cmpuint (count_runs (store, (LigRunFilter){.device = "cuda:0"}), ==, 0);
  g_assert_true (lig_store_remove_tag (store, one, "best", &error));
  g_assert_cmpuint (count_runs (store, (LigRunFilter){.tag = "best"}), ==, 0);
  g_assert_false (lig_store_set_star (store, "nobody", TRUE, &error));
  g_assert_nonnull (strstr (error->message, "nobody"));
}

static void
test_delete (Fixture *f, gconstpointer data)
{
  static const char rest[] =
    "SELECT (SELECT count (*) FROM run) + (SELECT count (*) FROM experiment)"
    " + (SELECT count (*) FROM metric) + (SELECT count (*) FROM timing)"
    " + (SELECT count (*) FROM fusion) + (SELECT count (*) FROM verdict)"
    " + (SELECT count (*) FROM artifact) + (SELECT count (*) FROM tag)";
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *one = begin (store, "x"), *two = begin (store, "x");
  lig_store_add_metric (store, one, 0, "loss", 1);
  lig_store_add_timing (store, one, 0, 0, "forward", 1, 1, 1);
  lig_store_add_fusion (store, one, "forward", 0, 0, 2, "f");
  lig_store_add_verdict (store, one, "f", "forward", 0, 2, TRUE, NULL, NULL, NULL, NULL);
  lig_store_add_artifact (store, one, "report", "x.html");
  g_assert_true (lig_store_add_tag (store, one, "t", &error));
  g_assert_true (lig_store_flush (store, &error));
  assert_query (f->path, rest, "9");
  g_assert_true (lig_store_delete_runs (store, (const char *const *) &one, 1, &error));
  assert_query (f->path, rest, "2");
  g_assert_true (lig_store_delete_runs (store, (const char *const *) &two, 1, &error));
  assert_query (f->path, rest, "0");
  g_assert_false (lig_store_delete_runs (store, (const char *const *) &two, 1, &error));
  g_clear_error (&error);
  /* Later rows of a deleted run are rejected with an error that names it; other runs are written.
   */
  g_autofree char *three = begin (store, "x");
  lig_store_add_metric (store, one, 1, "loss", 1);
  lig_store_add_metric (store, "unknown", 1, "loss", 1);
  lig_store_add_metric (store, three, 1, "loss", 1);
  g_assert_false (lig_store_flush (store, &error));
  g_assert_nonnull (strstr (error->message, one));
  g_clear_error (&error);
  g_assert_true (lig_store_flush (store, &error));
  assert_metric (store, three, "loss", 1, 1);
}

static void
test_tuning (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  double microseconds = 0, noise = 0;
  g_autofree char *choice = NULL;
  g_assert_false (lig_store_get_tuning (store, "k", &microseconds, &noise, &choice));
  g_assert_true (lig_store_put_tuning (store, "k", 1.5, 0.25, NULL, &error));
  g_assert_true (lig_store_get_tuning (store, "k", NULL, NULL, &choice));
  g_assert_null (choice);
  g_assert_true (lig_store_put_tuning (store, "k", 2.5, 0.5, "{}", &error));
  g_assert_true (lig_store_get_tuning (store, "k", &microseconds, &noise, &choice));
  g_assert_cmpfloat (microseconds, ==, 2.5);
  g_assert_cmpfloat (noise, ==, 0.5);
  g_assert_cmpstr (choice, ==, "{}");
  /* A time without a choice is not listed. */
  g_assert_true (lig_store_put_tuning (store, "a k", 1, 0, "fast", &error));
  g_assert_true (lig_store_put_tuning (store, "b k", 1, 0, NULL, &error));
  g_assert_true (lig_store_put_tuning (store, "c", 1, 0, "slow", &error));
  g_autofree char *choices = lig_store_list_choices (store, "k");
  g_assert_cmpstr (choices, ==, "a k\tfast\nk\t{}\n");
  g_assert_null (lig_store_get_device (store, "cpu", &error));
  g_assert_no_error (error);
  g_assert_true (lig_store_put_device (store, "cpu", "{\"cores\":2}", &error));
  g_autofree char *device = lig_store_get_device (store, "cpu", &error);
  g_assert_cmpstr (device, ==, "{\"cores\":2}");
  g_assert_true (lig_store_append_edit (store, "a.lig", "1", &error));
  g_assert_true (lig_store_append_edit (store, "a.lig", "2", &error));
  g_assert_true (lig_store_append_edit (store, "b.lig", "3", &error));
  g_auto (GStrv) edits = lig_store_get_edits (store, "a.lig", &error);
  g_autofree char *joined = g_strjoinv (" ", edits);
  g_assert_cmpstr (joined, ==, "1 2");
  g_assert_true (lig_store_clear_edits (store, "a.lig", &error));
  g_auto (GStrv) none = lig_store_get_edits (store, "a.lig", &error);
  g_assert_cmpuint (g_strv_length (none), ==, 0);
}

int
main (int argc, char **argv)
{
  program = argv[0];
  if (argc == 4 && strcmp (argv[1], "--child") == 0)
    return child_read_only (argv[3]);
  g_test_init (&argc, &argv, NULL);
  static const struct {
    const char *path;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    {"/store/open/fresh", test_fresh},
    {"/store/open/newer", test_newer},
    {"/store/open/newer-log", test_newer_log},
    {"/store/open/foreign", test_foreign},
    {"/store/open/corrupt", test_corrupt},
    {"/store/open/corrupt-pages", test_corrupt_pages},
    {"/store/open/read-only", test_read_only},
    {"/store/migrate/from-1", test_migrate},
    {"/store/migrate/fails", test_migrate_fails},
    {"/store/migrate/again", test_migrate_again},
    {"/store/open/long-path", test_long_path},
    {"/store/run/delete-many", test_delete_many},
    {"/store/run/round-trip", test_round_trip},
    {"/store/run/details", test_details},
    {"/store/run/selectors", test_selectors},
    {"/store/run/edit", test_edit},
    {"/store/run/delete", test_delete},
    {"/store/tuning", test_tuning},
  };
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
