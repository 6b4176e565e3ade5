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

/* Seconds of a verdict's ops as one group and each alone; NaN where they are unknown. */
typedef struct {
  double fused, apart;
  gboolean measured; /* all of them; else some are predicted */
} LigReasonTimes;

/* All verdicts of a plan in the making, with a mend (null where there is none) and times each. */
typedef struct {
  LigVerdict *verdicts;
  LigMend *const *mends;
  const LigReasonTimes *times;
  guint n_verdicts;
  const LigReasonOp *ops;
  guint n_ops;
  double copy, launch; /* bytes a second of a copy, 0: unknown; seconds a launch */
} LigReasonCase;

/* Fills in the gain of each verdict and of its mend, then numbers the mends. */
void lig_reasons_explain (const LigReasonCase *self);

/* The translated sentence of a verdict on the fusion of that name. (transfer full) */
char *lig_verdict_sentence (const LigVerdict *verdict, const char *fusion);
