/* SPDX-License-Identifier: MIT */
/* The one matcher: whether a fusion is legal at a place, and if not, why. */
#pragma once

#include "engine/compile/lower.h"
#include "engine/compile/pattern.h"

typedef struct {
  LigGroup group;     /* whole where reason is NONE */
  int first, count;   /* ops looked at */
  gboolean fits;      /* the pattern, but for a fence or a branch */
  gboolean whole;     /* no fence or branch in between either */
  LigReason reason;   /* up to KERNEL */
  LigRefusal refusal; /* observed and required are owned by the caller */
  LigEvidence found, needed;
  LigMend *mend; /* (nullable): owned by the caller; its fusion is not set */
} LigMatch;

/* FALSE where the fusion does not even begin at this op: there is nothing to say then. The error
 * is set where the fusion's table is faulty. */
gboolean
lig_match (LigDraft *draft, const LigFusion *fusion, int at, LigMatch *match, GError **error);

/* Leaves out the last element of a legal match if it is optional and two remain, and checks what is
 * left. FALSE where it cannot be shorter, or with the error set. */
gboolean lig_match_shorten (LigDraft *draft, LigMatch *match, GError **error);

/* The sentence of a verdict, in the draft's strings. */
const char *lig_verdict_text (LigDraft *draft, const LigVerdict *verdict);
