/* SPDX-License-Identifier: MIT */
/* Pins: a plan that is kept beside the present one, which it is compared with after every edit. The
 * document's signal `pinned` announces each new comparison. */
#pragma once

#include "ui/document/document.h"
#include <ligature/comparison.h>

G_BEGIN_DECLS

/* Keeps the plan of the preview if one is shown, which it ends, else the present one. Returns FALSE
 * without a plan. */
gboolean lig_document_pin (LigDocument *self);

/* Keeps the plan of the present sequence for another device, as soon as it is compiled.
 * @title: of the device */
void lig_document_pin_device (LigDocument *self, const char *device, const char *title);

void lig_document_unpin (LigDocument *self);
gboolean lig_document_is_pinned (LigDocument *self);

/* Returns: (nullable): the pinned plan compared with the present one; null if there is none. */
LigPlanComparison *lig_document_get_pinned (LigDocument *self);

/* Get the titles of both plans: of their devices if these differ, of their policies if those do,
 * the label of the edit that was previewed, or `before` and `after`. (transfer none) */
const char *lig_document_get_pinned_title (LigDocument *self);
const char *lig_document_get_present_title (LigDocument *self);

/* Returns the name of a plan's device, `NVIDIA H200`. (transfer none) */
const char *lig_pin_device_title (LigPlan *plan);

G_END_DECLS
