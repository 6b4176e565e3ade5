/* SPDX-License-Identifier: MIT */
/* The changes that would save most in a document's plan, found on a thread with a device of its
 * own. The document's signal `savings` announces each result, and that a new plan has made the last
 * one outdated. */
#pragma once

#include <ligature/capacity.h>
#include <ligature/savings.h>

G_BEGIN_DECLS

typedef struct _LigDocument LigDocument;

/* Has savings found for the current plan and for each later one; unless `large`, only for plans
 * whose search takes a moment. */
void lig_document_want_savings (LigDocument *self, gboolean large);

/* Returns: (nullable) (element-type LigSaving): the savings of the current plan, best first; null
 *   while they are not known. */
GPtrArray *lig_document_get_savings (LigDocument *self);

/* Returns: (nullable): why the savings could not be found. */
const char *lig_document_get_savings_error (LigDocument *self);

/* Has the capacity found too, also for large plans. */
void lig_document_want_capacity (LigDocument *self);

/* Returns: (nullable): the lengths of an axis that fit with the current plan; null while they are
 *   not known, and for an input without the axis. */
const LigCapacity *lig_document_get_capacity (LigDocument *self, LigCapacityAxis axis);

/* Previews a saving until lig_document_end_preview() or the next edit. */
void lig_document_try_saving (LigDocument *self, const LigSaving *saving);

/* Returns: (nullable): the plan whose savings these are; null while they are not known. */
LigPlan *lig_document_get_searched (LigDocument *self);

/* Returns the title as a label, `Force backward-bias-gelu-linear at 2.0.0, in 12 groups`. */
char *lig_document_label_saving (const LigSaving *saving);

G_END_DECLS
