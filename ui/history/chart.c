/* SPDX-License-Identifier: MIT */
/* Curves of runs. A thread reads and downsamples them: each point has the minimum and the maximum
 * of its bucket. */
#include "ui/history/chart.h"

#include "ui/history/varying.h"
#include "ui/session/task.h"
#include "ui/widgets/chart-view.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"
#include <ligature/store-rows.h>
#include <ligature/store.h>

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

struct _LigHistoryChart {
  AdwBin parent_instance;
  GtkDropDown *metric, *axis;
  GtkLabel *note;
  AdwBin *place;
  GtkWidget *chart;
  LigStore *store;
  GPtrArray *runs; /* LigRunRow */
  char *wanted;    /* metric */
  guint serial, n_curves, n_points;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (LigHistoryChart, lig_history_chart, ADW_TYPE_BIN)

static guint loaded_signal;

/* --- On the thread ------------------------------------------------------------------------- */

typedef struct {
  GArray *x, *y; /* double */
} Curve;

typedef struct {
  LigStore *store;
  GPtrArray *runs;
  char *metric;
  gboolean time;
  guint serial;
  GPtrArray *metrics; /* the answer: names that any run has */
  GPtrArray *curves;  /* Curve or null, one for each run */
} Question;

static void
free_curve (gpointer data)
{
  Curve *curve = data;
  if (!curve)
    return;
  g_array_unref (curve->x);
  g_array_unref (curve->y);
  g_free (curve);
}

static void
free_question (gpointer data)
{
  Question *self = data;
  g_object_unref (self->store);
  g_ptr_array_unref (self->runs);
  g_clear_pointer (&self->metrics, g_ptr_array_unref);
  g_clear_pointer (&self->curves, g_ptr_array_unref);
  g_free (self->metric);
  g_free (self);
}

static gboolean
collect_metrics (Question *self, GError **error)
{
  self->metrics = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < self->runs->len; i++) {
    const LigRunRow *row = self->runs->pdata[i];
    g_auto (GStrv) names = lig_store_get_metric_names (self->store, row->uuid, error);
    if (!names)
      return FALSE;
    for (char **name = names; *name; name++)
      if (!g_ptr_array_find_with_equal_func (self->metrics, *name, g_str_equal, NULL))
        g_ptr_array_add (self->metrics, g_strdup (*name));
  }
  if (self->metrics->len &&
      !g_ptr_array_find_with_equal_func (self->metrics, self->metric, g_str_equal, NULL)) {
    g_free (self->metric);
    self->metric = g_strdup (self->metrics->pdata[0]);
  }
  return TRUE;
}

/* Returns the time of each step in seconds: the sum of the step times, or equal times if those were
 * not recorded. */
static GArray *
find_seconds (Question *self, const LigRunRow *row, GArray *steps, GError **error)
{
  g_autoptr (GArray) at = NULL, ms = NULL;
  if (!lig_store_get_metric (self->store, row->uuid, "step-ms", &at, &ms, error))
    return NULL;
  GArray *seconds = g_array_sized_new (FALSE, FALSE, sizeof (double), steps->len);
  double whole = (double) ((row->ended ? row->ended : g_get_real_time ()) - row->started) / 1e6;
  double sum = 0;
  guint next = 0;
  for (guint i = 0; i < steps->len; i++) {
    gint64 step = g_array_index (steps, gint64, i);
    for (; next < at->len && g_array_index (at, gint64, next) <= step; next++)
      if (isfinite (g_array_index (ms, double, next)))
        sum += g_array_index (ms, double, next) / 1e3;
    double second = at->len ? sum : whole * (double) step / (double) MAX (row->last_step, 1);
    g_array_append_val (seconds, second);
  }
  return seconds;
}

static void
append (Curve *curve, double x, double y)
{
  g_array_append_val (curve->x, x);
  g_array_append_val (curve->y, y);
}

/* Takes the minimum and the maximum of each bucket, in their order. */
static Curve *
thin (const double *x, const double *y, guint count)
{
  Curve *curve = g_new (Curve, 1);
  curve->x = g_array_new (FALSE, FALSE, sizeof (double));
  curve->y = g_array_new (FALSE, FALSE, sizeof (double));
  guint buckets = count > LIG_HISTORY_POINTS ? LIG_HISTORY_POINTS / 2 : 0;
  for (guint i = 0; !buckets && i < count; i++)
    append (curve, x[i], y[i]);
  for (guint b = 0; b < buckets; b++) {
    guint from = (guint) ((guint64) count * b / buckets);
    guint to = (guint) ((guint64) count * (b + 1) / buckets), min = from, max = from;
    for (guint i = from; i < to; i++) {
      if (y[i] < y[min] || isnan (y[min]))
        min = i;
      if (y[i] > y[max] || isnan (y[max]))
        max = i;
    }
    append (curve, x[MIN (min, max)], y[MIN (min, max)]);
    if (min != max)
      append (curve, x[MAX (min, max)], y[MAX (min, max)]);
  }
  return curve;
}

static gboolean
read_curve (Question *self, const LigRunRow *row, GError **error)
{
  g_autoptr (GArray) steps = NULL, values = NULL;
  if (!lig_store_get_metric (self->store, row->uuid, self->metric, &steps, &values, error))
    return FALSE;
  g_autoptr (GArray) x = NULL;
  if (self->time) {
    x = find_seconds (self, row, steps, error);
    if (!x)
      return FALSE;
  } else {
    x = g_array_sized_new (FALSE, FALSE, sizeof (double), steps->len);
    for (guint i = 0; i < steps->len; i++) {
      double step = (double) g_array_index (steps, gint64, i);
      g_array_append_val (x, step);
    }
  }
  g_ptr_array_add (self->curves, steps->len ? thin ((double *) (gpointer) x->data,
                                                    (double *) (gpointer) values->data, steps->len)
                                            : NULL);
  return TRUE;
}

static void
read_curves (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Question *self = data;
  GError *error = NULL;
  self->curves = g_ptr_array_new_with_free_func (free_curve);
  gboolean done = collect_metrics (self, &error);
  for (guint i = 0; done && i < self->runs->len; i++)
    done = read_curve (self, self->runs->pdata[i], &error);
  if (done)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/* --- The chart ----------------------------------------------------------------------------- */

static void
draw (LigHistoryChart *self, const Question *answer)
{
  LigChartView *chart = LIG_CHART_VIEW (self->chart);
  self->n_curves = self->n_points = 0;
  lig_chart_view_clear (chart);
  lig_chart_view_set_labels (chart, NULL, answer->time ? _ ("seconds") : _ ("step"),
                             answer->metric);
  g_auto (GStrv) labels = lig_history_label_runs (answer->runs);
  for (guint i = 0; i < answer->curves->len; i++) {
    const Curve *curve = answer->curves->pdata[i];
    if (!curve)
      continue;
    lig_chart_view_add_points (chart, answer->runs->len > 1 ? labels[i] : answer->metric,
                               (double *) (gpointer) curve->x->data,
                               (double *) (gpointer) curve->y->data, curve->x->len);
    self->n_curves++;
    self->n_points += curve->x->len;
  }
  lig_chart_view_refresh (chart);
}

static void
fill_metrics (LigHistoryChart *self, const Question *answer)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  guint chosen = 0;
  for (guint i = 0; i < answer->metrics->len; i++) {
    gtk_string_list_append (names, answer->metrics->pdata[i]);
    if (strcmp (answer->metrics->pdata[i], answer->metric) == 0)
      chosen = i;
  }
  self->updating = TRUE;
  gtk_drop_down_set_model (self->metric, G_LIST_MODEL (names));
  gtk_drop_down_set_selected (self->metric, chosen);
  self->updating = FALSE;
  gtk_widget_set_sensitive (GTK_WIDGET (self->metric), answer->metrics->len > 0);
}

static void
take_curves (GObject *source, GAsyncResult *result, gpointer unused)
{
  LigHistoryChart *self = LIG_HISTORY_CHART (source);
  Question *answer = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  gboolean done = g_task_propagate_boolean (G_TASK (result), &error);
  if (answer->serial != self->serial || !self->chart)
    return;
  if (done) {
    fill_metrics (self, answer);
    draw (self, answer);
  }
  guint missing = answer->runs->len - self->n_curves;
  g_autofree char *text =
    error ? g_strdup (error->message)
    : answer->runs->len > 1 && missing
      ? g_strdup_printf (
          ngettext ("%u run has no such values", "%u runs have no such values", missing), missing)
      : g_strdup ("");
  gtk_label_set_text (self->note, text);
  lig_tooltip_set (GTK_WIDGET (self->note), *text ? text : NULL);
  g_signal_emit (self, loaded_signal, 0);
}

static void
ask (LigHistoryChart *self)
{
  if (self->updating || !self->store || !self->runs)
    return;
  Question *question = g_new0 (Question, 1);
  question->store = g_object_ref (self->store);
  question->runs = g_ptr_array_ref (self->runs);
  question->metric = g_strdup (self->wanted);
  question->time = gtk_drop_down_get_selected (self->axis) == 1;
  question->serial = ++self->serial;
  g_autoptr (GTask) task = g_task_new (self, NULL, take_curves, NULL);
  g_task_set_task_data (task, question, free_question);
  lig_task_run (task, read_curves);
}

void
lig_history_chart_show (LigHistoryChart *self, LigStore *store, GPtrArray *runs)
{
  g_set_object (&self->store, store);
  g_ptr_array_ref (runs);
  g_clear_pointer (&self->runs, g_ptr_array_unref);
  self->runs = runs;
  ask (self);
}

guint
lig_history_chart_get_curves (LigHistoryChart *self, guint *points)
{
  if (points)
    *points = self->n_points;
  return self->n_curves;
}

void
lig_history_chart_set_metric (LigHistoryChart *self, const char *metric)
{
  char *copy = g_strdup (metric);
  g_free (self->wanted);
  self->wanted = copy;
  ask (self);
}

void
lig_history_chart_set_time (LigHistoryChart *self, gboolean time)
{
  gtk_drop_down_set_selected (self->axis, time ? 1 : 0);
}

static void
choose_metric (LigHistoryChart *self)
{
  GtkStringObject *chosen = gtk_drop_down_get_selected_item (self->metric);
  if (chosen && !self->updating)
    lig_history_chart_set_metric (self, gtk_string_object_get_string (chosen));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_history_chart_dispose (GObject *object)
{
  LigHistoryChart *self = LIG_HISTORY_CHART (object);
  self->chart = NULL;
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_HISTORY_CHART);
  g_clear_object (&self->store);
  g_clear_pointer (&self->runs, g_ptr_array_unref);
  G_OBJECT_CLASS (lig_history_chart_parent_class)->dispose (object);
}

static void
lig_history_chart_finalize (GObject *object)
{
  g_free (LIG_HISTORY_CHART (object)->wanted);
  G_OBJECT_CLASS (lig_history_chart_parent_class)->finalize (object);
}

static void
lig_history_chart_class_init (LigHistoryChartClass *class)
{
  GtkWidgetClass *widget = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_history_chart_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_history_chart_finalize;
  gtk_widget_class_set_template_from_resource (widget,
                                               "/org/ligature/Ligature/ui/history/chart.ui");
  gtk_widget_class_bind_template_child (widget, LigHistoryChart, metric);
  gtk_widget_class_bind_template_child (widget, LigHistoryChart, axis);
  gtk_widget_class_bind_template_child (widget, LigHistoryChart, note);
  gtk_widget_class_bind_template_child (widget, LigHistoryChart, place);
  loaded_signal = g_signal_new ("loaded", LIG_TYPE_HISTORY_CHART, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
}

static void
lig_history_chart_init (LigHistoryChart *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->wanted = g_strdup (LIG_METRIC_LOSS);
  self->chart = lig_chart_view_new ();
  lig_chart_view_set_empty (LIG_CHART_VIEW (self->chart), _ ("Nothing was recorded"));
  adw_bin_set_child (self->place, self->chart);
  g_signal_connect_object (self->metric, "notify::selected", G_CALLBACK (choose_metric), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->axis, "notify::selected", G_CALLBACK (ask), self,
                           G_CONNECT_SWAPPED);
}
