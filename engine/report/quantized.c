/* SPDX-License-Identifier: MIT */
/* Describes the quantized matmuls of a plan. */
#include "engine/report/quantized.h"

#include <ligature/report.h>

#include <glib/gi18n-lib.h>
#include <string.h>

typedef struct {
  guint matmuls, quantized, apart; /* apart: with a recipe that they cannot follow */
  guint rounded;                   /* ops that quantize values that no matmul reads */
  const LigPlanOp *first;          /* the first of those apart */
} Matmuls;

static Matmuls
count_matmuls (LigPlan *plan)
{
  guint count;
  Matmuls self = {0};
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++) {
    self.quantized += ops[i].recipe != NULL;
    self.matmuls += (ops[i].info->flags & (LIG_OP_MATMUL | LIG_OP_GROUPED)) != 0;
    self.rounded += (ops[i].info->flags & LIG_OP_QUANTIZES) != 0;
    self.apart += ops[i].unquantized != NULL;
    self.first = self.first || !ops[i].unquantized ? self.first : &ops[i];
  }
  return self;
}

char *
lig_plan_remark_recipe (LigPlan *self)
{
  const Matmuls all = count_matmuls (self);
  const gboolean idle =
    (all.matmuls == 0 && all.rounded == 0) || lig_plan_get_idle_recipe (self) != NULL;
  return all.apart > 0 || idle ? lig_plan_explain_recipe (self) : NULL;
}

/* Appends the recipes that matmuls follow, in order. */
static void
append_recipes (LigPlan *plan, GString *text)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; i < count; i++)
    if (ops[i].recipe &&
        !g_ptr_array_find_with_equal_func (names, ops[i].recipe, g_str_equal, NULL))
      g_ptr_array_add (names, (char *) ops[i].recipe);
  if (names->len == 0)
    return;
  g_ptr_array_add (names, NULL);
  g_autofree char *all = g_strjoinv (", ", (char **) names->pdata);
  g_string_append_printf (text, " (%s)", all);
}

char *
lig_explain_weight_gradient (LigPlan *plan, const LigPlanOp *op)
{
  if (!op->recipe || !(op->info->flags & LIG_OP_GROUPED) || !op->needs_backward)
    return NULL;
  return g_strdup_printf (_ ("its weight gradient is computed in %s: it sums over the rows of a "
                             "group, whose borders only the device knows"),
                          lig_dtype_name (lig_plan_get_compute (plan)));
}

/* Returns the first quantized matmul whose weight gradient is not quantized; null if there is
 * none. */
static const LigPlanOp *
find_gradient_apart (LigPlan *plan)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++)
    if (ops[i].recipe && ops[i].info->flags & LIG_OP_GROUPED && ops[i].needs_backward)
      return &ops[i];
  return NULL;
}

/* Returns the sentence about a plan that has a recipe but no matmuls. */
static char *
explain_rest (LigPlan *self, guint rounded)
{
  const char *recipe = lig_plan_get_recipe (self);
  if (rounded == 0)
    return g_strdup_printf (_ ("%s quantizes nothing: the sequence has no matmuls"), recipe);
  return g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%u op quantize rounds to %s; the sequence has no matmuls",
                 "%u ops quantize round to %s; the sequence has no matmuls", (gulong) rounded),
    rounded, recipe);
}

/* Returns the sentence about the matmuls, or null. */
static char *
explain_matmuls (LigPlan *self)
{
  const Matmuls all = count_matmuls (self);
  const guint matmuls = all.matmuls, quantized = all.quantized, apart = all.apart;
  const LigPlanOp *first = all.first;
  if (matmuls == 0 && !g_str_equal (lig_plan_get_recipe (self), "none"))
    return explain_rest (self, all.rounded);
  if (quantized + apart == 0)
    return NULL;
  GString *text = g_string_new (NULL);
  g_string_printf (text,
                   g_dngettext (GETTEXT_PACKAGE, "%u of %u matmul has quantized operands",
                                "%u of %u matmuls have quantized operands", (gulong) matmuls),
                   quantized, matmuls);
  append_recipes (self, text);
  if (first)
    g_string_append_printf (text, _ ("; %s at %s computes in %s: %s"), first->title, first->path,
                            lig_dtype_name (lig_plan_get_compute (self)), first->unquantized);
  const LigPlanOp *apart_gradient = find_gradient_apart (self);
  g_autofree char *reason =
    apart_gradient ? lig_explain_weight_gradient (self, apart_gradient) : NULL;
  if (reason)
    g_string_append_printf (text, _ ("; %s at %s: %s"), apart_gradient->title, apart_gradient->path,
                            reason);
  /* During calibration, no matmul has quantized operands. */
  if (quantized > 0 && quantized + apart < matmuls)
    g_string_append_printf (text,
                            g_dngettext (GETTEXT_PACKAGE, "; %u has recipe none",
                                         "; %u have recipe none",
                                         (gulong) (matmuls - quantized - apart)),
                            matmuls - quantized - apart);
  return g_string_free (text, FALSE);
}

char *
lig_plan_explain_recipe (LigPlan *self)
{
  const char *idle = lig_plan_get_idle_recipe (self);
  char *matmuls = explain_matmuls (self);
  if (!idle)
    return matmuls;
  g_autofree char *before = matmuls;
  g_autofree char *sentence =
    g_strdup_printf (_ ("%s quantizes nothing: the block that names it has no matmuls"), idle);
  return before ? g_strconcat (before, "; ", sentence, NULL) : g_steal_pointer (&sentence);
}
