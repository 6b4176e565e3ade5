/* SPDX-License-Identifier: MIT */
/* The command line that reproduces a run, with the sequence and all settings on standard input. */
#include "engine/base/json-private.h"
#include "engine/report/paper.h"
#include <ligature/run.h>
#include <ligature/shell.h>

#include <string.h>

/* Writes the run's settings into the sequence, except for the checkpoint, which the new run would
 * overwrite. */
static gboolean
take_settings (LigSequence *sequence, const LigRunRow *row)
{
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  if (!lig_run_settings_read_record (&settings, row->settings, NULL))
    return FALSE;
  g_clear_pointer (&settings.checkpoint, g_free);
  if (!settings.policy && *row->policy)
    settings.policy = g_strdup (row->policy);
  if (!settings.dtype && *row->dtype)
    settings.dtype = g_strdup (row->dtype);
  g_autofree char *train = lig_run_settings_to_json (&settings);
  lig_sequence_set_train (sequence, train);
  return TRUE;
}

/* Returns whether a profile enabled TF32 or another setting. Profiles do not use LigRunSettings. */
static gboolean
had (const LigRunRow *row, const char *setting)
{
  g_autoptr (JsonNode) root = lig_json_read (row->settings, strlen (row->settings), NULL, NULL);
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  return object && json_object_get_boolean_member_with_default (object, setting, FALSE);
}

/* Appends an option of a profile, unless the setting has the default. */
static void
append_option (
  GString *text, const LigRunRow *row, const char *name, const char *setting, const char *initial)
{
  g_autoptr (JsonNode) root = lig_json_read (row->settings, strlen (row->settings), NULL, NULL);
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const char *value = object ? lig_json_get_string (object, setting, initial) : initial;
  if (!g_str_equal (value, initial))
    lig_shell_append_option (text, name, value);
}

/* Appends the ranks of a run. */
static void
append_ranks (GString *text, const char *inputs)
{
  g_autoptr (JsonNode) root = inputs ? lig_json_read (inputs, strlen (inputs), NULL, NULL) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  gint64 ranks = object ? lig_json_get_int (object, "ranks", 1) : 1;
  const char *parallel = object ? lig_json_get_string (object, "parallel", NULL) : NULL;
  if (ranks > 1)
    g_string_append_printf (text, " --ranks %" G_GINT64_FORMAT, ranks);
  if (ranks > 1 && parallel)
    lig_shell_append_option (text, "parallel", parallel);
}

char *
lig_report_run_command (const LigReportRun *run)
{
  const LigRunRow *row = run->row;
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (row->sequence, -1, NULL, NULL);
  gboolean train = g_str_equal (row->kind, "train");
  if (!sequence || !*row->device || (train && !take_settings (sequence, row)))
    return NULL;
  g_autofree char *json = lig_sequence_to_json (sequence);
  GString *text = g_string_new (train ? "lig train -" : "lig profile -");
  lig_shell_append_option (text, "device", row->device);
  append_ranks (text, run->inputs);
  if (!train) {
    lig_shell_append_option (text, "dtype", row->dtype);
    lig_shell_append_option (text, "policy", row->policy);
    append_option (text, row, "recompute", "recompute", "none");
    append_option (text, row, "load", "expert_load", "even");
  }
  if (!train && had (row, "tf32"))
    g_string_append (text, " --tf32");
  if (!train && had (row, "nondeterministic"))
    g_string_append (text, " --nondeterministic");
  g_string_append_printf (text, " << 'END'\n%sEND\n", json);
  return g_string_free (text, FALSE);
}
