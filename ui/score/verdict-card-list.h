/* SPDX-License-Identifier: MIT */
/* The contents of the verdict card: verdicts, labels of mends, and mends as undoable edits. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/* Returns the verdicts on the gaps between @first and @last, or on the op if both are the same:
 * chosen fusions first, each part in the order of lig_verdict_compare(). (transfer container)
 * (element-type LigVerdict) */
GPtrArray *lig_verdict_card_list (LigDocument *document, int first, int last);

/* Returns the label of the button that applies the mend. (transfer full) */
char *lig_verdict_card_label (const LigMend *mend);

/* Returns the op of the sequence from which an op of the plan was expanded. (nullable) */
LigOp *lig_verdict_find_op (LigDocument *document, int expanded);

G_END_DECLS
