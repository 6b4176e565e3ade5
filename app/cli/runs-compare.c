/* SPDX-License-Identifier: MIT */
/* `lig runs compare`: prints a comparison as JSON or as tables. */
#include "app/cli/runs-compare-text.h"
#include "app/cli/runs.h"

#include <math.h>
#include <string.h>

/* Adds the settings that differ. */
static void
add_settings_json (JsonBuilder *to, const LigRunsComparison *self)
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

/* Compares a result with that of the first run. */
static LigDifferenceKind
compare (const LigRunsComparison *self, const LigRunsLine *line, guint run)
{
  const LigRunsResult *result = &line->results[run], *first = &line->results[0];
  if (strcmp (line->name, LIG_METRIC_EVAL_ACCURACY) != 0)
    return lig_spread_compare (&result->spread, &first->spread, NULL);
  return lig_accuracy_compare (result->last, ((LigRunRow *) self->runs->pdata[run])->eval_rows,
                               first->last, ((LigRunRow *) self->runs->pdata[0])->eval_rows, NULL);
}

static void
add_numbers_json (JsonBuilder *to, const LigRunsComparison *self)
{
  guint count = self->runs->len;
  lig_json_begin_array (to, "numbers");
  for (guint i = 0; i < self->metrics->len; i++) {
    const LigRunsLine *line = self->metrics->pdata[i];
    json_builder_begin_object (to);
    lig_json_add_text (to, "name", line->name);
    add_field (to, "values", line, count, G_STRUCT_OFFSET (LigRunsResult, last), FALSE);
    add_field (to, "deltas", line, count, G_STRUCT_OFFSET (LigRunsResult, last), TRUE);
    add_field (to, "min", line, count, G_STRUCT_OFFSET (LigRunsResult, min), FALSE);
    add_field (to, "max", line, count, G_STRUCT_OFFSET (LigRunsResult, max), FALSE);
    lig_json_begin_array (to, "medians");
    for (guint j = 0; j < count; j++) {
      const LigSpread *spread = &line->results[j].spread;
      lig_json_add_number (to, NULL, spread->count > 0 ? spread->median : NAN);
    }
    json_builder_end_array (to);
    lig_json_begin_array (to, "differences");
    for (guint j = 0; j < count; j++)
      json_builder_add_string_value (to, lig_difference_kind_name (compare (self, line, j)));
    json_builder_end_array (to);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_steps_json (JsonBuilder *to, const LigRunsComparison *self)
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
print_json (const LigRunsComparison *self)
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

static int
compare_starts (gconstpointer a, gconstpointer b)
{
  const LigRunRow *one = *(LigRunRow *const *) a, *other = *(LigRunRow *const *) b;
  return (one->started > other->started) - (one->started < other->started);
}

int
lig_runs_compare (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) rows = lig_runs_select (store, options, n, arguments, NULL, &error);
  if (!rows)
    return lig_cli_fail (error);
  /* A selection has no order of its own, so the oldest of its runs is the baseline. */
  if (n == 0 && !options->sort && !options->reverse)
    g_ptr_array_sort (rows, compare_starts);
  if (rows->len == 1 && n > 1)
    g_ptr_array_add (rows, lig_run_row_copy (rows->pdata[0]));
  if (rows->len < 2)
    return lig_cli_usage ("runs compare: %u run%s selected, expected at least 2", rows->len,
                          LIG_ENDING (rows->len));
  g_autoptr (LigRunsComparison) self = lig_runs_comparison_new (store, rows, &error);
  if (!self)
    return lig_cli_fail (error);
  if (lig_cli_json ())
    print_json (self);
  else
    lig_runs_print_comparison (self);
  return LIG_EXIT_OK;
}
