/* SPDX-License-Identifier: MIT */
/* The columns of `lig runs list`, and the orders of --sort. */
#include "app/cli/runs-columns.h"

#include "app/cli/duration.h"
#include "app/cli/runs-table.h"

#include <ligature/op.h>
#include <ligature/run.h>
#include <ligature/store-groups.h>
#include <ligature/suggest.h>

#include <math.h>
#include <string.h>

static char *
format_run (const LigRunRow *row)
{
  return g_strndup (row->uuid, 8);
}

static char *
format_seed (const LigRunRow *row)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT, row->seed);
}

static char *
format_started (const LigRunRow *row)
{
  return lig_runs_format_minute (row->started);
}

static char *
format_ended (const LigRunRow *row)
{
  return row->ended ? lig_runs_format_minute (row->ended) : g_strdup ("-");
}

static char *
format_duration (const LigRunRow *row)
{
  gint64 end = row->ended ? row->ended : g_get_real_time ();
  return lig_cli_format_time ((double) MAX (end - row->started, 0) / G_USEC_PER_SEC);
}

static char *
format_count (gint64 count)
{
  return count < 0 ? g_strdup ("-") : g_strdup_printf ("%" G_GINT64_FORMAT, count);
}

static char *
format_step (const LigRunRow *row)
{
  return format_count (row->last_step);
}

static char *
format_saved_step (const LigRunRow *row)
{
  return format_count (row->saved_step);
}

static char *
format_step_time (const LigRunRow *row)
{
  return isnan (row->step_ms) ? g_strdup ("-") : lig_cli_format_time (row->step_ms * 1e-3);
}

static char *
format_star (const LigRunRow *row)
{
  return g_strdup (row->starred ? "*" : "");
}

static char *
format_tags (const LigRunRow *row)
{
  g_autofree char *tags = g_strjoinv (" ", row->tags);
  return g_strconcat (row->starred ? "* " : "", tags, NULL);
}

static char *
format_sweep (const LigRunRow *row)
{
  return row->point < 0 ? g_strdup ("")
                        : g_strdup_printf ("%.8s %d", row->sweep, (int) row->point + 1);
}

#define TEXT(field) \
  static char *format_##field (const LigRunRow *row) \
  { \
    return g_strdup (*row->field ? row->field : "-"); \
  }
TEXT (name)
TEXT (kind)
TEXT (status)
TEXT (device)
TEXT (dtype)
TEXT (recipe)
TEXT (policy)
TEXT (host)
TEXT (notes)

#define NUMBER(field) \
  static char *format_##field (const LigRunRow *row) \
  { \
    return lig_runs_format_number (row->field); \
  }
NUMBER (last_loss)
NUMBER (first_loss)
NUMBER (eval_loss)
NUMBER (eval_accuracy)

/* The headers are the keys, so that users can name a column as it is shown. */
static const LigRunsColumn columns[] = {
  {"run", "run", "the beginning of the uuid", 100, FALSE, LIG_RUN_BY_SETTING, format_run},
  {"name", "name", "the name", 95, TRUE, LIG_RUN_BY_NAME, format_name},
  {"kind", "kind", "train or profile", 40, FALSE, LIG_RUN_BY_KIND, format_kind},
  {"status", "status", "running, done, failed, cancelled or interrupted", 60, FALSE,
   LIG_RUN_BY_STATUS, format_status},
  {"device", "device", "the device", 30, FALSE, LIG_RUN_BY_DEVICE, format_device},
  {"started", "started", "the start in local time", 70, FALSE, LIG_RUN_BY_START, format_started},
  {"step", ">step", "the last step", 50, FALSE, LIG_RUN_BY_STEPS, format_step},
  {"loss", ">loss", "the last training loss", 80, FALSE, LIG_RUN_BY_LOSS, format_last_loss},
  {"eval-loss", ">eval-loss", "the validation loss of the last evaluation", 90, FALSE,
   LIG_RUN_BY_EVAL_LOSS, format_eval_loss},
  {"tags", "tags", "the tags, after * if starred", 20, TRUE, LIG_RUN_BY_SETTING, format_tags},
  {"sweep", "sweep", "the sweep and the index of the point in it", 10, FALSE, LIG_RUN_BY_SETTING,
   format_sweep},
  {LIG_RUN_BEST_EVAL_LOSS, ">" LIG_RUN_BEST_EVAL_LOSS, "the lowest validation loss", 0, FALSE,
   LIG_RUN_BY_SETTING, NULL},
  {"accuracy", ">accuracy", "the validation accuracy of the last evaluation", 0, FALSE,
   LIG_RUN_BY_ACCURACY, format_eval_accuracy},
  {"first-loss", ">first-loss", "the first training loss", 0, FALSE, LIG_RUN_BY_SETTING,
   format_first_loss},
  {"step-time", ">step-time", "the median time of a step", 0, FALSE, LIG_RUN_BY_STEP_TIME,
   format_step_time},
  {"duration", ">duration", "the time from start to end", 0, FALSE, LIG_RUN_BY_DURATION,
   format_duration},
  {"ended", "ended", "the end in local time", 0, FALSE, LIG_RUN_BY_SETTING, format_ended},
  {"saved-step", ">saved-step", "the step of the newest checkpoint", 0, FALSE, LIG_RUN_BY_SETTING,
   format_saved_step},
  {"dtype", "dtype", "compute type and parameter type", 0, FALSE, LIG_RUN_BY_DTYPE, format_dtype},
  {"recipe", "recipe", "the quantization", 0, FALSE, LIG_RUN_BY_SETTING, format_recipe},
  {"policy", "policy", "how fusions were chosen", 0, FALSE, LIG_RUN_BY_POLICY, format_policy},
  {"seed", ">seed", "the seed", 0, FALSE, LIG_RUN_BY_SETTING, format_seed},
  {"star", "star", "* for a star", 0, FALSE, LIG_RUN_BY_STAR, format_star},
  {"host", "host", "the machine", 0, TRUE, LIG_RUN_BY_SETTING, format_host},
  {"ranks", ">ranks", "the number of processes, if there were several", 0, FALSE,
   LIG_RUN_BY_SETTING, NULL},
  {"parallel", "parallel", "the parallelism, unless data-parallel", 0, FALSE, LIG_RUN_BY_SETTING,
   NULL},
  {"parent", "parent", "the run that it continues", 0, TRUE, LIG_RUN_BY_SETTING, NULL},
  {"revision", "revision", "the git revision", 0, TRUE, LIG_RUN_BY_SETTING, NULL},
  {"notes", "notes", "the notes", 0, TRUE, LIG_RUN_BY_NOTES, format_notes},
};

const LigRunsColumn *
lig_runs_column_nth (guint n)
{
  return n < G_N_ELEMENTS (columns) ? &columns[n] : NULL;
}

/* Returns the key that a common alias means. */
static const char *
resolve_alias (const char *key)
{
  static const char *const words[][2] = {
    {"uuid", "run"},           {"id", "run"},
    {"date", "started"},       {"start", "started"},
    {"eval", "eval-loss"},     {"steps-done", "step"},
    {"starred", "star"},       {"eval-accuracy", "accuracy"},
    {"batch-size", "batch"},   {"learning-rate", "lr"},
    {"note", "notes"},         {"tag", "tags"},
    {"held-out", "eval-loss"}, {"validation", "eval-loss"},
    {"step-ms", "step-time"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (words[i][0], key) == 0)
      return words[i][1];
  return key;
}

const LigRunsColumn *
lig_runs_find_column (const char *key)
{
  const char *name = resolve_alias (key);
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    if (strcmp (columns[i].key, name) == 0)
      return &columns[i];
  return NULL;
}

static GStrv
list_settings (LigStore *store, GError **error)
{
  g_auto (GStrv) stored = lig_store_list_settings (store, error);
  if (!stored)
    return NULL;
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  for (guint i = 0; lig_run_setting_nth (i); i++)
    g_strv_builder_add (names, lig_run_setting_nth (i)->name);
  g_strv_builder_addv (names, (const char **) stored);
  return g_strv_builder_end (names);
}

/* Returns whether the key is `PATH.PARAMETER`, where some op has that parameter. */
static gboolean
is_parameter (const char *key)
{
  const LigOpInfo *info;
  const char *param = strrchr (key, '.');
  if (!lig_store_is_parameter (key))
    return FALSE;
  for (guint n = 0; (info = lig_op_info_nth (n)); n++)
    for (const LigParam *at = info->params; at && at->name; at++)
      if (strcmp (at->name, param + 1) == 0)
        return TRUE;
  return FALSE;
}

char *
lig_runs_find_setting (LigStore *store, const char *option, const char *key, GError **error)
{
  const char *name = resolve_alias (key);
  for (guint i = 0; lig_run_setting_nth (i); i++)
    if (strcmp (lig_run_setting_nth (i)->name, name) == 0)
      return g_strdup (name);
  g_auto (GStrv) settings = list_settings (store, error);
  if (!settings)
    return NULL;
  if (g_strv_contains ((const char *const *) settings, name) || is_parameter (name))
    return g_strdup (name);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    g_strv_builder_add (builder, columns[i].key);
  g_auto (GStrv) keys = g_strv_builder_end (builder);
  g_strv_builder_addv (builder, (const char **) keys);
  g_strv_builder_addv (builder, (const char **) settings);
  g_auto (GStrv) all = g_strv_builder_end (builder);
  g_autofree char *suggestion = lig_suggest_ending (key, (const char *const *) all);
  g_autofree char *choices = g_strjoinv (", ", keys);
  g_set_error (
    error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s: '%s' is not a column%s%s", option, key,
    *suggestion ? suggestion
                : "; give a setting such as lr, a parameter such as 0.out-features, or one of ",
    *suggestion ? "" : choices);
  return NULL;
}

gboolean
lig_runs_find_order (LigStore *store,
                     const char *sort,
                     LigRunOrder *order,
                     const char **order_by,
                     gboolean *descending,
                     GError **error)
{
  const char *key = sort + (*sort == '-');
  const LigRunsColumn *column = lig_runs_find_column (key);
  g_autofree char *setting =
    column ? g_strdup (column->key) : lig_runs_find_setting (store, "--sort", key, error);
  if (!setting)
    return FALSE;
  *descending = *sort == '-';
  *order = column ? column->order : LIG_RUN_BY_SETTING;
  *order_by = *order == LIG_RUN_BY_SETTING ? g_intern_string (setting) : NULL;
  return TRUE;
}
