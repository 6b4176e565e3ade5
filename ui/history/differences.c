/* SPDX-License-Identifier: MIT */
/* Compares runs. Ops are aligned, so an inserted op does not shift the others. */
#include "ui/history/differences.h"

#include "ui/widgets/figures.h"
#include <ligature/json.h>
#include <ligature/store.h>

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

typedef struct {
  guint n_runs;
  GPtrArray *lines;
  GHashTable *by_name;
} Lines;

static void
free_line (gpointer data)
{
  LigLine *line = data;
  g_free (line->name);
  g_strfreev (line->cells);
  g_free (line->numbers);
  g_free (line->spreads);
  g_free (line->rows);
  g_free (line);
}

static LigLine *
add_line (Lines *self, LigLineKind kind, const char *name)
{
  LigLine *line = g_new0 (LigLine, 1);
  line->kind = kind;
  line->name = g_strdup (name);
  line->cells = g_new0 (char *, self->n_runs + 1);
  for (guint i = 0; i < self->n_runs; i++)
    line->cells[i] = g_strdup ("–");
  if (kind == LIG_LINE_RESULT) {
    line->numbers = g_new (double, self->n_runs);
    for (guint i = 0; i < self->n_runs; i++)
      line->numbers[i] = NAN;
  }
  g_ptr_array_add (self->lines, line);
  return line;
}

static LigLine *
get_line (Lines *self, LigLineKind kind, const char *name)
{
  LigLine *line = g_hash_table_lookup (self->by_name, name);
  if (line)
    return line;
  line = add_line (self, kind, name);
  g_hash_table_insert (self->by_name, line->name, line);
  return line;
}

static void
set_cell (Lines *self, LigLineKind kind, const char *name, guint run, const char *text)
{
  LigLine *line = get_line (self, kind, name);
  g_free (line->cells[run]);
  line->cells[run] = lig_figure_excerpt (*text ? text : "–");
}

/* --- Settings ------------------------------------------------------------------------------ */

static char *
format_value (JsonNode *value)
{
  GType type = JSON_NODE_HOLDS_VALUE (value) ? json_node_get_value_type (value) : G_TYPE_NONE;
  if (type == G_TYPE_STRING)
    return g_strdup (json_node_get_string (value));
  if (type == G_TYPE_DOUBLE)
    return g_strdup_printf ("%.15g", json_node_get_double (value));
  GString *text = g_string_new (NULL);
  lig_json_append (text, value);
  return g_string_free (text, FALSE);
}

/* Returns whether another line already has the value: a fact of the run, an op, or a setting, which
 * a file may give in its object `train`. The load of the computer is not a setting either. */
static gboolean
is_doubled (const char *path, const char *member)
{
  static const char *const members[][9] = {
    {"settings", "name", "dtype", "policy", "seed", "recipe", "device", "conditions", NULL},
    {"sequence", "ops", "name", "train", "ligature", NULL},
  };
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    if (strcmp (path, members[i][0]) == 0)
      return g_strv_contains (&members[i][1], member);
  return FALSE;
}

static void
add_leaves (Lines *self, LigLineKind kind, guint run, const char *path, JsonNode *value)
{
  if (JSON_NODE_HOLDS_OBJECT (value)) {
    JsonObject *object = json_node_get_object (value);
    g_autoptr (GList) members = json_object_get_members (object);
    for (GList *m = members; m; m = m->next) {
      if (is_doubled (path, m->data))
        continue;
      g_autofree char *inner = g_strdup_printf ("%s.%s", path, (char *) m->data);
      add_leaves (self, kind, run, inner, json_object_get_member (object, m->data));
    }
    return;
  }
  g_autofree char *text = format_value (value);
  set_cell (self, kind, path, run, text);
}

static void
add_json (Lines *self, LigLineKind kind, guint run, const char *name, const char *text)
{
  g_autoptr (JsonNode) root = *text ? lig_json_from_text (text, NULL) : NULL;
  if (root)
    add_leaves (self, kind, run, name, root);
  else
    set_cell (self, kind, name, run, text);
}

static void
add_settings (Lines *self, guint run, const LigRunRow *row)
{
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, row->seed);
  const char *const facts[][2] = {
    {"name", row->name},   {"kind", row->kind},     {"device", row->device},
    {"dtype", row->dtype}, {"recipe", row->recipe}, {"policy", row->policy},
    {"seed", seed},        {"host", row->host},     {"revision", row->revision},
  };
  for (guint i = 0; i < G_N_ELEMENTS (facts); i++)
    set_cell (self, LIG_LINE_SETTING, facts[i][0], run, facts[i][1]);
  add_json (self, LIG_LINE_SETTING, run, "settings", row->settings);
  add_json (self, LIG_LINE_SETTING, run, "versions", row->versions);
}

/* --- Sequences ----------------------------------------------------------------------------- */

/* `linear out-features 768, bias false`. */
static char *
format_op (JsonNode *op)
{
  if (!JSON_NODE_HOLDS_OBJECT (op))
    return format_value (op);
  JsonObject *object = json_node_get_object (op);
  g_autoptr (GList) members = json_object_get_members (object);
  const char *name = lig_json_get_string (object, "op", "?");
  GString *text = g_string_new (name);
  gboolean first = TRUE;
  for (GList *m = members; m; m = m->next) {
    if (strcmp (m->data, "op") == 0)
      continue;
    g_autofree char *value = format_value (json_object_get_member (object, m->data));
    g_string_append_printf (text, "%s%s %s", first ? " " : ", ", (char *) m->data, value);
    first = FALSE;
  }
  return g_string_free (text, FALSE);
}

static GStrv
read_ops (const char *sequence)
{
  g_autoptr (JsonNode) root = lig_json_from_text (sequence, NULL);
  g_autoptr (GStrvBuilder) texts = g_strv_builder_new ();
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  JsonNode *ops = object ? json_object_get_member (object, "ops") : NULL;
  if (ops && JSON_NODE_HOLDS_ARRAY (ops)) {
    JsonArray *array = json_node_get_array (ops);
    for (guint i = 0; i < json_array_get_length (array); i++) {
      g_autofree char *text = format_op (json_array_get_element (array, i));
      g_strv_builder_add (texts, text);
    }
  }
  return g_strv_builder_end (texts);
}

static gboolean
is_same_kind (const char *a, const char *b)
{
  gsize length = strcspn (a, " ");
  return length == strcspn (b, " ") && strncmp (a, b, length) == 0;
}

/* The ops of all runs in a merged line. */
static const char *
get_sample (const LigLine *line, guint n_runs)
{
  for (guint i = 0; i < n_runs; i++)
    if (strcmp (line->cells[i], "–") != 0)
      return line->cells[i];
  return "";
}

/* Returns how well an op fits a merged line: the same op is better than one of the same kind. */
static int
rate (const LigLine *line, guint n_runs, const char *op)
{
  int best = 0;
  for (guint i = 0; i < n_runs && best < 3; i++)
    if (strcmp (line->cells[i], op) == 0)
      best = 3;
  return best ? best : is_same_kind (get_sample (line, n_runs), op) ? 2 : 0;
}

/* With more pairs than this, ops are compared by their index. */
#define MAX_PAIRS (4u << 20)

static void
set_op (LigLine *line, guint run, const char *op)
{
  g_free (line->cells[run]);
  line->cells[run] = g_strdup (op);
}

/* Merges a run's ops into the list so that as many as possible are aligned with equal ops. */
static void
merge_ops (Lines *self, GPtrArray *merged, guint run, GStrv ops)
{
  guint n = merged->len, m = g_strv_length (ops), width = m + 1;
  gboolean small = (guint64) (n + 1) * width <= MAX_PAIRS;
  g_autofree guint16 *score = g_new0 (guint16, small ? (gsize) (n + 1) * width : 1);
  g_autoptr (GPtrArray) result = g_ptr_array_new ();
  for (guint i = n; small && i-- > 0;)
    for (guint j = m; j-- > 0;) {
      int fit = rate (merged->pdata[i], self->n_runs, ops[j]);
      guint pair = fit ? (guint) fit + score[(i + 1) * width + j + 1] : 0;
      guint best = MAX (score[(i + 1) * width + j], score[i * width + j + 1]);
      score[i * width + j] = (guint16) MIN (MAX (best, pair), G_MAXUINT16);
    }
  guint i = 0, j = 0;
  while (i < n || j < m) {
    gboolean both = i < n && j < m;
    int fit = both ? rate (merged->pdata[i], self->n_runs, ops[j]) : 0;
    if (both &&
        (!small || (fit && score[i * width + j] == (guint) fit + score[(i + 1) * width + j + 1]))) {
      set_op (merged->pdata[i], run, ops[j++]);
      g_ptr_array_add (result, merged->pdata[i++]);
    } else if (i < n && (j == m || score[i * width + j] == score[(i + 1) * width + j])) {
      g_ptr_array_add (result, merged->pdata[i++]);
    } else {
      LigLine *line = add_line (self, LIG_LINE_SEQUENCE, "");
      g_ptr_array_steal_index (self->lines, self->lines->len - 1);
      set_op (line, run, ops[j++]);
      g_ptr_array_add (result, line);
    }
  }
  g_ptr_array_set_size (merged, 0);
  g_ptr_array_extend (merged, result, NULL, NULL);
}

static void
add_sequences (Lines *self, GPtrArray *runs)
{
  g_autoptr (GPtrArray) merged = g_ptr_array_new ();
  for (guint run = 0; run < runs->len; run++) {
    const LigRunRow *row = runs->pdata[run];
    g_auto (GStrv) ops = read_ops (row->sequence);
    g_autoptr (JsonNode) root = lig_json_from_text (row->sequence, NULL);
    if (root)
      add_leaves (self, LIG_LINE_SEQUENCE, run, "sequence", root);
    merge_ops (self, merged, run, ops);
  }
  for (guint i = 0; i < merged->len; i++) {
    LigLine *line = merged->pdata[i];
    g_free (line->name);
    line->name = g_strdup_printf (_ ("op %u"), i);
    g_ptr_array_add (self->lines, line);
  }
}

/* --- Results ------------------------------------------------------------------------------- */

static void
set_number (Lines *self, guint run, const char *name, double value)
{
  LigLine *line = get_line (self, LIG_LINE_RESULT, name);
  if (isnan (value))
    return;
  line->sense = lig_metric_get_sense (name);
  line->numbers[run] = value;
  g_free (line->cells[run]);
  line->cells[run] = g_strdup_printf ("%.6g", value);
}

static gint64
get_batch (const LigRunRow *row)
{
  g_autoptr (JsonNode) root = *row->settings ? lig_json_from_text (row->settings, NULL) : NULL;
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return 0;
  return lig_json_get_int (json_node_get_object (root), "batch", 0);
}

static void
set_spread (Lines *self, guint run, const char *name, const LigSpread *spread)
{
  LigLine *line = get_line (self, LIG_LINE_RESULT, name);
  if (!line->spreads)
    line->spreads = g_new0 (LigSpread, self->n_runs);
  line->spreads[run] = *spread;
}

/* Adds the quartiles of the step, and the noise of its time and of the rate that follows from it.
 */
static void
add_spread (Lines *self, guint run, const LigSpread *step, gboolean rate)
{
  g_autofree char *quartiles = lig_spread_to_text (step);
  g_autofree char *text = g_strdup_printf ("%s (%u)", quartiles, step->count);
  set_cell (self, LIG_LINE_RESULT, "step-quartiles", run, text);
  set_spread (self, run, "median-step-ms", step);
  if (rate)
    set_spread (self, run, "samples-per-second", step);
}

/* Adds the noise of a metric that is measured with every batch, from the end of the run.
 * Evaluations and learning rates have none. */
static void
add_noise (Lines *self, guint run, const char *name, GArray *steps, GArray *values)
{
  LigSpread spread;
  if (g_str_has_prefix (name, "eval-") || strcmp (name, "learning-rate") == 0)
    return;
  lig_spread_measure_end ((const gint64 *) (gpointer) steps->data,
                          (const double *) (gpointer) values->data, values->len, &spread);
  set_spread (self, run, name, &spread);
}

/* Adds the number of rows that the accuracy of the last evaluation counts. */
static void
set_rows (Lines *self, guint run, gint64 rows)
{
  LigLine *line = get_line (self, LIG_LINE_RESULT, LIG_METRIC_EVAL_ACCURACY);
  if (!line->rows)
    line->rows = g_new0 (gint64, self->n_runs);
  line->rows[run] = rows;
}

static gboolean
add_results (Lines *self, LigStore *store, guint run, const LigRunRow *row, GError **error)
{
  g_auto (GStrv) names = lig_store_get_metric_names (store, row->uuid, error);
  if (!names)
    return FALSE;
  for (char **name = names; *name; name++) {
    g_autoptr (GArray) steps = NULL, values = NULL;
    if (!lig_store_get_metric (store, row->uuid, *name, &steps, &values, error))
      return FALSE;
    /* A single step's time is not significant; the median of many is below. */
    if (values->len && strcmp (*name, "step-ms") != 0) {
      set_number (self, run, *name, g_array_index (values, double, values->len - 1));
      add_noise (self, run, *name, steps, values);
    }
  }
  if (row->eval_rows > 0)
    set_rows (self, run, row->eval_rows);
  gint64 batch = get_batch (row);
  LigSpread step;
  gboolean repeated = lig_profile_get_spread (store, row->uuid, NULL, &step, NULL);
  set_number (self, run, "median-step-ms", row->step_ms);
  if (batch > 0 && row->step_ms > 0)
    set_number (self, run, "samples-per-second", (double) batch * 1e3 / row->step_ms);
  if (repeated)
    add_spread (self, run, &step, batch > 0 && row->step_ms > 0);
  set_number (self, run, "last-step", row->last_step < 0 ? NAN : (double) row->last_step);
  if (row->ended)
    set_number (self, run, "duration-s", (double) (row->ended - row->started) / G_USEC_PER_SEC);
  return TRUE;
}

/* --- The whole ----------------------------------------------------------------------------- */

GPtrArray *
lig_compare_runs (LigStore *store, GPtrArray *runs, GError **error)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (free_line);
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);
  Lines self = {runs->len, lines, by_name};
  for (guint i = 0; i < runs->len; i++)
    add_settings (&self, i, runs->pdata[i]);
  add_sequences (&self, runs);
  for (guint i = 0; i < runs->len; i++)
    if (!add_results (&self, store, i, runs->pdata[i], error))
      return NULL;
  for (guint i = 0; i < lines->len; i++) {
    LigLine *line = lines->pdata[i];
    for (guint run = 1; run < runs->len; run++)
      line->differs = line->differs || strcmp (line->cells[run], line->cells[0]) != 0;
  }
  return g_steal_pointer (&lines);
}

/* Returns whether a time, a loss or an accuracy differs from the first run's by no more than their
 * noise. */
static gboolean
is_within_noise (const LigLine *self, guint run, LigDifference *difference)
{
  LigDifferenceKind kind = LIG_DIFFERENCE_UNKNOWN;
  if (run > 0 && self->spreads)
    kind = lig_spread_compare (&self->spreads[run], &self->spreads[0], difference);
  else if (run > 0 && self->rows)
    kind = lig_accuracy_compare (self->numbers[run], self->rows[run], self->numbers[0],
                                 self->rows[0], difference);
  return kind == LIG_DIFFERENCE_NONE;
}

int
lig_line_judge (const LigLine *self, guint run)
{
  if (!self->numbers || run == 0 || !self->sense || is_within_noise (self, run, NULL))
    return 0;
  double delta = self->numbers[run] - self->numbers[0];
  return isnan (delta) || delta == 0 ? 0 : (delta > 0) == (self->sense > 0) ? 1 : -1;
}

char *
lig_line_get_delta (const LigLine *self, guint run)
{
  double delta = self->numbers && run > 0 ? self->numbers[run] - self->numbers[0] : NAN;
  if (!isfinite (delta) || delta == 0)
    return NULL;
  LigDifference difference;
  if (is_within_noise (self, run, &difference))
    return self->rows ? lig_accuracy_excuse (MIN (self->rows[run], self->rows[0]))
                      : lig_difference_to_text (&difference);
  const char *sign = delta < 0 ? "−" : "+";
  int judged = lig_line_judge (self, run);
  double ratio = self->numbers[0] != 0 ? delta / self->numbers[0] : 0;
  g_autofree char *percent =
    fabs (ratio) > 9.995 ? g_strdup_printf (" (%.3g ×)", self->numbers[run] / self->numbers[0])
    : ratio != 0         ? g_strdup_printf (" (%s%.3g %%)", sign, fabs (ratio) * 100)
                         : g_strdup ("");
  g_autofree char *size = g_strdup_printf (fabs (delta) < 1000 ? "%.3g" : "%.0f", fabs (delta));
  if (!judged)
    return g_strdup_printf ("%s%s%s", sign, size, percent);
  return g_strdup_printf (judged > 0 ? _ ("%s%s%s, better") : _ ("%s%s%s, worse"), sign, size,
                          percent);
}
