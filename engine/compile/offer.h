/* SPDX-License-Identifier: MIT */
/* Mends: which edit removes a refusal, found by following the pattern as if the edit were made.
 * Each function offers the match its mend where one edit is enough, and nothing otherwise. */
#pragma once

#include "engine/compile/match.h"
#include "engine/compile/walk.h"

void lig_offer (LigMatch *match, LigMendKind kind, const char *path, const char *value);

/* Only one fence lies between the ops that were found. */
void lig_offer_unfence (const LigWalk *walk, const LigFound *found, LigMatch *match);

/* Only one branch that is no element of the pattern is used between the ops that were found. */
void lig_offer_private (const LigWalk *walk, const LigFound *found, LigMatch *match);

/* The branch of one op. */
void lig_offer_private_branch (const LigDraft *draft, int branch, LigMatch *match);

/* The op after those that were found is removed, replaced, or follows an inserted one. */
void lig_offer_pattern (LigWalk *walk, const LigFound *found, LigMatch *match);

/* A type in which the device has the kernels of all steps; or, without steps, one of `types`. */
void lig_offer_dtype (const LigDraft *draft, const GArray *steps, unsigned types, LigMatch *match);

/* Once the cover is chosen: which of the fusions that others hinder a force would make taken. */
void lig_offer_forces (LigDraft *draft, GArray *candidates);

/* Last, gains and the numbers of mends. */
void lig_explain_verdicts (LigDraft *draft, GArray *candidates);
