/* SPDX-License-Identifier: MIT */
/* The words of the verdict card, and the edit of a mend as one step of the document's history. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/* (transfer container) (element-type LigVerdict): about the gaps between @first and @last, or about
 * the op where both are the same; those taken first, then as lig_verdict_compare() orders them. */
GPtrArray *lig_verdict_card_list (LigDocument *document, int first, int last);

/* (transfer full): the label of the button that makes the edit. */
char *lig_verdict_card_label (const LigMend *mend);

/* Makes the edit, which can be undone. */
gboolean lig_verdict_card_apply (LigDocument *document, const LigMend *mend, GError **error);

/* The op as written that an op of the plan stands for. (nullable) */
LigOp *lig_verdict_find_op (LigDocument *document, int expanded);

G_END_DECLS
