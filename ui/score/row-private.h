/* SPDX-License-Identifier: MIT */
/* The inside of a row of the score, shared by the files row*.c. */
#pragma once

#include "ui/score/row.h"
#include "ui/score/text.h"

enum { TITLE, COUNT, PARAMS, SHAPE, PATH, PROBLEM, N_TEXTS };
enum { MOST_SUB_ROWS = 6, DISCLOSURE = 20 };

struct _LigOpRow {
  GtkWidget parent_instance;
  LigDocument *document; /* cleared before the sheet is freed */
  LigOp *op;
  LigScoreMetrics metrics;
  guint number;
  gboolean block, open, empty; /* a block, unfolded, without ops */
  gboolean omits;              /* the parameters, for which there is no room */
  int shown, depth;
  LigEnd end;          /* of its channels */
  LigScoreMarks marks; /* of wishes for fusions that begin here */
  LigScoreText texts[N_TEXTS];
  LigScoreText parts[MOST_SUB_ROWS][2]; /* name and its own parameters */
  char *label, *description;
  GtkWidget *menu;
};

/* row-draw.c */
void lig_op_row_install_drawing (GtkWidgetClass *class);

/* row-menu.c */
void lig_op_row_install_menu (GtkWidgetClass *class);
