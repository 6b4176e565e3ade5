/* SPDX-License-Identifier: MIT */
/* Times, numbers and states as the history shows them. */
#include "ui/history/format.h"

#include "ui/session/command.h"
#include "ui/widgets/figures.h"
#include <ligature/json.h>
#include <ligature/run.h>

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

static const struct {
  const char *status, *word, *icon;
} statuses[] = {
  {"running", N_ ("Running"), "media-playback-start-symbolic"},
  {"done", N_ ("Done"), "object-select-symbolic"},
  {"failed", N_ ("Failed"), "dialog-error-symbolic"},
  {"cancelled", N_ ("Cancelled"), "process-stop-symbolic"},
  {"interrupted", N_ ("Interrupted"), "media-playback-pause-symbolic"},
};

char *
lig_history_moment (gint64 when)
{
  g_autoptr (GDateTime) moment = g_date_time_new_from_unix_local (when / G_USEC_PER_SEC);
  char *text = moment ? g_date_time_format (moment, "%Y-%m-%d %H:%M:%S") : NULL;
  return text ? text : g_strdup ("–");
}

char *
lig_history_duration (gint64 microseconds)
{
  gint64 seconds = microseconds / G_USEC_PER_SEC;
  if (microseconds < 0)
    return g_strdup ("–");
  if (seconds < 1)
    return g_strdup_printf (_ ("%d ms"), (int) (microseconds / 1000));
  if (seconds < 60)
    return g_strdup_printf (_ ("%.1f s"), (double) microseconds / G_USEC_PER_SEC);
  if (seconds < 3600)
    return g_strdup_printf (_ ("%d min %d s"), (int) (seconds / 60), (int) (seconds % 60));
  return g_strdup_printf (_ ("%d h %d min"), (int) (seconds / 3600), (int) (seconds / 60 % 60));
}

char *
lig_history_run_duration (const LigRunRow *row)
{
  return lig_history_duration ((row->ended ? row->ended : g_get_real_time ()) - row->started);
}

char *
lig_history_device (const LigRunRow *row)
{
  g_autoptr (JsonNode) root = *row->versions ? lig_json_from_text (row->versions, NULL) : NULL;
  const char *title = root && JSON_NODE_HOLDS_OBJECT (root)
                        ? lig_json_get_string (json_node_get_object (root), "device", "")
                        : "";
  g_autofree char *excerpt = lig_figure_excerpt (title);
  return *excerpt ? g_strdup_printf ("%s (%s)", excerpt, row->device) : g_strdup (row->device);
}

char *
lig_history_number (double value)
{
  if (isnan (value))
    return g_strdup ("–");
  /* Four digits are legible at any size: 0.0007123 is 7.123e-04. */
  if (value != 0 && fabs (value) < 1e-3) {
    g_autofree char *text = g_strdup_printf ("%.3e", value);
    char *end = strchr (text, 'e'), *last = end;
    while (last && last > text && last[-1] == '0')
      last--;
    if (last && last > text && last[-1] == '.')
      last--;
    return last ? g_strdup_printf ("%.*s%s", (int) (last - text), text, end) : g_strdup (text);
  }
  return g_strdup_printf ("%.4g", value);
}

char *
lig_history_mean (const LigRunMean *mean)
{
  g_autofree char *middle = lig_history_number (mean->mean);
  if (mean->count < 2)
    return g_steal_pointer (&middle);
  /* Digits of the mean beyond those of its spread are meaningless. */
  g_autofree char *spread = g_strdup_printf (mean->std < 99.5 ? "%.2g" : "%.0f", mean->std);
  return g_strdup_printf ("%s ± %s", middle, spread);
}

char *
lig_history_count (gint64 value)
{
  if (value < 0)
    return g_strdup ("–");
  g_autofree char *digits = g_strdup_printf ("%" G_GINT64_FORMAT, value);
  GString *text = g_string_new (digits);
  /* Translators: the separator of thousands */
  for (gssize i = (gssize) text->len - 3; i > 0; i -= 3)
    g_string_insert (text, i, _ (","));
  return g_string_free (text, FALSE);
}

const char *
lig_history_status_word (const char *status)
{
  for (guint i = 0; i < G_N_ELEMENTS (statuses); i++)
    if (strcmp (status, statuses[i].status) == 0)
      return _ (statuses[i].word);
  return status;
}

const char *
lig_history_status_icon (const char *status)
{
  for (guint i = 0; i < G_N_ELEMENTS (statuses); i++)
    if (strcmp (status, statuses[i].status) == 0)
      return statuses[i].icon;
  return "dialog-question-symbolic";
}

const char *
lig_history_kind_word (const char *kind)
{
  if (strcmp (kind, "train") == 0)
    return _ ("Training");
  return strcmp (kind, "profile") == 0 ? _ ("Profile") : kind;
}

/* --- The command --------------------------------------------------------------------------- */

static void
append_settings (GString *to, const LigRunSettings *settings)
{
  const LigSetting *setting;
  g_auto (LigRunSettings) initial;
  lig_run_settings_init (&initial);
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++) {
    g_autofree char *value = lig_run_settings_get (settings, setting->name);
    g_autofree char *usual = lig_run_settings_get (&initial, setting->name);
    if (value && g_strcmp0 (value, usual) != 0)
      lig_shell_append_option (to, setting->name, value);
  }
}

/* The command must not overwrite the run's own checkpoint. */
static void
append_training (GString *to, const LigRunRow *row)
{
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  lig_run_settings_read_record (&settings, row->settings, NULL);
  g_clear_pointer (&settings.checkpoint, g_free);
  if (!settings.name && *row->name)
    settings.name = g_strdup (row->name);
  if (!settings.dtype && *row->dtype)
    settings.dtype = g_strdup (row->dtype);
  if (!settings.policy && *row->policy)
    settings.policy = g_strdup (row->policy);
  append_settings (to, &settings);
}

static void
append_plan (GString *to, const LigRunRow *row)
{
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  gboolean known = lig_run_settings_read_record (&settings, row->settings, NULL);
  if (known && settings.tf32)
    g_string_append (to, " --tf32");
  if (known && settings.nondeterministic)
    g_string_append (to, " --nondeterministic");
  if (known && settings.recompute)
    lig_shell_append_option (to, "recompute", settings.recompute);
  if (*row->dtype)
    lig_shell_append_option (to, "dtype", row->dtype);
  if (*row->policy)
    lig_shell_append_option (to, "policy", row->policy);
}

char *
lig_history_command (const LigRunRow *row, LigSession *session)
{
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (row->sequence, -1, NULL, NULL);
  gboolean train = strcmp (row->kind, "train") == 0;
  gboolean again = sequence && *row->device && (train || strcmp (row->kind, "profile") == 0);
  GString *text = g_string_new (!again ? "lig runs show" : train ? "lig train" : "lig profile");
  if (again) {
    lig_command_append_sequence (text, sequence);
    lig_shell_append_option (text, "device", row->device);
  } else
    lig_shell_append (text, row->uuid);
  if (again && train)
    append_training (text, row);
  else if (again)
    append_plan (text, row);
  lig_command_append_store (text, session);
  return g_string_free (text, FALSE);
}
