/* SPDX-License-Identifier: MIT */
/* A recipe that products cannot follow changes nothing, which the results do not show. */
#include "app/cli/recipe-note.h"

#include "app/cli/command.h"
#include <ligature/report.h>

void
lig_cli_note_recipe (LigPlan *plan)
{
  g_autofree char *text = lig_plan_remark_recipe (plan);
  if (text)
    lig_cli_say ("%s", text);
}
