/* SPDX-License-Identifier: MIT */
/* The inside of the score's sheet, shared by the files score-sheet*.c. */
#pragma once

#include "ui/score-gap.h"
#include "ui/score-group.h"
#include "ui/score-picture.h"
#include "ui/score-sheet.h"

struct _LigScoreSheet {
  GtkWidget parent_instance;
  LigDocument *document;
  LigScoreMap *map;
  GPtrArray *rows, *gaps, *groups[2]; /* the first ones are in use */
  GHashTable *places;                 /* LigOp: LigScorePlace, of the plan shown */
  gpointer shown;                     /* that plan; compared, never used */
  LigPlan *profiled;
  double *steps;
  guint n_steps;
  GtkAdjustment *adjustment;
  double top, bottom; /* drawn */
  LigScorePicture picture;
  guint patience;
  GtkWidget *card;
};

/* score-sheet-view.c */
void lig_score_sheet_install_view (GtkWidgetClass *class);
