/* SPDX-License-Identifier: MIT */
/* Previews: the plan that the document would have after an edit or with another device or policy,
 * compared with its current plan. A preview is compiled on a thread, measures nothing, and changes
 * neither the sequence nor the document's plan. The newest request wins; an edit or a choice of
 * device or policy ends it. The document's signal `previewed` announces each state. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

typedef struct _LigPlanComparison LigPlanComparison;

/**
 * lig_document_preview:
 * @sequence: (transfer full) (nullable): the edited copy; null: the document's own sequence
 * @device: (nullable): null: the document's own
 * @policy: a policy, possibly the document's own
 * @label: of the edit, translated: `Remove the fence`
 */
void lig_document_preview (LigDocument *self,
                           LigSequence *sequence,
                           const char *device,
                           LigPolicy policy,
                           const char *label);

/* Ends the preview; does nothing without one. */
void lig_document_end_preview (LigDocument *self);

/* Returns: (nullable): the label of the preview, compiled or not yet; null without one. */
const char *lig_document_get_preview_label (LigDocument *self);

/* Returns: (nullable): the comparison of the current plan with the preview's; null until it is
 *   compiled. */
LigPlanComparison *lig_document_get_preview (LigDocument *self);

/* Returns: (nullable): the reason why the preview has no plan. */
const char *lig_document_get_preview_problem (LigDocument *self);

/* Returns: (nullable): the device of the preview if it is not the document's. */
const char *lig_document_get_preview_device (LigDocument *self);

G_END_DECLS
