/* SPDX-License-Identifier: MIT */
/* The record of a run in the store: settings, versions, and the groups and verdicts of its plan. */
#include "engine/train/record.h"
#include "engine/base/json-private.h"
#include "engine/store/writing.h"
#include "engine/train/inputs.h"
#include "engine/train/run-private.h"
#include "engine/train/sample.h"

void
lig_plan_record (LigPlan *self, LigStore *store, const char *run)
{
  guint count;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (self, pass, &count);
    for (guint i = 0; i < count; i++)
      lig_store_add_fusion (store, run, lig_pass_name (pass), (int) i, groups[i].first,
                            groups[i].count, groups[i].fusion ? groups[i].fusion->name : NULL);
  }
  const LigVerdict *verdicts = lig_plan_get_verdicts (self, &count);
  for (guint i = 0; i < count; i++)
    lig_store_add_verdict (store, run, verdicts[i].fusion->name, lig_pass_name (verdicts[i].pass),
                           verdicts[i].first, verdicts[i].count, verdicts[i].taken,
                           lig_reason_name (verdicts[i].reason), verdicts[i].observed,
                           verdicts[i].required, verdicts[i].text);
}

/* Names an unnamed run after its sequence, else after its first ops. */
static char *
choose_name (LigRun *self)
{
  const char *name =
    self->settings.name ? self->settings.name : lig_sequence_get_name (self->sequence);
  if (name)
    return g_strdup (name);
  char *text = lig_sequence_to_expression (self->sequence);
  if (g_utf8_strlen (text, -1) > 60) {
    g_autofree char *start = g_utf8_substring (text, 0, 59);
    g_free (text);
    text = g_strconcat (start, "…", NULL);
  }
  return text;
}

static char *
list_versions (LigDevice *device)
{
  LigDeviceHealth health = {0};
  const LigDeviceFacts *facts = lig_device_get_facts (device);
  GString *text = g_string_new ("{\"ligature\": ");
  lig_json_append_string (text, LIG_VERSION);
  g_string_append (text, ", \"device\": ");
  lig_json_append_string (text, facts->name);
  g_string_append (text, ", \"libraries\": ");
  lig_json_append_string (text, facts->libraries);
  if (lig_device_get_health (device, &health) && *health.driver) {
    g_string_append (text, ", \"driver\": ");
    lig_json_append_string (text, health.driver);
  }
  g_string_append_c (text, '}');
  return g_string_free (text, FALSE);
}

gboolean
lig_run_register (LigRun *self, GError **error)
{
  LigPlan *plan = self->plan;
  g_autofree char *sequence = lig_sequence_to_json (self->sequence);
  g_autofree char *settings = lig_run_settings_to_json (&self->settings);
  g_autofree char *name = choose_name (self);
  g_autofree char *dtype = g_strdup_printf ("%s:%s", lig_dtype_name (lig_plan_get_compute (plan)),
                                            lig_plan_get_parameters_name (plan));
  g_autofree char *versions = list_versions (self->device);
  g_autofree char *inputs = lig_run_describe_inputs (self);
  LigRunRecord record = {
    .name = name,
    .sequence = sequence,
    .kind = "train",
    .device = lig_device_get_name (self->device),
    .dtype = dtype,
    .recipe = lig_plan_get_recipe (plan),
    .policy = lig_policy_name (lig_plan_get_policy (plan)),
    .seed = (guint64) self->settings.seed,
    .settings = settings,
    .versions = versions,
    .parent = self->parent,
    .inputs = inputs,
  };
  self->uuid = lig_store_begin_run (self->store, &record, error);
  if (!self->uuid)
    return FALSE;
  lig_plan_record (plan, self->store, self->uuid);
  return TRUE;
}

gboolean
lig_run_record_sample (LigRun *self, const LigSampleRow *row, GError **error)
{
  return !self->store || lig_store_add_sample (self->store, self->uuid, row, error);
}
