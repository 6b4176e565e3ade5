/* SPDX-License-Identifier: MIT */
/* Pins: a plan that is kept and compared with the current one after every edit. The document's
 * signal `pinned` announces each new comparison. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

typedef struct _LigPlanComparison LigPlanComparison;

/* Pins the previewed plan and ends the preview if there is one, else pins the current plan. Returns
 * FALSE without a plan. */
gboolean lig_document_pin (LigDocument *self);

/* Pins the plan of the current sequence for another device once it is compiled.
 * @title: of the device */
void lig_document_pin_device (LigDocument *self, const char *device, const char *title);

/* Pins the plan of another sequence for the document's device once it is compiled.
 * @sequence: (transfer full) */
void lig_document_pin_sequence (LigDocument *self, LigSequence *sequence, const char *title);

void lig_document_unpin (LigDocument *self);
gboolean lig_document_is_pinned (LigDocument *self);

/* Returns: (nullable): the pinned plan compared with the current one; null if there is none. */
LigPlanComparison *lig_document_get_pinned (LigDocument *self);

/* Get the titles of both plans: their devices if these differ, else their policies if those differ,
 * else the label of the previewed edit, or `before` and `after`. (transfer none) */
const char *lig_document_get_pinned_title (LigDocument *self);
const char *lig_document_get_present_title (LigDocument *self);

/* Returns the name of a plan's device, `NVIDIA H200`. (transfer none) */
const char *lig_pin_device_title (LigPlan *plan);

G_END_DECLS
