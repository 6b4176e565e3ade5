/* SPDX-License-Identifier: MIT */
/* Describes the products of a plan that compute with quantized operands. */
#include <ligature/report.h>

#include <glib/gi18n-lib.h>
#include <string.h>

typedef struct {
  guint products, quantized, apart; /* apart: they have a recipe that they cannot follow */
  const LigPlanOp *first;           /* of those apart */
} Products;

static Products
count_products (LigPlan *plan)
{
  guint count;
  Products self = {0};
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++) {
    self.quantized += ops[i].recipe != NULL;
    self.products += g_str_equal (ops[i].info->name, "basic-linear");
    self.apart += ops[i].unquantized != NULL;
    self.first = self.first || !ops[i].unquantized ? self.first : &ops[i];
  }
  return self;
}

char *
lig_plan_remark_recipe (LigPlan *self)
{
  const Products all = count_products (self);
  return all.apart > 0 || all.products == 0 ? lig_plan_explain_recipe (self) : NULL;
}

char *
lig_plan_explain_recipe (LigPlan *self)
{
  const Products all = count_products (self);
  const guint products = all.products, quantized = all.quantized, apart = all.apart;
  const LigPlanOp *first = all.first;
  if (products == 0 && !g_str_equal (lig_plan_get_recipe (self), "none"))
    return g_strdup_printf (_ ("%s quantizes nothing: the sequence has no products"),
                            lig_plan_get_recipe (self));
  if (quantized + apart == 0)
    return NULL;
  GString *text = g_string_new (NULL);
  g_string_printf (text,
                   g_dngettext (GETTEXT_PACKAGE, "%u of %u product has quantized operands",
                                "%u of %u products have quantized operands", (gulong) products),
                   quantized, products);
  if (first)
    g_string_append_printf (text, _ ("; %s at %s computes in %s: %s"), first->title, first->path,
                            lig_dtype_name (lig_plan_get_compute (self)), first->unquantized);
  /* While a recipe is calibrated, no product has quantized operands. */
  if (quantized > 0 && quantized + apart < products)
    g_string_append_printf (text,
                            g_dngettext (GETTEXT_PACKAGE, "; %u has recipe none",
                                         "; %u have recipe none",
                                         (gulong) (products - quantized - apart)),
                            products - quantized - apart);
  return g_string_free (text, FALSE);
}
