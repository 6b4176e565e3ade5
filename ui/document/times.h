/* SPDX-License-Identifier: MIT */
/* The times of a document's plan: the measured steps if a profile has the same groups, of this
 * session or else in the store, and the unfused plan, the baseline of savings. Score, heads,
 * inspector and reports all read them here, so that they agree. The document's signal `timed`
 * announces new ones. */
#pragma once

#include "ui/document/document.h"
#include <ligature/comparison.h>

G_BEGIN_DECLS

/**
 * lig_document_set_profiles:
 * @profiles: (array length=count): measured plans, for example one for each policy, copied
 * @count: 0: forget the current ones
 *
 * A profile is used for each plan of the document that launches the same kernels; its times return
 * when an edit of the sequence is undone.
 */
void lig_document_set_profiles (LigDocument *self, const LigTimedPlan *profiles, guint count);

/* Returns whether the steps of a plan include the update of the parameters: those of a document's
 * plan do not, those of a profile do. */
gboolean lig_document_has_update (LigPlan *plan);

/* Returns: (transfer none): the name of the time of a whole step of the plan, which says whether
 *   the update is included. */
const char *lig_document_name_step (LigPlan *plan);

/* Sets the document's plan, null without one, and the unfused plan, null while it is unknown, each
 * with the measured times of its steps; valid until `planned` or `timed`. */
void lig_document_get_timed (LigDocument *self, LigTimedPlan *timed, LigTimedPlan *unfused);

/* Compares another plan of the document with its current one, both with the measured times of their
 * profiles, if any. */
LigPlanComparison *lig_document_compare_timed (LigDocument *self, LigPlan *before);

/* Returns the time of the newest measurement of the current plan in microseconds since 1970, 0 if
 * it is unknown or nothing was measured. */
gint64 lig_document_get_measured_at (LigDocument *self);

/* Returns: (transfer full) (nullable): `28 Nov`, translated, with the year if it is not the current
 *   one; null for a time that has no date. @when: in microseconds since 1970 */
char *lig_document_format_day (gint64 when);

/* Returns: (transfer full) (nullable): a sentence without capital and full stop on the profile in
 *   the store that the times of the current plan are of; null if they are others */
char *lig_document_describe_recorded (LigDocument *self);

/* Return: (transfer full): the origin of the current plan's times, `measured on this H200, 12 s
 *   ago`, `predicted for NVIDIA H200`, or for a profile in the store `measured on this H200 on
 *   28 Nov`. @now: in microseconds since 1970; 0: without an age */
char *lig_document_describe_times (LigDocument *self, gint64 now);

G_END_DECLS
