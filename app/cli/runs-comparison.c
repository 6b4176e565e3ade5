/* SPDX-License-Identifier: MIT */
#include "app/cli/runs-comparison.h"

#include "app/cli/runs.h"

#include <ligature/json.h>
#include <ligature/profile.h>
#include <ligature/store.h>

#include <math.h>
#include <string.h>

static void
clear_lines (GPtrArray *lines, guint n_runs)
{
  for (guint i = 0; i < lines->len; i++) {
    LigRunsLine *line = lines->pdata[i];
    for (guint j = 0; j < n_runs; j++)
      g_clear_pointer (&line->settings[j], json_node_unref);
    g_free (line->settings);
    g_free (line->results);
    g_free (line->name);
    g_free (line);
  }
  g_ptr_array_unref (lines);
}

void
lig_runs_comparison_free (LigRunsComparison *self)
{
  clear_lines (self->settings, self->runs->len);
  clear_lines (self->metrics, self->runs->len);
  g_ptr_array_unref (self->runs);
  g_free (self->steps);
  g_free (self);
}

static LigRunsLine *
get_line (GPtrArray *lines, const char *name, guint n_runs)
{
  for (guint i = 0; i < lines->len; i++)
    if (strcmp (((LigRunsLine *) lines->pdata[i])->name, name) == 0)
      return lines->pdata[i];
  LigRunsLine *line = g_new0 (LigRunsLine, 1);
  line->name = g_strdup (name);
  line->settings = g_new0 (JsonNode *, n_runs);
  line->results = g_new0 (LigRunsResult, n_runs);
  for (guint i = 0; i < n_runs; i++)
    line->results[i].last = line->results[i].min = line->results[i].max = NAN;
  g_ptr_array_add (lines, line);
  return line;
}

/* Adds every leaf under its path: `settings.lr`, `sequence.ops.1.out-features`. */
static void
add_leaves (LigRunsComparison *self, guint column, const char *path, JsonNode *node)
{
  if (JSON_NODE_HOLDS_OBJECT (node)) {
    JsonObject *object = json_node_get_object (node);
    g_autoptr (GList) members = json_object_get_members (object);
    for (GList *m = members; m; m = m->next) {
      g_autofree char *inner =
        *path ? g_strdup_printf ("%s.%s", path, (char *) m->data) : g_strdup (m->data);
      add_leaves (self, column, inner, json_object_get_member (object, m->data));
    }
  } else if (JSON_NODE_HOLDS_ARRAY (node)) {
    JsonArray *array = json_node_get_array (node);
    for (guint i = 0; i < json_array_get_length (array); i++) {
      g_autofree char *inner = g_strdup_printf ("%s.%u", path, i);
      add_leaves (self, column, inner, json_array_get_element (array, i));
    }
  } else {
    JsonNode **cell = &get_line (self->settings, path, self->runs->len)->settings[column];
    g_clear_pointer (cell, json_node_unref);
    *cell = json_node_copy (node);
  }
}

/* Adds what else determines the numbers of a run: its ranks and parallelism, and the file with its
 * initial weights. */
static void
add_inputs (JsonBuilder *builder, LigStore *store, const char *run)
{
  g_autoptr (JsonNode) root = lig_runs_read_inputs (store, run);
  JsonObject *object = root ? json_node_get_object (root) : NULL;
  const char *init = object ? lig_json_get_string (object, "init", NULL) : NULL;
  const char *parallel = object ? lig_json_get_string (object, "parallel", NULL) : NULL;
  lig_json_add_integer (builder, "ranks", object ? lig_json_get_int (object, "ranks", 1) : 1);
  if (parallel)
    lig_json_add_text (builder, "parallel", parallel);
  if (init)
    lig_json_add_text (builder, "init", init);
}

static void
add_settings (LigRunsComparison *self, guint column, LigStore *store, const LigRunRow *row)
{
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, row->seed);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "name", row->name);
  lig_json_add_text (builder, "kind", row->kind);
  lig_json_add_text (builder, "device", row->device);
  lig_json_add_text (builder, "dtype", row->dtype);
  lig_json_add_text (builder, "recipe", row->recipe);
  lig_json_add_text (builder, "policy", row->policy);
  lig_json_add_text (builder, "seed", seed);
  add_inputs (builder, store, row->uuid);
  lig_json_add_text (builder, "host", row->host);
  lig_json_add_text (builder, "revision", row->revision);
  lig_json_add_document (builder, "settings", row->settings);
  lig_json_add_document (builder, "versions", row->versions);
  lig_json_add_document (builder, "sequence", row->sequence);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  add_leaves (self, column, "", root);
}

gboolean
lig_runs_line_differs (const LigRunsLine *line, guint n_runs)
{
  const JsonNode *first = line->settings[0];
  for (guint i = 1; i < n_runs; i++) {
    JsonNode *other = line->settings[i];
    if (!first != !other || (first && !json_node_equal ((JsonNode *) first, other)))
      return TRUE;
  }
  return FALSE;
}

/* A single training loss is that of one batch, so the median of the last steps is compared. */
static void
summarize (const LigMetricRow *metric, LigRunsResult *result)
{
  const double *values = (const double *) (gpointer) metric->values->data;
  guint count = metric->values->len;
  lig_spread_measure_end ((const gint64 *) (gpointer) metric->steps->data, values, count,
                          &result->spread);
  result->last = values[count - 1];
  for (guint i = 0; i < count; i++)
    if (isnan (result->min) || values[i] < result->min)
      result->min = values[i];
  for (guint i = 0; i < count; i++)
    if (isnan (result->max) || values[i] > result->max)
      result->max = values[i];
}

static gboolean
add_results (
  LigRunsComparison *self, guint column, LigStore *store, const char *run, GError **error)
{
  g_autoptr (GPtrArray) metrics = lig_store_get_metrics (store, run, error);
  if (!metrics)
    return FALSE;
  for (guint i = 0; i < metrics->len; i++) {
    const LigMetricRow *metric = metrics->pdata[i];
    summarize (metric, &get_line (self->metrics, metric->name, self->runs->len)->results[column]);
  }
  return TRUE;
}

LigRunsComparison *
lig_runs_comparison_new (LigStore *store, GPtrArray *runs, GError **error)
{
  g_autoptr (LigRunsComparison) self = g_new0 (LigRunsComparison, 1);
  self->runs = g_ptr_array_ref (runs);
  self->settings = g_ptr_array_new ();
  self->metrics = g_ptr_array_new ();
  self->steps = g_new0 (LigSpread, runs->len);
  for (guint i = 0; i < runs->len; i++) {
    const LigRunRow *row = runs->pdata[i];
    add_settings (self, i, store, row);
    if (!add_results (self, i, store, row->uuid, error))
      return NULL;
    lig_profile_get_spread (store, row->uuid, NULL, &self->steps[i], NULL);
  }
  return g_steal_pointer (&self);
}
