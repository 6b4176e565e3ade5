/* SPDX-License-Identifier: MIT */
/* A profile as the JSON document of `lig profile`. */
#include "engine/train/profile-json.h"
#include "engine/report/plan-json.h"

#include <ligature/figures.h>
#include <ligature/json-members.h>
#include <ligature/json.h>
#include <ligature/kernels.h>
#include <ligature/profile.h>
#include <ligature/report.h>

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* Adds times and the fraction of the roofline: the floor by the peak rates divided by the measured
 * time.
 */
static void
add_times (JsonBuilder *builder,
           const LigProfile *profile,
           double bytes,
           double flops,
           double predicted,
           double floor,
           double measured)
{
  lig_json_add_number (builder, "bytes", bytes);
  lig_json_add_number (builder, "flops", flops);
  gboolean known = predicted > 0;
  lig_json_add_number (builder, "predicted_us", known ? predicted * 1e6 : NAN);
  lig_json_add_number (builder, "measured_us", measured * 1e6);
  lig_json_add_number (builder, "roofline", lig_profile_get_roofline (profile, floor, measured));
}

static void
add_groups (JsonBuilder *builder, const LigProfile *profile, LigPass pass)
{
  guint count, n_steps;
  const LigPlanGroup *groups = lig_plan_get_groups (profile->plan, pass, &count);
  const LigPlanStep *steps = lig_plan_get_steps (profile->plan, &n_steps);
  for (guint i = 0; i < count; i++) {
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "pass", lig_pass_name (pass));
    lig_json_add_text (builder, "fusion", groups[i].fusion ? groups[i].fusion->name : NULL);
    lig_report_add_ops (builder, profile->plan, groups[i].first, groups[i].count);
    lig_json_begin_array (builder, "kernels");
    for (int j = 0; j < groups[i].n_steps; j++) {
      const LigKernel *kernel = steps[groups[i].steps[j]].kernel;
      json_builder_add_string_value (builder, kernel ? kernel->name : "opaque");
    }
    json_builder_end_array (builder);
    add_times (builder, profile, groups[i].bytes, groups[i].flops, groups[i].predicted,
               groups[i].floor, lig_profile_get_group_seconds (profile, &groups[i]));
    json_builder_end_object (builder);
  }
}

/* Adds each kernel of the update separately, because the update belongs to no op. */
static void
add_update (JsonBuilder *builder, const LigProfile *profile)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (profile->plan, &count);
  for (guint i = 0; i < count; i++) {
    if (steps[i].pass != LIG_PASS_UPDATE)
      continue;
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "pass", "update");
    lig_json_add_text (builder, "fusion", NULL);
    lig_report_add_ops (builder, profile->plan, 0, 0);
    lig_json_begin_array (builder, "kernels");
    json_builder_add_string_value (builder, steps[i].kernel->name);
    json_builder_end_array (builder);
    add_times (builder, profile, steps[i].read + steps[i].written, steps[i].flops,
               steps[i].predicted, steps[i].floor, profile->steps[i]);
    json_builder_end_object (builder);
  }
}

/* Adds the quartiles and counts to the medians. */
static void
add_spreads (JsonBuilder *builder, const LigProfile *self)
{
  const struct {
    const char *name;
    const LigSpread *spread;
  } figures[] = {
    {"forward", &self->forward_spread}, {"backward", &self->backward_spread},
    {"update", &self->update_spread},   {"forward_backward", &self->forward_backward_spread},
    {"step", &self->step_spread},
  };
  json_builder_set_member_name (builder, "spread");
  json_builder_begin_object (builder);
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++) {
    json_builder_set_member_name (builder, figures[i].name);
    json_builder_begin_object (builder);
    lig_json_add_integer (builder, "count", figures[i].spread->count);
    lig_json_add_number (builder, "lower_us", figures[i].spread->lower * 1e6);
    lig_json_add_number (builder, "median_us", figures[i].spread->median * 1e6);
    lig_json_add_number (builder, "upper_us", figures[i].spread->upper * 1e6);
    json_builder_end_object (builder);
  }
  json_builder_end_object (builder);
}

static void
add_collective (JsonBuilder *builder, LigPlan *plan, const LigProfileCollective *collective)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  const LigPlanStep *step = &lig_plan_get_steps (plan, &count)[collective->step];
  json_builder_begin_object (builder);
  lig_json_add_integer (builder, "step", collective->step);
  lig_json_add_text (builder, "pass", lig_pass_name (step->pass));
  lig_json_add_text (builder, "kernel", step->kernel->name);
  lig_json_add_text (builder, "path", step->part >= 0 ? ops[step->part].path : NULL);
  lig_json_add_number (builder, "bytes", MAX (step->read, step->written));
  lig_json_add_number (builder, "predicted_us", step->lasts > 0 ? step->lasts * 1e6 : NAN);
  lig_json_add_number (builder, "measured_us", collective->seconds * 1e6);
  lig_json_add_number (builder, "exposed_us", collective->exposed * 1e6);
  lig_json_add_number (builder, "imbalance_us", collective->imbalance * 1e6);
  json_builder_end_object (builder);
}

/* Adds the time that ranks wait for one another; null for one rank. */
static void
add_ranks (JsonBuilder *builder, const LigProfile *self)
{
  const LigProfileRanks *ranks = self->ranks;
  json_builder_set_member_name (builder, "ranks");
  if (!ranks) {
    json_builder_add_null_value (builder);
    return;
  }
  g_autofree char *layout =
    lig_layout_to_string (lig_device_get_layout (lig_plan_get_device (self->plan)));
  json_builder_begin_object (builder);
  lig_json_add_integer (builder, "count", ranks->count);
  lig_json_add_text (builder, "parallel", layout);
  lig_json_add_number (builder, "exposed_us", ranks->exposed * 1e6);
  lig_json_add_number (builder, "imbalance_us", ranks->imbalance * 1e6);
  lig_json_add_integer (builder, "slowest", ranks->slowest);
  lig_json_begin_array (builder, "collectives");
  for (guint i = 0; i < ranks->n_collectives; i++)
    add_collective (builder, self->plan, &ranks->collectives[i]);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

JsonNode *
lig_profile_to_json (const LigProfile *self)
{
  LigDevice *device = lig_plan_get_device (self->plan);
  g_autofree char *facts = lig_device_facts_to_json (lig_device_get_facts (device));
  LigUse use;
  lig_figures_use_in (self->plan, self->step, &use);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "device", lig_device_get_name (device));
  lig_json_add_text (builder, "recipe", lig_plan_get_recipe (self->plan));
  lig_json_add_text (builder, "policy", lig_policy_name (lig_plan_get_policy (self->plan)));
  lig_json_add_text (builder, "run", self->run);
  lig_json_add_number (builder, "forward_us", self->forward * 1e6);
  lig_json_add_number (builder, "backward_us", self->backward * 1e6);
  lig_json_add_number (builder, "update_us", self->update * 1e6);
  lig_json_add_number (builder, "forward_backward_us", self->forward_backward * 1e6);
  lig_json_add_number (builder, "step_us", self->step * 1e6);
  lig_json_add_truth (builder, "tokens", use.tokens);
  lig_json_add_number (builder, "rows_per_second", use.per_second);
  lig_json_add_number (builder, "mfu", use.mfu);
  lig_json_add_integer (builder, "memory_bytes",
                        lig_plan_get_arena_bytes (self->plan, NULL) +
                          lig_plan_get_state_bytes (self->plan));
  lig_json_add_truth (builder, "tf32", lig_plan_get_tf32 (self->plan));
  lig_json_add_truth (builder, "nondeterministic", lig_plan_get_nondeterministic (self->plan));
  lig_json_add_text (builder, "expert_load", self->load);
  json_builder_set_member_name (builder, "health");
  json_builder_add_value (builder, lig_profile_health_to_json (&self->health));
  add_spreads (builder, self);
  json_builder_set_member_name (builder, "conditions");
  json_builder_add_value (builder, lig_profile_conditions_to_json (&self->conditions));
  json_builder_set_member_name (builder, "attention");
  json_builder_add_value (builder, lig_profile_attention_to_json ());
  add_ranks (builder, self);
  lig_json_begin_array (builder, "groups");
  add_groups (builder, self, LIG_PASS_FORWARD);
  add_groups (builder, self, LIG_PASS_BACKWARD);
  add_update (builder, self);
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "peak_rates");
  json_builder_add_value (builder, lig_json_from_text (facts, NULL));
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}
