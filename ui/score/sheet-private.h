/* SPDX-License-Identifier: MIT */
/* The inside of the score's sheet, shared by the files score-sheet*.c. */
#pragma once

#include "ui/score/gap.h"
#include "ui/score/group.h"
#include "ui/score/picture.h"
#include "ui/score/sheet.h"

struct _LigScoreSheet {
  GtkWidget parent_instance;
  LigDocument *document;
  LigScoreMap *map;
  GPtrArray *rows, *gaps, *groups[2]; /* the first ones are in use */
  GHashTable *places;                 /* LigOp: LigOpSpan, of the plan shown */
  gpointer shown;                     /* that plan; compared, never used */
  LigPlan *profiled;
  double *steps;
  guint n_steps;
  GtkAdjustment *adjustment;
  double top, bottom; /* drawn */
  guint8 *told[3];    /* of each row and group, forward and backward: whether it says what it is */
  guint rest;         /* tells those out of sight, bit by bit */
  LigScorePicture picture;
  guint patience;
  GtkWidget *card;
};

/* score-sheet-bind.c. The widgets are as many as the map has rows, gaps and brackets; what is in
 * sight says what it is at once, the rest when there is time. */
void lig_score_sheet_bind (LigScoreSheet *self);
void lig_score_sheet_bind_sight (LigScoreSheet *self);
void lig_score_sheet_clear_bound (LigScoreSheet *self);

/* score-sheet-view.c */
void lig_score_sheet_find_sight (LigScoreSheet *self, double *top, double *bottom);
void lig_score_sheet_install_view (GtkWidgetClass *class);
