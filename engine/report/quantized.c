/* SPDX-License-Identifier: MIT */
/* Describes the products of a plan that compute with quantized operands. */
#include <ligature/report.h>

#include <glib/gi18n-lib.h>
#include <string.h>

char *
lig_plan_explain_recipe (LigPlan *self)
{
  guint count, quantized = 0, apart = 0, products = 0;
  const LigPlanOp *first = NULL, *ops = lig_plan_get_ops (self, &count);
  for (guint i = 0; i < count; i++) {
    quantized += ops[i].recipe != NULL;
    products += g_str_equal (ops[i].info->name, "basic-linear");
    apart += ops[i].unquantized != NULL;
    first = first || !ops[i].unquantized ? first : &ops[i];
  }
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
  if (quantized > 0 && lig_plan_scales_loss (self))
    g_string_append (text,
                     _ ("; fp16 gradients that overflow are limited by quantizing them, which no "
                        "step notices: compute in bf16"));
  return g_string_free (text, FALSE);
}
