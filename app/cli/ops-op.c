/* SPDX-License-Identifier: MIT */
/* Trained parameters and kernels come from a plan of the op's example, so that they are also
 * correct for macros and for ops that choose their kernels. */
#include "app/cli/ops-op.h"

#include "app/cli/ops-examples.h"
#include "app/cli/ops-fusions.h"
#include "app/cli/ops-params.h"
#include "app/cli/ops-print.h"

#include <ligature/kernels.h>

#include <stdio.h>

/* Returns the kernels of one pass, separated by ", ". */
static char *
list_kernels (const LigOpInfo *info, LigPass pass)
{
  guint count = 0;
  GString *text = g_string_new (NULL);
  g_autoptr (LigPlan) plan = info->flags & LIG_OP_BLOCK ? NULL : lig_ops_plan_example (info);
  const LigPlanStep *steps = plan ? lig_plan_get_steps (plan, &count) : NULL;
  for (guint i = 0; i < count; i++)
    if (steps[i].pass == pass)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "",
                              steps[i].kernel ? steps[i].kernel->name : "opaque");
  return g_string_free (text, FALSE);
}

/* Returns the parameters of the op, or of a macro's parts, separated by ", ": those that are
 * trained, those that ops change themselves, or both. */
static char *
list_parameters (const LigOpInfo *info, gboolean trained, gboolean own)
{
  guint count = 0;
  GString *text = g_string_new (NULL);
  g_autoptr (LigPlan) plan = info->flags & LIG_OP_BLOCK ? NULL : lig_ops_plan_example (info);
  const LigPlanOp *ops = plan ? lig_plan_get_ops (plan, &count) : NULL;
  for (guint i = 0; i < count; i++) {
    const char *part = lig_plan_op_get_part (&ops[i]);
    for (const LigParameterInfo *one = ops[i].info->parameters; one && one->name; one++)
      if (one->own_update ? own : trained)
        g_string_append_printf (text, "%s%s%s%s", text->len > 0 ? ", " : "", part ? part : "",
                                part ? "." : "", one->name);
  }
  return g_string_free (text, FALSE);
}

/* Returns the main port and the table's port names, separated by ", ". */
static char *
list_ports (const char *main_port, const char *names)
{
  g_auto (GStrv) extra = g_strsplit (names ? names : "", " ", -1);
  g_autofree char *joined = g_strjoinv (", ", extra);
  return *joined && main_port ? g_strconcat (main_port, ", ", joined, NULL)
                              : g_strdup (main_port ? main_port : joined);
}

void
lig_ops_add (JsonBuilder *builder, const LigOpInfo *info)
{
  const LigParam *param;
  const char *group;
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "op", info->name);
  lig_json_add_text (builder, "title", info->title);
  lig_json_add_text (builder, "category", info->category);
  lig_json_add_text (builder, "summary", info->summary);
  lig_json_add_text (builder, "formula", info->formula);
  lig_json_add_text (builder, "example", info->example);
  lig_json_begin_array (builder, "params");
  for (guint i = 0; (param = lig_op_info_nth_shown (info, i, &group)); i++)
    lig_ops_add_param (builder, param, group);
  json_builder_end_array (builder);
  lig_ops_add_names (builder, "inputs", list_ports ("x", info->extra_inputs));
  lig_ops_add_names (builder, "outputs", list_ports ("y", info->extra_outputs));
  lig_ops_add_names (builder, "parameters", list_parameters (info, TRUE, TRUE));
  lig_ops_add_names (builder, "saves", list_ports (NULL, info->saves));
  lig_json_begin_object (builder, "kernels");
  lig_ops_add_names (builder, "forward", list_kernels (info, LIG_PASS_FORWARD));
  lig_ops_add_names (builder, "backward", list_kernels (info, LIG_PASS_BACKWARD));
  json_builder_end_object (builder);
  lig_ops_add_fusions (builder, info);
  json_builder_end_object (builder);
}

static void
print_params (const LigOpInfo *info)
{
  LigOpsParam one;
  g_autoptr (GArray) params = g_array_new (FALSE, FALSE, sizeof one);
  for (guint i = 0; (one.param = lig_op_info_nth_shown (info, i, &one.group)); i++)
    g_array_append_val (params, one);
  lig_ops_print_params ((const LigOpsParam *) params->data, params->len);
}

static void
print_op (const LigOpInfo *info)
{
  g_auto (GStrv) example = lig_ops_split_example (info);
  lig_ops_print_title (info->name, info->summary);
  lig_ops_print_line ("formula", g_strdup (info->formula ? info->formula : ""));
  lig_ops_print_line ("category", g_strdup (info->category));
  lig_ops_print_line ("inputs", list_ports ("x", info->extra_inputs));
  lig_ops_print_line ("outputs", list_ports ("y", info->extra_outputs));
  lig_ops_print_line ("trained", list_parameters (info, TRUE, FALSE));
  lig_ops_print_line ("updated", list_parameters (info, FALSE, TRUE));
  lig_ops_print_line ("saves", list_ports (NULL, info->saves));
  lig_ops_print_line ("forward", list_kernels (info, LIG_PASS_FORWARD));
  lig_ops_print_line ("backward", list_kernels (info, LIG_PASS_BACKWARD));
  print_params (info);
  lig_ops_print_fusions (info);
  if (example)
    printf ("\nExample:\n  lig check '%s' --input %s\n", example[0], example[1]);
}

void
lig_ops_show (const LigOpInfo *info)
{
  if (!lig_cli_json ()) {
    print_op (info);
    return;
  }
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  lig_ops_add (builder, info);
  lig_cli_print_document ("op", json_builder_get_root (builder));
}
