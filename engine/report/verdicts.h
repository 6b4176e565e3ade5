/* SPDX-License-Identifier: MIT */
/* Verdicts in reports, the most important first. Equal verdicts in the repetitions of a block are
 * one line. */
#pragma once

#include <ligature/plan.h>

typedef struct {
  gconstpointer verdict; /* the first of the equal verdicts */
  guint times;
} LigVerdictLine;

/* Returns a key that is the same for equal verdicts; (transfer full). */
typedef char *(*LigVerdictKey) (gconstpointer verdict, gpointer data);

/* Appends the path of an op with `*` for repetition numbers: `3.*.2` for `3.7.2`. */
void lig_report_append_place (GString *key, const char *path);

/* Returns lines in the order of the array; each element belongs to one line. (transfer full)
 * (element-type LigVerdictLine) */
GArray *lig_report_fold_verdicts (GPtrArray *verdicts, LigVerdictKey key, gpointer data);

/* Returns the lines of a plan's verdicts, each a #LigVerdict; (transfer full) (element-type
 * LigVerdictLine). */
GArray *lig_report_list_verdicts (LigPlan *plan);

/* Returns the sentence with the number of equal verdicts: `… (12 times)`; (transfer full). */
char *lig_report_verdict_text (const char *text, guint times);

/* Returns the words for a reason by its name; (transfer none) (nullable). @name: (nullable) */
const char *lig_report_reason (const char *name);

/* The plans after the edits of verdicts. */
typedef struct {
  LigPlan *plan;
  GHashTable *fixed; /* (nullable): LigPlan by edit number */
} LigRemedies;

void lig_remedies_clear (LigRemedies *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigRemedies, lig_remedies_clear)

/* Returns why the policy would reject the fusion even after its fix; NULL if it would not, or if
 * that is unknown; (transfer none), valid as long as the remedies. */
const char *lig_report_find_obstacle (LigRemedies *self, const LigVerdict *verdict);

/* Returns the gain and the fix: `would save about 3 us; fix 2: remove the fence before 3`; or, if
 * the policy would reject the fusion even after the edit, the reason instead of the gain. (transfer
 * full) NULL if both are unknown. */
char *lig_report_remedy (LigRemedies *self, const LigVerdict *verdict);
