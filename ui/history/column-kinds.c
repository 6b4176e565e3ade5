/* SPDX-License-Identifier: MIT */
/* The kinds of columns and their texts. */
#include "ui/history/column-kinds.h"

#include "ui/history/format.h"
#include "ui/session/setting-name.h"
#include "ui/widgets/figures.h"
#include <ligature/json.h>

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <string.h>

#define FORMAT(function, value) \
  static char *function (const LigRunRow *row) \
  { \
    return value; \
  }

static char *
get_types (const LigRunRow *row)
{
  return g_strdup_printf ("%s · %s", row->dtype, row->policy);
}

FORMAT (get_name, lig_figure_excerpt (row->name))
FORMAT (get_status, g_strdup (lig_history_status_word (row->status)))
FORMAT (get_status_tip, *row->message ? lig_figure_excerpt (row->message) : NULL)
FORMAT (get_kind, g_strdup (lig_history_kind_word (row->kind)))
FORMAT (get_device, lig_history_device (row))
FORMAT (get_started, lig_figure_ago (row->started))
FORMAT (get_started_tip, lig_history_moment (row->started))
FORMAT (get_duration, lig_history_run_duration (row))
FORMAT (get_steps, lig_history_count (row->last_step))
FORMAT (get_loss, lig_history_number (row->last_loss))
FORMAT (get_eval_loss, lig_history_number (row->eval_loss))
FORMAT (get_accuracy, lig_history_number (row->eval_accuracy))
FORMAT (get_step_ms, lig_history_number (row->step_ms))
FORMAT (get_recipe, g_strdup (strcmp (row->recipe, "none") == 0 ? "–" : row->recipe))
FORMAT (get_tags, g_strjoinv (", ", row->tags))
FORMAT (get_notes, g_strdelimit (lig_figure_excerpt (row->notes), "\n", ' '))
FORMAT (get_notes_tip, lig_figure_excerpt (row->notes))
FORMAT (get_uuid, g_strndup (row->uuid, 8))
FORMAT (get_uuid_tip, g_strdup (row->uuid))

#define MEAN(field) G_STRUCT_OFFSET (LigRunFold, field)

static const LigHistoryColumn facts[] = {
  {"name", N_ ("Name"), LIG_RUN_BY_NAME, FALSE, 220, get_name, NULL, NULL, 0},
  {"status", N_ ("Status"), LIG_RUN_BY_STATUS, FALSE, 118, get_status, get_status_tip, NULL, 0},
  {"kind", N_ ("Kind"), LIG_RUN_BY_KIND, FALSE, 90, get_kind, NULL, NULL, 0},
  {"device", N_ ("Device"), LIG_RUN_BY_DEVICE, FALSE, 140, get_device, NULL, NULL, 0},
  {"types", N_ ("Types and policy"), LIG_RUN_BY_DTYPE, FALSE, 160, get_types, NULL, NULL, 0},
  {"recipe", N_ ("Recipe"), LIG_RUN_N_ORDERS, FALSE, 130, get_recipe, NULL, NULL, 0},
  {"started", N_ ("Started"), LIG_RUN_BY_START, FALSE, 118, get_started, get_started_tip, NULL, 0},
  {"duration", N_ ("Duration"), LIG_RUN_BY_DURATION, TRUE, 100, get_duration, NULL, NULL, 0},
  {"steps", N_ ("Last step"), LIG_RUN_BY_STEPS, TRUE, 92, get_steps, NULL, NULL, 0},
  {"loss", N_ ("Loss"), LIG_RUN_BY_LOSS, TRUE, 128, get_loss, NULL, NULL, MEAN (last_loss)},
  {"eval-loss", N_ ("Validation loss"), LIG_RUN_BY_EVAL_LOSS, TRUE, 128, get_eval_loss, NULL, NULL,
   MEAN (eval_loss)},
  {"accuracy", N_ ("Accuracy"), LIG_RUN_BY_ACCURACY, TRUE, 128, get_accuracy, NULL, NULL,
   MEAN (eval_accuracy)},
  {"step-ms", N_ ("Step, ms"), LIG_RUN_BY_STEP_TIME, TRUE, 128, get_step_ms, NULL, NULL,
   MEAN (step_ms)},
  {"tags", N_ ("Tags"), LIG_RUN_N_ORDERS, FALSE, 130, get_tags, NULL, NULL, 0},
  {"notes", N_ ("Notes"), LIG_RUN_BY_NOTES, FALSE, 180, get_notes, get_notes_tip, NULL, 0},
  {"uuid", N_ ("Run"), LIG_RUN_N_ORDERS, FALSE, 90, get_uuid, get_uuid_tip, NULL, 0},
};

static const LigHistoryColumn star = {
  "star", N_ ("Starred"), LIG_RUN_BY_STAR, FALSE, 44, NULL, NULL, NULL, 0};

/* --- Settings ------------------------------------------------------------------------------ */

/* Returns (element-type LigHistoryColumn) a column for each training setting. */
static GArray *
get_settings (void)
{
  static GArray *columns = NULL; /* lives as long as the program */
  const LigSetting *setting;
  if (columns)
    return columns;
  columns = g_array_new (FALSE, FALSE, sizeof (LigHistoryColumn));
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++) {
    const LigHistoryColumn column = {.name = g_strconcat ("setting-", setting->name, NULL),
                                     .title = lig_setting_get_title (setting),
                                     .order = LIG_RUN_BY_SETTING,
                                     .numeric = setting->kind != LIG_SETTING_TEXT,
                                     .width = setting->kind != LIG_SETTING_TEXT ? 110 : 150,
                                     .setting = setting};
    /* A name and the policy have columns of their own. */
    if (strcmp (setting->name, "name") != 0 && strcmp (setting->name, "policy") != 0)
      g_array_append_val (columns, column);
  }
  return columns;
}

/* Returns the text of one of the run's settings; a dash if the run does not have it. */
static char *
get_setting (const LigRunRow *row, const char *name)
{
  g_autoptr (JsonNode) root = *row->settings ? lig_json_from_text (row->settings, NULL) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  JsonNode *value = object ? json_object_get_member (object, name) : NULL;
  if (!value || !JSON_NODE_HOLDS_VALUE (value))
    return g_strdup ("–");
  if (json_node_get_value_type (value) == G_TYPE_STRING)
    return lig_figure_excerpt (json_node_get_string (value));
  if (json_node_get_value_type (value) == G_TYPE_INT64)
    return lig_history_count (json_node_get_int (value));
  return lig_history_number (json_node_get_double (value));
}

/* --- The list ------------------------------------------------------------------------------ */

const LigHistoryColumn *
lig_history_column_nth (guint n)
{
  GArray *settings = get_settings ();
  if (n < G_N_ELEMENTS (facts))
    return &facts[n];
  n -= G_N_ELEMENTS (facts);
  return n < settings->len ? &g_array_index (settings, LigHistoryColumn, n) : NULL;
}

const LigHistoryColumn *
lig_history_column_find (const char *name)
{
  const LigHistoryColumn *column;
  for (guint i = 0; (column = lig_history_column_nth (i)); i++)
    if (strcmp (column->name, name) == 0)
      return column;
  return NULL;
}

const LigHistoryColumn *
lig_history_column_star (void)
{
  return &star;
}

const char *
lig_history_column_title (const LigHistoryColumn *self)
{
  return self->setting ? self->title : _ (self->title);
}

char *
lig_history_column_text (const LigHistoryColumn *self, const LigRunRow *row)
{
  return self->setting ? get_setting (row, self->setting->name) : self->text (row);
}

/* --- Folds --------------------------------------------------------------------------------- */

const char *
lig_history_fold_status (const LigRunFold *fold)
{
  return fold->running > 0 ? "running" : fold->done == fold->runs ? "done" : "interrupted";
}

/* The number comes first, because a long name is cut. */
static char *
get_fold_name (const LigRunFold *fold, const LigRunRow *sample)
{
  g_autofree char *name = lig_figure_excerpt (*sample->name ? sample->name : _ ("Untitled"));
  g_autofree char *count = lig_history_count (fold->runs);
  return fold->sweep
           ? g_strdup_printf (ngettext ("Sweep, %s run · %s", "Sweep, %s runs · %s", fold->runs),
                              count, name)
           : g_strdup_printf (ngettext ("%s run · %s", "%s runs · %s", fold->runs), count, name);
}

static char *
get_fold_status (const LigRunFold *fold)
{
  g_autofree char *done = lig_history_count (fold->done);
  g_autofree char *runs = lig_history_count (fold->runs);
  if (fold->done == fold->runs)
    return g_strdup (lig_history_status_word ("done"));
  return g_strdup_printf (_ ("%s of %s done"), done, runs);
}

/* Repetitions share their settings; the runs of a sweep share at least their device. */
static gboolean
is_shared (const LigHistoryColumn *self, const LigRunFold *fold)
{
  static const char *const always[] = {"kind", "device", NULL};
  static const char *const repeated[] = {"types", "recipe", "steps", NULL};
  if (self->setting)
    return !fold->sweep && strcmp (self->setting->name, "seed") != 0;
  return g_strv_contains (always, self->name) ||
         (!fold->sweep && g_strv_contains (repeated, self->name));
}

char *
lig_history_column_fold_text (const LigHistoryColumn *self,
                              const LigRunFold *fold,
                              const LigRunRow *sample)
{
  if (self->mean > 0)
    return lig_history_mean (&G_STRUCT_MEMBER (LigRunMean, fold, self->mean));
  if (strcmp (self->name, "name") == 0)
    return get_fold_name (fold, sample);
  if (strcmp (self->name, "status") == 0)
    return get_fold_status (fold);
  if (strcmp (self->name, "started") == 0)
    return lig_figure_ago (fold->started);
  return is_shared (self, fold) ? lig_history_column_text (self, sample) : g_strdup ("");
}

char *
lig_history_column_fold_tip (const LigHistoryColumn *self, const LigRunFold *fold)
{
  if (strcmp (self->name, "started") == 0)
    return lig_history_moment (fold->started);
  if (self->mean == 0)
    return NULL;
  const LigRunMean *mean = &G_STRUCT_MEMBER (LigRunMean, fold, self->mean);
  g_autofree char *count = lig_history_count (mean->count);
  g_autofree char *settings = lig_history_count (fold->settings);
  if (mean->count == 0)
    return NULL;
  if (fold->settings == 1)
    return g_strdup_printf (ngettext ("The mean of %s finished run ± standard deviation",
                                      "The mean of %s finished runs ± standard deviation",
                                      mean->count),
                            count);
  return g_strdup_printf (
    ngettext (
      "The best of %s settings, by validation loss: the mean of %s run ± standard deviation",
      "The best of %s settings, by validation loss: the mean of %s runs ± standard deviation",
      mean->count),
    settings, count);
}
