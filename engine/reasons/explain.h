/* SPDX-License-Identifier: MIT */
/* Completes the verdicts that the compiler wrote. */
#pragma once

#include <ligature/verdict.h>

/* The part of an expanded op that gains depend on. */
typedef struct {
  double bytes; /* of its main output */
  const char *path;
  gconstpointer written; /* the op as written, which the repetitions of a block share */
} LigReasonOp;

/* Fills in the gain of each verdict and of its mend, then numbers the mends. Gains are measured
 * where the times of both sides are; otherwise they are estimated from `copy`, the device's bytes a
 * second of a copy (0: unknown), and `launch`, its seconds a launch. `mends` are those that the
 * verdicts refer to, by verdict, null where there is none. */
void lig_reasons_explain (LigVerdict *verdicts,
                          LigMend *const *mends,
                          guint n_verdicts,
                          const LigReasonOp *ops,
                          guint n_ops,
                          double copy,
                          double launch);

/* The translated sentence of a verdict on the fusion of that name. (transfer full) */
char *lig_verdict_sentence (const LigVerdict *verdict, const char *fusion);
