/* SPDX-License-Identifier: MIT */
/* The times of a document's plan: the measured steps if a profile has the same groups, and the
 * unfused plan, the baseline of savings. Score, heads, inspector and reports all read them here, so
 * that they agree. The document's signal `timed` announces new ones. */
#pragma once

#include "ui/document/document.h"
#include <ligature/figures.h>

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

/* Sets the document's plan, null without one, and the unfused plan, null while it is unknown, each
 * with the measured times of its steps; valid until `planned` or `timed`. */
void lig_document_get_timed (LigDocument *self, LigTimedPlan *timed, LigTimedPlan *unfused);

/* Returns the time of the newest measurement of the current plan in microseconds since 1970, 0 if
 * it is unknown or nothing was measured. */
gint64 lig_document_get_measured_at (LigDocument *self);

/* Return: (transfer full): the origin of the current plan's times, `measured on this H200, 12 s
 *   ago` or `predicted for NVIDIA H200`. @now: in microseconds since 1970; 0: without an age */
char *lig_document_describe_times (LigDocument *self, gint64 now);

G_END_DECLS
