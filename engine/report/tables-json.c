/* SPDX-License-Identifier: MIT */
/* The tables of a plan as JSON, shared by `lig plan --json` and reports: the steps with their
 * operands by value number, the values with the steps that write and read them, the ops with their
 * ports. */
#include "engine/plan/attention-times.h"
#include "engine/report/format.h"
#include <ligature/attention.h>
#include <ligature/json-members.h>
#include <ligature/plan.h>
#include <ligature/report.h>

#include <json-glib/json-glib.h>
#include <math.h>

static void
add_numbers (JsonBuilder *to, const char *name, const int *numbers, int count)
{
  lig_json_begin_array (to, name);
  for (int i = 0; i < count; i++)
    json_builder_add_int_value (to, numbers[i]);
  json_builder_end_array (to);
}

static void
add_operands (JsonBuilder *to, const char *name, const LigPlanOperand *operands, int count)
{
  lig_json_begin_array (to, name);
  for (int i = 0; i < count; i++)
    json_builder_add_int_value (to, operands[i].value);
  json_builder_end_array (to);
}

void
lig_plan_add_steps (LigPlan *plan, JsonBuilder *to)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  lig_json_begin_array (to, "steps");
  for (guint i = 0; i < count; i++) {
    json_builder_begin_object (to);
    lig_json_add_integer (to, "index", i);
    lig_json_add_text (to, "pass", lig_pass_name (steps[i].pass));
    lig_json_add_text (to, "kernel", lig_report_kernel_name (&steps[i]));
    lig_json_add_integer (to, "group", steps[i].group);
    lig_json_add_text (to, "fusion", lig_report_fusion_name (plan, &steps[i]));
    g_autofree char *operands = lig_plan_name_operands (plan, &steps[i]);
    lig_json_add_text (to, "operands", operands);
    add_operands (to, "inputs", steps[i].operands, steps[i].n_inputs);
    add_operands (to, "outputs", steps[i].operands + steps[i].n_inputs,
                  steps[i].n_operands - steps[i].n_inputs);
    lig_json_add_truth (to, "again", steps[i].again);
    lig_json_add_integer (to, "read", (gint64) steps[i].read);
    lig_json_add_integer (to, "written", (gint64) steps[i].written);
    lig_json_add_integer (to, "flops", (gint64) steps[i].flops);
    lig_json_add_number (to, "predicted_us",
                         steps[i].predicted > 0 ? steps[i].predicted * 1e6 : NAN);
    g_autoptr (LigAttentionTimes) times = lig_plan_get_attention (plan, i);
    if (times) {
      json_builder_set_member_name (to, "attention");
      lig_attention_times_to_json (times, to);
    }
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

/* The caller's inputs live from before the first step, the values that the caller reads until after
 * the last. A value in the state, or without memory, has no lifetime. */
static void
add_lifetime (JsonBuilder *to, const LigPlanValue *value, int n_steps)
{
  gboolean known = value->place == LIG_PLACE_ARENA || value->place == LIG_PLACE_ALIAS;
  if (known && value->offset >= 0) {
    lig_json_add_integer (to, "first", value->first);
    lig_json_add_integer (to, "last", MIN (value->last, n_steps));
  } else {
    lig_json_add_text (to, "first", NULL);
    lig_json_add_text (to, "last", NULL);
  }
}

void
lig_plan_add_values (LigPlan *plan, JsonBuilder *to)
{
  guint count, n_steps;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  lig_plan_get_steps (plan, &n_steps);
  lig_json_begin_array (to, "values");
  for (guint i = 0; i < count; i++) {
    json_builder_begin_object (to);
    lig_json_add_text (to, "name", values[i].name);
    lig_json_begin_array (to, "shape");
    for (int j = 0; j < values[i].shape.n_axes; j++)
      json_builder_add_int_value (to, values[i].shape.axes[j]);
    json_builder_end_array (to);
    lig_json_add_text (to, "dtype", lig_dtype_name (values[i].dtype));
    lig_json_add_text (to, "place", lig_place_name (values[i].place));
    lig_json_add_integer (to, "offset", values[i].offset);
    lig_json_add_integer (to, "bytes", values[i].bytes);
    add_lifetime (to, &values[i], (int) n_steps);
    lig_json_add_truth (to, "saved", values[i].saved);
    lig_json_add_truth (to, "again", values[i].again);
    add_numbers (to, "writers", values[i].writers, values[i].n_writers);
    add_numbers (to, "readers", values[i].readers, values[i].n_readers);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

void
lig_plan_add_ports (LigPlan *plan, guint op, JsonBuilder *to)
{
  static const char *const kinds[] = {"x", "y", "extra-input", "extra-output", "kept", "parameter"};
  guint count;
  const LigPlanOp *of = &lig_plan_get_ops (plan, &count)[op];
  lig_json_begin_array (to, "ports");
  for (int i = 0; i < of->n_ports; i++) {
    const LigPlanPort *port = &of->ports[i];
    json_builder_begin_object (to);
    lig_json_add_text (to, "name", port->name);
    lig_json_add_text (to, "kind", kinds[port->kind]);
    lig_json_add_integer (to, "value", port->value);
    lig_json_add_integer (to, "gradient", port->gradient);
    lig_json_add_integer (to, "from", port->from);
    lig_json_add_integer (to, "slot", port->slot);
    lig_json_add_text (to, "channel", port->channel);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}
