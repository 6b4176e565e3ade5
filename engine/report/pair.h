/* SPDX-License-Identifier: MIT */
/* Parts of texts that show several plans next to each other. */
#pragma once

#include <ligature/comparison.h>
#include <ligature/figures.h>

#include <json-glib/json-glib.h>

/* Removes trailing spaces and appends a line feed. */
void lig_report_end_line (GString *to);

/* Return the ratio of the times as lig_plan_change_factor_text() and lig_plan_change_ratio_text();
 * `same` if they do not differ; (transfer full), NULL if a time is unknown. */
char *lig_report_factor (const LigPlanChange *change);
char *lig_report_ratio (const LigPlanChange *change);

/* Return the rejections of matching fusions that `other` does not reject at the same place, or that
 * it rejects there for another reason, the largest gain first; equal ones in the repetitions of a
 * block are one line. (transfer full) (element-type LigVerdictLine) */
GArray *lig_report_rejected_only (LigPlan *plan, LigPlan *other);
GArray *lig_report_rejected_otherwise (LigPlan *plan, LigPlan *other);

/* Returns a key that is the same for the same fusion at the same place of another plan, and of
 * another repetition of a block; (transfer full). */
char *lig_report_verdict_place (const LigVerdict *verdict, LigPlan *plan);

/* Finds the figures of the groups of one side of a change. */
void lig_report_side_figures (const LigTimedPlan *timed,
                              LigPass pass,
                              const LigPlanSide *side,
                              LigFigures *figures);

/* Returns the totals of plans as lig_plans_to_totals(), with their measured times. */
char *lig_report_totals (
  const LigTimedPlan *plans, const char *const *titles, guint count, gboolean colour, int width);

/* Adds the English name of the bound, or null. */
void lig_report_add_bound (JsonBuilder *to, LigBound bound);
