/* SPDX-License-Identifier: MIT */
/* `lig runs compare`: prints the settings in which runs differ, and their final numbers. */
#include "app/cli/runs.h"

#include <ligature/json.h>
#include <ligature/profile.h>

#include <math.h>
#include <string.h>

/* A line of the comparison, with NULL or NaN for runs without a value. */
typedef struct {
  char *name;
  JsonNode **settings;
  double *numbers;
} Line;

typedef struct {
  int n_runs;
  GPtrArray *lines; /* in the order of their first appearance */
  GHashTable *by_name;
} Comparison;

static Comparison
new_comparison (int n_runs)
{
  return (Comparison){n_runs, g_ptr_array_new (), g_hash_table_new (g_str_hash, g_str_equal)};
}

static void
clear_comparison (Comparison *self)
{
  for (guint i = 0; i < self->lines->len; i++) {
    Line *line = self->lines->pdata[i];
    for (int j = 0; j < self->n_runs; j++)
      g_clear_pointer (&line->settings[j], json_node_unref);
    g_free (line->settings);
    g_free (line->numbers);
    g_free (line->name);
    g_free (line);
  }
  g_ptr_array_unref (self->lines);
  g_hash_table_unref (self->by_name);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Comparison, clear_comparison)

static Line *
get_line (Comparison *self, const char *name)
{
  Line *line = g_hash_table_lookup (self->by_name, name);
  if (line)
    return line;
  line = g_new0 (Line, 1);
  line->name = g_strdup (name);
  line->settings = g_new0 (JsonNode *, self->n_runs);
  line->numbers = g_new (double, self->n_runs);
  for (int i = 0; i < self->n_runs; i++)
    line->numbers[i] = NAN;
  g_ptr_array_add (self->lines, line);
  g_hash_table_insert (self->by_name, line->name, line);
  return line;
}

/* Adds every leaf under its path: `settings.lr`, `sequence.ops.1.out-features`. */
static void
add_leaves (Comparison *self, int column, const char *path, JsonNode *node)
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
    JsonNode **cell = &get_line (self, path)->settings[column];
    g_clear_pointer (cell, json_node_unref);
    *cell = json_node_copy (node);
  }
}

static void
add_settings (Comparison *self, int column, const LigRunRow *row)
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
  lig_json_add_text (builder, "host", row->host);
  lig_json_add_text (builder, "revision", row->revision);
  lig_json_add_document (builder, "settings", row->settings);
  lig_json_add_document (builder, "versions", row->versions);
  lig_json_add_document (builder, "sequence", row->sequence);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  add_leaves (self, column, "", root);
}

static gboolean
add_numbers (Comparison *self, int column, LigStore *store, const char *run, GError **error)
{
  g_autoptr (GPtrArray) metrics = lig_store_get_metrics (store, run, error);
  if (!metrics)
    return FALSE;
  for (guint i = 0; i < metrics->len; i++) {
    const LigMetricRow *metric = metrics->pdata[i];
    get_line (self, metric->name)->numbers[column] =
      g_array_index (metric->values, double, metric->values->len - 1);
  }
  return TRUE;
}

static gboolean
differs (const Line *line, int n_runs)
{
  const JsonNode *first = line->settings[0];
  for (int i = 1; i < n_runs; i++) {
    JsonNode *other = line->settings[i];
    if (!first != !other || (first && !json_node_equal ((JsonNode *) first, other)))
      return TRUE;
  }
  return FALSE;
}

/* Adds the comparison: of the settings those that differ, of the numbers all with deltas. */
static void
add_settings_json (JsonBuilder *to, const Comparison *self)
{
  lig_json_begin_array (to, "settings");
  for (guint i = 0; i < self->lines->len; i++) {
    const Line *line = self->lines->pdata[i];
    if (!differs (line, self->n_runs))
      continue;
    json_builder_begin_object (to);
    lig_json_add_text (to, "name", line->name);
    lig_json_begin_array (to, "values");
    for (int j = 0; j < self->n_runs; j++)
      if (line->settings[j])
        json_builder_add_value (to, json_node_copy (line->settings[j]));
      else
        json_builder_add_null_value (to);
    json_builder_end_array (to);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_numbers_json (JsonBuilder *to, const Comparison *self)
{
  lig_json_begin_array (to, "numbers");
  for (guint i = 0; i < self->lines->len; i++) {
    const Line *line = self->lines->pdata[i];
    json_builder_begin_object (to);
    lig_json_add_text (to, "name", line->name);
    lig_json_begin_array (to, "values");
    for (int j = 0; j < self->n_runs; j++)
      lig_json_add_number (to, NULL, line->numbers[j]);
    json_builder_end_array (to);
    lig_json_begin_array (to, "deltas");
    for (int j = 0; j < self->n_runs; j++)
      lig_json_add_number (to, NULL, line->numbers[j] - line->numbers[0]);
    json_builder_end_array (to);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

/* Prints lines of one kind under a header of the runs' short names. */
static void
print_table (const char *title, GPtrArray *runs, GPtrArray *lines)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_strv_builder_add (builder, title);
  for (guint i = 0; i < runs->len; i++) {
    g_autofree char *name = g_strdup_printf (">%.8s", ((const LigRunRow *) runs->pdata[i])->uuid);
    g_strv_builder_add (builder, name);
  }
  g_auto (GStrv) header = g_strv_builder_end (builder);
  if (lines->len)
    lig_cli_print_table ((const char *const *) header, lines);
}

/* --- The time of a step --------------------------------------------------------------------- */

/* Returns the spread of each run's steps, with a count of 0 where there are none. */
static LigSpread *
read_spreads (LigStore *store, GPtrArray *runs)
{
  LigSpread *spreads = g_new0 (LigSpread, runs->len);
  for (guint i = 0; i < runs->len; i++)
    lig_profile_get_spread (store, ((const LigRunRow *) runs->pdata[i])->uuid, NULL, &spreads[i],
                            NULL);
  return spreads;
}

static void
add_spreads_json (JsonBuilder *to, const LigSpread *spreads, guint count)
{
  lig_json_begin_array (to, "steps");
  for (guint i = 0; i < count; i++) {
    LigDifference difference;
    lig_spread_compare (&spreads[i], &spreads[0], &difference);
    gboolean known = spreads[i].count > 0;
    json_builder_begin_object (to);
    lig_json_add_integer (to, "count", spreads[i].count);
    lig_json_add_number (to, "lower_us", known ? spreads[i].lower * 1e6 : NAN);
    lig_json_add_number (to, "median_us", known ? spreads[i].median * 1e6 : NAN);
    lig_json_add_number (to, "upper_us", known ? spreads[i].upper * 1e6 : NAN);
    lig_json_add_text (to, "difference", lig_difference_kind_name (difference.kind));
    lig_json_add_number (to, "noise_us", difference.noise * 1e6);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
print_spreads (GPtrArray *runs, const LigSpread *spreads)
{
  static const char *const names[] = {"median", "quartiles", "values", "to the first"};
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  gboolean some = FALSE;
  for (guint line = 0; line < G_N_ELEMENTS (names); line++) {
    char **cells = g_new0 (char *, runs->len + 2);
    cells[0] = g_strdup (names[line]);
    for (guint i = 0; i < runs->len; i++) {
      LigDifference difference;
      gboolean known = spreads[i].count > 0;
      some |= known;
      lig_spread_compare (&spreads[i], &spreads[0], &difference);
      cells[i + 1] = !known || (line == 3 && i == 0) ? g_strdup ("-")
                     : line == 0                     ? lig_cli_format_time (spreads[i].median)
                     : line == 1 ? lig_cli_format_range (spreads[i].lower, spreads[i].upper)
                     : line == 2 ? g_strdup_printf ("%u", spreads[i].count)
                                 : lig_difference_to_text (&difference);
    }
    g_ptr_array_add (table, cells);
  }
  if (some)
    print_table ("time of a step", runs, table);
}

/* --- The whole ------------------------------------------------------------------------------ */

static void
print_json (GPtrArray *runs,
            const Comparison *settings,
            const Comparison *numbers,
            const LigSpread *spreads)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_begin_array (builder, "runs");
  for (guint i = 0; i < runs->len; i++)
    json_builder_add_string_value (builder, ((const LigRunRow *) runs->pdata[i])->uuid);
  json_builder_end_array (builder);
  add_settings_json (builder, settings);
  add_numbers_json (builder, numbers);
  add_spreads_json (builder, spreads, runs->len);
  json_builder_end_object (builder);
  lig_cli_print_document ("runs-compare", json_builder_get_root (builder));
}

static char *
format_setting (JsonNode *node)
{
  GType type = node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : 0;
  if (!node)
    return g_strdup ("-");
  if (type == G_TYPE_STRING)
    return g_strdup (json_node_get_string (node));
  if (type == G_TYPE_DOUBLE)
    return g_strdup_printf ("%.15g", json_node_get_double (node));
  GString *text = g_string_new (NULL);
  lig_json_append (text, node);
  return g_string_free (text, FALSE);
}

static void
print_settings (GPtrArray *runs, const Comparison *self)
{
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  for (guint i = 0; i < self->lines->len; i++) {
    const Line *line = self->lines->pdata[i];
    if (!differs (line, self->n_runs))
      continue;
    char **cells = g_new0 (char *, self->n_runs + 2);
    cells[0] = g_strdup (line->name);
    for (int j = 0; j < self->n_runs; j++)
      cells[j + 1] = format_setting (line->settings[j]);
    g_ptr_array_add (table, cells);
  }
  print_table ("setting", runs, table);
}

/* Prints the first run's numbers, and those of the others with their differences from it. */
static void
print_numbers (GPtrArray *runs, const Comparison *self)
{
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  for (guint i = 0; i < self->lines->len; i++) {
    const Line *line = self->lines->pdata[i];
    char **cells = g_new0 (char *, self->n_runs + 2);
    cells[0] = g_strdup (line->name);
    for (int j = 0; j < self->n_runs; j++) {
      double delta = line->numbers[j] - line->numbers[0];
      cells[j + 1] = j == 0 || isnan (delta)
                       ? lig_runs_format_number (line->numbers[j])
                       : g_strdup_printf ("%.6g (%+.3g)", line->numbers[j], delta);
    }
    g_ptr_array_add (table, cells);
  }
  print_table ("last value", runs, table);
}

int
lig_runs_compare (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_run_row_free);
  g_auto (Comparison) settings = new_comparison (n);
  g_auto (Comparison) numbers = new_comparison (n);
  for (int i = 0; i < n; i++) {
    LigRunRow *row = lig_cli_find_run (store, arguments[i], NULL, &error);
    if (!row)
      return lig_cli_fail (error);
    g_ptr_array_add (runs, row);
    add_settings (&settings, i, row);
    if (!add_numbers (&numbers, i, store, row->uuid, &error))
      return lig_cli_fail (error);
  }
  g_autofree LigSpread *spreads = read_spreads (store, runs);
  if (lig_cli_json ()) {
    print_json (runs, &settings, &numbers, spreads);
  } else {
    print_settings (runs, &settings);
    print_numbers (runs, &numbers);
    print_spreads (runs, spreads);
  }
  return LIG_EXIT_OK;
}
