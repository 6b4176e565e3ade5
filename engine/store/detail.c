/* SPDX-License-Identifier: MIT */
/* Reads what a run reported: metrics, timings, fusions, verdicts, artifacts. */
#include "engine/sequence/literal.h"
#include "engine/store/private.h"

/* A range of ops as it is in the database, held within what a sequence can have. */
static void
read_range (sqlite3_stmt *row, int column, int *first, int *count)
{
  gint64 from = sqlite3_column_int64 (row, column), n = sqlite3_column_int64 (row, column + 1);
  *first = (int) CLAMP (from, 0, LIG_MAX_OPS);
  *count = (int) CLAMP (n, 0, LIG_MAX_OPS - *first);
}

/* Reads one row of a statement into a new struct. */
typedef gpointer (*Reader) (sqlite3_stmt *row);

/* All rows of a statement whose only parameter is the run's uuid. */
static GPtrArray *
read_all (LigStore *self,
          const char *run,
          const char *sql,
          Reader reader,
          GDestroyNotify destroy,
          GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (destroy);
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql, "t", run);
  while (statement && lig_sql_next (statement, &failure))
    g_ptr_array_add (rows, reader (statement));
  lig_store_end_read (self, statement);
  if (!failure)
    return g_steal_pointer (&rows);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

gboolean
lig_store_get_metric (LigStore *self,
                      const char *run,
                      const char *name,
                      GArray **steps,
                      GArray **values,
                      GError **error)
{
  static const char sql[] = "SELECT step, value FROM metric WHERE run = (SELECT id FROM run"
                            " WHERE uuid = ?1) AND name = ?2 ORDER BY step";
  g_return_val_if_fail (LIG_IS_STORE (self) && run && name && steps && values, FALSE);
  g_autoptr (GArray) found_steps = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GArray) found_values = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql, "tt", run, name);
  while (statement && lig_sql_next (statement, &failure)) {
    gint64 step = sqlite3_column_int64 (statement, 0);
    double value = lig_sql_real (statement, 1);
    g_array_append_val (found_steps, step);
    g_array_append_val (found_values, value);
  }
  lig_store_end_read (self, statement);
  if (failure) {
    g_propagate_error (error, g_steal_pointer (&failure));
    return FALSE;
  }
  *steps = g_steal_pointer (&found_steps);
  *values = g_steal_pointer (&found_values);
  return TRUE;
}

static gpointer
read_text (sqlite3_stmt *row)
{
  return lig_sql_text (row, 0);
}

GStrv
lig_store_get_metric_names (LigStore *self, const char *run, GError **error)
{
  /* Hops from name to name in the index instead of reading every value. */
  static const char sql[] =
    "WITH RECURSIVE hop (id, name) AS ("
    " SELECT id, (SELECT min (name) FROM metric WHERE run = run.id) FROM run WHERE uuid = ?1"
    " UNION ALL SELECT id, (SELECT min (m.name) FROM metric m WHERE m.run = hop.id"
    " AND m.name > hop.name) FROM hop WHERE hop.name IS NOT NULL)"
    " SELECT name FROM hop WHERE typeof (name) = 'text' AND name != ''";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  g_autoptr (GPtrArray) names = read_all (self, run, sql, read_text, g_free, error);
  if (!names)
    return NULL;
  g_ptr_array_add (names, NULL);
  g_ptr_array_set_free_func (names, NULL);
  return (GStrv) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}

static gpointer
read_timing (sqlite3_stmt *row)
{
  LigTimingRow *timing = g_new (LigTimingRow, 1);
  *timing = (LigTimingRow){
    .step = sqlite3_column_int64 (row, 0),
    .group = sqlite3_column_int (row, 1),
    .pass = lig_sql_required (row, 2),
    .microseconds = lig_sql_real (row, 3),
    .bytes = lig_sql_real (row, 4),
    .flops = lig_sql_real (row, 5),
  };
  return timing;
}

static void
free_timing (gpointer data)
{
  LigTimingRow *timing = data;
  g_free (timing->pass);
  g_free (timing);
}

GPtrArray *
lig_store_get_timings (LigStore *self, const char *run, GError **error)
{
  static const char sql[] =
    "SELECT step, \"group\", pass, microseconds, bytes, flops FROM timing"
    " WHERE run = (SELECT id FROM run WHERE uuid = ?1) ORDER BY pass, \"group\", step";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  return read_all (self, run, sql, read_timing, free_timing, error);
}

static gpointer
read_fusion (sqlite3_stmt *row)
{
  LigFusionRow *fusion = g_new (LigFusionRow, 1);
  *fusion = (LigFusionRow){
    .pass = lig_sql_required (row, 0),
    .group = sqlite3_column_int (row, 1),
    .fusion = lig_sql_text (row, 4),
  };
  read_range (row, 2, &fusion->first_op, &fusion->count);
  return fusion;
}

static void
free_fusion (gpointer data)
{
  LigFusionRow *fusion = data;
  g_free (fusion->pass);
  g_free (fusion->fusion);
  g_free (fusion);
}

GPtrArray *
lig_store_get_fusions (LigStore *self, const char *run, GError **error)
{
  static const char sql[] = "SELECT pass, \"group\", first_op, count, fusion FROM fusion"
                            " WHERE run = (SELECT id FROM run WHERE uuid = ?1) ORDER BY id";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  return read_all (self, run, sql, read_fusion, free_fusion, error);
}

static gpointer
read_verdict (sqlite3_stmt *row)
{
  LigVerdictRow *verdict = g_new (LigVerdictRow, 1);
  *verdict = (LigVerdictRow){
    .fusion = lig_sql_required (row, 0),
    .pass = lig_sql_required (row, 1),
    .taken = sqlite3_column_int (row, 4) != 0,
    .reason = lig_sql_text (row, 5),
    .observed = lig_sql_text (row, 6),
    .required = lig_sql_text (row, 7),
    .text = lig_sql_text (row, 8),
  };
  read_range (row, 2, &verdict->first_op, &verdict->count);
  return verdict;
}

static void
free_verdict (gpointer data)
{
  LigVerdictRow *verdict = data;
  g_free (verdict->fusion);
  g_free (verdict->pass);
  g_free (verdict->reason);
  g_free (verdict->observed);
  g_free (verdict->required);
  g_free (verdict->text);
  g_free (verdict);
}

GPtrArray *
lig_store_get_verdicts (LigStore *self, const char *run, GError **error)
{
  static const char sql[] =
    "SELECT fusion, pass, first_op, count, taken, reason, observed, required, text FROM verdict"
    " WHERE run = (SELECT id FROM run WHERE uuid = ?1) ORDER BY id";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  return read_all (self, run, sql, read_verdict, free_verdict, error);
}

static gpointer
read_artifact (sqlite3_stmt *row)
{
  LigArtifactRow *artifact = g_new (LigArtifactRow, 1);
  *artifact = (LigArtifactRow){
    .kind = lig_sql_required (row, 0),
    .path = lig_sql_required (row, 1),
    .created = sqlite3_column_int64 (row, 2),
  };
  return artifact;
}

static void
free_artifact (gpointer data)
{
  LigArtifactRow *artifact = data;
  g_free (artifact->kind);
  g_free (artifact->path);
  g_free (artifact);
}

GPtrArray *
lig_store_get_artifacts (LigStore *self, const char *run, GError **error)
{
  static const char sql[] = "SELECT kind, path, created FROM artifact"
                            " WHERE run = (SELECT id FROM run WHERE uuid = ?1) ORDER BY id";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  return read_all (self, run, sql, read_artifact, free_artifact, error);
}
