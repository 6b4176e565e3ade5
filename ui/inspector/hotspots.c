/* SPDX-License-Identifier: MIT */
/* The groups that take most of a step's time. The repetitions of a block count as one. */
#include "ui/inspector/times.h"

#include "ui/document/times.h"
#include <ligature/hotspots.h>

void
lig_facts_show_hotspots (LigFacts *facts, LigDocument *doc)
{
  LigTimedPlan timed, unfused;
  LigFigures whole;
  lig_document_get_timed (doc, &timed, &unfused);
  lig_facts_begin (facts);
  if (timed.plan) {
    g_autoptr (GPtrArray) all = lig_hotspot_list (&timed, &unfused, LIG_HOTSPOT_NAMES);
    lig_hotspot_sum (all, &whole);
    for (guint i = 0; i < all->len && whole.seconds > 0; i++) {
      const LigHotspot *hotspot = all->pdata[i];
      g_autofree char *value = lig_hotspot_share_text (&hotspot->figures, &whole);
      g_autofree char *detail = lig_hotspot_describe (hotspot);
      lig_facts_add_figure (facts, hotspot->name, value, hotspot->figures.measured, detail);
      if (hotspot->path)
        lig_facts_lead_to (facts, hotspot->path);
    }
  }
  lig_facts_end (facts);
}
