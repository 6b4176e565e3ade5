/* SPDX-License-Identifier: MIT */
/* The groups that take most of a step's time. The repetitions of a block count as one. */
#include "ui/inspector/times.h"

#include "ui/document/times.h"
#include <ligature/hottest.h>

void
lig_facts_show_hottest (LigFacts *facts, LigDocument *doc)
{
  LigTimedPlan timed, unfused;
  LigFigures whole;
  lig_document_get_timed (doc, &timed, &unfused);
  lig_facts_begin (facts);
  if (timed.plan) {
    lig_figures_of_step (&timed, &unfused, &whole);
    g_autoptr (GPtrArray) all = lig_hottest_list (&timed, &unfused, LIG_HOTTEST_NAMES);
    for (guint i = 0; i < all->len && whole.seconds > 0; i++) {
      const LigHottest *hottest = all->pdata[i];
      g_autofree char *value = lig_hottest_share_text (&hottest->figures, &whole);
      g_autofree char *detail = lig_hottest_describe (hottest);
      lig_facts_add_figure (facts, hottest->name, value, hottest->figures.measured, detail);
      if (hottest->path)
        lig_facts_lead_to (facts, hottest->path);
    }
  }
  lig_facts_end (facts);
}
