/* SPDX-License-Identifier: MIT */
/* Verdicts in the order in which people want them: what was nearly fused first; and what the
 * repetitions of a block say alike is said once. */
#pragma once

#include <ligature/plan.h>

typedef struct {
  gconstpointer verdict; /* the first of those that say the same */
  guint times;
} LigVerdictLine;

/* A verdict of a plan or of a run that was stored. */
typedef struct {
  gconstpointer verdict;
  const char *path;   /* (nullable): of its first op, where it is known */
  const char *reason; /* (nullable): as lig_reason_name() says it */
  const char *text;   /* its sentence */
  int first;          /* expanded index of its first op */
  gboolean taken;
} LigReportVerdict;

/* (transfer full) (element-type LigVerdictLine): every entry is in one line. */
GArray *lig_report_fold_verdicts (const LigReportVerdict *entries, guint count);

/* (transfer full) (element-type LigVerdictLine): of #LigVerdict. */
GArray *lig_report_list_verdicts (LigPlan *plan);

/* (transfer full): the sentence, and how often it is said: `… (12 times)`. */
char *lig_report_verdict_text (const char *text, guint times);
