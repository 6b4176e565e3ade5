/* SPDX-License-Identifier: MIT */
/* The inside of the score's sheet, shared by the files sheet*.c. */
#pragma once

#include "ui/score/gap.h"
#include "ui/score/group.h"
#include "ui/score/picture.h"
#include "ui/score/sheet.h"

struct _LigScoreSheet {
  GtkWidget parent_instance;
  LigDocument *document;
  LigScoreMetrics metrics; /* of the next map */
  LigScoreMap *map;
  GPtrArray *rows, *gaps, *groups[2]; /* the first ones are in use */
  GHashTable *places;                 /* LigOp: LigOpSpan, of the plan shown */
  gpointer shown;                     /* that plan; compared, never used */
  LigPlan *profiled;
  double *steps;
  guint n_steps;
  GtkAdjustment *adjustment;
  double top, bottom; /* drawn */
  guint8
    *filled[3]; /* of each row and group, forward and backward: whether its content is filled in */
  guint rest;   /* fills in the invisible ones, bit by bit */
  LigScorePicture picture;
  guint stale_timer;
  GtkWidget *card;
  GtkWidget *ghost; /* over everything else */
};

/* sheet-bind.c. There is one widget for each row, gap and bracket of the map. Visible ones are
 * filled in at once, the others when the main loop is idle. */
void lig_score_sheet_bind (LigScoreSheet *self);
void lig_score_sheet_bind_sight (LigScoreSheet *self);
void lig_score_sheet_clear_bound (LigScoreSheet *self);

/* sheet.c. Lays out the document again, and shows it. */
void lig_score_sheet_update (LigScoreSheet *self);

/* sheet-metrics.c. Reads the sizes off the sheet's font; returns whether they changed. */
gboolean lig_score_sheet_measure_font (LigScoreSheet *self);
void lig_score_sheet_install_metrics (GtkWidgetClass *class);

/* sheet-view.c */
void lig_score_sheet_find_sight (LigScoreSheet *self, double *top, double *bottom);
void lig_score_sheet_install_view (GtkWidgetClass *class);
