/* SPDX-License-Identifier: MIT */
/* The internals of the score's sheet, shared by the files sheet*.c. */
#pragma once

#include "ui/score/picture.h"
#include "ui/score/sheet.h"

struct _LigScoreSheet {
  GtkWidget parent_instance;
  LigDocument *document;
  LigScoreMetrics metrics; /* of the next map */
  LigScoreRows kind;
  double line, zoom; /* height of a line, with the zoom */
  double shown_zoom; /* of the current font */
  double kept_y;     /* stays at the same place in the window when sizes change; NaN: the middle */
  GtkCssProvider *style; /* includes the zoom */
  guint resizing;
  gpointer unfold_decided_for; /* a sequence; only compared, never dereferenced */
  char *unfold_decided_path;
  LigScoreColour colour;
  double peak; /* of the figure that colours the brackets */
  LigScoreMap *map;
  GPtrArray *rows, *gaps, *groups[2]; /* the first ones are in use */
  GPtrArray *channels;                /* the first ones are in use */
  GHashTable *places;                 /* LigOp: LigOpSpan, of the plan shown */
  gpointer shown;                     /* that plan; only compared, never dereferenced */
  GtkAdjustment *adjustment;          /* weak: a closing card may keep the sheet alive */
  double top, bottom;                 /* drawn */
  guint8
    *filled[3]; /* of each row and group, forward and backward: whether its content is filled in */
  guint rest;   /* fills in the invisible ones incrementally */
  LigScorePicture picture;
  guint stale_timer;
  GtkWidget *card;
  guint closing;    /* drops a closed card */
  GtkWidget *ghost; /* above everything else */
};

/* sheet-sight.c. Gets the visible part; scrolls so that a row stays in place after sizes have
 * changed. */
void lig_score_sheet_find_sight (LigScoreSheet *self, double *top, double *bottom);
void lig_score_sheet_keep_place (LigScoreSheet *self, const LigScoreMap *old);

/* sheet-heat.c */
void lig_score_sheet_find_peak (LigScoreSheet *self);
void lig_score_sheet_colour_group (LigScoreSheet *self, LigPass pass, guint number);

/* sheet-bind.c. There is one widget for each row, gap and bracket of the map. Visible widgets are
 * filled in at once, the others when the main loop is idle. */
void lig_score_sheet_bind (LigScoreSheet *self);
void lig_score_sheet_bind_sight (LigScoreSheet *self);
void lig_score_sheet_clear_bound (LigScoreSheet *self);

/* sheet-layout.c. Lays out the document again, and shows it; follows changes of the font and of the
 * visible height. */
void lig_score_sheet_update (LigScoreSheet *self);
void lig_score_sheet_follow_font (LigScoreSheet *self);
void lig_score_sheet_follow_page (LigScoreSheet *self);
void lig_score_sheet_init_layout (LigScoreSheet *self);

/* sheet-card.c */
void lig_score_sheet_drop_card (LigScoreSheet *self);
