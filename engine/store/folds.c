/* SPDX-License-Identifier: MIT */
/* Folds: each sweep, and each group of repetitions, is one item. A list may have 100,000 runs;
 * therefore descriptions of runs are compared by a hash of 128 bits. */
#include "engine/store/means.h"
#include "engine/store/private.h"
#include "engine/store/setting-values.h"
#include <ligature/store-groups.h>

#include <math.h>
#include <string.h>

/* --- Hashes -------------------------------------------------------------------------------- */

typedef struct {
  guint64 high, low;
} Hash;

/* FNV-1a with two offsets. */
static Hash
hash_text (char kind, const char *text)
{
  Hash hash = {G_GUINT64_CONSTANT (0xcbf29ce484222325) ^ (guchar) kind,
               G_GUINT64_CONSTANT (0x84222325cbf29ce4) + (guchar) kind};
  for (; *text; text++) {
    hash.high = (hash.high ^ (guchar) *text) * G_GUINT64_CONSTANT (0x100000001b3);
    hash.low = (hash.low ^ (guchar) *text) * G_GUINT64_CONSTANT (0x10000000233);
  }
  return hash;
}

static guint
hash_hash (gconstpointer data)
{
  const Hash *hash = data;
  return (guint) (hash->high ^ hash->high >> 32);
}

static gboolean
is_same_hash (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (Hash)) == 0;
}

/* --- Reading ------------------------------------------------------------------------------- */

enum { SWEEP, TEXT, STATUS, STARTED, LAST_LOSS, EVAL_LOSS, EVAL_ACCURACY, STEP_MS };

typedef struct {
  Hash fold, settings;
  gint64 key, started;
  gboolean known, done, running;
  const char *sweep; /* of the chunk */
  double values[4];  /* last loss, validation loss, accuracy, step time */
} Row;

static void
read_row (Row *row, sqlite3_stmt *from, GStringChunk *sweeps)
{
  const char *sweep = lig_sql_string (from, SWEEP), *status = lig_sql_string (from, STATUS);
  row->known = TRUE;
  row->sweep = *sweep ? g_string_chunk_insert_const (sweeps, sweep) : NULL;
  row->settings = hash_text ('r', lig_sql_string (from, TEXT));
  row->fold = row->sweep ? hash_text ('s', sweep) : row->settings;
  row->started = sqlite3_column_int64 (from, STARTED);
  row->done = strcmp (status, "done") == 0;
  row->running = strcmp (status, "running") == 0;
  for (guint i = 0; i < G_N_ELEMENTS (row->values); i++)
    row->values[i] = lig_sql_real (from, LAST_LOSS + (int) i);
}

/* Returns the rows in the order of the keys. */
static Row *
read_rows (LigStore *self, const gint64 *keys, guint count, GStringChunk *sweeps, GError **error)
{
  g_autofree char *made = NULL;
  g_autofree char *sql = g_strdup_printf (
    "SELECT sweep, %s, status, started, last_loss, eval_loss, eval_accuracy, step_ms FROM run r"
    " WHERE r.id = ?1",
    lig_store_find_setting (LIG_RUN_ALL_BUT_SEED, "", &made));
  g_autofree Row *rows = g_new0 (Row, (gsize) count + 1);
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *from = lig_store_begin_read (self, &failure, sql, "i", (gint64) 0);
  for (guint i = 0; from && !failure && i < count; i++) {
    rows[i].key = keys[i];
    sqlite3_reset (from);
    sqlite3_bind_int64 (from, 1, keys[i]);
    if (lig_sql_next (from, &failure))
      read_row (&rows[i], from, sweeps);
  }
  lig_store_end_read (self, from);
  if (!failure)
    return g_steal_pointer (&rows);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

/* --- Folding ------------------------------------------------------------------------------- */

static void
free_fold (gpointer data)
{
  LigRunFold *fold = data;
  g_free (fold->sweep);
  g_free (fold);
}

/* Sets the place of each row whose fold has several rows, and returns the number of folds. */
static guint
find_places (Row *rows, guint count, guint *places)
{
  g_autoptr (GHashTable) first = g_hash_table_new (hash_hash, is_same_hash);
  guint n_folds = 0;
  for (guint i = 0; i < count; i++) {
    places[i] = G_MAXUINT;
    guint before = GPOINTER_TO_UINT (g_hash_table_lookup (first, &rows[i].fold));
    if (!rows[i].known)
      continue;
    if (before == 0)
      g_hash_table_insert (first, &rows[i].fold, GUINT_TO_POINTER (i + 1));
    else
      places[i] = before - 1;
  }
  /* So far, places are the indexes of the first rows of folds. */
  for (guint i = 0; i < count; i++)
    if (places[i] != G_MAXUINT)
      places[places[i]] = places[i];
  for (guint i = 0; i < count; i++)
    if (places[i] == i)
      places[i] = n_folds++;
    else if (places[i] != G_MAXUINT)
      places[i] = places[places[i]];
  return n_folds;
}

/* The finished runs with the same settings. */
typedef struct {
  LigRunMean means[4];
  gint64 newest, started;
} Settings;

static void
add_row (GHashTable *all, const Row *row)
{
  Settings *settings = g_hash_table_lookup (all, &row->settings);
  if (!settings) {
    settings = g_new0 (Settings, 1);
    g_hash_table_insert (all, (gpointer) &row->settings, settings);
  }
  if (!settings->newest || row->started >= settings->started) {
    settings->newest = row->key;
    settings->started = row->started;
  }
  for (guint i = 0; row->done && i < G_N_ELEMENTS (row->values); i++)
    lig_run_mean_add (&settings->means[i], row->values[i]);
}

/* Returns whether the first settings are better: by validation loss, else by loss. */
static gboolean
is_better (const Settings *a, const Settings *b)
{
  enum { LOSS, VALIDATION };
  gboolean validation = a->means[VALIDATION].count > 0;
  if (!b || validation != (b->means[VALIDATION].count > 0))
    return !b || validation;
  double x = a->means[validation ? VALIDATION : LOSS].mean;
  double y = b->means[validation ? VALIDATION : LOSS].mean;
  if (isnan (x) != isnan (y))
    return !isnan (x);
  return x < y || (!(x > y) && a->newest < b->newest);
}

static void
take_best (LigRunFold *fold, GHashTable *all)
{
  const Settings *best = NULL;
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, all);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    Settings *settings = value;
    for (guint i = 0; i < G_N_ELEMENTS (settings->means); i++)
      lig_run_mean_end (&settings->means[i]);
    if (is_better (settings, best))
      best = settings;
  }
  fold->settings = g_hash_table_size (all);
  fold->sample = best->newest;
  fold->last_loss = best->means[0];
  fold->eval_loss = best->means[1];
  fold->eval_accuracy = best->means[2];
  fold->step_ms = best->means[3];
}

static void
count_row (LigRunFold *fold, const Row *row)
{
  if (!fold->sweep && row->sweep)
    fold->sweep = g_strdup (row->sweep);
  fold->runs++;
  fold->done += row->done;
  fold->running += row->running;
  fold->started = MAX (fold->started, row->started);
}

GPtrArray *
lig_store_fold_runs (LigStore *self, const gint64 *keys, guint count, guint *places, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && (keys || count == 0) && places, NULL);
  g_autoptr (GStringChunk) sweeps = g_string_chunk_new (1024);
  g_autofree Row *rows = read_rows (self, keys, count, sweeps, error);
  if (!rows)
    return NULL;
  guint n_folds = find_places (rows, count, places);
  g_autoptr (GPtrArray) contents =
    g_ptr_array_new_with_free_func ((GDestroyNotify) g_hash_table_unref);
  GPtrArray *folds = g_ptr_array_new_with_free_func (free_fold);
  for (guint i = 0; i < n_folds; i++) {
    g_ptr_array_add (folds, g_new0 (LigRunFold, 1));
    g_ptr_array_add (contents, g_hash_table_new_full (hash_hash, is_same_hash, NULL, g_free));
  }
  for (guint i = 0; i < count; i++)
    if (places[i] != G_MAXUINT) {
      count_row (folds->pdata[places[i]], &rows[i]);
      add_row (contents->pdata[places[i]], &rows[i]);
    }
  for (guint i = 0; i < n_folds; i++)
    take_best (folds->pdata[i], contents->pdata[i]);
  return folds;
}
