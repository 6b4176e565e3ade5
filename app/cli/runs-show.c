/* SPDX-License-Identifier: MIT */
/* `lig runs show`. */
#include "app/cli/runs-show.h"

#include "app/cli/duration.h"
#include "app/cli/runs-table.h"
#include "app/cli/table.h"

#include <ligature/json.h>
#include <ligature/report.h>
#include <ligature/shell.h>
#include <ligature/store-histograms.h>
#include <ligature/store-sweeps.h>

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* --- Facts --------------------------------------------------------------------------------- */

static void
print_line (const char *label, const char *text)
{
  if (text && *text)
    lig_cli_print ("%-10s  %s", label, text);
}

/* Returns the device with its model name, which the versions contain. */
static char *
describe_device (const LigRunRow *row)
{
  g_autoptr (JsonNode) root = lig_json_from_text (row->versions, NULL);
  const char *model = root && JSON_NODE_HOLDS_OBJECT (root)
                        ? lig_json_get_string (json_node_get_object (root), "device", NULL)
                        : NULL;
  return model ? g_strdup_printf ("%s (%s)", row->device, model) : g_strdup (row->device);
}

static char *
describe_versions (const LigRunRow *row)
{
  g_autoptr (JsonNode) root = lig_json_from_text (row->versions, NULL);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return g_strdup (row->versions);
  return g_strdup (lig_json_get_string (json_node_get_object (root), "libraries", ""));
}

static char *
describe_sweep (const LigRunRow *row)
{
  return row->point < 0
           ? NULL
           : g_strdup_printf ("%s, point %" G_GINT64_FORMAT, row->sweep, row->point + 1);
}

JsonNode *
lig_runs_read_inputs (LigStore *store, const char *run)
{
  g_autofree char *inputs = lig_store_get_inputs (store, run, NULL);
  JsonNode *root = inputs ? lig_json_from_text (inputs, NULL) : NULL;
  if (root && JSON_NODE_HOLDS_OBJECT (root))
    return root;
  g_clear_pointer (&root, json_node_unref);
  return NULL;
}

/* Returns the number of processes that trained, null for one. */
static char *
describe_ranks (JsonObject *object)
{
  gint64 ranks = object ? lig_json_get_int (object, "ranks", 1) : 1;
  const char *parallel = object ? lig_json_get_string (object, "parallel", NULL) : NULL;
  return ranks < 2  ? NULL
         : parallel ? g_strdup_printf ("%" G_GINT64_FORMAT ", %s", ranks, parallel)
                    : g_strdup_printf ("%" G_GINT64_FORMAT, ranks);
}

static void
print_facts (LigStore *store, const LigRunRow *row)
{
  gboolean running = strcmp (row->status, "running") == 0;
  gint64 end = row->ended ? row->ended : g_get_real_time ();
  g_autofree char *tags = g_strjoinv (" ", row->tags);
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, row->seed);
  g_autofree char *started = lig_runs_format_zoned (row->started);
  g_autofree char *ended = row->ended ? lig_runs_format_zoned (row->ended) : NULL;
  g_autofree char *seconds =
    lig_cli_format_time (MAX ((double) end - (double) row->started, 0) / G_USEC_PER_SEC);
  g_autofree char *duration = g_strdup_printf ("%s%s", seconds, running ? " so far" : "");
  g_autoptr (JsonNode) root = lig_runs_read_inputs (store, row->uuid);
  JsonObject *inputs = root ? json_node_get_object (root) : NULL;
  g_autofree char *device = describe_device (row), *versions = describe_versions (row),
                  *sweep = describe_sweep (row), *ranks = describe_ranks (inputs),
                  *use = lig_run_describe_use (store, row);
  const char *const lines[][2] = {
    {"run", row->uuid},
    {"name", row->name},
    {"kind", row->kind},
    {"status", row->status},
    {"message", row->message},
    {"started", started},
    {"ended", ended},
    {"duration", duration},
    {"device", device},
    {"use", use},
    {"ranks", ranks},
    {"dtype", row->dtype},
    {"recipe", row->recipe},
    {"policy", row->policy},
    {"seed", seed},
    {"init", inputs ? lig_json_get_string (inputs, "init", NULL) : NULL},
    {"host", row->host},
    {"revision", row->revision},
    {"versions", versions},
    {"parent", row->parent},
    {"sweep", sweep},
    {"starred", row->starred ? "yes" : NULL},
    {"tags", tags},
    {"notes", row->notes},
  };
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    print_line (lines[i][0], lines[i][1]);
}

/* --- Metrics and files --------------------------------------------------------------------- */

static char **
make_metric (const LigMetricRow *metric)
{
  const double *values = (const double *) (gpointer) metric->values->data;
  guint best = 0, count = metric->values->len;
  int sense = lig_metric_get_sense (metric->name);
  for (guint i = 1; i < count; i++)
    if (sense * values[i] > sense * values[best] || isnan (values[best]))
      best = i;
  char **cells = g_new0 (char *, 7);
  cells[0] = g_strconcat ("  ", metric->name, NULL);
  cells[1] = g_strdup_printf ("%u", count);
  cells[2] = lig_runs_format_number (values[0]);
  cells[3] = lig_runs_format_number (values[count - 1]);
  cells[4] = sense != 0 ? lig_runs_format_number (values[best]) : g_strdup ("-");
  cells[5] = sense != 0
               ? g_strdup_printf ("%" G_GINT64_FORMAT, g_array_index (metric->steps, gint64, best))
               : g_strdup ("-");
  return cells;
}

static void
print_metrics (GPtrArray *metrics)
{
  static const char *const header[] = {"  metric", ">values",  ">first", ">last",
                                       ">best",    ">at step", NULL};
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  for (guint i = 0; i < metrics->len; i++)
    g_ptr_array_add (table, make_metric (metrics->pdata[i]));
  if (table->len == 0)
    return;
  lig_runs_print_title ("Metrics");
  lig_cli_print_table (header, table);
}

/* Prints the texts of the newest step, and of the first one for comparison. */
static void
print_samples (GPtrArray *samples)
{
  const LigSampleRow *last = samples->len > 0 ? samples->pdata[samples->len - 1] : NULL;
  if (last)
    lig_runs_print_title ("Samples");
  for (guint i = 0; i < samples->len; i++) {
    const LigSampleRow *sample = samples->pdata[i];
    const LigSampleRow *first = samples->pdata[0];
    if (sample->step != first->step && sample->step != last->step)
      continue;
    g_autofree char *text = g_strconcat (sample->prompt, sample->text, NULL);
    g_strdelimit (text, "\n\r\t", ' ');
    lig_cli_print ("  step %" G_GINT64_FORMAT ": %s", sample->step, text);
  }
}

static gboolean
print_artifacts (GPtrArray *artifacts)
{
  gboolean exists = FALSE;
  if (artifacts->len > 0)
    lig_runs_print_title ("Files");
  for (guint i = 0; i < artifacts->len; i++) {
    const LigArtifactRow *artifact = artifacts->pdata[i];
    GStatBuf info;
    gboolean found = g_stat (artifact->path, &info) == 0;
    g_autofree char *size = found ? lig_units_bytes ((double) info.st_size) : NULL;
    lig_cli_print ("  %s %s (%s)", artifact->kind, artifact->path, found ? size : "missing");
    exists |= found && strcmp (artifact->kind, "checkpoint") == 0;
  }
  return exists;
}

/* --- Commands ------------------------------------------------------------------------------ */

static void
print_command (const LigRunsOptions *options, const char *meaning, const char *format, ...)
{
  g_autoptr (GString) line = g_string_new ("lig ");
  va_list arguments;
  va_start (arguments, format);
  g_string_append_vprintf (line, format, arguments);
  va_end (arguments);
  if (options->store)
    lig_shell_append_option (line, "store", options->store);
  lig_cli_print ("  %-28s  %s", meaning, line->str);
}

/* Returns how many steps the run was to have, 0 if unknown. */
static gint64
read_steps (const LigRunRow *row)
{
  g_autoptr (JsonNode) root = lig_json_from_text (row->settings, NULL);
  return root && JSON_NODE_HOLDS_OBJECT (root)
           ? lig_json_get_int (json_node_get_object (root), "steps", 0)
           : 0;
}

static void
print_commands (const LigRunRow *row,
                const LigRunsOptions *options,
                GPtrArray *verdicts,
                gboolean counted,
                gboolean resumable)
{
  guint taken = 0;
  gint64 steps = read_steps (row);
  for (guint i = 0; i < verdicts->len; i++)
    taken += ((const LigVerdictRow *) verdicts->pdata[i])->taken;
  g_autofree char *counts = g_strdup_printf ("verdicts (%u of %u fused)", taken, verdicts->len);
  lig_runs_print_title ("Commands");
  if (verdicts->len > 0 && !options->verdicts)
    print_command (options, counts, "runs show %.8s --verdicts", row->uuid);
  if (counted && !options->histograms)
    print_command (options, "weights and gradients", "runs show %.8s --histograms", row->uuid);
  if (resumable && row->saved_step >= steps)
    print_command (options, "train longer", "train --resume %.8s --steps %" G_GINT64_FORMAT,
                   row->uuid, MAX (2 * row->saved_step, row->saved_step + 1));
  else if (resumable)
    print_command (options, "continue", "train --resume %.8s", row->uuid);
  print_command (options, "repeat and compare", "runs repeat %.8s", row->uuid);
  print_command (options, "report with groups and charts", "report %.8s -o %.8s.html", row->uuid,
                 row->uuid);
  if (strcmp (row->kind, "train") == 0)
    print_command (options, "metrics for other tools", "runs export %.8s -o -", row->uuid);
}

/* Returns the document of a run, with all histograms if they are asked for. */
static JsonNode *
make_document (LigStore *store, const char *run, gboolean histograms, GError **error)
{
  g_autoptr (JsonNode) document = lig_run_to_json (store, run, error);
  if (!document || !histograms)
    return g_steal_pointer (&document);
  JsonNode *all = lig_run_histograms_to_json (store, run, error);
  if (!all)
    return NULL;
  json_object_set_member (json_node_get_object (document), "histograms", all);
  return g_steal_pointer (&document);
}

int
lig_runs_show (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (LigRunRow) row = lig_cli_find_run (store, arguments[0], NULL, &error);
  if (row && lig_cli_json ()) {
    JsonNode *document = make_document (store, row->uuid, options->histograms, &error);
    if (!document)
      return lig_cli_fail (error);
    lig_cli_print_document ("runs-show", document);
    return LIG_EXIT_OK;
  }
  const char *run = row ? row->uuid : NULL;
  g_autoptr (GPtrArray) metrics = run ? lig_store_get_metrics (store, run, &error) : NULL;
  g_autoptr (GPtrArray) verdicts = metrics ? lig_store_get_verdicts (store, run, &error) : NULL;
  g_autoptr (GPtrArray) artifacts = verdicts ? lig_store_get_artifacts (store, run, &error) : NULL;
  if (!artifacts)
    return lig_cli_fail (error);
  print_facts (store, row);
  lig_runs_print_sequence (row);
  lig_runs_print_settings (row);
  lig_runs_print_conditions (row);
  g_autoptr (JsonNode) inputs = lig_runs_read_inputs (store, run);
  lig_runs_print_table (inputs ? json_node_get_object (inputs) : NULL);
  print_metrics (metrics);
  if (!lig_runs_print_times (store, row, &error) || !lig_runs_print_errors (store, row, &error))
    return lig_cli_fail (error);
  if (options->verdicts && verdicts->len > 0)
    lig_runs_print_verdicts (row, verdicts);
  g_autoptr (GPtrArray) samples = lig_store_get_samples (store, run, &error);
  if (!samples)
    return lig_cli_fail (error);
  g_auto (GStrv) counted = lig_store_list_histograms (store, run, &error);
  if (!counted)
    return lig_cli_fail (error);
  if (!lig_runs_print_loads (store, row, &error))
    return lig_cli_fail (error);
  print_samples (samples);
  if (options->histograms && !lig_runs_print_histograms (store, row, &error))
    return lig_cli_fail (error);
  gboolean resumable = print_artifacts (artifacts) && strcmp (row->kind, "train") == 0;
  print_commands (row, options, verdicts, *counted != NULL, resumable);
  return LIG_EXIT_OK;
}
