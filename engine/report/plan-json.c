/* SPDX-License-Identifier: MIT */
/* A plan as the JSON document of `lig fuse`. */
#include "engine/report/plan-json.h"

#include "engine/base/json-private.h"
#include "engine/report/format.h"
#include "engine/report/pair.h"

#include <ligature/json-members.h>
#include <ligature/plan-memory.h>
#include <ligature/plan.h>
#include <ligature/report.h>

#include <json-glib/json-glib.h>
#include <math.h>

static void
add_shape (JsonBuilder *builder, const LigShape *shape)
{
  json_builder_begin_array (builder);
  for (int i = 0; i < shape->n_axes; i++)
    json_builder_add_int_value (builder, shape->axes[i]);
  json_builder_end_array (builder);
}

static void
add_param (JsonBuilder *builder, LigOp *op, const LigParam *param)
{
  g_auto (GValue) value = G_VALUE_INIT;
  gboolean said = lig_op_get_value (op, param, &value);
  json_builder_set_member_name (builder, param->name);
  if (G_VALUE_HOLDS_DOUBLE (&value)) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    /* Writes the shortest decimal of the fp32 value: 1e-05, not 9.9999997e-06. */
    g_ascii_formatd (text, sizeof text, "%.7g", g_value_get_double (&value));
    json_builder_add_double_value (builder, g_ascii_strtod (text, NULL));
  } else if (G_VALUE_HOLDS_INT64 (&value)) {
    json_builder_add_int_value (builder, g_value_get_int64 (&value));
  } else if (G_VALUE_HOLDS_BOOLEAN (&value)) {
    json_builder_add_boolean_value (builder, g_value_get_boolean (&value));
  } else if (G_VALUE_HOLDS_STRING (&value)) {
    json_builder_add_string_value (builder, g_value_get_string (&value));
  } else if (said) {
    add_shape (builder, g_value_get_boxed (&value));
  } else {
    json_builder_add_null_value (builder);
  }
}

static void
add_ops (JsonBuilder *builder, LigPlan *plan)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  lig_json_begin_array (builder, "ops");
  for (guint i = 0; i < count; i++) {
    json_builder_begin_object (builder);
    lig_json_add_integer (builder, "index", ops[i].index);
    lig_json_add_text (builder, "path", ops[i].path);
    lig_json_add_text (builder, "op", ops[i].info->name);
    lig_json_begin_object (builder, "params");
    for (const LigParam *param = ops[i].info->params; param && param->name; param++)
      add_param (builder, ops[i].op, param);
    json_builder_end_object (builder);
    lig_json_begin_object (builder, "output");
    json_builder_set_member_name (builder, "shape");
    add_shape (builder, &ops[i].y);
    lig_json_add_text (builder, "dtype", lig_dtype_name (ops[i].y_dtype));
    json_builder_end_object (builder);
    if (ops[i].recipe || ops[i].unquantized) {
      lig_json_add_text (builder, "recipe", ops[i].recipe ? ops[i].recipe : "none");
      lig_json_add_text (builder, "unquantized", ops[i].unquantized);
    }
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

void
lig_report_add_ops (JsonBuilder *builder, LigPlan *plan, int first, int count)
{
  guint n_ops;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  lig_json_add_range (builder, "ops", first, count);
  lig_json_begin_array (builder, "paths");
  for (int i = first; i < MIN (first + count, (int) n_ops); i++)
    json_builder_add_string_value (builder, ops[i].path);
  json_builder_end_array (builder);
}

static void
add_groups (JsonBuilder *builder, LigPlan *plan, LigPass pass)
{
  guint count, n_steps;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  const LigPlanStep *steps = lig_plan_get_steps (plan, &n_steps);
  lig_json_begin_array (builder, lig_pass_name (pass));
  for (guint i = 0; i < count; i++) {
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "fusion", groups[i].fusion ? groups[i].fusion->name : NULL);
    lig_report_add_ops (builder, plan, groups[i].first, groups[i].count);
    lig_json_begin_array (builder, "kernels");
    for (int j = 0; j < groups[i].n_steps; j++) {
      const LigPlanStep *step = &steps[groups[i].steps[j]];
      json_builder_add_string_value (builder, lig_report_kernel_name (step));
    }
    json_builder_end_array (builder);
    lig_json_add_integer (builder, "bytes", (gint64) groups[i].bytes);
    lig_json_add_integer (builder, "flops", (gint64) groups[i].flops);
    lig_json_add_number (builder, "predicted_us", lig_plan_group_get_predicted (&groups[i]) * 1e6);
    lig_json_add_number (builder, "measured_us",
                         groups[i].measured > 0 ? groups[i].measured * 1e6 : NAN);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static void
add_known (JsonBuilder *builder, const char *name, double value)
{
  json_builder_set_member_name (builder, name);
  if (isnan (value))
    json_builder_add_null_value (builder);
  else
    json_builder_add_double_value (builder, value);
}

static void
add_fix (JsonBuilder *builder, const char *name, const LigFix *fix, gboolean gains)
{
  json_builder_set_member_name (builder, name);
  if (!fix) {
    json_builder_add_null_value (builder);
    return;
  }
  g_autofree char *edit = lig_fix_describe (fix);
  json_builder_begin_object (builder);
  lig_json_add_integer (builder, "number", fix->number);
  lig_json_add_text (builder, "kind", lig_fix_kind_name (fix->kind));
  lig_json_add_text (builder, "fusion", fix->fusion);
  lig_json_add_text (builder, "path", fix->path);
  lig_json_add_text (builder, "value", fix->value);
  lig_json_add_truth (builder, "edit", lig_fix_is_edit (fix));
  add_known (builder, "gain_us", gains ? fix->gain : NAN);
  lig_json_add_truth (builder, "measured", fix->measured);
  add_known (builder, "gain_bytes", gains ? fix->bytes : NAN);
  lig_json_add_text (builder, "text", edit);
  json_builder_end_object (builder);
}

void
lig_report_add_verdict (JsonBuilder *builder, LigRemedies *remedies, const LigVerdict *verdict)
{
  /* The gain is 0 for a fusion that the policy would reject even after the edit. */
  gboolean gains = !lig_report_find_obstacle (remedies, verdict);
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "fusion", verdict->fusion->name);
  lig_json_add_text (builder, "pass", lig_pass_name (verdict->pass));
  lig_report_add_ops (builder, remedies->plan, verdict->first, verdict->count);
  lig_json_add_truth (builder, "taken", verdict->taken);
  lig_json_add_text (builder, "reason", lig_reason_name (verdict->reason));
  lig_json_add_text (builder, "observed", verdict->observed);
  lig_json_add_text (builder, "required", verdict->required);
  if (verdict->found.unit) {
    json_builder_set_member_name (builder, "observed_value");
    json_builder_add_double_value (builder, verdict->found.value);
    json_builder_set_member_name (builder, "required_value");
    json_builder_add_double_value (builder, verdict->needed.value);
    lig_json_add_text (builder, "unit", verdict->found.unit);
  }
  lig_json_add_text (builder, "title", verdict->title);
  lig_json_add_text (builder, "why", verdict->why);
  lig_json_add_text (builder, "text", verdict->text);
  lig_json_add_truth (builder, "near_miss", verdict->fits && !verdict->taken);
  add_known (builder, "gain_us", verdict->gain);
  lig_json_add_truth (builder, "gain_measured", verdict->gain_measured);
  add_known (builder, "gain_bytes", verdict->bytes);
  add_known (builder, "fused_us", verdict->fused);
  add_known (builder, "current_us", verdict->present);
  lig_json_add_truth (builder, "times_measured", verdict->times_measured);
  if (verdict->pieces > 0)
    lig_json_add_integer (builder, "pieces", verdict->pieces);
  add_fix (builder, "fix", verdict->fix, gains);
  add_fix (builder, "alternative", verdict->alternative, TRUE);
  json_builder_end_object (builder);
}

void
lig_plan_add_ranks (LigPlan *plan, JsonBuilder *builder)
{
  LigCommunication collective;
  LigFigures step;
  const LigTimedPlan timed = {.plan = plan};
  lig_figures_of_communication (plan, &collective);
  if (collective.ranks < 2)
    return;
  lig_figures_of_step (&timed, NULL, &step);
  gboolean known = step.predicted > 0, links = known && collective.seconds > 0;
  lig_json_begin_object (builder, "ranks");
  g_autofree char *layout =
    lig_layout_to_string (lig_device_get_layout (lig_plan_get_device (plan)));
  lig_json_add_integer (builder, "count", collective.ranks);
  lig_json_add_text (builder, "parallel", layout);
  lig_json_add_integer (builder, "optimizer_shares", lig_plan_get_shares (plan));
  lig_json_add_integer (builder, "bucket_bytes", lig_plan_get_bucket_bytes (plan));
  lig_json_add_number (builder, "step_us", known ? step.predicted * 1e6 : NAN);
  lig_json_add_integer (builder, "collectives", collective.collectives);
  lig_json_add_number (builder, "collective_bytes", collective.bytes);
  lig_json_add_number (builder, "collectives_us", links ? collective.seconds * 1e6 : NAN);
  lig_json_add_number (builder, "exposed_us", links ? collective.exposed * 1e6 : NAN);
  lig_json_add_number (builder, "memory_bytes", lig_plan_get_needed_memory (plan));
  lig_json_add_text (builder, "unsharded", collective.whole);
  json_builder_end_object (builder);
}

void
lig_plan_add_memory (LigPlan *self, LigDevice *device, JsonBuilder *builder)
{
  LigPlanMemory memory;
  g_autofree char *problem = lig_plan_explain_memory (self, device);
  lig_plan_get_memory (self, device, &memory);
  gboolean known = memory.total > 0;
  lig_json_begin_object (builder, "fit");
  lig_json_add_truth (builder, "fits", memory.fits);
  lig_json_add_number (builder, "needed_bytes", memory.needed);
  lig_json_add_number (builder, "values_bytes", memory.values);
  lig_json_add_number (builder, "state_bytes", memory.state);
  lig_json_add_number (builder, "workspace_bytes", memory.workspace);
  lig_json_add_number (builder, "available_bytes", known ? memory.available : NAN);
  lig_json_add_number (builder, "reserve_bytes", known ? memory.reserve : NAN);
  lig_json_add_number (builder, "device_bytes", known ? memory.total : NAN);
  json_builder_end_object (builder);
  lig_json_add_text (builder, "problem", problem);
}

/* Adds the predicted times of the passes. Recomputation steps belong to no group, so that the
 * groups of the backward pass take less time than the pass. */
static void
add_predicted (JsonBuilder *builder, LigPlan *plan)
{
  guint count;
  LigFigures figures, step;
  const LigTimedPlan timed = {.plan = plan};
  double again = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    again += !steps[i].again ? 0 : steps[i].predicted > 0 ? steps[i].predicted : NAN;
  lig_figures_of_step (&timed, NULL, &step);
  lig_json_begin_object (builder, "predicted");
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_UPDATE; pass++) {
    g_autofree char *name = g_strconcat (lig_pass_name (pass), "_us", NULL);
    lig_figures_of_pass (&timed, NULL, pass, &figures);
    lig_json_add_number (builder, name, figures.predicted * 1e6);
  }
  lig_json_add_number (builder, "recomputed_us", again * 1e6);
  lig_json_add_number (builder, "step_us", step.predicted * 1e6);
  json_builder_end_object (builder);
}

/* Returns the document of a plan, without the elements of its verdicts. */
static JsonNode *
describe (LigPlan *self)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "device", lig_device_get_name (lig_plan_get_device (self)));
  lig_json_add_text (builder, "policy", lig_policy_name (lig_plan_get_policy (self)));
  lig_json_add_text (builder, "recipe", lig_plan_get_recipe (self));
  lig_json_add_text (builder, "recompute", lig_recompute_name (lig_plan_get_recompute (self)));
  lig_json_add_integer (builder, "spared_bytes", lig_plan_get_spared_bytes (self));
  lig_json_add_truth (builder, "tf32", lig_plan_get_tf32 (self));
  lig_json_add_truth (builder, "nondeterministic", lig_plan_get_nondeterministic (self));
  add_ops (builder, self);
  add_groups (builder, self, LIG_PASS_FORWARD);
  add_groups (builder, self, LIG_PASS_BACKWARD);
  add_predicted (builder, self);
  lig_plan_add_ranks (self, builder);
  lig_plan_add_memory (self, NULL, builder);
  lig_json_begin_array (builder, "verdicts");
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

/* The verdicts of a plan as elements of its document. */
typedef struct {
  LigRemedies remedies;
  const LigVerdict *verdicts;
  guint count;
  JsonBuilder *builder; /* reused, because a plan has several verdicts for each op */
} Verdicts;

static void
verdicts_init (Verdicts *self, LigPlan *plan)
{
  *self = (Verdicts){.remedies = {.plan = plan}, .builder = json_builder_new ()};
  self->verdicts = lig_plan_get_verdicts (plan, &self->count);
}

static void
verdicts_clear (Verdicts *self)
{
  lig_remedies_clear (&self->remedies);
  g_object_unref (self->builder);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Verdicts, verdicts_clear)

static JsonNode *
describe_verdict (guint number, gpointer data)
{
  Verdicts *self = data;
  json_builder_reset (self->builder);
  lig_report_add_verdict (self->builder, &self->remedies, &self->verdicts[number]);
  return json_builder_get_root (self->builder);
}

JsonNode *
lig_plan_to_json (LigPlan *self)
{
  JsonNode *document = describe (self);
  JsonArray *array = json_object_get_array_member (json_node_get_object (document), "verdicts");
  g_auto (Verdicts) verdicts;
  verdicts_init (&verdicts, self);
  for (guint i = 0; i < verdicts.count; i++)
    json_array_add_element (array, describe_verdict (i, &verdicts));
  return document;
}

void
lig_plan_write_json (LigPlan *self, LigJsonSink sink, gpointer data)
{
  g_autoptr (JsonNode) document = describe (self);
  g_auto (Verdicts) verdicts;
  verdicts_init (&verdicts, self);
  const LigJsonElements elements = {"verdicts", verdicts.count, describe_verdict, &verdicts};
  json_object_set_member (json_node_get_object (document), "fixes", lig_plan_fixes_to_json (self));
  lig_json_add_units (document);
  lig_json_write (document, &elements, sink, data);
}
