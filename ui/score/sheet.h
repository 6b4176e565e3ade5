/* SPDX-License-Identifier: MIT */
/* The sheet of the score, inside a scrolled window: rows, gaps, both rails, channels, fences. */
#pragma once

#include "ui/score/heat.h"
#include "ui/score/map.h"
#include "ui/score/row.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_SCORE_SHEET (lig_score_sheet_get_type ())
G_DECLARE_FINAL_TYPE (LigScoreSheet, lig_score_sheet, LIG, SCORE_SHEET, GtkWidget)

/* Signals: `mapped`: the layout changed, see ui/score/host.h; `zoomed`: the zoom changed. */
GtkWidget *lig_score_sheet_new (LigDocument *document);

/* Sets the adjustment of the scrolled window: only the visible part is drawn. */
void lig_score_sheet_set_adjustment (LigScoreSheet *self, GtkAdjustment *adjustment);

LigDocument *lig_score_sheet_get_document (LigScoreSheet *self);
const LigScoreMap *lig_score_sheet_get_map (LigScoreSheet *self);
void lig_score_sheet_get_columns (LigScoreSheet *self, LigScoreColumns *columns);

/* Return: (nullable): null beyond the last. */
GtkWidget *lig_score_sheet_get_row (LigScoreSheet *self, guint n);
GtkWidget *lig_score_sheet_get_gap (LigScoreSheet *self, guint n);
GtkWidget *lig_score_sheet_get_channel (LigScoreSheet *self, guint n);
GtkWidget *lig_score_sheet_get_group (LigScoreSheet *self, LigPass pass, guint n);

/* Open the verdict card of a gap or a group. */
void lig_score_sheet_explain_gap (LigScoreSheet *self, guint gap);
void lig_score_sheet_explain_group (LigScoreSheet *self, LigPass pass, guint number);

/* Returns whether a card is open. */
gboolean lig_score_sheet_is_explaining (LigScoreSheet *self);

/* Focus and scrolling. */
void lig_score_sheet_focus_row (LigScoreSheet *self, guint n);
void lig_score_sheet_scroll_to (LigScoreSheet *self, guint row);

/* --- Room ---------------------------------------------------------------------------------- */

#define LIG_SCORE_MIN_ZOOM 0.5
#define LIG_SCORE_MAX_ZOOM 2.5

/* The order is that of the settings' `score-rows`. */
typedef enum {
  LIG_SCORE_ROWS_AUTOMATIC,
  LIG_SCORE_ROWS_FULL,
  LIG_SCORE_ROWS_COMPACT,
} LigScoreRows;

void lig_score_sheet_set_rows (LigScoreSheet *self, LigScoreRows kind);

/* Returns the zoom, 1 for none. Setting it keeps the row at the window's y position @y in place;
 * NaN: the middle. */
double lig_score_sheet_get_zoom (LigScoreSheet *self);
void lig_score_sheet_set_zoom (LigScoreSheet *self, double zoom, double y);

/* Zooms out as far as needed to show all rows. */
void lig_score_sheet_fit (LigScoreSheet *self);

/* Colours the brackets by a figure. */
void lig_score_sheet_set_colour (LigScoreSheet *self, LigScoreColour colour);
LigScoreColour lig_score_sheet_get_colour (LigScoreSheet *self);

/* Selects, shows and focuses the bracket with the longest time, or from a bracket the next (1) or
 * previous (-1) hotspot. */
void lig_score_sheet_go_hot (LigScoreSheet *self, int by);

/* --- Drops --------------------------------------------------------------------------------- */

/**
 * LigScoreDrop: a gap where ops can be inserted.
 *
 * @gap: the row after it; @inside: at the end of a block's body rather than after the block
 */
typedef struct {
  LigSequence *parent;
  int index;
  guint gap;
  gboolean inside;
} LigScoreDrop;

void lig_score_sheet_find_drop (LigScoreSheet *self, double y, LigScoreDrop *drop);
void lig_score_sheet_get_drop (LigScoreSheet *self, guint gap, LigScoreDrop *drop);

/* Draws the drop line. @drop: (nullable): null for none */
void lig_score_sheet_show_drop (LigScoreSheet *self, const LigScoreDrop *drop);

/* Draws a line from a channel's end to the pointer, and highlights the rows that it can connect to;
 * a negative @row: none. */
void lig_score_sheet_show_thread (LigScoreSheet *self, int row, double x, double y);

/* Returns whether a channel can connect two rows: from the first row's output, or to its input. */
gboolean lig_score_sheet_accepts (LigScoreSheet *self, guint row, guint target);

/* Draws a dragged fence before this row; negative: none. */
void lig_score_sheet_show_fence (LigScoreSheet *self, int gap);

/* Adds the pointer's gestures; see drag.c. */
void lig_score_sheet_add_gestures (LigScoreSheet *self);
gboolean lig_score_sheet_drop (LigScoreSheet *self,
                               const char *text,
                               const LigScoreDrop *drop,
                               GError **error);

G_END_DECLS
