/* SPDX-License-Identifier: MIT */
/* The histograms of weights and gradients of runs. */
#include "engine/base/histogram-private.h"
#include "engine/store/private.h"
#include <ligature/store-histograms.h>

#include <glib/gi18n-lib.h>

/* --- Writing ------------------------------------------------------------------------------- */

static gboolean
write_entry (LigStore *self,
             gint64 run,
             gint64 step,
             gint64 number,
             const LigHistogramEntry *entry,
             GError **error)
{
  static const char sql[] =
    "INSERT OR REPLACE INTO histogram (run, number, step, parameter, gradient, elements, zeros,"
    " nan, infinite, min, max, mean, rms, bins)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
  const LigHistogram *of = entry->histogram;
  g_autoptr (GBytes) bins = lig_histogram_to_bytes (of);
  return lig_sql_run (self->db, error, sql, "iiitiiiiiddddb", run, number, step, entry->parameter,
                      (gint64) (entry->gradient != FALSE), (gint64) lig_histogram_get_total (of),
                      (gint64) of->zeros, (gint64) of->nan, (gint64) of->infinite, of->min, of->max,
                      of->mean, of->rms, bins);
}

gboolean
lig_store_find_number (LigStore *self, const char *run, gint64 *number, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (sqlite3_stmt) statement =
    lig_sql_prepare (self->db, error, "SELECT id FROM run WHERE uuid = ?1", "t", run);
  if (!statement)
    return FALSE;
  if (lig_sql_next (statement, &failure)) {
    *number = sqlite3_column_int64 (statement, 0);
    return TRUE;
  }
  if (failure)
    g_propagate_error (error, g_steal_pointer (&failure));
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s' has no run '%s'"), self->path,
                 run);
  return FALSE;
}

gboolean
lig_store_add_histograms (LigStore *self,
                          const char *run,
                          gint64 step,
                          const LigHistogramEntry *entries,
                          guint count,
                          GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && run && (entries || count == 0), FALSE);
  gint64 number;
  g_mutex_lock (&self->write_lock);
  gboolean done = lig_sql_begin (self->db, error);
  if (done) {
    done = lig_store_find_number (self, run, &number, error);
    for (guint i = 0; done && i < count; i++)
      done = write_entry (self, number, step, i, &entries[i], error);
    done = lig_sql_end (self->db, done, error);
  }
  g_mutex_unlock (&self->write_lock);
  return done;
}

/* --- Reading ------------------------------------------------------------------------------- */

GStrv
lig_store_list_histograms (LigStore *self, const char *run, GError **error)
{
  /* Hops from series to series in the index instead of reading every row. */
  static const char sql[] =
    "WITH RECURSIVE hop (id, number) AS ("
    " SELECT id, (SELECT min (number) FROM histogram WHERE run = run.id) FROM run WHERE uuid = ?1"
    " UNION ALL SELECT id, (SELECT min (h.number) FROM histogram h WHERE h.run = hop.id"
    " AND h.number > hop.number) FROM hop WHERE hop.number IS NOT NULL)"
    " SELECT (SELECT parameter FROM histogram h WHERE h.run = hop.id AND h.number = hop.number"
    " LIMIT 1) FROM hop WHERE number IS NOT NULL";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql, "t", run);
  while (statement && lig_sql_next (statement, &failure)) {
    char *path = lig_sql_required (statement, 0);
    if (g_hash_table_add (seen, path))
      g_ptr_array_add (paths, path);
    else
      g_free (path);
  }
  lig_store_end_read (self, statement);
  if (failure) {
    g_propagate_error (error, g_steal_pointer (&failure));
    return NULL;
  }
  g_ptr_array_add (paths, NULL);
  return g_strdupv ((char **) paths->pdata);
}

/* The columns of the query, in its order. */
enum {
  NUMBER,
  STEP,
  PARAMETER,
  GRADIENT,
  ZEROS,
  NOT_A_NUMBER,
  INFINITE,
  MIN_,
  MAX_,
  MEAN,
  RMS,
  BINS
};

static gboolean
read_histogram (sqlite3_stmt *from, LigHistogram *to, GError **error)
{
  lig_histogram_init (to);
  to->zeros = (guint64) MAX (sqlite3_column_int64 (from, ZEROS), 0);
  to->nan = (guint64) MAX (sqlite3_column_int64 (from, NOT_A_NUMBER), 0);
  to->infinite = (guint64) MAX (sqlite3_column_int64 (from, INFINITE), 0);
  to->min = lig_sql_real (from, MIN_);
  to->max = lig_sql_real (from, MAX_);
  to->mean = lig_sql_real (from, MEAN);
  to->rms = lig_sql_real (from, RMS);
  const guint8 *bins = sqlite3_column_blob (from, BINS);
  return lig_histogram_take_bytes (to, bins, (gsize) sqlite3_column_bytes (from, BINS), error);
}

static gboolean
read_row (sqlite3_stmt *from, GPtrArray *all, gint64 *number, GError **error)
{
  LigHistogram histogram;
  gint64 now = sqlite3_column_int64 (from, NUMBER), step = sqlite3_column_int64 (from, STEP);
  if (!read_histogram (from, &histogram, error))
    return FALSE;
  if (all->len == 0 || now != *number) {
    g_autofree char *parameter = lig_sql_required (from, PARAMETER);
    g_ptr_array_add (
      all, lig_histogram_series_new (parameter, sqlite3_column_int (from, GRADIENT) != 0));
  }
  LigHistogramSeries *series = all->pdata[all->len - 1];
  g_array_append_val (series->steps, step);
  g_array_append_val (series->histograms, histogram);
  *number = now;
  return TRUE;
}

GPtrArray *
lig_store_get_histograms (
  LigStore *self, const char *run, const char *parameter, guint max_steps, GError **error)
{
  /* Of more than ?3 rows, takes those at which the multiple of ?3 / n passes a whole number. */
  static const char sql[] =
    "SELECT number, step, parameter, gradient, zeros, nan, infinite, min, max, mean, rms, bins"
    " FROM (SELECT *, row_number () OVER series AS place, count (*) OVER (PARTITION BY number) AS n"
    " FROM histogram WHERE run = (SELECT id FROM run WHERE uuid = ?1)"
    " AND (?2 IS NULL OR parameter = ?2) WINDOW series AS (PARTITION BY number ORDER BY step))"
    " WHERE ?3 = 0 OR n <= ?3 OR place * ?3 / n != (place - 1) * ?3 / n ORDER BY number, step";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  g_autoptr (GPtrArray) all =
    g_ptr_array_new_with_free_func ((GDestroyNotify) lig_histogram_series_free);
  g_autoptr (GError) failure = NULL;
  gint64 number = -1;
  sqlite3_stmt *statement =
    lig_store_begin_read (self, &failure, sql, "tti", run, parameter, (gint64) max_steps);
  while (statement && lig_sql_next (statement, &failure) &&
         read_row (statement, all, &number, &failure))
    ;
  lig_store_end_read (self, statement);
  if (!failure)
    return g_steal_pointer (&all);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}
