/* SPDX-License-Identifier: MIT */
/* The results of a sweep: means over seeds, and the JSON document. */
#include "engine/train/sweep-private.h"
#include "engine/train/swept.h"
#include <ligature/json-members.h>

#include <json-glib/json-glib.h>

#include <math.h>

double
lig_sweep_get_score (const LigSweepPoint *point, gboolean *validation)
{
  gboolean done = g_strcmp0 (point->status, "done") == 0;
  *validation = isfinite (point->eval_loss);
  return !done ? NAN : *validation ? point->eval_loss : point->loss;
}

static void
free_summary (gpointer data)
{
  LigSweepSummary *summary = data;
  g_strfreev (summary->values);
  g_free (summary);
}

/* Adds a result to the sums: `mean` is a sum until all points are added. */
static void
add_point (LigSweepSummary *to, const LigSweepPoint *point)
{
  gboolean validation;
  double score = lig_sweep_get_score (point, &validation);
  to->points++;
  if (!isfinite (score))
    return;
  if (to->count == 0 || score < to->min)
    to->best = point->number;
  to->min = to->count == 0 ? score : MIN (to->min, score);
  to->greatest = to->count == 0 ? score : MAX (to->greatest, score);
  to->validation = validation;
  to->mean = (to->count == 0 ? 0 : to->mean) + score;
  to->accuracy = (to->count == 0 ? 0 : to->accuracy) + point->eval_accuracy;
  to->step_ms = (to->count == 0 ? 0 : to->step_ms) + point->step_ms;
  to->count++;
}

static LigSweepSummary *
summarize (LigSweep *self, guint first, gboolean *seen)
{
  guint count;
  const LigSweepPoint *points = lig_sweep_get_points (self, &count);
  LigSweepSummary *to = g_new0 (LigSweepSummary, 1);
  to->best = first;
  to->mean = to->std = to->min = to->greatest = to->accuracy = to->step_ms = NAN;
  for (guint i = first; i < count; i++)
    if (!seen[i] && lig_sweep_is_alike (self, &points[first], &points[i])) {
      seen[i] = TRUE;
      add_point (to, &points[i]);
    }
  to->mean /= to->count;
  to->accuracy /= to->count;
  to->step_ms /= to->count;
  double squares = 0;
  for (guint i = first; i < count && to->count > 1; i++) {
    gboolean validation;
    double score = lig_sweep_get_score (&points[i], &validation);
    if (isfinite (score) && lig_sweep_is_alike (self, &points[first], &points[i]))
      squares += (score - to->mean) * (score - to->mean);
  }
  if (to->count > 1)
    to->std = sqrt (squares / (to->count - 1));
  to->values = g_strdupv (points[to->best].values);
  return to;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  const LigSweepSummary *x = *(LigSweepSummary *const *) a, *y = *(LigSweepSummary *const *) b;
  if (isfinite (x->mean) != isfinite (y->mean))
    return isfinite (x->mean) ? -1 : 1;
  /* A training loss says less about settings than any validation loss. */
  if (isfinite (x->mean) && x->validation != y->validation)
    return x->validation ? -1 : 1;
  if (isfinite (x->mean) && x->mean != y->mean)
    return x->mean < y->mean ? -1 : 1;
  return (x->best > y->best) - (x->best < y->best);
}

GPtrArray *
lig_sweep_summarize (LigSweep *self)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self), NULL);
  guint count;
  lig_sweep_get_points (self, &count);
  GPtrArray *all = g_ptr_array_new_with_free_func (free_summary);
  g_autofree gboolean *seen = g_new0 (gboolean, count + 1);
  for (guint i = 0; i < count; i++)
    if (!seen[i])
      g_ptr_array_add (all, summarize (self, i, seen));
  g_ptr_array_sort (all, compare);
  return all;
}

guint *
lig_sweep_rank (LigSweep *self)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self), NULL);
  guint count;
  lig_sweep_get_points (self, &count);
  g_autoptr (GPtrArray) summaries = lig_sweep_summarize (self);
  g_autoptr (GHashTable) places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < summaries->len; i++) {
    const LigSweepSummary *summary = summaries->pdata[i];
    g_hash_table_insert (places, lig_sweep_describe_settings (self, summary->best),
                         GUINT_TO_POINTER (i));
  }
  guint *ranks = g_new0 (guint, count + 1);
  for (guint i = 0; i < count; i++) {
    g_autofree char *settings = lig_sweep_describe_settings (self, i);
    ranks[i] = GPOINTER_TO_UINT (g_hash_table_lookup (places, settings));
  }
  return ranks;
}

int
lig_sweep_find_best (LigSweep *self)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self), -1);
  g_autoptr (GPtrArray) summaries = lig_sweep_summarize (self);
  const LigSweepSummary *first = summaries->len > 0 ? summaries->pdata[0] : NULL;
  return first && first->count > 0 ? (int) first->best : -1;
}

/* --- JSON ---------------------------------------------------------------------------------- */

/* Adds a value as a number if it is one. */
static void
add_value (JsonBuilder *to, const char *name, const char *text)
{
  char *end;
  double number = g_ascii_strtod (text, &end);
  gint64 whole = g_ascii_strtoll (text, NULL, 10);
  if (name)
    json_builder_set_member_name (to, name);
  if (!*text || *end || !isfinite (number))
    json_builder_add_string_value (to, text);
  else if (number == (double) whole)
    json_builder_add_int_value (to, whole);
  else
    json_builder_add_double_value (to, number);
}

static void
add_axes (JsonBuilder *to, const LigSweepAxis *axes, guint count)
{
  lig_json_begin_array (to, "axes");
  for (guint i = 0; i < count; i++) {
    json_builder_begin_object (to);
    lig_json_add_text (to, "key", axes[i].key);
    lig_json_begin_array (to, "values");
    for (char **value = axes[i].values; *value; value++)
      add_value (to, NULL, *value);
    json_builder_end_array (to);
    lig_json_add_text (to, "with", axes[i].with != i ? axes[axes[i].with].key : NULL);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_settings (JsonBuilder *to,
              const char *name,
              const LigSweepAxis *axes,
              guint count,
              GStrv values,
              gboolean seed)
{
  lig_json_begin_object (to, name);
  for (guint i = 0; i < count; i++)
    if (seed || !g_str_equal (axes[i].key, "seed"))
      add_value (to, axes[i].key, values[i]);
  json_builder_end_object (to);
}

static void
add_points (JsonBuilder *to, LigSweep *self, const LigSweepAxis *axes, guint n_axes)
{
  guint count;
  const LigSweepPoint *points = lig_sweep_get_points (self, &count);
  lig_json_begin_array (to, "runs");
  for (guint i = 0; i < count; i++) {
    const LigSweepPoint *point = &points[i];
    json_builder_begin_object (to);
    lig_json_add_integer (to, "number", point->number);
    add_settings (to, "settings", axes, n_axes, point->values, TRUE);
    lig_json_add_text (to, "run", point->run);
    lig_json_add_text (to, "status", point->status);
    lig_json_add_text (to, "message", point->message);
    lig_json_add_integer (to, "steps", point->done);
    lig_json_begin_object (to, "loss");
    lig_json_add_number (to, "first", point->first_loss);
    lig_json_add_number (to, "last", point->loss);
    json_builder_end_object (to);
    lig_json_begin_object (to, "eval");
    lig_json_add_number (to, "loss", point->eval_loss);
    lig_json_add_number (to, "accuracy", point->eval_accuracy);
    json_builder_end_object (to);
    lig_json_add_number (to, "step_ms", point->step_ms);
    lig_json_add_number (to, "seconds", point->seconds);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_summaries (JsonBuilder *to, LigSweep *self, const LigSweepAxis *axes, guint n_axes)
{
  g_autoptr (GPtrArray) summaries = lig_sweep_summarize (self);
  guint count;
  const LigSweepPoint *points = lig_sweep_get_points (self, &count);
  lig_json_begin_array (to, "groups");
  for (guint i = 0; i < summaries->len; i++) {
    const LigSweepSummary *summary = summaries->pdata[i];
    json_builder_begin_object (to);
    add_settings (to, "settings", axes, n_axes, summary->values, FALSE);
    lig_json_add_integer (to, "runs", summary->points);
    lig_json_add_integer (to, "results", summary->count);
    lig_json_add_truth (to, "validation", summary->validation);
    lig_json_add_number (to, "mean", summary->mean);
    lig_json_add_number (to, "std", summary->std);
    lig_json_add_number (to, "min", summary->min);
    lig_json_add_number (to, "max", summary->greatest);
    lig_json_add_number (to, "accuracy", summary->accuracy);
    lig_json_add_text (to, "best_run", summary->count > 0 ? points[summary->best].run : NULL);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_best (JsonBuilder *to, LigSweep *self, const LigSweepAxis *axes, guint n_axes)
{
  guint count;
  int best = lig_sweep_find_best (self);
  const LigSweepPoint *points = lig_sweep_get_points (self, &count);
  if (best >= 0)
    add_settings (to, "best", axes, n_axes, points[best].values, FALSE);
  else
    lig_json_add_text (to, "best", NULL);
}

JsonNode *
lig_sweep_to_json (LigSweep *self)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self), NULL);
  guint n_axes, count;
  const LigSweepAxis *axes = lig_sweep_get_axes (self, &n_axes);
  lig_sweep_get_points (self, &count);
  g_autofree char *settings = lig_run_settings_to_json (lig_sweep_get_settings (self));
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "sweep", lig_sweep_get_uuid (self));
  lig_json_add_text (builder, "name", lig_sweep_get_name (self));
  lig_json_add_text (builder, "device", lig_sweep_get_device (self));
  lig_json_add_integer (builder, "ranks", lig_sweep_get_ranks (self));
  lig_json_add_text (builder, "parallel", lig_sweep_get_parallel (self));
  lig_json_add_text (builder, "status",
                     lig_sweep_count_ended (self) == count ? "done" : "incomplete");
  add_axes (builder, axes, n_axes);
  lig_json_add_document (builder, "settings", settings);
  add_points (builder, self, axes, n_axes);
  add_summaries (builder, self, axes, n_axes);
  add_best (builder, self, axes, n_axes);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}
