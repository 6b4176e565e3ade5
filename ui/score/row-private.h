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

/* The last recorded load of the experts of a router. */
typedef struct {
  double *rows;  /* of each expert */
  guint experts; /* 0: the row has no router, or no load is known */
  int part;      /* the part that shows it; -1: the row itself */
  char *text;    /* a sentence, for the tooltip and the screen reader */
  LigScoreText imbalance;
  graphene_rect_t area; /* where it was drawn */
} LigRowLoad;

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
  LigRowLoad load;
  char *label, *description;
  GtkWidget *menu;
};

/* row-load.c. Take the load of the row from the map, and draw it at the end of a line, of the given
 * part or, for -1, of the row itself. Drawing returns the used width, with a space before it; 0 if
 * there is nothing to draw or no room for it. */
void lig_op_row_bind_load (LigOpRow *self, const LigScoreMap *map, const LigScoreSlot *slot);
int lig_op_row_draw_load (
  LigOpRow *self, GtkSnapshot *snapshot, int part, int right, int middle, int room);
void lig_op_row_clear_load (LigOpRow *self);

/* Returns (transfer full) (nullable) the tooltip at a point: the sentence on the load where that
 * was drawn, else what does not fit in the row, with the load if that is so. @hidden: (nullable):
 * the other texts that do not fit */
char *lig_op_row_describe_at (LigOpRow *self, int x, int y, const char *hidden);

/* row-draw.c */
void lig_op_row_draw (LigOpRow *self, GtkSnapshot *snapshot);

/* Returns the texts that do not fit in the row, and the sum of a folded row; null if it shows
 * everything. */
char *lig_op_row_find_hidden (LigOpRow *self);
