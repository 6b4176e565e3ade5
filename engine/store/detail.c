/* SPDX-License-Identifier: MIT */
/* Reads the data that a run reported: metrics, timings, fusions, verdicts, artifacts. */
#include "engine/sequence/literal.h"
#include "engine/store/private.h"
#include <ligature/store-spreads.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* The conversion of a database column to a field. */
typedef enum {
  LONG,     /* gint64 */
  NUMBER,   /* int */
  TRUTH,    /* gboolean */
  REAL,     /* double, NaN for NULL */
  FIRST,    /* int, a valid op index of a sequence */
  COUNT,    /* int, a number of ops, from the FIRST in the previous column on */
  TEXT,     /* char *, NULL for NULL */
  REQUIRED, /* char *, "" for NULL */
} Kind;

typedef struct {
  const char *name;
  Kind kind;
  gsize offset; /* of the field */
} Column;

typedef struct {
  const char *name, *order;
  gsize size; /* of a row's struct */
  guint count;
  const Column *columns;
} Table;

#define MAX_COLUMNS 9
#define AT(type, name, field, kind) \
  { \
    name, kind, G_STRUCT_OFFSET (type, field) \
  }
#define TABLE(type, name, order, columns) \
  static const Table name##s = {#name, order, sizeof (type), G_N_ELEMENTS (columns), columns}

static const Column timing_columns[] = {
  AT (LigTimingRow, "step", step, LONG),     AT (LigTimingRow, "\"group\"", group, NUMBER),
  AT (LigTimingRow, "pass", pass, REQUIRED), AT (LigTimingRow, "microseconds", microseconds, REAL),
  AT (LigTimingRow, "bytes", bytes, REAL),   AT (LigTimingRow, "flops", flops, REAL),
};
TABLE (LigTimingRow, timing, "pass, \"group\", step", timing_columns);

static const Column spread_columns[] = {
  AT (LigSpreadRow, "figure", figure, REQUIRED),
  AT (LigSpreadRow, "max (count, 0)", count, NUMBER),
  AT (LigSpreadRow, "microseconds", microseconds, REAL),
  AT (LigSpreadRow, "lower", lower, REAL),
  AT (LigSpreadRow, "upper", upper, REAL),
};
TABLE (LigSpreadRow, spread, "figure", spread_columns);

static const Column fusion_columns[] = {
  AT (LigFusionRow, "pass", pass, REQUIRED),      AT (LigFusionRow, "\"group\"", group, NUMBER),
  AT (LigFusionRow, "first_op", first_op, FIRST), AT (LigFusionRow, "count", count, COUNT),
  AT (LigFusionRow, "fusion", fusion, TEXT),
};
TABLE (LigFusionRow, fusion, "id", fusion_columns);

static const Column verdict_columns[] = {
  AT (LigVerdictRow, "fusion", fusion, REQUIRED),  AT (LigVerdictRow, "pass", pass, REQUIRED),
  AT (LigVerdictRow, "first_op", first_op, FIRST), AT (LigVerdictRow, "count", count, COUNT),
  AT (LigVerdictRow, "taken", taken, TRUTH),       AT (LigVerdictRow, "reason", reason, TEXT),
  AT (LigVerdictRow, "observed", observed, TEXT),  AT (LigVerdictRow, "required", required, TEXT),
  AT (LigVerdictRow, "text", text, TEXT),
};
TABLE (LigVerdictRow, verdict, "id", verdict_columns);

static const Column artifact_columns[] = {
  AT (LigArtifactRow, "kind", kind, REQUIRED),
  AT (LigArtifactRow, "path", path, REQUIRED),
  AT (LigArtifactRow, "created", created, LONG),
};
TABLE (LigArtifactRow, artifact, "id", artifact_columns);

static void
read_number (sqlite3_stmt *statement, int column, Kind kind, gpointer field)
{
  gint64 value = sqlite3_column_int64 (statement, column);
  gint64 before = column > 0 ? sqlite3_column_int64 (statement, column - 1) : 0;
  if (kind == LONG)
    *(gint64 *) field = value;
  else if (kind == REAL)
    *(double *) field = lig_sql_real (statement, column);
  else if (kind == FIRST)
    *(int *) field = (int) CLAMP (value, 0, LIG_MAX_OPS);
  else if (kind == COUNT)
    *(int *) field = (int) CLAMP (value, 0, LIG_MAX_OPS - CLAMP (before, 0, LIG_MAX_OPS));
  else
    *(int *) field = kind == TRUTH ? value != 0 : sqlite3_column_int (statement, column);
}

/* Returns the struct followed by its texts, in one allocation. */
static gpointer
read_row (sqlite3_stmt *statement, const Table *table)
{
  char *texts[MAX_COLUMNS] = {NULL};
  gsize size = table->size;
  for (guint i = 0; i < table->count; i++) {
    if (table->columns[i].kind == TEXT)
      texts[i] = lig_sql_text (statement, (int) i);
    else if (table->columns[i].kind == REQUIRED)
      texts[i] = lig_sql_required (statement, (int) i);
    size += texts[i] ? strlen (texts[i]) + 1 : 0;
  }
  char *row = g_malloc0 (size), *next = row + table->size;
  for (guint i = 0; i < table->count; i++) {
    gpointer field = row + table->columns[i].offset;
    if (table->columns[i].kind < TEXT)
      read_number (statement, (int) i, table->columns[i].kind, field);
    if (!texts[i])
      continue;
    *(char **) field = next;
    next = g_stpcpy (next, texts[i]) + 1;
    g_free (texts[i]);
  }
  return row;
}

/* Reads all rows of a table that belong to a run. */
static GPtrArray *
read_table (LigStore *self, const char *run, const Table *table, GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) failure = NULL;
  g_autoptr (GString) sql = g_string_new ("SELECT ");
  for (guint i = 0; i < table->count; i++)
    g_string_append_printf (sql, "%s%s", i > 0 ? ", " : "", table->columns[i].name);
  g_string_append_printf (sql,
                          " FROM %s WHERE run = (SELECT id FROM run WHERE uuid = ?1) ORDER BY %s",
                          table->name, table->order);
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql->str, "t", run);
  while (statement && lig_sql_next (statement, &failure))
    g_ptr_array_add (rows, read_row (statement, table));
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
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql, "t", run);
  while (statement && lig_sql_next (statement, &failure)) {
    g_autofree char *name = lig_sql_text (statement, 0);
    g_strv_builder_add (names, name);
  }
  lig_store_end_read (self, statement);
  if (!failure)
    return g_strv_builder_end (names);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

static void
free_metric (gpointer data)
{
  LigMetricRow *metric = data;
  g_free (metric->name);
  g_clear_pointer (&metric->steps, g_array_unref);
  g_clear_pointer (&metric->values, g_array_unref);
  g_free (metric);
}

GPtrArray *
lig_store_get_metrics (LigStore *self, const char *run, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  g_autoptr (GPtrArray) metrics = g_ptr_array_new_with_free_func (free_metric);
  g_auto (GStrv) names = lig_store_get_metric_names (self, run, error);
  for (char **name = names; name && *name; name++) {
    LigMetricRow *metric = g_new0 (LigMetricRow, 1);
    metric->name = g_strdup (*name);
    g_ptr_array_add (metrics, metric);
    if (!lig_store_get_metric (self, run, *name, &metric->steps, &metric->values, error))
      return NULL;
    /* A name with invalid UTF-8 was converted when it was read, so no values are found by it. */
    if (metric->values->len == 0)
      g_ptr_array_set_size (metrics, (int) metrics->len - 1);
  }
  return names ? g_steal_pointer (&metrics) : NULL;
}

GPtrArray *
lig_store_get_timings (LigStore *self, const char *run, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  return read_table (self, run, &timings, error);
}

gboolean
lig_store_put_spread (LigStore *self, const char *run, const LigSpreadRow *row, GError **error)
{
  static const char sql[] =
    "INSERT OR REPLACE INTO spread (run, figure, count, microseconds, lower, upper)"
    " SELECT id, ?2, ?3, ?4, ?5, ?6 FROM run WHERE uuid = ?1";
  g_return_val_if_fail (LIG_IS_STORE (self) && run && row && row->figure, FALSE);
  int changed = lig_store_write (self, error, sql, "ttiddd", run, row->figure, (gint64) row->count,
                                 row->microseconds, row->lower, row->upper);
  if (changed == 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s' has no run '%s'"), self->path,
                 run);
  return changed > 0;
}

GPtrArray *
lig_store_get_spreads (LigStore *self, const char *run, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  return read_table (self, run, &spreads, error);
}

GPtrArray *
lig_store_get_fusions (LigStore *self, const char *run, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  return read_table (self, run, &fusions, error);
}

GPtrArray *
lig_store_get_verdicts (LigStore *self, const char *run, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  return read_table (self, run, &verdicts, error);
}

GPtrArray *
lig_store_get_artifacts (LigStore *self, const char *run, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  return read_table (self, run, &artifacts, error);
}

int
lig_metric_get_sense (const char *name)
{
  if (strstr (name, "loss") && !strstr (name, "scale"))
    return -1;
  if (g_str_has_suffix (name, "-ms") || g_str_has_suffix (name, "_ms"))
    return -1;
  return strstr (name, "accuracy") || strstr (name, "per-second") ? 1 : 0;
}

/* --- Samples ------------------------------------------------------------------------------- */

void
lig_sample_row_free (LigSampleRow *self)
{
  if (!self)
    return;
  g_free (self->prompt);
  g_free (self->text);
  g_free (self->tokens);
  g_free (self);
}

static LigSampleRow *
read_sample (sqlite3_stmt *from)
{
  LigSampleRow *row = g_new0 (LigSampleRow, 1);
  row->step = sqlite3_column_int64 (from, 0);
  row->number = sqlite3_column_int64 (from, 1);
  row->prompt = lig_sql_required (from, 2);
  row->text = lig_sql_required (from, 3);
  row->tokens = lig_sql_required (from, 4);
  row->microseconds = lig_sql_real (from, 5);
  return row;
}

GPtrArray *
lig_store_get_samples (LigStore *self, const char *run, GError **error)
{
  static const char sql[] =
    "SELECT step, number, prompt, text, tokens, microseconds FROM sample"
    " WHERE run = (SELECT id FROM run WHERE uuid = ?1) ORDER BY step, number";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  g_autoptr (GError) failure = NULL;
  g_autoptr (GPtrArray) rows =
    g_ptr_array_new_with_free_func ((GDestroyNotify) lig_sample_row_free);
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql, "t", run);
  while (statement && lig_sql_next (statement, &failure))
    g_ptr_array_add (rows, read_sample (statement));
  lig_store_end_read (self, statement);
  if (!failure)
    return g_steal_pointer (&rows);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}
