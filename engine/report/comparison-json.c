/* SPDX-License-Identifier: MIT */
/* A comparison of two plans as a JSON document. */
#include <ligature/json-members.h>
#include <ligature/report.h>

#include <json-glib/json-glib.h>
#include <math.h>

static void
add_plan (JsonBuilder *to, const char *name, LigPlan *plan, const char *title)
{
  LigDevice *device = lig_plan_get_device (plan);
  guint ops, steps;
  lig_plan_get_ops (plan, &ops);
  lig_plan_get_steps (plan, &steps);
  lig_json_begin_object (to, name);
  lig_json_add_text (to, "title", title);
  lig_json_add_text (to, "device", lig_device_get_name (device));
  lig_json_add_text (to, "device_name", lig_device_get_facts (device)->name);
  lig_json_add_text (to, "policy", lig_policy_name (lig_plan_get_policy (plan)));
  lig_json_add_text (to, "compute", lig_dtype_name (lig_plan_get_compute (plan)));
  lig_json_add_text (to, "parameters", lig_dtype_name (lig_plan_get_parameters (plan)));
  lig_json_add_integer (to, "ops", ops);
  lig_json_add_integer (to, "steps", steps);
  json_builder_end_object (to);
}

static void
add_groups (JsonBuilder *to, LigPlan *plan, LigPass pass, const LigPlanSide *side)
{
  guint count, n_ops;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  lig_json_begin_array (to, "groups");
  for (guint i = side->first_group; i < side->first_group + side->n_groups; i++) {
    json_builder_begin_object (to);
    lig_json_add_integer (to, "group", i);
    lig_json_add_text (to, "fusion", groups[i].fusion ? groups[i].fusion->name : NULL);
    lig_json_add_text (to, "path", ops[groups[i].first].path);
    lig_json_add_range (to, "ops", groups[i].first, groups[i].count);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

/* @plan: (nullable): null for a total, which lists no groups */
static void
add_side (JsonBuilder *to, const char *name, LigPlan *plan, LigPass pass, const LigPlanSide *side)
{
  lig_json_begin_object (to, name);
  lig_json_add_number (to, "microseconds", side->seconds * 1e6);
  lig_json_add_number (to, "bytes", side->bytes);
  lig_json_add_integer (to, "kernels", side->n_steps);
  if (plan)
    add_groups (to, plan, pass, side);
  json_builder_end_object (to);
}

static void
add_total (JsonBuilder *to, LigPlanComparison *comparison, LigPass pass, const char *name)
{
  LigPlanChange total;
  lig_plan_comparison_get_total (comparison, pass, &total);
  lig_json_begin_object (to, name);
  lig_json_add_truth (to, "same", total.same);
  lig_json_add_truth (to, "measured", total.measured);
  add_side (to, "before", NULL, pass, &total.before);
  add_side (to, "after", NULL, pass, &total.after);
  json_builder_end_object (to);
}

static void
add_changes (JsonBuilder *to, LigPlanComparison *comparison, LigPass pass)
{
  guint count;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (comparison, &count);
  lig_json_begin_array (to, lig_pass_name (pass));
  for (guint i = 0; i < count; i++) {
    if (changes[i].pass != pass)
      continue;
    json_builder_begin_object (to);
    lig_json_add_truth (to, "same", changes[i].same);
    lig_json_add_truth (to, "measured", changes[i].measured);
    add_side (to, "before", lig_plan_comparison_get_before (comparison), pass, &changes[i].before);
    add_side (to, "after", lig_plan_comparison_get_after (comparison), pass, &changes[i].after);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

JsonNode *
lig_plan_comparison_to_json (LigPlanComparison *self, const char *before, const char *after)
{
  g_return_val_if_fail (self && before && after, NULL);
  g_autoptr (JsonBuilder) to = json_builder_new ();
  json_builder_begin_object (to);
  add_plan (to, "before", lig_plan_comparison_get_before (self), before);
  add_plan (to, "after", lig_plan_comparison_get_after (self), after);
  add_total (to, self, LIG_PASS_JOINT, "total");
  add_changes (to, self, LIG_PASS_FORWARD);
  add_changes (to, self, LIG_PASS_BACKWARD);
  json_builder_end_object (to);
  return json_builder_get_root (to);
}
