/* SPDX-License-Identifier: MIT */
/* Writes a plan as readable lines, the same for the same input; golden tests compare them. */
#include "engine/plan/plan-private.h"
#include <ligature/kernels.h>

const char *
lig_lane_name (LigLane lane)
{
  static const char *const names[LIG_N_LANES] = {"main", "side", "communication", "copy"};
  return names[lane];
}

static void
append_ops (LigPlan *self, GString *text)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self, &count);
  g_string_append (text, "ops\n");
  for (guint i = 0; i < count; i++) {
    g_autofree char *shape = lig_shape_to_string (&ops[i].y);
    g_string_append_printf (text, "  %d %s %s %s:%s", ops[i].index, ops[i].path, ops[i].info->name,
                            shape, lig_dtype_name (ops[i].y_dtype));
    if (ops[i].parameters > 0)
      g_string_append_printf (text, " parameters %" G_GINT64_FORMAT, ops[i].parameters);
    if (ops[i].saved_bytes > 0)
      g_string_append_printf (text, " saves %" G_GINT64_FORMAT, ops[i].saved_bytes);
    g_string_append_c (text, '\n');
  }
}

static void
append_groups (LigPlan *self, LigPass pass, GString *text)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (self, pass, &count);
  g_string_append_printf (text, "%s\n", lig_pass_name (pass));
  for (guint i = 0; i < count; i++) {
    g_string_append (text, "  [");
    for (int j = 0; j < groups[i].count; j++)
      g_string_append_printf (text, "%s%d", j > 0 ? " " : "", groups[i].first + j);
    if (groups[i].fusion)
      g_string_append_printf (text, " %s", groups[i].fusion->name);
    g_string_append (text, "]\n");
  }
}

static void
append_steps (LigPlan *self, GString *text)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (self, &count);
  g_string_append (text, "steps\n");
  for (guint i = 0; i < count; i++) {
    g_autofree char *operands = lig_plan_name_operands (self, &steps[i]);
    g_string_append_printf (text, "  %u %s: %s (%s) read %.0f write %.0f flops %.0f%s\n", i,
                            lig_pass_name (steps[i].pass),
                            steps[i].kernel ? steps[i].kernel->name : "opaque", operands,
                            steps[i].read, steps[i].written, steps[i].flops,
                            steps[i].again                            ? " again"
                            : steps[i].lane == LIG_LANE_SIDE          ? " side lane"
                            : steps[i].lane == LIG_LANE_COMMUNICATION ? " communication"
                            : steps[i].once                           ? " once per update"
                                                                      : "");
  }
}

static void
append_memory (LigPlan *self, GString *text)
{
  guint count;
  gint64 peak, arena = lig_plan_get_arena_bytes (self, &peak);
  const LigPlanValue *values = lig_plan_get_values (self, &count);
  g_string_append_printf (text,
                          "memory arena %" G_GINT64_FORMAT " peak %" G_GINT64_FORMAT
                          " state %" G_GINT64_FORMAT "\n",
                          arena, peak, lig_plan_get_state_bytes (self));
  if (lig_plan_get_spared_bytes (self) > 0)
    g_string_append_printf (text, "  %" G_GINT64_FORMAT " less by recomputation\n",
                            lig_plan_get_spared_bytes (self));
  for (guint i = 0; i < count; i++) {
    const LigPlanValue *value = &values[i];
    g_autofree char *shape = lig_shape_to_string (&value->shape);
    if (value->place != LIG_PLACE_ARENA)
      continue;
    g_autofree char *last =
      value->last == G_MAXINT ? g_strdup ("end") : g_strdup_printf ("%d", value->last);
    g_string_append_printf (
      text, "  %s %s:%s at %" G_GINT64_FORMAT " bytes %" G_GINT64_FORMAT " steps %d..%s%s\n",
      value->name, shape, lig_dtype_name (value->dtype), value->offset, value->bytes, value->first,
      last,
      value->again   ? " recomputed in backward"
      : value->saved ? " saved"
                     : "");
  }
}

static void
append_rank (LigPlan *self, GString *text)
{
  LigDevice *device = self->request->device;
  const LigLayout *layout = lig_device_get_layout (device);
  if (!layout || lig_layout_size (layout, LIG_GROUP_ALL) < 2)
    return;
  g_autofree char *parallel = lig_layout_to_string (layout);
  g_string_append_printf (text, "rank %d of %d, parallel %s\n",
                          lig_device_get_rank (device, LIG_GROUP_ALL),
                          lig_layout_size (layout, LIG_GROUP_ALL), parallel);
}

char *
lig_plan_to_text (LigPlan *self)
{
  GString *text = g_string_new (NULL);
  g_string_append_printf (
    text, "plan for %s, compute %s, parameters %s%s%s%s%s, policy %s\n",
    lig_device_get_name (self->request->device), lig_dtype_name (self->request->compute),
    lig_plan_get_parameters_name (self), self->request->recipe.info ? ", recipe " : "",
    self->request->recipe.info ? lig_plan_get_recipe (self) : "",
    self->request->options.tf32 ? ", TF32 matmuls" : "",
    self->request->options.nondeterministic ? ", nondeterministic" : "",
    lig_policy_name (self->request->policy));
  append_rank (self, text);
  append_ops (self, text);
  append_groups (self, LIG_PASS_FORWARD, text);
  append_groups (self, LIG_PASS_BACKWARD, text);
  append_steps (self, text);
  append_memory (self, text);
  return g_string_free (text, FALSE);
}
