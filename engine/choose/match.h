/* SPDX-License-Identifier: MIT */
/* The matcher: decides whether a fusion is legal at an op, and if not, why. */
#pragma once

#include "engine/lower/lower.h"
#include "engine/patterns/pattern.h"

typedef struct {
  LigPlanGroup group;     /* complete if reason is NONE */
  int first, count;       /* the ops that were compared */
  gboolean fits;          /* the pattern matches, apart from fences and used branches */
  gboolean whole;         /* the pattern matches without any fence or used branch in between */
  LigReason reason;       /* one of those up to LIG_REASON_KERNEL */
  LigRejection rejection; /* observed and required are owned by the caller */
  LigEvidence found, needed;
  LigFix *fix; /* (nullable): owned by the caller; its fusion is not set */
} LigMatch;

/* Returns FALSE if the fusion does not even begin at this op, which needs no verdict. The error is
 * set if the fusion's table is invalid. */
gboolean
lig_match (LigGraph *graph, const LigFusion *fusion, int at, LigMatch *match, GError **error);

/* Removes the last element of a legal match if it is optional and two remain, and checks the rest.
 * FALSE if the match cannot be shortened, or with the error set. */
gboolean lig_match_shorten (LigGraph *graph, LigMatch *match, GError **error);
