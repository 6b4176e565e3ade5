/* SPDX-License-Identifier: MIT */
/* The internals of a bracket, shared by group.c and group-draw.c. */
#pragma once

#include "ui/score/group.h"
#include "ui/score/text.h"

/* The texts of a bracket; the short ones replace those that do not fit. */
typedef enum {
  LIG_BRACKET_NAME,
  LIG_BRACKET_TIME,
  LIG_BRACKET_KERNELS,
  LIG_BRACKET_SAVING,
  LIG_BRACKET_SAVING_SHORT,
  LIG_BRACKET_RATE,
  LIG_BRACKET_RATE_SHORT,
  LIG_BRACKET_N_TEXTS
} LigBracketText;

struct _LigScoreGroup {
  GtkWidget parent_instance;
  LigScoreMetrics metrics;
  LigPass pass;
  guint number;
  int first, last; /* ops; -1 for a block's sum */
  double share;    /* of the time of its pass */
  gboolean fused, free, measured, saving_measured, loses;
  LigScoreMarks marks;
  const LigFusion *fusion;
  LigFigures figures; /* that the texts describe */
  LigScoreText texts[LIG_BRACKET_N_TEXTS];
  int widths[LIG_BRACKET_N_TEXTS]; /* untruncated; -1: not measured yet */
  unsigned drawn;                  /* a bit for each text that is shown untruncated */
  char *label, *description;
};

/* group-draw.c */
/* Returns the lines of the description that the bracket has no room for; null if none is left.
 * (transfer full) (nullable) */
char *lig_score_group_describe_hidden (const LigScoreGroup *self);

void lig_score_group_draw (LigScoreGroup *self, GtkSnapshot *snapshot);
