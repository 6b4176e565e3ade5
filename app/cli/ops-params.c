/* SPDX-License-Identifier: MIT */
/* The parameters of ops and recipes, as `lig ops` shows them. */
#include "app/cli/ops-params.h"

#include "app/cli/document.h"
#include "app/cli/table.h"
#include <ligature/columns.h>

#include <stdio.h>
#include <string.h>

/* The minimum width of a help text after the other columns. */
#define MIN_HELP 24
/* The width that a range leaves to the cells before it. */
#define BEFORE_RANGE 45

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

static char *
format_bound (const LigParam *param, double value)
{
  return g_strdup_printf (param->kind == LIG_PARAM_FLOAT ? "%.7g" : "%.0f", value);
}

/* Returns the range of a parameter, without bounds that only come from the type or a tensor's size.
 * A number that means that it is unset is part of the range, or comes first. */
static char *
format_range (const LigParam *param)
{
  gboolean open =
    is_number (param) && param->flags & LIG_PARAM_INFERRED && param->initial < param->minimum;
  gboolean adjacent = open && param->kind == LIG_PARAM_INT && param->initial + 1 == param->minimum;
  g_autofree char *unset = format_bound (param, param->initial);
  g_autofree char *absent = open && !adjacent ? g_strconcat (unset, " or ", NULL) : g_strdup ("");
  g_autofree char *minimum = format_bound (param, adjacent ? param->initial : param->minimum);
  g_autofree char *maximum = format_bound (param, param->maximum);
  if (param->kind == LIG_PARAM_CHOICE)
    return g_strdup (param->choices);
  if (!has_range (param))
    return g_strdup ("");
  if (param->maximum >= 1e9)
    return param->minimum <= -1e9 ? g_strdup ("any")
                                  : g_strconcat (absent, "at least ", minimum, NULL);
  return g_strconcat (absent, minimum, " … ", maximum, NULL);
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

void
lig_ops_add_param (JsonBuilder *builder, const LigParam *param, const char *group)
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

/* --- Text ---------------------------------------------------------------------------------- */

/* Prints a row of the table of parameters: four cells in columns and a help text after them, or
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
  gboolean empty = !*cells[4], below = width - at < MIN_HELP;
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

void
lig_ops_print_params (const LigOpsParam *params, guint count)
{
  int widths[4] = {0};
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  const char *const header[] = {"parameter", "type", "default", "range", "", NULL};
  if (count == 0)
    return;
  g_ptr_array_add (rows, g_strdupv ((char **) header));
  for (guint i = 0; i < count; i++) {
    if (params[i].group && (i == 0 || params[i].group != params[i - 1].group))
      g_ptr_array_add (rows, g_strsplit (params[i].group, "|", 1));
    g_ptr_array_add (rows, describe_param (params[i].param));
  }
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
