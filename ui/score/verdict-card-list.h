/* SPDX-License-Identifier: MIT */
/* The verdicts of a place in the order of what they would gain, and the edits that mend them. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/**
 * LigVerdictEntry:
 *
 * @gain: seconds that taking it would save over what is done today, NaN where nobody knows
 * @mendable: whether one edit takes away what refused it
 */
typedef struct {
  const LigVerdict *verdict;
  double gain;
  gboolean mendable;
} LigVerdictEntry;

/* (element-type LigVerdictEntry): those taken first, then by gain. */
GArray *lig_verdict_list (LigDocument *document, int first, int last);

/* (transfer full) (nullable): `would save about 12 µs`. */
char *lig_verdict_gain_text (const LigVerdictEntry *entry);

typedef enum {
  LIG_MEND_NONE,
  LIG_MEND_UNFENCE,
  LIG_MEND_ALLOW,
  LIG_MEND_REMOVE,     /* the op that is in the way */
  LIG_MEND_REPLACE,    /* the activation, by one that fits */
  LIG_MEND_DISCONNECT, /* the channel */
  LIG_MEND_TYPE,
  LIG_MEND_FORCE, /* instead of what claimed its ops */
} LigMendKind;

/**
 * LigMend: an edit that takes away what a verdict names.
 *
 * @op: (nullable): of the document's sequence
 * @label: of the button
 * @value: name of an op, or of a type
 */
typedef struct {
  LigMendKind kind;
  LigOp *op;
  char *label, *value;
} LigMend;

void lig_mend_find (LigDocument *document, const LigVerdict *verdict, LigMend *mend);
gboolean
lig_mend_apply (LigDocument *document, const char *fusion, const LigMend *mend, GError **error);
void lig_mend_clear (LigMend *mend);

/* The op as written that an op of the plan stands for. (nullable) */
LigOp *lig_verdict_find_op (LigDocument *document, int expanded);

G_END_DECLS
