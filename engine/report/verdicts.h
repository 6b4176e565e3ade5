/* SPDX-License-Identifier: MIT */
/* Verdicts in reports: in the order of reading; those that the repetitions of a block have alike
 * are one line. */
#pragma once

#include <ligature/plan.h>

typedef struct {
  gconstpointer verdict; /* the first of those that are alike */
  guint times;
} LigVerdictLine;

/* Returns a text that verdicts have in common if they are alike. (transfer full) */
typedef char *(*LigVerdictKey) (gconstpointer verdict, gpointer data);

/* (transfer full) (element-type LigVerdictLine): in the order of the array; each of its elements is
 * in one line. */
GArray *lig_report_fold_verdicts (GPtrArray *verdicts, LigVerdictKey key, gpointer data);

/* (transfer full) (element-type LigVerdictLine): of #LigVerdict. */
GArray *lig_report_list_verdicts (LigPlan *plan);

/* (transfer full): the sentence, and how often it is said: `… (12 times)`. */
char *lig_report_verdict_text (const char *text, guint times);

/* (transfer full) (nullable): the gain and the mend: `would save about 3 us; mend 2: remove the
 * fence before 3`; null where both are unknown. */
char *lig_report_remedy (const LigVerdict *verdict);
