/* SPDX-License-Identifier: MIT */
/* Completes the compiler's verdicts with gains and mends. */
#pragma once

#include <ligature/verdict.h>

/* The properties of an expanded op that gains depend on. */
typedef struct {
  double bytes; /* bytes of its main output */
  const char *path;
  gconstpointer written; /* the op as written, shared by the repetitions of a block */
} LigReasonOp;

/* The seconds of a verdict's ops as one group and one by one; NaN if unknown. */
typedef struct {
  double fused, unfused;
  gboolean measured; /* all times are measured; else some are predicted */
} LigReasonTimes;

/* All verdicts of a draft, with the mend (null for none) and the times of each. */
typedef struct {
  LigVerdict *verdicts;
  LigMend *const *mends;
  const LigReasonTimes *times;
  guint n_verdicts;
  const LigReasonOp *ops;
  guint n_ops;
  double copy, launch; /* copy bandwidth in bytes per second, 0: unknown; seconds per launch */
} LigReasonCase;

/* Fills in the gain of each verdict and of its mend, then numbers the mends. */
void lig_reasons_explain (const LigReasonCase *self);

/* Returns (transfer full) the translated sentence of a verdict on the fusion of that name. */
char *lig_verdict_sentence (const LigVerdict *verdict, const char *fusion);
