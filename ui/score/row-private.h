/* SPDX-License-Identifier: MIT */
/* The internals of a row of the score, shared by the files row*.c. */
#pragma once

#include "ui/score/row.h"
#include "ui/score/text.h"

/* TITLE_SMALL is the title in small type, SHAPE_SHORT the last axis of the shape; each is drawn if
 * the usual one does not fit. SUM is the sum over the ops of a folded row, for its tooltip, and
 * SUM_SHORT and SUM_UNIT are the number of their parameters, without and with the word. */
enum {
  TITLE,
  TITLE_SMALL,
  COUNT,
  PARAMS,
  SHAPE,
  SHAPE_SHORT,
  PATH,
  SUM,
  SUM_SHORT,
  SUM_UNIT,
  PROBLEM,
  N_TEXTS
};
enum { DISCLOSURE = 20 };

/* The texts of a sub-row. */
typedef struct {
  LigScoreText name, count; /* count: of its parameters */
} LigPartTexts;

struct _LigOpRow {
  GtkWidget parent_instance;
  LigDocument *document; /* cleared before the sheet is freed */
  LigOp *op;
  LigScoreMetrics metrics;
  guint number;
  gboolean folds, block, open,
    empty;     /* whether the row folds, is a block, is unfolded, has no ops */
  guint omits; /* texts that do not fit: 1 << PARAMS, 1 << SHAPE, … */
  int title;   /* TITLE or TITLE_SMALL, whichever was drawn */
  int shown, depth;
  LigEnd end;          /* of its channels */
  LigScoreMarks marks; /* of overrides for fusions that start here */
  LigScoreText texts[N_TEXTS];
  LigPartTexts *parts;
  int n_parts;
  char *label, *description;
  GtkWidget *menu;
};

/* row-draw.c */
void lig_op_row_draw (LigOpRow *self, GtkSnapshot *snapshot);

/* Returns the texts that do not fit in the row, and the sum of a folded row; null if it shows
 * everything. */
char *lig_op_row_find_hidden (LigOpRow *self);
