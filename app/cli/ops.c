/* SPDX-License-Identifier: MIT */
/* lig ops: lists the ops, describes an op or a fusion, or searches both. Trained parameters and
 * kernels are taken from a plan of the op's example, which is correct also for macros and for ops
 * that choose their kernels. */
#include "app/cli/document.h"
#include "app/cli/ops-fusions.h"
#include "app/cli/sequence-options.h"

#include "app/cli/table.h"
#include <ligature/columns.h>

#include <stdio.h>
#include <string.h>

/* The least columns for a help text behind the other columns. */
#define LEAST_HELP 24
/* The columns that a range leaves to the cells before it. */
#define BEFORE_RANGE 45

static int run (int argc, char **argv);

LIG_COMMAND (ops) = {
  .name = "ops",
  .usage = "[OP|FUSION|WORD…]",
  .summary = "Lists the ops; describes one, or a fusion; or searches them",
  .example = "lig ops layer-norm",
  .run = run,
  .pages = TRUE,
};

GStrv
lig_ops_split_example (const LigOpInfo *info)
{
  GStrv parts = g_strsplit (info->example ? info->example : "", " @ ", 2);
  if (g_strv_length (parts) == 2)
    return parts;
  g_strfreev (parts);
  return NULL;
}

LigPlan *
lig_ops_plan_example (const LigOpInfo *info)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  g_auto (GStrv) example = lig_ops_split_example (info);
  g_autoptr (LigSequence) sequence =
    example ? lig_sequence_from_expression (example[0], NULL) : NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null", NULL);
  if (!sequence || !lig_shape_parse (example[1], &shape, &dtype, NULL))
    return NULL;
  lig_sequence_set_input (sequence, &shape, dtype);
  options.policy = LIG_POLICY_NONE;
  options.input_gradient = TRUE;
  return lig_plan_compile (sequence, device, &options, NULL);
}

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

/* Returns the trained parameters of the op, or of a macro's parts, separated by ", ". */
static char *
list_parameters (const LigOpInfo *info)
{
  guint count = 0;
  GString *text = g_string_new (NULL);
  g_autoptr (LigPlan) plan = info->flags & LIG_OP_BLOCK ? NULL : lig_ops_plan_example (info);
  const LigPlanOp *ops = plan ? lig_plan_get_ops (plan, &count) : NULL;
  for (guint i = 0; i < count; i++) {
    const char *part = lig_plan_op_get_part (&ops[i]);
    for (const LigParameterInfo *one = ops[i].info->parameters; one && one->name; one++)
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

static const char *
type_name (const LigParam *param)
{
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
    return "float";
  case LIG_PARAM_INT:
    return "integer";
  case LIG_PARAM_SHAPE:
    return "shape";
  case LIG_PARAM_INPUT:
  case LIG_PARAM_OUTPUT:
    return "channel";
  case LIG_PARAM_PATH:
    return "path";
  case LIG_PARAM_CHOICE:
    return "choice";
  default:
    return "boolean";
  }
}

static gboolean
is_number (const LigParam *param)
{
  return param->kind == LIG_PARAM_FLOAT || param->kind == LIG_PARAM_INT;
}

static gboolean
has_range (const LigParam *param)
{
  return is_number (param) || param->kind == LIG_PARAM_SHAPE;
}

/* Required parameters and those derived from the input have no default. */
static gboolean
has_default (const LigParam *param)
{
  gboolean truth = param->kind == LIG_PARAM_BOOL || param->kind == LIG_PARAM_CALLER;
  return (is_number (param) || truth || param->kind == LIG_PARAM_CHOICE) &&
         !(param->flags & (LIG_PARAM_REQUIRED | LIG_PARAM_INFERRED));
}

/* Returns the range of a parameter, without bounds that only the type or a tensor's size sets. A
 * number that stands for leaving it out comes first. */
static char *
format_range (const LigParam *param)
{
  gboolean open =
    is_number (param) && param->flags & LIG_PARAM_INFERRED && param->initial < param->minimum;
  g_autofree char *absent = open ? g_strdup_printf ("%.7g or ", param->initial) : g_strdup ("");
  if (param->kind == LIG_PARAM_CHOICE)
    return g_strdup (param->choices);
  if (!has_range (param))
    return g_strdup ("");
  if (param->maximum >= 1e9)
    return param->minimum <= -1e9 ? g_strdup ("any")
                                  : g_strdup_printf ("%sat least %.7g", absent, param->minimum);
  return g_strdup_printf ("%s%.7g … %.7g", absent, param->minimum, param->maximum);
}

static char *
format_default (const LigParam *param)
{
  if (!has_default (param))
    return g_strdup (param->flags & LIG_PARAM_REQUIRED ? "required" : "none");
  if (param->kind == LIG_PARAM_CHOICE)
    return g_strdup (lig_param_get_choice (param, (int) param->initial));
  return is_number (param) ? g_strdup_printf ("%.7g", param->initial)
                           : g_strdup (param->initial != 0 ? "true" : "false");
}

/* --- JSON ---------------------------------------------------------------------------------- */

void
lig_ops_add_names (JsonBuilder *builder, const char *name, char *list)
{
  g_autofree char *text = list;
  g_auto (GStrv) names = g_strsplit (text, ", ", -1);
  lig_json_begin_array (builder, name);
  for (char **one = names; *one; one++)
    json_builder_add_string_value (builder, *one);
  json_builder_end_array (builder);
}

static void
add_quantity (JsonBuilder *builder, const char *name, const LigParam *param, double value)
{
  if (param->kind == LIG_PARAM_FLOAT)
    lig_json_add_number (builder, name, value);
  else
    lig_json_add_integer (builder, name, (gint64) value);
}

static void
add_choices (JsonBuilder *builder, const LigParam *param)
{
  const char *choice;
  if (param->kind != LIG_PARAM_CHOICE) {
    lig_json_add_text (builder, "choices", NULL);
    return;
  }
  lig_json_begin_array (builder, "choices");
  for (int i = 0; (choice = lig_param_get_choice (param, i)); i++)
    json_builder_add_string_value (builder, choice);
  json_builder_end_array (builder);
}

static void
add_param (JsonBuilder *builder, const LigParam *param, const char *group)
{
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "name", param->name);
  lig_json_add_text (builder, "type", type_name (param));
  lig_json_add_text (builder, "group", group);
  if (has_default (param) && is_number (param))
    add_quantity (builder, "default", param, param->initial);
  else if (param->kind == LIG_PARAM_CHOICE)
    lig_json_add_text (builder, "default", lig_param_get_choice (param, (int) param->initial));
  else if (has_default (param))
    lig_json_add_truth (builder, "default", param->initial != 0);
  else
    lig_json_add_text (builder, "default", NULL);
  if (has_range (param)) {
    add_quantity (builder, "minimum", param, param->minimum);
    add_quantity (builder, "maximum", param, param->maximum);
  } else {
    lig_json_add_text (builder, "minimum", NULL);
    lig_json_add_text (builder, "maximum", NULL);
  }
  add_choices (builder, param);
  lig_json_add_truth (builder, "required", (param->flags & LIG_PARAM_REQUIRED) != 0);
  lig_json_add_truth (builder, "positional", (param->flags & LIG_PARAM_POSITIONAL) != 0);
  lig_json_add_text (builder, "label", param->label);
  lig_json_add_text (builder, "help", param->help);
  json_builder_end_object (builder);
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
    add_param (builder, param, group);
  json_builder_end_array (builder);
  lig_ops_add_names (builder, "inputs", list_ports ("x", info->extra_inputs));
  lig_ops_add_names (builder, "outputs", list_ports ("y", info->extra_outputs));
  lig_ops_add_names (builder, "parameters", list_parameters (info));
  lig_ops_add_names (builder, "saves", list_ports (NULL, info->saves));
  lig_json_begin_object (builder, "kernels");
  lig_ops_add_names (builder, "forward", list_kernels (info, LIG_PASS_FORWARD));
  lig_ops_add_names (builder, "backward", list_kernels (info, LIG_PASS_BACKWARD));
  json_builder_end_object (builder);
  lig_ops_add_fusions (builder, info);
  json_builder_end_object (builder);
}

/* --- Text ---------------------------------------------------------------------------------- */

/* Prints one op per line below its category. Ops of a category need not be adjacent in the
 * registry. */
static void
print_all (void)
{
  const LigOpInfo *info, *before, *other;
  const char *bold = lig_cli_colour () ? "\033[1m" : "",
             *plain = lig_cli_colour () ? "\033[0m" : "";
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    gboolean seen = FALSE;
    for (guint j = 0; j < i && (before = lig_op_info_nth (j)); j++)
      seen |= strcmp (before->category, info->category) == 0;
    if (seen)
      continue;
    printf ("%s%s%s%s\n", i > 0 ? "\n" : "", bold, info->category, plain);
    for (guint j = i; (other = lig_op_info_nth (j)); j++)
      if (strcmp (other->category, info->category) == 0)
        lig_ops_print_entry (other->name, 22, other->summary);
  }
}

/* Prints a row of the table of parameters: four cells in columns and a help text behind them, or
 * below them in a narrow terminal. A row of one cell is the heading of a group. */
static void
print_row (char **cells, const int *widths)
{
  int at = 0, width = lig_cli_text_width ();
  g_autoptr (GString) line = g_string_new (NULL);
  if (!cells[1]) {
    printf ("\n%s\n", cells[0]);
    return;
  }
  for (guint i = 0; i < 4; i++) {
    lig_columns_append (line, cells[i], widths[i], LIG_SIDE_LEFT);
    g_string_append (line, "  ");
    at += widths[i] + 2;
  }
  gboolean empty = !*cells[4], below = width - at < LEAST_HELP;
  while ((empty || below) && line->str[line->len - 1] == ' ')
    g_string_truncate (line, line->len - 1);
  if (below && !empty)
    g_string_append_printf (line, "\n%*s", at = 4, "");
  lig_columns_wrap (line, cells[4], at, at, width);
  fputs (line->str, stdout);
}

/* Returns the cells of a parameter. A range that is too wide for a column follows the help text;
 * choices are broken there between words. */
static char **
describe_param (const LigParam *param)
{
  char **cells = g_new0 (char *, 6);
  gboolean first = (param->flags & LIG_PARAM_POSITIONAL) != 0;
  g_autofree char *range = format_range (param);
  gboolean wide = lig_columns_width (range) > lig_cli_text_width () - BEFORE_RANGE;
  g_auto (GStrv) choices = g_strsplit (wide ? range : "", "|", -1);
  g_autofree char *list = g_strjoinv (", ", choices);
  cells[0] = first ? g_strdup_printf ("[%s]", param->name) : g_strdup (param->name);
  cells[1] = g_strdup (type_name (param));
  cells[2] = format_default (param);
  cells[3] = wide ? g_strdup ("") : g_steal_pointer (&range);
  cells[4] = wide ? g_strconcat (param->help, ": ", list, NULL) : g_strdup (param->help);
  return cells;
}

static void
print_params (const LigOpInfo *info)
{
  int widths[4] = {0};
  const LigParam *param;
  const char *group, *last = NULL;
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  const char *const header[] = {"parameter", "type", "default", "range", "", NULL};
  g_ptr_array_add (rows, g_strdupv ((char **) header));
  for (guint i = 0; (param = lig_op_info_nth_shown (info, i, &group)); i++, last = group) {
    if (group && group != last)
      g_ptr_array_add (rows, g_strsplit (group, "|", 1));
    g_ptr_array_add (rows, describe_param (param));
  }
  if (rows->len == 1)
    return;
  for (guint i = 0; i < rows->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS (widths) && ((char **) rows->pdata[i])[1]; k++)
      widths[k] = MAX (widths[k], lig_columns_width (((char **) rows->pdata[i])[k]));
  for (guint i = 0; i < rows->len; i++) {
    gboolean bold = lig_cli_colour () && (i == 0 || !((char **) rows->pdata[i])[1]);
    printf ("%s%s", i == 0 ? "\n" : "", bold ? "\033[1m" : "");
    print_row (rows->pdata[i], widths);
    printf ("%s", bold ? "\033[0m" : "");
  }
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
  lig_ops_print_line ("trained", list_parameters (info));
  lig_ops_print_line ("saves", list_ports (NULL, info->saves));
  lig_ops_print_line ("forward", list_kernels (info, LIG_PASS_FORWARD));
  lig_ops_print_line ("backward", list_kernels (info, LIG_PASS_BACKWARD));
  print_params (info);
  lig_ops_print_fusions (info);
  if (example)
    printf ("\nExample:\n  lig check '%s' --input %s\n", example[0], example[1]);
}

static int
show_op (const LigOpInfo *info)
{
  if (!lig_cli_json ()) {
    print_op (info);
    return LIG_EXIT_OK;
  }
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  lig_ops_add (builder, info);
  lig_cli_print_document ("op", json_builder_get_root (builder));
  return LIG_EXIT_OK;
}

/* Describes the op or the fusion of exactly that name, else searches. */
static int
show (char **words)
{
  gboolean single = !words[1];
  const LigOpInfo *info = single ? lig_op_info_find (words[0]) : NULL;
  const LigFusion *fusion = single ? lig_fusion_find (words[0]) : NULL;
  if (info)
    return show_op (info);
  if (!fusion)
    return lig_ops_search (words);
  lig_ops_show_fusion (fusion);
  return LIG_EXIT_OK;
}

static int
run (int argc, char **argv)
{
  const LigOpInfo *info;
  if (!lig_cli_parse (&lig_command_ops, NULL, &argc, &argv, 0, 4))
    return LIG_EXIT_USAGE;
  if (argc > 1)
    return show (argv + 1);
  if (!lig_cli_json ()) {
    print_all ();
    return LIG_EXIT_OK;
  }
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_array (builder);
  for (guint i = 0; (info = lig_op_info_nth (i)); i++)
    lig_ops_add (builder, info);
  json_builder_end_array (builder);
  lig_cli_print_document ("ops", json_builder_get_root (builder));
  return LIG_EXIT_OK;
}
