/* SPDX-License-Identifier: MIT */
/* The fixes of a plan's rejected fusions as edits of its sequence, and trials of them: each is
 * compiled as a whole plan and compared with the current one. */
#pragma once

#include <ligature/plan.h>

/* An edit with its total saving. An edit in a block is made in every repetition, so that its gains
 * are summed. */
typedef struct {
  const LigFix *fix;
  GArray
    *verdicts;  /* const LigVerdict *: the rejections that it removes, without overlapping ones */
  double gain;  /* seconds, NaN: unknown: of its groups, or of the plan if it was tried */
  double bytes; /* that are not read and written, of the same */
  gboolean measured;
  gboolean instead; /* replaces a better edit, whose ops it needs; set by the caller */
  char *groups;     /* (nullable): the groups of the plan with the edit, if it was tried */
} LigSavingEdit;

/* Lists the edits of a plan that may save time, or bytes if no time is known, those with the
 * largest gains first. @any: whether to list edits whose groups do not gain: policy `all` applies
 * the first fusion that matches, so that a whole plan may gain nevertheless. Returns: (transfer
 * full): an array of #LigSavingEdit */
GArray *lig_saving_list_edits (LigPlan *plan, gboolean any);

/* Returns whether edits of the plan can be tried: each trial compiles a plan, which takes seconds
 * for many ops. */
gboolean lig_saving_can_try (LigPlan *plan);

/* Finds the predicted saving of a whole step by all these edits together. @groups: (out) (optional)
 * (transfer full): the groups of the plan with them. Returns FALSE if that cannot be compiled. */
gboolean lig_saving_try_edits (
  LigPlan *plan, const guint *numbers, guint count, double *gain, double *bytes, char **groups);

/* Tries the first edits and replaces the gains of their groups by those of the whole plan: an edit
 * may lead to another fusion than the rejected one, or to none if the policy rejects it for another
 * reason. Only those remain that save something, and not the same as one before, at most @max,
 * sorted; at most @tries are tried. */
void lig_saving_try_each (LigPlan *plan, GArray *edits, guint max, guint tries);

/* Returns an edit's text with the number of its groups if there are several; (transfer full). */
char *lig_saving_count_groups (const LigSavingEdit *edit, const char *text);
