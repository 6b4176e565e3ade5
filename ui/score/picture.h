/* SPDX-License-Identifier: MIT */
/* What the sheet of the score draws between its widgets: connectors, channels, fences, the line
 * where something would be dropped. */
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
} LigScorePicture;

/* Behind the widgets; what lies between @top and @bottom. */
void lig_score_picture_snapshot (const LigScorePicture *self,
                                 const LigScoreColumns *columns,
                                 GtkWidget *widget,
                                 GtkSnapshot *snapshot,
                                 double top,
                                 double bottom);

/* Before them. */
void lig_score_picture_snapshot_above (const LigScorePicture *self,
                                       const LigScoreColumns *columns,
                                       GtkWidget *widget,
                                       GtkSnapshot *snapshot);

G_END_DECLS
