/* SPDX-License-Identifier: MIT */
/* The times in the inspector, with the figures that the score shows. */
#pragma once

#include "ui/inspector/parts.h"

G_BEGIN_DECLS

/* Fill a list of facts: the whole step and its passes compared with the unfused plan, the hotspots,
 * and the groups that cover a range of ops. */
void lig_facts_show_step (LigFacts *facts, LigDocument *doc);
void lig_facts_show_hotspots (LigFacts *facts, LigDocument *doc);
void lig_facts_show_groups (LigFacts *facts, LigDocument *doc, int first, int end);

G_END_DECLS
