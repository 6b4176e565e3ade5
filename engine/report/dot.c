/* SPDX-License-Identifier: MIT */
/* Plans for Graphviz: the ops from top to bottom, once for forward and once for backward, with a
 * box around the ops that one fusion covers; channels are additional edges. */
#include "engine/report/dot.h"
#include "engine/report/picture.h"
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <string.h>

static char *
describe_op (const LigPlanOp *op)
{
  g_autofree char *shape = lig_shape_to_string (&op->y);
  return g_strdup_printf ("%s %s\n%s %s", op->path, op->info->name, shape,
                          lig_dtype_name (op->y_dtype));
}

/* Returns the label of a group: the kernels and the known times. */
static char *
describe_group (LigPlan *plan, const LigPlanGroup *group)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  GString *text = g_string_new (group->fusion ? group->fusion->name : "");
  for (int i = 0; i < group->n_steps; i++)
    g_string_append_printf (text, "%s%s",
                            i > 0           ? ", "
                            : text->len > 0 ? "\n"
                                            : "",
                            lig_report_kernel_name (&steps[group->steps[i]]));
  g_autofree char *predicted = lig_units_time (group->predicted);
  g_autofree char *measured = lig_units_time (group->measured);
  if (group->predicted > 0)
    g_string_append_printf (text, "\npredicted %s", predicted);
  if (group->measured > 0)
    g_string_append_printf (text, "\nmeasured %s", measured);
  return g_string_free (text, FALSE);
}

static void
append_op (GString *to, const LigPlanOp *op, char pass, const char *more)
{
  g_autofree char *label = describe_op (op);
  g_string_append_printf (to, "%c%d [label=\"", pass, op->index);
  lig_dot_append_text (to, label);
  if (*more) {
    g_string_append (to, "\\n");
    lig_dot_append_text (to, more);
  }
  g_string_append (to, "\"];\n");
}

static void
append_group (GString *to, LigPlan *plan, const LigPlanGroup *group, char pass)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  g_autofree char *label = describe_group (plan, group);
  if (!group->fusion) {
    g_string_append (to, "    ");
    append_op (to, &ops[group->first], pass, label);
    return;
  }
  g_string_append_printf (to, "    subgraph cluster_%c%d {\n      label=\"", pass, group->first);
  lig_dot_append_text (to, label);
  g_string_append_printf (to, "\"; style=\"rounded,filled\"; color=\"%s\"; fillcolor=\"%s\";\n",
                          lig_dot_edge_colour (group->pass), lig_dot_inside_colour (group->pass));
  for (int i = group->first; i < group->first + group->count; i++) {
    g_string_append (to, "      ");
    append_op (to, &ops[i], pass, "");
  }
  g_string_append (to, "    }\n");
}

/* Appends the ops of a pass; those without a group are labelled "no kernel". */
static void
append_pass (GString *to, LigPlan *plan, LigPass pass)
{
  guint count, n_ops;
  char letter = pass == LIG_PASS_FORWARD ? 'f' : 'b';
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  g_string_append_printf (to, "  subgraph cluster_%s {\n    label=\"%s\"; color=\"#d6d5da\";\n",
                          lig_pass_name (pass), lig_pass_name (pass));
  guint covered = 0;
  for (guint i = 0; i < count; i++) {
    for (; covered < (guint) groups[i].first; covered++) {
      g_string_append (to, "    ");
      append_op (to, &ops[covered], letter, "no kernel");
    }
    append_group (to, plan, &groups[i], letter);
    covered = MAX (covered, (guint) (groups[i].first + groups[i].count));
  }
  for (; covered < n_ops; covered++) {
    g_string_append (to, "    ");
    append_op (to, &ops[covered], letter, "no kernel");
  }
  g_string_append (to, "  }\n");
}

/* Appends the edges of a pass; those of backward lead from the last op to the first. */
static void
append_edges (GString *to, LigPlan *plan, char pass)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 1; i < count; i++) {
    if (ops[i].info->flags & LIG_OP_LOADS_BRANCH)
      continue;
    g_string_append_printf (to, "  %c%u -> %c%u;\n", pass, pass == 'f' ? i - 1 : i, pass,
                            pass == 'f' ? i : i - 1);
  }
  for (guint i = 0; i < count; i++) {
    const LigPlanPort *port;
    for (int j = 0; (port = lig_plan_op_get_port (&ops[i], LIG_PORT_EXTRA_INPUT, j)); j++) {
      int from = port->from;
      if (from < 0)
        continue;
      const char *name =
        lig_plan_op_get_port (&ops[from], LIG_PORT_EXTRA_OUTPUT, port->slot)->channel;
      g_string_append_printf (to,
                              "  %c%d -> %c%d [color=\"#813d9c\"; fontcolor=\"#813d9c\"; "
                              "constraint=false; label=\"",
                              pass, pass == 'f' ? from : (int) i, pass,
                              pass == 'f' ? (int) i : from);
      lig_dot_append_text (to, name ? name : "");
      g_string_append (to, "\"];\n");
    }
  }
}

static void
append_plan (GString *to, LigPlan *plan, const char *title)
{
  guint backward;
  lig_plan_get_groups (plan, LIG_PASS_BACKWARD, &backward);
  lig_dot_begin (to, title);
  append_pass (to, plan, LIG_PASS_FORWARD);
  append_edges (to, plan, 'f');
  if (backward > 0) {
    append_pass (to, plan, LIG_PASS_BACKWARD);
    append_edges (to, plan, 'b');
  }
  g_string_append (to, "}\n");
}

static gboolean
write_plan (GString *to, LigPlan *plan, const char *command, GError **error)
{
  g_auto (LigPicture) picture;
  lig_picture_init_plan (&picture, plan);
  append_plan (to, plan, picture.title);
  return TRUE;
}

static gboolean
write_run (GString *to, const LigReportRun *run, GError **error)
{
  g_auto (LigPicture) picture;
  lig_picture_init_run (&picture, run);
  if (!picture.timed.plan) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("run %s: %s"), run->row->uuid,
                 picture.note);
    return FALSE;
  }
  g_autofree char *title = g_strdup_printf ("%s\n%s", picture.title, picture.note);
  append_plan (to, picture.timed.plan, title);
  return TRUE;
}

LIG_REPORT_FORMAT (dot) = {
  .name = "dot",
  .title = N_ ("Graphviz"),
  .help = N_ ("The operations and the groups as a graph"),
  .plan = write_plan,
  .run = write_run,
};
