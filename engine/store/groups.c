/* SPDX-License-Identifier: MIT */
/* Groups of runs by a setting, with the mean and the spread of their results. */
#include "engine/store/setting-values.h"

#include "engine/store/means.h"
#include "engine/store/private.h"
#include <ligature/store-groups.h>

#include <math.h>
#include <string.h>

/* --- Means --------------------------------------------------------------------------------- */

/* Welford's method is numerically stable: `std` contains the sum of squares until the end. */
void
lig_run_mean_add (LigRunMean *mean, double value)
{
  if (isnan (value))
    return;
  double before = value - mean->mean;
  mean->count++;
  mean->mean += before / mean->count;
  mean->std += before * (value - mean->mean);
  mean->min = mean->count == 1 ? value : MIN (mean->min, value);
  mean->max = mean->count == 1 ? value : MAX (mean->max, value);
}

void
lig_run_mean_end (LigRunMean *mean)
{
  mean->std = mean->count > 1 ? sqrt (mean->std / (mean->count - 1)) : NAN;
  if (mean->count == 0)
    mean->mean = mean->min = mean->max = NAN;
}

static void
free_group (gpointer data)
{
  LigRunGroup *group = data;
  g_free (group->value);
  g_free (group);
}

/* --- Reading ------------------------------------------------------------------------------- */

enum { KEY, VALUE, LAST_LOSS, EVAL_LOSS, EVAL_ACCURACY, STEP_MS };

/* Runs with equal values are adjacent. */
static LigRunGroup *
find_group (GPtrArray *groups, sqlite3_stmt *row)
{
  LigRunGroup *last = groups->len > 0 ? groups->pdata[groups->len - 1] : NULL;
  g_autofree char *value =
    sqlite3_column_type (row, VALUE) == SQLITE_NULL ? NULL : lig_sql_text (row, VALUE);
  if (last && g_strcmp0 (last->value, value) == 0)
    return last;
  LigRunGroup *group = g_new0 (LigRunGroup, 1);
  group->value = g_steal_pointer (&value);
  group->sample = sqlite3_column_int64 (row, KEY);
  g_ptr_array_add (groups, group);
  return group;
}

static void
add_run (LigRunGroup *group, sqlite3_stmt *row)
{
  group->runs++;
  lig_run_mean_add (&group->last_loss, lig_sql_real (row, LAST_LOSS));
  lig_run_mean_add (&group->eval_loss, lig_sql_real (row, EVAL_LOSS));
  lig_run_mean_add (&group->eval_accuracy, lig_sql_real (row, EVAL_ACCURACY));
  lig_run_mean_add (&group->step_ms, lig_sql_real (row, STEP_MS));
}

static GHashTable *
list_keys (LigStore *self, const LigRunFilter *filter, GError **error)
{
  g_autoptr (GArray) keys = lig_store_list_keys (self, filter, LIG_RUN_BY_START, TRUE, error);
  GHashTable *set = keys ? g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL) : NULL;
  for (guint i = 0; keys && i < keys->len; i++)
    g_hash_table_add (set, g_memdup2 (&g_array_index (keys, gint64, i), sizeof (gint64)));
  return set;
}

GPtrArray *
lig_store_group_runs (LigStore *self, const LigRunFilter *filter, const char *by, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && by, NULL);
  g_autofree char *path = lig_store_make_path (by), *made = NULL;
  g_autofree char *sql = g_strdup_printf (
    "SELECT id, CAST (value AS TEXT), last_loss, eval_loss, eval_accuracy, step_ms FROM"
    " (SELECT r.*, %s AS value FROM run r) ORDER BY value IS NULL, value, started DESC, id DESC",
    lig_store_find_setting (by, "?1", &made));
  g_autoptr (GHashTable) keys = list_keys (self, filter, error);
  if (!keys)
    return NULL;
  g_autoptr (GPtrArray) groups = g_ptr_array_new_with_free_func (free_group);
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *row = lig_store_begin_read (self, &failure, sql, "t", path);
  while (row && lig_sql_next (row, &failure)) {
    gint64 key = sqlite3_column_int64 (row, KEY);
    if (g_hash_table_contains (keys, &key))
      add_run (find_group (groups, row), row);
  }
  lig_store_end_read (self, row);
  if (failure) {
    g_propagate_error (error, g_steal_pointer (&failure));
    return NULL;
  }
  for (guint i = 0; i < groups->len; i++) {
    LigRunGroup *group = groups->pdata[i];
    LigRunMean *means[] = {&group->last_loss, &group->eval_loss, &group->eval_accuracy,
                           &group->step_ms};
    for (guint k = 0; k < G_N_ELEMENTS (means); k++)
      lig_run_mean_end (means[k]);
  }
  return g_steal_pointer (&groups);
}

GPtrArray *
lig_store_read_setting (
  LigStore *self, const gint64 *keys, guint count, const char *name, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && (keys || !count) && name, NULL);
  g_autofree char *path = lig_store_make_path (name), *made = NULL;
  g_autofree char *sql = g_strdup_printf ("SELECT CAST (%s AS TEXT) FROM run r WHERE r.id = ?2",
                                          lig_store_find_setting (name, "?1", &made));
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *row = lig_store_begin_read (self, &failure, sql, "ti", path, (gint64) 0);
  for (guint i = 0; row && !failure && i < count; i++) {
    sqlite3_reset (row);
    sqlite3_bind_int64 (row, 2, keys[i]);
    gboolean known = lig_sql_next (row, &failure) && sqlite3_column_type (row, 0) != SQLITE_NULL;
    g_ptr_array_add (values, known ? lig_sql_text (row, 0) : NULL);
  }
  lig_store_end_read (self, row);
  if (!failure)
    return g_steal_pointer (&values);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

GStrv
lig_store_list_settings (LigStore *self, GError **error)
{
  static const char sql[] =
    "SELECT DISTINCT key FROM run, json_each (CASE WHEN json_valid (settings) THEN settings"
    " ELSE '{}' END) ORDER BY key";
  g_return_val_if_fail (LIG_IS_STORE (self), NULL);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *row = lig_store_begin_read (self, &failure, sql, "");
  while (row && lig_sql_next (row, &failure)) {
    g_autofree char *name = lig_sql_text (row, 0);
    g_strv_builder_add (names, name);
  }
  lig_store_end_read (self, row);
  if (!failure)
    return g_strv_builder_end (names);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}
