/* SPDX-License-Identifier: MIT */
/* A recipe that products cannot follow changes nothing, which the results do not show. */
#include "app/cli/recipe-note.h"

#include "app/cli/command.h"
#include <ligature/report.h>

void
lig_cli_note_recipe (LigPlan *plan)
{
  guint count, apart = 0, products = 0;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++) {
    apart += ops[i].unquantized != NULL;
    products += g_str_equal (ops[i].info->name, "basic-linear");
  }
  gboolean remarkable = apart > 0 || products == 0 || lig_plan_scales_loss (plan);
  g_autofree char *text = remarkable ? lig_plan_explain_recipe (plan) : NULL;
  if (text)
    lig_cli_say ("%s", text);
}
