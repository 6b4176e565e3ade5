/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the store: a folder for each test, a store in it, a second process. */
#pragma once

#include "tests/base/folder.h"
#include "tests/base/slowness.h"
#include <ligature/store.h>

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

/* The path of this program, which tests start again as `PROGRAM --child MODE FILE`. */
static const char *program;

static const LigRunRecord example = {
  .name = "mlp",
  .sequence = "{\"ops\":[]}",
  .kind = "train",
  .device = "cpu",
  .dtype = "fp32",
  .recipe = "none",
  .policy = "all",
  .seed = G_MAXUINT64 - 1,
  .settings = "{\"lr\":0.1}",
  .versions = "{}",
};

/* SQL that adds 100,000 runs of 1,000 experiments with settings of realistic length: every fifth
 * failed, every second used a GPU, every tenth has a tag. */
#define LIG_TEST_MANY_RUNS \
  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)" \
  " INSERT INTO experiment (name, hash, sequence) SELECT 'mlp ' || i, 'h' || i," \
  " '{\"ligature\":1,\"input\":{\"shape\":[8,' || i || '],\"dtype\":\"fp32\"},\"ops\":[{\"op\":" \
  "\"layer-norm\"},{\"op\":\"linear\",\"out-features\":' || i || '},{\"op\":\"gelu\"}]}' FROM n;" \
  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)" \
  " INSERT INTO run (uuid, experiment, kind, device, dtype, recipe, policy, seed, settings," \
  " versions, status, started, ended, host, boot, pid, process_start, heartbeat, last_step," \
  " first_loss, last_loss, eval_loss, eval_accuracy, step_ms) SELECT printf " \
  "('%08x-0000-4000-8000-" \
  "%012x', i * 2654435761 % 4294967296, i), (SELECT min (id) FROM experiment) + i % 1000, " \
  "'train'," \
  " CASE i % 2 WHEN 0 THEN 'cuda:0' ELSE 'cpu' END, 'bf16:fp32', 'none', 'measured', i," \
  " '{\"data\":\"text:tiny.txt\",\"optimizer\":\"adamw\",\"schedule\":\"cosine\",\"steps\":1000," \
  "\"batch\":64,\"lr\":' || (i % 97) * 0.0001 || ',\"min-lr\":1e-05,\"warmup\":100,\"clip\":1.0," \
  "\"weight-decay\":0.1,\"beta1\":0.9,\"beta2\":0.95,\"eps\":1e-08,\"accumulate\":1," \
  "\"eval-every\":100,\"eval-batches\":16,\"checkpoint-every\":500}'," \
  " '{\"ligature\": \"0.1.0\", \"device\": \"cpu\", \"libraries\": \"\"}'," \
  " CASE i % 5 WHEN 0 THEN 'failed' ELSE 'done' END," \
  " 1700000000000000 + i * 60000000, 1700000000000000 + i * 60000000 + (i % 600) * 1000000, " \
  "'host'," \
  " 'boot', 1, 1, 1, i % 5000, 5.0, abs (i * 7919 % 100003) / 20000.0, abs (i * 104729 % 100019) " \
  "/" \
  " 20000.0, (i % 100) / 100.0, (i % 50) + 0.5 FROM n;" \
  "INSERT INTO tag SELECT id, 'keep' FROM run WHERE id % 10 = 0;"

/* A separate folder for each test, and the name of a file in it. */
typedef struct {
  char *folder, *path;
} Fixture;

static inline void
set_up (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  f->folder = g_dir_make_tmp ("lig-store-XXXXXX", &error);
  g_assert_no_error (error);
  f->path = g_build_filename (f->folder, "runs.db", NULL);
}

static inline void
tear_down (Fixture *f, gconstpointer data)
{
  remove_folder (f->folder);
  g_free (f->folder);
  g_free (f->path);
}

static inline LigStore *
open_store (const char *path)
{
  g_autoptr (GError) error = NULL;
  LigStore *store = lig_store_open (path, &error);
  g_assert_no_error (error);
  g_assert_nonnull (store);
  return store;
}

static inline char *
begin (LigStore *store, const char *name)
{
  g_autoptr (GError) error = NULL;
  LigRunRecord record = example;
  record.name = name;
  char *run = lig_store_begin_run (store, &record, &error);
  g_assert_no_error (error);
  g_assert_cmpint (strlen (run), ==, 36);
  return run;
}

static inline LigRunRow *
find (LigStore *store, const char *selector)
{
  g_autoptr (GError) error = NULL;
  LigRunRow *row = lig_store_find_run (store, selector, &error);
  g_assert_no_error (error);
  return row;
}

/* Runs statements with SQLite directly, without the store. */
static inline void
execute (const char *path, const char *sql)
{
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  sqlite3_busy_timeout (db, 5000);
  sqlite3_exec (db, sql, NULL, NULL, NULL);
  g_assert_cmpstr (sqlite3_errmsg (db), ==, "not an error");
  sqlite3_close (db);
}

static inline char *
query (const char *path, const char *sql)
{
  sqlite3 *db = NULL;
  sqlite3_stmt *statement = NULL;
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
  char *text = g_strdup ((const char *) sqlite3_column_text (statement, 0));
  sqlite3_finalize (statement);
  sqlite3_close (db);
  return text;
}

static inline void
assert_query (const char *path, const char *sql, const char *expected)
{
  g_autofree char *found = query (path, sql);
  g_assert_cmpstr (found, ==, expected);
}

static inline GSubprocess *
spawn (const char *mode, const char *path)
{
  g_autoptr (GError) error = NULL;
  GSubprocess *child =
    g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, program, "--child", mode, path, NULL);
  g_assert_no_error (error);
  return child;
}

static inline void
assert_metric (LigStore *store, const char *run, const char *name, guint count, double last)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) steps = NULL, values = NULL;
  g_assert_true (lig_store_get_metric (store, run, name, &steps, &values, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (steps->len, ==, count);
  g_assert_cmpuint (values->len, ==, count);
  if (count)
    g_assert_cmpfloat (g_array_index (values, double, count - 1), ==, last);
}
