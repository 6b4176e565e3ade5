/* SPDX-License-Identifier: MIT */
/* `lig runs export`: writes the metrics of runs as CSV, one column per metric, or as JSON. */
#include "app/cli/output-file.h"
#include "app/cli/runs.h"

#include <ligature/csv.h>
#include <ligature/json.h>
#include <ligature/report.h>
#include <ligature/store.h>
#include <ligature/suggest.h>

#include <string.h>

/* The metrics of one run. */
typedef struct {
  const LigRunRow *row;
  GPtrArray *metrics;
} Part;

static void
free_part (gpointer data)
{
  Part *self = data;
  g_ptr_array_unref (self->metrics);
  g_free (self);
}

static const LigMetricRow *
find_metric (const Part *part, const char *name)
{
  for (guint i = 0; i < part->metrics->len; i++)
    if (strcmp (((const LigMetricRow *) part->metrics->pdata[i])->name, name) == 0)
      return part->metrics->pdata[i];
  return NULL;
}

static GPtrArray *
read_parts (LigStore *store, GPtrArray *rows, GError **error)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (free_part);
  for (guint i = 0; i < rows->len; i++) {
    GPtrArray *metrics =
      lig_store_get_metrics (store, ((const LigRunRow *) rows->pdata[i])->uuid, error);
    if (!metrics)
      return NULL;
    Part *part = g_new (Part, 1);
    *part = (Part){rows->pdata[i], metrics};
    g_ptr_array_add (parts, part);
  }
  return g_steal_pointer (&parts);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Returns the names of the metrics that any of the runs has, in alphabetical order. */
static GStrv
list_names (GPtrArray *parts)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; i < parts->len; i++) {
    const Part *part = parts->pdata[i];
    for (guint j = 0; j < part->metrics->len; j++) {
      char *name = ((const LigMetricRow *) part->metrics->pdata[j])->name;
      if (g_hash_table_add (seen, name))
        g_ptr_array_add (names, name);
    }
  }
  g_ptr_array_sort (names, compare_names);
  g_ptr_array_add (names, NULL);
  return g_strdupv ((char **) names->pdata);
}

/* Returns the name that the store has for a metric; the files of `lig train --metrics` have others.
 */
static char *
find_recorded (const char *name)
{
  static const char *const others[][2] = {{"lr", "learning-rate"}, {"grad_norm", "gradient-norm"}};
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (strcmp (others[i][0], name) == 0)
      return g_strdup (others[i][1]);
  return g_strdelimit (g_strdup (name), "_", '-');
}

/* Returns the metrics to write: the requested ones, in their order, or all. */
static GStrv
choose_names (GPtrArray *parts, char **requested, GError **error)
{
  g_auto (GStrv) names = list_names (parts);
  g_autoptr (GStrvBuilder) chosen = g_strv_builder_new ();
  for (char **name = requested; name && *name; name++) {
    gboolean exact = g_strv_contains ((const char *const *) names, *name);
    g_autofree char *recorded = exact ? g_strdup (*name) : find_recorded (*name);
    g_strv_builder_add (chosen, recorded);
    if (g_strv_contains ((const char *const *) names, recorded))
      continue;
    g_autofree char *all = g_strjoinv (", ", names);
    g_autofree char *suggestion = lig_suggest_ending (*name, (const char *const *) names);
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, "--metric is '%s', but %s%s%s", *name,
                 *names ? "the runs have " : "the runs have no metrics", all, suggestion);
    return NULL;
  }
  return requested ? g_strv_builder_end (chosen) : g_steal_pointer (&names);
}

/* An empty table would look like a training run without steps. */
static gboolean
check_trained (GPtrArray *parts, const char *format, GError **error)
{
  for (guint i = 0; i < parts->len; i++)
    if (strcmp (((const Part *) parts->pdata[i])->row->kind, "profile") != 0)
      return TRUE;
  if (parts->len == 0 || strcmp (format, "csv") != 0)
    return TRUE;
  const LigRunRow *row = ((const Part *) parts->pdata[0])->row;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               "run %.8s %s is a profile, which has no metrics; give --json, or lig report %.8s",
               row->uuid, row->name, row->uuid);
  return FALSE;
}

/* --- CSV ----------------------------------------------------------------------------------- */

/* Finds the smallest step at the current positions of all metrics. Returns FALSE after the last
 * step. */
static gboolean
get_next_step (const LigMetricRow **metrics, guint count, const guint *positions, gint64 *step)
{
  gboolean found = FALSE;
  for (guint i = 0; i < count; i++) {
    if (!metrics[i] || positions[i] == metrics[i]->steps->len)
      continue;
    gint64 next = g_array_index (metrics[i]->steps, gint64, positions[i]);
    *step = found ? MIN (*step, next) : next;
    found = TRUE;
  }
  return found;
}

/* Writes one line per step; the cell of a metric without a value at the step is empty. */
static void
append_part (GString *text, const Part *part, char **names, gboolean several)
{
  guint count = g_strv_length (names);
  g_autofree const LigMetricRow **metrics = g_new0 (const LigMetricRow *, count + 1);
  g_autofree guint *positions = g_new0 (guint, count + 1);
  gint64 step = 0;
  for (guint i = 0; i < count; i++)
    metrics[i] = find_metric (part, names[i]);
  while (get_next_step (metrics, count, positions, &step)) {
    if (several) {
      g_string_append_printf (text, "%s,", part->row->uuid);
      lig_csv_append_text (text, part->row->name);
      g_string_append_c (text, ',');
    }
    g_string_append_printf (text, "%" G_GINT64_FORMAT, step);
    for (guint i = 0; i < count; i++) {
      g_string_append_c (text, ',');
      if (metrics[i] && positions[i] < metrics[i]->steps->len &&
          g_array_index (metrics[i]->steps, gint64, positions[i]) == step)
        lig_csv_append_number (text, g_array_index (metrics[i]->values, double, positions[i]++));
    }
    g_string_append_c (text, '\n');
  }
}

static GBytes *
make_csv (GPtrArray *parts, char **names)
{
  GString *text = g_string_new (parts->len > 1 ? "run,name,step" : "step");
  for (char **name = names; *name; name++) {
    g_string_append_c (text, ',');
    lig_csv_append_text (text, *name);
  }
  g_string_append_c (text, '\n');
  for (guint i = 0; i < parts->len; i++)
    append_part (text, parts->pdata[i], names, parts->len > 1);
  return g_string_free_to_bytes (text);
}

/* --- JSON ---------------------------------------------------------------------------------- */

/* Removes the metrics that are not requested. */
static void
filter_metrics (JsonNode *document, char **names)
{
  JsonObject *run = json_node_get_object (document);
  JsonNode *node = json_object_get_member (run, "metrics");
  if (!node || !JSON_NODE_HOLDS_OBJECT (node))
    return;
  JsonObject *metrics = json_node_get_object (node);
  g_autoptr (GList) members = json_object_get_members (metrics);
  g_autoptr (GStrvBuilder) gone = g_strv_builder_new ();
  for (GList *m = members; m; m = m->next)
    if (!g_strv_contains ((const char *const *) names, m->data))
      g_strv_builder_add (gone, m->data);
  g_auto (GStrv) others = g_strv_builder_end (gone);
  for (char **name = others; *name; name++)
    json_object_remove_member (metrics, *name);
}

/* Appends the report of a run, with names only these metrics. Without names the text is copied,
 * because a long run has millions of values. */
static gboolean
append_report (GString *to, LigStore *store, const char *run, char **names, GError **error)
{
  g_autoptr (GBytes) report = lig_report_run (store, run, "json", error);
  if (!report)
    return FALSE;
  g_autofree char *text = g_strndup (g_bytes_get_data (report, NULL), g_bytes_get_size (report));
  if (names) {
    g_autoptr (JsonNode) document = lig_json_from_text (text, error);
    if (!document)
      return FALSE;
    filter_metrics (document, names);
    g_free (text);
    text = lig_json_to_text (document);
  }
  g_string_append (to, g_strchomp (text));
  return TRUE;
}

/* Returns the report of a single run, an array of several. */
static GBytes *
make_json (LigStore *store, GPtrArray *parts, char **names, GError **error)
{
  g_autoptr (GString) text = g_string_new (parts->len == 1 ? NULL : "[\n");
  for (guint i = 0; i < parts->len; i++) {
    g_string_append (text, i > 0 ? ",\n" : "");
    if (!append_report (text, store, ((const Part *) parts->pdata[i])->row->uuid, names, error))
      return NULL;
  }
  g_string_append (text, parts->len == 1 ? "\n" : "\n]\n");
  return g_string_free_to_bytes (g_steal_pointer (&text));
}

/* --- Output -------------------------------------------------------------------------------- */

/* Returns `csv` or `json`. If the command line is wrong, prints the error and returns NULL. */
static const char *
choose_format (const LigRunsOptions *options)
{
  const char *format = options->format, *output = options->output;
  gboolean standard = !output || lig_cli_is_standard (output);
  g_autoptr (GError) error = NULL;
  if (!lig_cli_check_output (output, NULL, &error))
    lig_cli_usage ("%s", error->message);
  else if (format && standard && lig_cli_json () && strcmp (format, "csv") == 0)
    lig_cli_usage ("--json and --format csv both write to standard output; give -o FILE");
  else if (format)
    return format;
  else if (standard)
    return lig_cli_json () ? "json" : "csv";
  else if (g_str_has_suffix (output, ".csv"))
    return "csv";
  else if (g_str_has_suffix (output, ".json"))
    return "json";
  else
    lig_cli_usage ("runs export: '%s' ends in neither .csv nor .json; give --format", output);
  return NULL;
}

static void
print_result (GPtrArray *parts, const char *output, guint metrics)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  if (parts->len == 1)
    lig_json_add_text (builder, "run", ((const Part *) parts->pdata[0])->row->uuid);
  lig_json_begin_array (builder, "runs");
  for (guint i = 0; i < parts->len; i++)
    json_builder_add_string_value (builder, ((const Part *) parts->pdata[i])->row->uuid);
  json_builder_end_array (builder);
  lig_json_add_text (builder, "output", output);
  lig_json_add_integer (builder, "metrics", metrics);
  json_builder_end_object (builder);
  lig_cli_print_document ("runs-export", json_builder_get_root (builder));
}

int
lig_runs_export (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  GError *error = NULL;
  const char *format = choose_format (options), *output = options->output;
  if (!format)
    return LIG_EXIT_USAGE;
  if (output && !lig_cli_check_file (output, &error))
    return lig_cli_fail (error);
  g_autoptr (GPtrArray) rows = lig_runs_select (store, options, n, arguments, "train", &error);
  g_autoptr (GPtrArray) parts = rows ? read_parts (store, rows, &error) : NULL;
  gboolean trained = parts && check_trained (parts, format, &error);
  g_auto (GStrv) names = trained ? choose_names (parts, options->metrics, &error) : NULL;
  g_autoptr (GBytes) bytes = !names ? NULL
                             : strcmp (format, "csv") == 0
                               ? make_csv (parts, names)
                               : make_json (store, parts, options->metrics ? names : NULL, &error);
  if (!bytes)
    return lig_cli_fail (error);
  if (!lig_cli_write_output (bytes, output ? output : "-", &error))
    return lig_cli_fail (error);
  if (output && !lig_cli_is_standard (output) && lig_cli_json ())
    print_result (parts, output, g_strv_length (names));
  return LIG_EXIT_OK;
}
