/* SPDX-License-Identifier: MIT */
/* Fixes: the edit that removes a rejection, found by matching the pattern as if the edit were made.
 * Each function adds a fix to the match if one edit is enough, and nothing otherwise. */
#pragma once

#include "engine/choose/match.h"
#include "engine/patterns/walk.h"

void lig_offer (LigMatch *match, LigFixKind kind, const char *path, const char *value);

/* Suggests to allow the fusion, where the match begins and everywhere. */
void lig_offer_unforbid (const LigGraph *graph, const char *fusion, LigMatch *match);

/* Suggests to remove the fence if there is only one between the matched ops. */
void lig_offer_unfence (const LigWalk *walk, const LigFound *found, LigMatch *match);

/* Suggests to make the branch private if only one branch that is not an element of the pattern is
 * used between the matched ops. */
void lig_offer_private (const LigWalk *walk, const LigFound *found, LigMatch *match);

/* Suggests to make the branch of one op private. */
void lig_offer_private_branch (const LigGraph *graph, int branch, LigMatch *match);

/* Suggests to remove the op after the matched ones, to replace it, or to insert an op before it. */
void lig_offer_pattern (LigWalk *walk, const LigFound *found, LigMatch *match);

/* Suggests to set the parameter that the fusion's condition requires, of the op as written: of a
 * macro, if that has a parameter of the same name. */
void lig_offer_param (const LigGraph *graph, LigMatch *match);

/* Suggests a type for which the device has the kernels of all steps; without steps, one of
 * `types`. */
void lig_offer_dtype (const LigGraph *graph, const GArray *steps, unsigned types, LigMatch *match);

/* Finds the fusions with claimed ops that would be accepted if they were forced. Called once the
 * cover is chosen. */
void lig_offer_forces (LigGraph *graph, GArray *candidates);

/* Suggests to drop forced fusions that prevent others, and to choose the policy `measured`. */
void lig_offer_options (LigGraph *graph, GArray *candidates);

/* Returns whether another group would prevent the candidate even after its fix: a forced one, or
 * with policy `all` one that is tried before it. */
gboolean lig_is_blocked (LigGraph *graph, GArray *candidates, guint number);

/* Adds the gains and the numbers of the fixes, when all verdicts are complete. */
void lig_explain_verdicts (LigGraph *graph, GArray *candidates);
