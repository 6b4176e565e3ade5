/* SPDX-License-Identifier: MIT */
/* The tables of `lig runs compare`: one column for each run, in as many tables as the width needs.
 */
#include "app/cli/runs-compare-text.h"
#include "app/cli/duration.h"
#include "app/cli/print.h"
#include "app/cli/runs-table.h"
#include "app/cli/table.h"

#include <ligature/columns.h>
#include <ligature/json.h>
#include <ligature/printable.h>

#include <math.h>
#include <string.h>

/* The space between columns, and the minimum length of a shortened cell. */
enum { GAP = 2, MIN_CELL = 8 };

/* The maximum width of a run's name in a header. */
#define MAX_NAME 16

/* --- Tables -------------------------------------------------------------------------------- */

static char *
shorten (const char *text, int width)
{
  g_autofree char *line = lig_printable (text);
  return lig_columns_elide (line, width);
}

static int
measure (GPtrArray *lines, const char *header, guint column)
{
  int width = lig_columns_width (header) - (*header == '>');
  for (guint i = 0; i < lines->len; i++)
    width = MAX (width, lig_columns_width (((char **) lines->pdata[i])[column]));
  return width;
}

/* Shortens the cells so that the labels, the first run and any other run fit. */
static void
shorten_cells (GPtrArray *lines, int label, int width)
{
  int room = width - label - 2 * GAP, first = 0;
  for (guint i = 0; i < lines->len; i++)
    first = MAX (first, lig_columns_width (((char **) lines->pdata[i])[1]));
  first = MAX (MIN (first, room / 2), MIN_CELL);
  for (guint i = 0; i < lines->len; i++)
    for (char **cell = (char **) lines->pdata[i] + 1; *cell; cell++) {
      gboolean is_first = cell == (char **) lines->pdata[i] + 1;
      char *text = shorten (*cell, is_first ? first : MAX (room - first, MIN_CELL));
      g_free (*cell);
      *cell = text;
    }
}

/* Prints the first two columns and those from `first` to `end`. */
static void
print_block (char **header, GPtrArray *lines, guint first, guint end)
{
  g_autoptr (GPtrArray) block = lig_runs_new_table ();
  g_autoptr (GPtrArray) titles = g_ptr_array_new ();
  for (guint j = 0; header[j]; j++)
    if (j < 2 || (j >= first && j < end))
      g_ptr_array_add (titles, header[j]);
  g_ptr_array_add (titles, NULL);
  for (guint i = 0; i < lines->len; i++) {
    g_autoptr (GStrvBuilder) cells = g_strv_builder_new ();
    for (guint j = 0; header[j]; j++)
      if (j < 2 || (j >= first && j < end))
        g_strv_builder_add (cells, ((char **) lines->pdata[i])[j]);
    g_ptr_array_add (block, g_strv_builder_end (cells));
  }
  lig_cli_print_table ((const char *const *) titles->pdata, block);
}

/* Returns whether the runs' names differ, also when shortened. */
static gboolean
has_own_names (GPtrArray *runs)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < runs->len; i++) {
    const char *name = ((const LigRunRow *) runs->pdata[i])->name;
    if (!*name || !g_hash_table_add (seen, shorten (name, MAX_NAME)))
      return FALSE;
  }
  return TRUE;
}

static char *
make_title (const LigRunRow *row, gboolean named)
{
  g_autofree char *name = named ? shorten (row->name, MAX_NAME) : g_strndup (row->uuid, 8);
  return g_strconcat (">", name, NULL);
}

/* Prints lines under a header of the runs' names, or of their uuids if names repeat. Runs that do
 * not fit next to the first one follow in another table, again with the first one. */
static void
print_table (const char *title, GPtrArray *runs, GPtrArray *lines)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  int width = (int) lig_runs_get_width ();
  gboolean named = has_own_names (runs);
  g_strv_builder_add (builder, title);
  for (guint i = 0; i < runs->len; i++) {
    g_autofree char *name = make_title (runs->pdata[i], named);
    g_strv_builder_add (builder, name);
  }
  g_auto (GStrv) header = g_strv_builder_end (builder);
  if (lines->len == 0)
    return;
  if (width == 0) {
    lig_cli_print_table ((const char *const *) header, lines);
    return;
  }
  int label = measure (lines, header[0], 0);
  shorten_cells (lines, label, width);
  int start = label + GAP + measure (lines, header[1], 1);
  for (guint first = 2, end; header[first]; first = end) {
    int sum = start;
    for (end = first; header[end]; end++) {
      sum += GAP + measure (lines, header[end], end);
      if (end > first && sum > width)
        break;
    }
    print_block (header, lines, first, end);
  }
}

/* --- Settings ------------------------------------------------------------------------------ */

/* Returns whether the value was measured during profiling and is not a setting. */
static gboolean
is_condition (const char *name)
{
  return g_str_has_prefix (name, "settings.conditions.") ||
         g_str_has_prefix (name, "settings.health.");
}

static char *
format_setting (const char *name, JsonNode *node)
{
  GType type = node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : 0;
  if (!node || JSON_NODE_HOLDS_NULL (node))
    return g_strdup ("-");
  if (type == G_TYPE_STRING)
    return g_strdup (*json_node_get_string (node) ? json_node_get_string (node) : "-");
  if (type == G_TYPE_DOUBLE)
    return g_strdup_printf ("%.*g", is_condition (name) ? 3 : 15, json_node_get_double (node));
  GString *text = g_string_new (NULL);
  lig_json_append (text, node);
  return g_string_free (text, FALSE);
}

/* Returns whether a setting repeats another one or the header. */
static gboolean
is_repeated (const char *name, gboolean named)
{
  if (named && strcmp (name, "name") == 0)
    return TRUE;
  static const char *const names[] = {"settings.seed",  "settings.name",   "settings.policy",
                                      "settings.dtype", "settings.recipe", NULL};
  return g_strv_contains (names, name);
}

/* Returns whether a cell shows a value: an unknown value looks like a missing one. */
static gboolean
has_values (char **cells)
{
  for (char **cell = cells + 1; *cell; cell++)
    if (strcmp (*cell, "-") != 0)
      return TRUE;
  return FALSE;
}

static void
print_settings (const LigRunsComparison *self)
{
  static const char prefix[] = "settings.";
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  gboolean named = has_own_names (self->runs);
  for (guint i = 0; i < self->settings->len; i++) {
    const LigRunsLine *line = self->settings->pdata[i];
    if (!lig_runs_line_differs (line, self->runs->len) || is_repeated (line->name, named))
      continue;
    char **cells = g_new0 (char *, self->runs->len + 2);
    cells[0] =
      g_strdup (line->name + (g_str_has_prefix (line->name, prefix) ? strlen (prefix) : 0));
    for (guint j = 0; j < self->runs->len; j++)
      cells[j + 1] = format_setting (line->name, line->settings[j]);
    if (has_values (cells))
      g_ptr_array_add (table, cells);
    else
      g_strfreev (cells);
  }
  if (table->len > 0)
    print_table ("setting", self->runs, table);
  else
    lig_cli_print ("the same settings");
}

/* --- Results ------------------------------------------------------------------------------- */

static char *
format_change (double value, double reference)
{
  if (isnan (value) || isnan (reference))
    return lig_runs_format_number (value);
  double change = value - reference;
  return change == 0 ? g_strdup_printf ("%.6g (0)", value)
                     : g_strdup_printf ("%.6g (%+.3g)", value, change);
}

static char *
format_median (const LigSpread *spread, const LigSpread *reference)
{
  LigDifference difference;
  if (spread->count == 0 || reference->count == 0)
    return lig_runs_format_number (spread->count > 0 ? spread->median : NAN);
  lig_spread_compare (spread, reference, &difference);
  return difference.kind == LIG_DIFFERENCE_NONE && spread->median != reference->median
           ? g_strdup_printf ("%.6g (no difference)", spread->median)
           : format_change (spread->median, reference->median);
}

/* The figures of a metric that are compared: evaluations and learning rates have no noise. */
typedef enum { MEDIAN, LAST, SMALLEST, LARGEST } Figure;

static double
figure_of (const LigRunsResult *result, Figure figure)
{
  return figure == LAST ? result->last : figure == SMALLEST ? result->min : result->max;
}

/* The rows of the runs whose accuracies are compared; 0 for other metrics. */
typedef struct {
  gint64 own, reference;
} Rows;

static gboolean
is_noise (double value, double reference, Rows rows)
{
  return value != reference && lig_accuracy_compare (value, rows.own, reference, rows.reference,
                                                     NULL) == LIG_DIFFERENCE_NONE;
}

static char *
format_result (const LigRunsResult *result,
               const LigRunsResult *reference,
               Figure figure,
               Rows rows)
{
  gboolean first = result == reference;
  if (figure == MEDIAN)
    return first ? lig_runs_format_number (result->spread.count ? result->spread.median : NAN)
                 : format_median (&result->spread, &reference->spread);
  double value = figure_of (result, figure), other = figure_of (reference, figure);
  if (!first && is_noise (value, other, rows))
    return g_strdup_printf ("%.6g (no difference)", value);
  return first ? lig_runs_format_number (value) : format_change (value, other);
}

static Rows
find_rows (const LigRunsComparison *self, const LigRunsLine *line, guint run)
{
  const LigRunRow *row = self->runs->pdata[run], *first = self->runs->pdata[0];
  return strcmp (line->name, LIG_METRIC_EVAL_ACCURACY) == 0
           ? (Rows){row->eval_rows, first->eval_rows}
           : (Rows){0};
}

/* Prints how many rows could not show the differences between accuracies. */
static void
print_excuse (const LigRunsComparison *self, const LigRunsLine *line)
{
  gint64 rows_min = G_MAXINT64;
  for (guint i = 1; i < self->runs->len; i++) {
    Rows rows = find_rows (self, line, i);
    if (is_noise (line->results[i].last, line->results[0].last, rows))
      rows_min = MIN (rows_min, MIN (rows.own, rows.reference));
  }
  if (rows_min == G_MAXINT64)
    return;
  g_autofree char *excuse = lig_accuracy_excuse (rows_min);
  lig_cli_print ("%s: %s", line->name, excuse);
}

static void
add_result (GPtrArray *table, const LigRunsComparison *self, const LigRunsLine *line, Figure figure)
{
  static const char *const names[] = {"median", "last", "min", "max"};
  char **cells = g_new0 (char *, self->runs->len + 2);
  cells[0] = g_strdup_printf ("%s, %s", line->name, names[figure]);
  for (guint i = 0; i < self->runs->len; i++)
    cells[i + 1] =
      format_result (&line->results[i], &line->results[0], figure, find_rows (self, line, i));
  g_ptr_array_add (table, cells);
}

static void
print_results (const LigRunsComparison *self)
{
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  gboolean medians = FALSE;
  for (guint i = 0; i < self->metrics->len; i++) {
    const LigRunsLine *line = self->metrics->pdata[i];
    gboolean evaluation = g_str_has_prefix (line->name, "eval-");
    if (strcmp (line->name, "step-ms") == 0)
      continue;
    gboolean last = evaluation || strcmp (line->name, "learning-rate") == 0;
    medians |= !last;
    add_result (table, self, line, last ? LAST : MEDIAN);
    int sense = evaluation ? lig_metric_get_sense (line->name) : 0;
    if (sense != 0)
      add_result (table, self, line, sense < 0 ? SMALLEST : LARGEST);
  }
  if (table->len > 0)
    lig_cli_print ("%s", "");
  print_table ("result", self->runs, table);
  if (medians)
    lig_cli_print ("medians of the last 10 %% of the steps");
  for (guint i = 0; i < self->metrics->len; i++)
    print_excuse (self, self->metrics->pdata[i]);
}

/* --- The time of a step --------------------------------------------------------------------- */

static char *
format_steps (const LigSpread *spread, const LigSpread *reference, guint line)
{
  LigDifference difference;
  lig_spread_compare (spread, reference, &difference);
  if (spread->count == 0 || (line == 3 && spread == reference))
    return g_strdup ("-");
  return line == 0   ? lig_cli_format_time (spread->median)
         : line == 1 ? lig_cli_format_range (spread->lower, spread->upper)
         : line == 2 ? g_strdup_printf ("%u", spread->count)
                     : lig_difference_to_text (&difference);
}

static void
print_steps (const LigRunsComparison *self)
{
  static const char *const names[] = {"median", "quartiles", "values", "vs. first"};
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  gboolean some = FALSE;
  for (guint i = 0; i < self->runs->len; i++)
    some |= self->steps[i].count > 0;
  for (guint line = 0; some && line < G_N_ELEMENTS (names); line++) {
    char **cells = g_new0 (char *, self->runs->len + 2);
    cells[0] = g_strdup (names[line]);
    for (guint i = 0; i < self->runs->len; i++)
      cells[i + 1] = format_steps (&self->steps[i], &self->steps[0], line);
    g_ptr_array_add (table, cells);
  }
  if (table->len > 0)
    lig_cli_print ("%s", "");
  print_table ("time of a step", self->runs, table);
}

void
lig_runs_print_comparison (const LigRunsComparison *self)
{
  print_settings (self);
  print_results (self);
  print_steps (self);
}
