/* SPDX-License-Identifier: MIT */
/* Completes the compiler's verdicts with gains and fixes. */
#pragma once

#include <ligature/verdict.h>

/* The properties of an expanded op that determine gains. */
typedef struct {
  double bytes; /* bytes of its main output */
  const char *path;
  const char *title; /* the name of the op as written */
  const char *part;  /* (nullable): the name of the macro's part that it belongs to, such as qkv */
  const LigOpInfo *info;
  gboolean implicit; /* not written by the user */
} LigReasonOp;

/* The seconds, and the bytes read and written, of a verdict's ops fused and unfused; NaN if
 * unknown. */
typedef struct {
  double fused, unfused, fused_noise, unfused_noise;
  gboolean measured; /* all times are measured; otherwise some are predicted */
  double fused_bytes, unfused_bytes;
  gboolean blocked; /* another group would take the ops after the fix */
} LigReasonTimes;

/* The fusion of a verdict, and the op of each element of its pattern: -1 if it is missing. */
typedef struct {
  const char *name, *summary;
  const char *gradients; /* (nullable): as in LigFusion */
  const int *elements;   /* (nullable) */
  int n_elements;
} LigReasonFusion;

/* All verdicts of a graph, with the fixes (null for none), the times and the fusion of each. */
typedef struct {
  LigVerdict *verdicts;
  LigFix *const *fixes, *const *alternatives;
  const LigReasonTimes *times;
  const LigReasonFusion *fusions;
  const double *alone[2]; /* seconds of each op unfused in a pass, NaN: unknown */
  guint n_verdicts;
  const LigReasonOp *ops;
  guint n_ops;
  double copy, launch;   /* copy bandwidth in bytes per second, 0: unknown; seconds per launch */
  GStringChunk *strings; /* owns the texts */
  /* While many verdicts are explained, null otherwise: */
  const int *owners[2]; /* the verdict whose group covers each op in a pass, or -1 */
  char **names;         /* the name of each op with its row; null: not needed yet */
  GHashTable *needs;    /* words by the array of accepted names */
} LigReasonCase;

/* Fills in the gains of each verdict and of its fixes, numbers the fixes, and writes the texts. */
void lig_reasons_explain (const LigReasonCase *self);

/* Writes the sentences of one verdict, which may name the titles of others. */
void
lig_reasons_write (const LigReasonCase *self, LigVerdict *verdict, const LigReasonFusion *fusion);

/* Writes the title of one verdict. */
void
lig_reasons_entitle (const LigReasonCase *self, LigVerdict *verdict, const LigReasonFusion *fusion);
