/* SPDX-License-Identifier: MIT */
/* The texts of a score: names of groups, kernels, parameters, and the tooltips of marks. */
#include "engine/draw/score.h"
#include <ligature/draw.h>
#include <ligature/kernels.h>

#include <glib/gi18n-lib.h>
#include <string.h>

char *
lig_draw_tensor (const LigShape *shape, LigDtype dtype)
{
  g_autofree char *plain = lig_shape_to_string (shape);
  g_auto (GStrv) axes = g_strsplit (plain, "x", -1);
  g_autofree char *spaced = g_strjoinv (" × ", axes);
  return g_strdup_printf ("%s %s", spaced, lig_dtype_name (dtype));
}

/* --- Groups -------------------------------------------------------------------------------- */

char *
lig_layout_kernels (LigPlan *plan, const LigPlanGroup *group)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  GString *text = g_string_new (NULL);
  if (group->n_steps == 0)
    g_string_append (text, _ ("no kernel: the same tensor"));
  for (int i = 0, next; i < group->n_steps; i = next) {
    const LigKernel *kernel = steps[group->steps[i]].kernel;
    for (next = i + 1; next < group->n_steps; next++)
      if (steps[group->steps[next]].kernel != kernel)
        break;
    g_string_append (text, i > 0 ? ", " : "");
    if (next > i + 1)
      g_string_append_printf (text, "%d × ", next - i);
    g_string_append (text, kernel ? kernel->name : "opaque");
  }
  return g_string_free (text, FALSE);
}

static void
append_ops (GString *to, const LigScoreLayout *layout, const LigPlanGroup *group)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (layout->plan, &count);
  for (int i = group->first; i < group->first + group->count; i++)
    g_string_append_printf (to, "%s%s %s", i > group->first ? ", " : "", ops[i].path,
                            ops[i].info->name);
}

char *
lig_score_group_text (const LigScoreLayout *layout,
                      const LigPlanGroup *group,
                      const LigFigures *figures)
{
  GString *text = g_string_new (group->fusion ? group->fusion->name : _ ("unfused"));
  g_autofree char *kernels = lig_layout_kernels (layout->plan, group);
  g_autofree char *described = lig_figures_describe (figures);
  if (lig_plan_is_forced (layout->plan, group))
    g_string_append_printf (text, " (%s)", _ ("forced"));
  int bits = lig_plan_get_bits (layout->plan, group);
  if (bits > 0)
    g_string_append_printf (text, " (%s)", bits == 4 ? _ ("4 bits") : _ ("8 bits"));
  g_string_append (text, ": ");
  append_ops (text, layout, group);
  g_string_append_printf (text, "\n%s", kernels);
  if (described)
    g_string_append_printf (text, "\n%s", described);
  return g_string_free (text, FALSE);
}

char *
lig_score_sum_text (const LigFigures *figures)
{
  guint single = figures->groups - figures->fused;
  g_autofree char *alone = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%u unfused", "%u unfused", (gulong) single), single);
  if (figures->fused == 0)
    return g_steal_pointer (&alone);
  g_autofree char *fused = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%u fused", "%u fused", (gulong) figures->fused), figures->fused);
  return g_strjoin (" · ", fused, single > 0 ? alone : NULL, NULL);
}

/* --- Ops ----------------------------------------------------------------------------------- */

static char *
format_value (const GValue *value)
{
  if (G_VALUE_HOLDS_STRING (value))
    return g_value_dup_string (value);
  if (G_VALUE_HOLDS_DOUBLE (value))
    return lig_draw_number (g_value_get_double (value), 6);
  if (G_VALUE_HOLDS_INT64 (value))
    return g_strdup_printf ("%" G_GINT64_FORMAT, g_value_get_int64 (value));
  if (G_VALUE_HOLDS_BOOLEAN (value))
    return g_strdup (g_value_get_boolean (value) ? _ ("yes") : _ ("no"));
  return lig_shape_to_string (g_value_get_boxed (value));
}

/* Appends the parameters that were set and that the shapes do not show. */
static void
append_params (GString *to, LigOp *op)
{
  const LigParam *params = lig_op_get_info (op)->params;
  for (guint i = 0; params && params[i].name; i++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (!lig_op_get_value (op, &params[i], &value) || params[i].flags & LIG_PARAM_INFERRED ||
        g_str_equal (params[i].name, "out-features"))
      continue;
    g_autofree char *text = format_value (&value);
    g_string_append_printf (to, "%s%s %s", to->len > 0 ? " · " : "", params[i].name, text);
  }
}

const char *
lig_score_title (const LigPlanOp *op)
{
  const LigOpInfo *info = lig_op_info_find (op->title);
  return info ? _ (info->title) : op->title;
}

char *
lig_layout_params (const LigScoreLayout *layout, const LigLayoutRow *row)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (layout->plan, &count);
  const LigShape *x = &ops[row->first].x, *y = &ops[row->first + row->count - 1].y;
  GString *text = g_string_new (NULL);
  if (x->n_axes > 0 && x->n_axes == y->n_axes && x->axes[x->n_axes - 1] != y->axes[y->n_axes - 1])
    g_string_append_printf (text, "%" G_GINT64_FORMAT " → %" G_GINT64_FORMAT,
                            x->axes[x->n_axes - 1], y->axes[y->n_axes - 1]);
  append_params (text, ops[row->first].written);
  if (text->len > 0 || !row->folded)
    return g_string_free (text, FALSE);
  g_string_free (text, TRUE);
  return lig_plan_list_parts (layout->plan, row->first, row->count);
}

char *
lig_score_row_text (const LigScoreLayout *layout, const LigLayoutRow *row)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (layout->plan, &count);
  const LigPlanOp *first = &ops[row->first], *last = &ops[row->first + row->count - 1];
  gint64 parameters = 0, saved = 0;
  for (int i = 0; i < row->count; i++) {
    parameters += ops[row->first + i].parameters;
    saved += ops[row->first + i].saved_bytes;
  }
  g_autofree char *tensor = lig_draw_tensor (&last->y, last->y_dtype);
  g_autofree char *params = lig_layout_params (layout, row);
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, _ ("%s at %s gives %s"), lig_score_title (first), first->path,
                          tensor);
  if (*params)
    g_string_append_printf (text, "\n%s", params);
  if (parameters > 0) {
    g_autofree char *number = lig_draw_number ((double) parameters, 3);
    g_string_append_c (text, '\n');
    g_string_append_printf (
      text, g_dngettext (GETTEXT_PACKAGE, "%s parameter", "%s parameters", (gulong) parameters),
      number);
  }
  if (saved > 0) {
    g_autofree char *bytes = lig_draw_bytes ((double) saved);
    g_string_append_c (text, '\n');
    g_string_append_printf (text, _ ("saves %s for backward"), bytes);
  }
  return g_string_free (text, FALSE);
}
