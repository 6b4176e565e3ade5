/* SPDX-License-Identifier: MIT */
/* The errors of the recipes that were compared with a run. */
#include "engine/report/paper.h"
#include <ligature/draw-recipes.h>
#include <ligature/profile.h>
#include <ligature/units.h>

#include <json-glib/json-glib.h>

/* Returns `2.1 %`, or `-` for a missing error. */
static char *
format_error (double error)
{
  char *text = lig_draw_error (error);
  if (*text)
    return text;
  g_free (text);
  return g_strdup ("-");
}

static void
append_totals (LigPaper *to, GPtrArray *errors)
{
  lig_paper_head (to, _ ("Recipe|>Memory|>Error of the output|>Error of gradients"));
  for (guint i = 0; i < errors->len; i++) {
    const LigRecipeErrors *recipe = errors->pdata[i];
    g_autofree char *memory = lig_units_bytes ((double) recipe->bytes);
    g_autofree char *output = format_error (recipe->output);
    g_autofree char *gradient = format_error (recipe->gradient);
    lig_paper_row (to, recipe->recipe, memory, output, gradient, NULL);
  }
}

/* Returns the three errors of an op, with the mark of a quantized matmul. */
static char *
format_op (const LigOpErrors *op)
{
  g_autofree char *output = format_error (op->output);
  g_autofree char *gradient = format_error (op->gradient);
  g_autofree char *parameters = format_error (op->parameters);
  return g_strdup_printf ("%s%s · %s · %s", op->recipe ? "• " : "", output, gradient, parameters);
}

/* Writes a row for each op and a column for each recipe. */
static void
append_ops (LigPaper *to, GPtrArray *errors)
{
  const LigRecipeErrors *first = errors->pdata[0];
  g_autoptr (GString) columns = g_string_new (_ ("Path|Op"));
  for (guint i = 0; i < errors->len; i++) {
    g_autofree char *name = g_strdup (((const LigRecipeErrors *) errors->pdata[i])->recipe);
    g_string_append_printf (columns, "|>%s", g_strdelimit (name, "|", ' '));
  }
  lig_paper_head (to, columns->str);
  for (guint n = 0; n < first->n_ops; n++) {
    g_auto (GStrv) cells = g_new0 (char *, errors->len + 3);
    cells[0] = g_strdup (first->ops[n].path);
    cells[1] = g_strdup (first->ops[n].op);
    for (guint i = 0; i < errors->len; i++)
      cells[i + 2] = format_op (&((const LigRecipeErrors *) errors->pdata[i])->ops[n]);
    lig_paper_cells (to, (const char *const *) cells);
  }
}

void
lig_paper_errors (LigPaper *to, const LigReportRun *run)
{
  if (run->errors->len == 0)
    return;
  lig_paper_heading (to, _ ("Errors of recipes"));
  append_totals (to, run->errors);
  if (lig_paper_figure (to, LIG_FIGURE_ERRORS))
    return;
  lig_paper_say (to, _ ("Relative errors of each op's output, of the output's gradient and of the "
                        "gradients of its parameters, compared with the unquantized run on one "
                        "random batch; a dot marks matmuls with quantized operands:"));
  append_ops (to, run->errors);
}

void
lig_report_add_errors (JsonBuilder *to, GPtrArray *errors)
{
  json_builder_set_member_name (to, "errors");
  json_builder_add_value (to, lig_profile_errors_to_json (errors));
}
