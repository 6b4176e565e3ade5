/* SPDX-License-Identifier: MIT */
/* The recorded load of experts at the ops of a plan. */
#include <ligature/plan-loads.h>
#include <ligature/plan.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>

/* Measures the last step of a series, which has one. */
static void
measure_last (const LigLoadSeries *series, LigLoadFigures *figures)
{
  g_autofree double *load = g_new (double, MAX (series->experts, 1));
  lig_load_series_sum (series, series->steps->len - 1, 1, load, figures);
}

static gboolean
has_router (const LigPlanOp *ops, guint first, guint end)
{
  for (guint i = first; i < end; i++)
    if (lig_plan_op_get_watched (&ops[i], "load"))
      return TRUE;
  return FALSE;
}

gboolean
lig_plan_has_loads (LigPlan *plan)
{
  guint count;
  g_return_val_if_fail (plan, FALSE);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  return has_router (ops, 0, count);
}

/* Returns whether the series are those of the plan's routers. */
static gboolean
fits (const LigPlanOp *ops, guint count, GPtrArray *loads)
{
  guint n = 0;
  for (guint i = 0; i < count; i++) {
    if (!lig_plan_op_get_watched (&ops[i], "load"))
      continue;
    const LigLoadSeries *series = n < loads->len ? loads->pdata[n++] : NULL;
    if (!series || series->steps->len == 0 || !g_str_equal (series->path, ops[i].path))
      return FALSE;
  }
  return n == loads->len;
}

/* Returns whether a router is one of a range of ops, or a repetition of one. */
static gboolean
is_among (const LigPlanOp *ops, guint router, guint first, guint end)
{
  gboolean found = router >= first && router < end;
  for (guint i = first; i < end && !found; i++)
    found = ops[i].written && ops[i].written == ops[router].written &&
            lig_plan_op_get_watched (&ops[i], "load");
  return found;
}

const LigLoadSeries *
lig_plan_find_load (LigPlan *plan, GPtrArray *loads, int first, int count)
{
  const LigLoadSeries *worst = NULL;
  double imbalance = 0;
  guint n_ops, n = 0;
  g_return_val_if_fail (plan, NULL);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  guint from = (guint) MAX (first, 0), end = (guint) CLAMP (first + count, 0, (int) n_ops);
  if (!loads || first < 0 || from >= end || !has_router (ops, from, end) ||
      !fits (ops, n_ops, loads))
    return NULL;
  for (guint i = 0; i < n_ops; i++) {
    LigLoadFigures figures;
    if (!lig_plan_op_get_watched (&ops[i], "load"))
      continue;
    const LigLoadSeries *series = loads->pdata[n++];
    if (!is_among (ops, i, from, end))
      continue;
    measure_last (series, &figures);
    if (worst && !(figures.imbalance > imbalance))
      continue;
    worst = series;
    imbalance = figures.imbalance;
  }
  return worst;
}

char *
lig_load_series_describe (const LigLoadSeries *self)
{
  LigLoadFigures figures;
  g_return_val_if_fail (self && self->steps->len > 0, NULL);
  measure_last (self, &figures);
  /* Translators: a path, the number of a step. */
  g_autofree char *where =
    g_strdup_printf (_ ("Load of experts at %s in step %" PRId64), self->path,
                     g_array_index (self->steps, gint64, self->steps->len - 1));
  GString *text = g_string_new (where);
  if (figures.rows > 0)
    g_string_append_printf (text, _ (": expert %u has %.3g × the mean"), figures.busiest,
                            figures.imbalance);
  g_string_append_printf (text,
                          g_dngettext (GETTEXT_PACKAGE, ", %u of %u experts is idle",
                                       ", %u of %u experts are idle", figures.idle),
                          figures.idle, self->experts);
  if (figures.dropped > 0)
    g_string_append_printf (text,
                            g_dngettext (GETTEXT_PACKAGE, ", %.0f row was dropped",
                                         ", %.0f rows were dropped", (gulong) figures.dropped),
                            figures.dropped);
  return g_string_free (text, FALSE);
}
