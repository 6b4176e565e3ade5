/* SPDX-License-Identifier: MIT */
/* `lig runs compare`: collects what differs between runs, and prints it as JSON. */
#include "app/cli/runs-compare.h"

#include <ligature/json.h>
#include <ligature/profile.h>

#include <math.h>
#include <string.h>

/* The share of a run's steps, at its end, of which a median is taken: one of so many. */
#define LAST_SHARE 10

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

static void
clear_comparison (LigRunsComparison *self)
{
  clear_lines (self->settings, self->runs->len);
  clear_lines (self->metrics, self->runs->len);
  g_ptr_array_unref (self->runs);
  g_free (self->steps);
}

typedef LigRunsComparison Comparison;
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Comparison, clear_comparison)

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
    line->results[i].last = line->results[i].least = line->results[i].greatest = NAN;
  g_ptr_array_add (lines, line);
  return line;
}

/* --- Settings ------------------------------------------------------------------------------ */

/* Adds every leaf under its path: `settings.lr`, `sequence.ops.1.out-features`. */
static void
add_leaves (Comparison *self, guint column, const char *path, JsonNode *node)
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

/* Adds what else decides the numbers of a run: its ranks and their layout, and the file that its
 * parameters begin with. */
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
add_settings (Comparison *self, guint column, LigStore *store, const LigRunRow *row)
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

/* --- Results ------------------------------------------------------------------------------- */

/* The last value of a training loss is that of one batch, so the median of the last steps is
 * compared. */
static void
summarize (const LigMetricRow *metric, LigRunsResult *result)
{
  const double *values = (const double *) (gpointer) metric->values->data;
  guint count = metric->values->len, from = count - 1;
  gint64 last = g_array_index (metric->steps, gint64, count - 1);
  while (from > 0 && g_array_index (metric->steps, gint64, from - 1) > last - last / LAST_SHARE)
    from--;
  lig_spread_measure (values + from, count - from, &result->spread);
  result->last = values[count - 1];
  for (guint i = 0; i < count; i++)
    if (isnan (result->least) || values[i] < result->least)
      result->least = values[i];
  for (guint i = 0; i < count; i++)
    if (isnan (result->greatest) || values[i] > result->greatest)
      result->greatest = values[i];
}

static gboolean
add_results (Comparison *self, guint column, LigStore *store, const char *run, GError **error)
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

/* --- JSON ---------------------------------------------------------------------------------- */

/* Adds the settings that differ. */
static void
add_settings_json (JsonBuilder *to, const Comparison *self)
{
  lig_json_begin_array (to, "settings");
  for (guint i = 0; i < self->settings->len; i++) {
    const LigRunsLine *line = self->settings->pdata[i];
    if (!lig_runs_line_differs (line, self->runs->len))
      continue;
    json_builder_begin_object (to);
    lig_json_add_text (to, "name", line->name);
    lig_json_begin_array (to, "values");
    for (guint j = 0; j < self->runs->len; j++)
      if (line->settings[j])
        json_builder_add_value (to, json_node_copy (line->settings[j]));
      else
        json_builder_add_null_value (to);
    json_builder_end_array (to);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

/* Adds an array of a field of the results, minus that of the first run if `relative`. */
static void
add_field (JsonBuilder *to,
           const char *name,
           const LigRunsLine *line,
           guint count,
           gsize offset,
           gboolean relative)
{
  lig_json_begin_array (to, name);
  for (guint i = 0; i < count; i++) {
    double first = G_STRUCT_MEMBER (double, &line->results[0], offset);
    double value = G_STRUCT_MEMBER (double, &line->results[i], offset);
    lig_json_add_number (to, NULL, relative ? value - first : value);
  }
  json_builder_end_array (to);
}

static void
add_numbers_json (JsonBuilder *to, const Comparison *self)
{
  guint count = self->runs->len;
  lig_json_begin_array (to, "numbers");
  for (guint i = 0; i < self->metrics->len; i++) {
    const LigRunsLine *line = self->metrics->pdata[i];
    json_builder_begin_object (to);
    lig_json_add_text (to, "name", line->name);
    add_field (to, "values", line, count, G_STRUCT_OFFSET (LigRunsResult, last), FALSE);
    add_field (to, "deltas", line, count, G_STRUCT_OFFSET (LigRunsResult, last), TRUE);
    add_field (to, "least", line, count, G_STRUCT_OFFSET (LigRunsResult, least), FALSE);
    add_field (to, "greatest", line, count, G_STRUCT_OFFSET (LigRunsResult, greatest), FALSE);
    lig_json_begin_array (to, "medians");
    for (guint j = 0; j < count; j++) {
      const LigSpread *spread = &line->results[j].spread;
      lig_json_add_number (to, NULL, spread->count > 0 ? spread->median : NAN);
    }
    json_builder_end_array (to);
    lig_json_begin_array (to, "differences");
    for (guint j = 0; j < count; j++)
      json_builder_add_string_value (
        to, lig_difference_kind_name (
              lig_spread_compare (&line->results[j].spread, &line->results[0].spread, NULL)));
    json_builder_end_array (to);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_steps_json (JsonBuilder *to, const Comparison *self)
{
  lig_json_begin_array (to, "steps");
  for (guint i = 0; i < self->runs->len; i++) {
    const LigSpread *spread = &self->steps[i];
    LigDifference difference;
    lig_spread_compare (spread, &self->steps[0], &difference);
    gboolean known = spread->count > 0;
    json_builder_begin_object (to);
    lig_json_add_integer (to, "count", spread->count);
    lig_json_add_number (to, "lower_us", known ? spread->lower * 1e6 : NAN);
    lig_json_add_number (to, "median_us", known ? spread->median * 1e6 : NAN);
    lig_json_add_number (to, "upper_us", known ? spread->upper * 1e6 : NAN);
    lig_json_add_text (to, "difference", lig_difference_kind_name (difference.kind));
    lig_json_add_number (to, "noise_us", difference.noise * 1e6);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
print_json (const Comparison *self)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_begin_array (builder, "runs");
  for (guint i = 0; i < self->runs->len; i++)
    json_builder_add_string_value (builder, ((const LigRunRow *) self->runs->pdata[i])->uuid);
  json_builder_end_array (builder);
  add_settings_json (builder, self);
  add_numbers_json (builder, self);
  add_steps_json (builder, self);
  json_builder_end_object (builder);
  lig_cli_print_document ("runs-compare", json_builder_get_root (builder));
}

int
lig_runs_compare (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) rows = lig_runs_select (store, options, n, arguments, NULL, &error);
  if (!rows)
    return lig_cli_fail (error);
  if (rows->len == 1 && n > 1)
    g_ptr_array_add (rows, lig_run_row_copy (rows->pdata[0]));
  if (rows->len < 2)
    return lig_cli_usage ("runs compare: %u run%s selected, expected at least 2", rows->len,
                          LIG_ENDING (rows->len));
  g_auto (Comparison) self = {g_ptr_array_ref (rows), g_ptr_array_new (), g_ptr_array_new (),
                              g_new0 (LigSpread, rows->len)};
  for (guint i = 0; i < rows->len; i++) {
    const LigRunRow *row = rows->pdata[i];
    add_settings (&self, i, store, row);
    if (!add_results (&self, i, store, row->uuid, &error))
      return lig_cli_fail (error);
    lig_profile_get_spread (store, row->uuid, NULL, &self.steps[i], NULL);
  }
  if (lig_cli_json ())
    print_json (&self);
  else
    lig_runs_print_comparison (&self);
  return LIG_EXIT_OK;
}
