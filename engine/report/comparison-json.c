/* SPDX-License-Identifier: MIT */
/* A comparison of two plans as a JSON document. */
#include "engine/base/json-private.h"
#include "engine/report/pair.h"
#include "engine/report/plan-json.h"
#include "engine/report/verdicts.h"
#include <ligature/comparison.h>
#include <ligature/json-members.h>
#include <ligature/plan-memory.h>
#include <ligature/plan.h>
#include <ligature/report.h>
#include <ligature/row-changes.h>

#include <json-glib/json-glib.h>
#include <math.h>

static void
add_rejections (JsonBuilder *to, const char *name, LigPlan *plan, const GArray *lines)
{
  g_auto (LigRemedies) remedies = {.plan = plan};
  lig_json_begin_array (to, name);
  for (guint i = 0; i < lines->len; i++)
    lig_report_add_verdict (to, &remedies, g_array_index (lines, LigVerdictLine, i).verdict);
  json_builder_end_array (to);
}

static void
add_plan (JsonBuilder *to, const char *name, LigPlan *plan, LigPlan *other, const char *title)
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
  lig_json_add_truth (to, "tf32", lig_plan_get_tf32 (plan));
  lig_json_add_truth (to, "nondeterministic", lig_plan_get_nondeterministic (plan));
  lig_json_add_text (to, "compute", lig_dtype_name (lig_plan_get_compute (plan)));
  lig_json_add_text (to, "parameters", lig_plan_get_parameters_name (plan));
  lig_json_add_integer (to, "ops", ops);
  lig_json_add_integer (to, "steps", steps);
  lig_json_add_number (to, "memory_bytes", lig_plan_get_needed_memory (plan));
  lig_json_add_number (to, "device_memory_bytes", (double) lig_device_get_facts (device)->memory);
  lig_plan_add_memory (plan, NULL, to);
  lig_plan_add_ranks (plan, to);
  g_autoptr (GArray) only = lig_report_rejected_only (plan, other);
  g_autoptr (GArray) otherwise = lig_report_rejected_otherwise (plan, other);
  add_rejections (to, "rejected_only", plan, only);
  add_rejections (to, "rejected_otherwise", plan, otherwise);
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

/* @figures: the figures of the groups, or of the whole pass for a total, which lists no groups */
static void
add_side (JsonBuilder *to,
          const char *name,
          LigPlan *plan,
          LigPass pass,
          const LigPlanSide *side,
          const LigFigures *figures)
{
  lig_json_begin_object (to, name);
  lig_json_add_number (to, "microseconds", side->seconds * 1e6);
  lig_json_add_number (to, "bytes", side->bytes);
  if (side->memory > 0)
    lig_json_add_number (to, "memory_bytes", side->memory);
  lig_json_add_integer (to, "kernels", side->n_steps);
  lig_report_add_bound (to, figures->bound);
  if (plan)
    add_groups (to, plan, pass, side);
  json_builder_end_object (to);
}

/* Adds the speedup of the second plan, or null. */
static void
add_speed (JsonBuilder *to, const LigPlanChange *change)
{
  gboolean both = change->before.seconds > 0 && change->after.seconds > 0;
  lig_json_add_number (to, "speed", both ? change->before.seconds / change->after.seconds : NAN);
}

/* Finds the figures of a side, with its measured times. */
static void
get_figures (LigPlanComparison *comparison, gboolean after, LigPass pass, LigFigures *figures)
{
  LigTimedPlan timed;
  lig_plan_comparison_get_timed (comparison, after, &timed);
  if (pass == LIG_PASS_JOINT)
    lig_figures_of_step (&timed, NULL, figures);
  else
    lig_figures_of_pass (&timed, NULL, pass, figures);
}

/* Returns whether both plans were measured repeatedly. */
static gboolean
has_spreads (LigPlanComparison *comparison)
{
  LigTimedPlan timed[2];
  lig_plan_comparison_get_timed (comparison, FALSE, &timed[0]);
  lig_plan_comparison_get_timed (comparison, TRUE, &timed[1]);
  return timed[0].spreads && timed[1].spreads;
}

/* Adds whether repeated measurements differ. */
static void
add_difference (JsonBuilder *to, const LigDifference *difference)
{
  gboolean known = difference->kind != LIG_DIFFERENCE_UNKNOWN;
  lig_json_add_text (to, "difference", lig_difference_kind_name (difference->kind));
  lig_json_add_number (to, "noise_us", known ? difference->noise * 1e6 : NAN);
}

static void
add_total (JsonBuilder *to, LigPlanComparison *comparison, LigPass pass, const char *name)
{
  LigPlanChange total;
  LigFigures before, after;
  lig_plan_comparison_get_total (comparison, pass, &total);
  get_figures (comparison, FALSE, pass, &before);
  get_figures (comparison, TRUE, pass, &after);
  lig_json_begin_object (to, name);
  lig_json_add_truth (to, "same", total.same);
  lig_json_add_truth (to, "measured", total.measured);
  add_speed (to, &total);
  if (total.measured && has_spreads (comparison))
    add_difference (to, &total.difference);
  add_side (to, "before", NULL, pass, &total.before, &before);
  add_side (to, "after", NULL, pass, &total.after, &after);
  json_builder_end_object (to);
}

static void
add_change_side (JsonBuilder *to,
                 const char *name,
                 const LigTimedPlan *timed,
                 LigPass pass,
                 const LigPlanSide *side)
{
  LigFigures figures;
  lig_report_side_figures (timed, pass, side, &figures);
  add_side (to, name, timed->plan, pass, side, &figures);
}

static void
add_changes (JsonBuilder *to, LigPlanComparison *comparison, LigPass pass)
{
  guint count, first = 0;
  LigTimedPlan timed[2];
  lig_plan_comparison_get_timed (comparison, FALSE, &timed[0]);
  lig_plan_comparison_get_timed (comparison, TRUE, &timed[1]);
  const LigPlanChange *changes = lig_plan_comparison_get_changes (comparison, &count);
  while (first < count && changes[first].pass != pass)
    first++;
  lig_json_begin_array (to, lig_pass_name (pass));
  for (guint i = first; i < count; i++) {
    if (changes[i].pass != pass)
      continue;
    json_builder_begin_object (to);
    lig_json_add_truth (to, "same", changes[i].same);
    lig_json_add_truth (to, "measured", changes[i].measured);
    lig_json_add_integer (to, "like", changes[i].like - first);
    add_speed (to, &changes[i]);
    add_change_side (to, "before", &timed[0], pass, &changes[i].before);
    add_change_side (to, "after", &timed[1], pass, &changes[i].after);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_rows (JsonBuilder *to, LigPlanComparison *comparison)
{
  g_autoptr (GPtrArray) changes = lig_row_change_list (comparison);
  g_autofree char *inputs = lig_row_change_inputs (comparison);
  lig_json_add_text (to, "inputs", inputs);
  lig_json_begin_array (to, "rows");
  for (guint i = 0; i < changes->len; i++) {
    const LigRowChange *change = changes->pdata[i];
    json_builder_begin_object (to);
    lig_json_add_text (to, "change", lig_row_change_kind_name (change->kind));
    lig_json_add_text (to, "before", change->before);
    lig_json_add_text (to, "after", change->after);
    lig_json_add_text (to, "op", change->op);
    lig_json_add_text (to, "text", change->text);
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
  LigPlan *plans[] = {lig_plan_comparison_get_before (self), lig_plan_comparison_get_after (self)};
  add_plan (to, "before", plans[0], plans[1], before);
  add_plan (to, "after", plans[1], plans[0], after);
  add_total (to, self, LIG_PASS_JOINT, "total");
  lig_json_begin_object (to, "totals");
  add_total (to, self, LIG_PASS_FORWARD, "forward");
  add_total (to, self, LIG_PASS_BACKWARD, "backward");
  add_total (to, self, LIG_PASS_UPDATE, "update");
  json_builder_end_object (to);
  add_rows (to, self);
  add_changes (to, self, LIG_PASS_FORWARD);
  add_changes (to, self, LIG_PASS_BACKWARD);
  json_builder_end_object (to);
  return json_builder_get_root (to);
}
