/* SPDX-License-Identifier: MIT */
/* Values that the backward pass computes again instead of reading saved ones. */
#pragma once

#include "engine/compile/draft.h"

/* A value of the forward pass that is no alias of another. */
typedef struct {
  LigRecompute level;
  int unit;           /* see LigPart; -1 unless the level is LIG_RECOMPUTE_ALL */
  int writer;         /* step of the forward pass that writes it; -1: none, or several */
  gboolean read;      /* by the backward pass */
  gboolean lasting;   /* in memory until the end, whether it is read or not */
  gboolean unstable;  /* written by several steps */
  gboolean outside;   /* read, or needed to compute something again, outside its unit */
  gboolean available; /* to steps that compute others again */
  gboolean again;     /* the backward pass computes it again */
  gboolean dropped;   /* it is saved, as computing it again would not lower the peak */
  gboolean needed;    /* a step that computes it again has been added */
  guint first, count; /* steps in LigRecomputation.recipes that compute it; none if count is 0 */
} LigSource;

typedef struct {
  LigDraft *draft;
  int n_sources;      /* values of the draft before copies are added */
  LigSource *sources; /* by value */
  GArray *recipes;    /* of LigDraftStep, which read and write values of the forward pass */
  int *copies;        /* by value: what backward computes again in its place, or -1 */
} LigRecomputation;

#define lig_source(self, value) (&(self)->sources[lig_draft_root ((self)->draft, (value))])

/* Adds the values and the steps that compute the chosen values again, each as late as possible:
 * before the first group of the backward pass that reads it. */
void lig_repeat_steps (LigRecomputation *self);

/* Drops chosen values that do not lower the peak, once their steps have been added. Returns whether
 * there are any. */
gboolean lig_drop_repeated (LigRecomputation *self);
