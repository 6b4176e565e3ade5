/* SPDX-License-Identifier: MIT */
/* The drawing of the score's sheet between its widgets: connectors, channels, fences, the line of a
 * drop. */
#pragma once

#include "ui/score/map.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct {
  const LigScoreMap *map;
  gboolean stale;
  int caret; /* gap of the drop line, -1 */
  gboolean inside;
  int thread; /* row that a channel is being drawn from, -1 */
  double thread_x, thread_y;
  int fence; /* gap of a fence being dragged, -1 */
  int lit;   /* channel with the focus or the pointer, -1 */
} LigScorePicture;

/* Draws the part between @top and @bottom, behind the widgets. */
void lig_score_picture_snapshot (const LigScorePicture *self,
                                 const LigScoreColumns *columns,
                                 GtkWidget *widget,
                                 GtkSnapshot *snapshot,
                                 double top,
                                 double bottom);

/* Draws the part in front of the widgets. */
void lig_score_picture_snapshot_above (const LigScorePicture *self,
                                       const LigScoreColumns *columns,
                                       GtkWidget *widget,
                                       GtkSnapshot *snapshot);

G_END_DECLS
