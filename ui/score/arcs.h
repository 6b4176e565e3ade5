/* SPDX-License-Identifier: MIT */
/* Channels of the score: their rows, lanes and drawing. */
#pragma once

#include "ui/score/map.h"

#include <cairo.h>
#include <gtk/gtk.h>

G_BEGIN_DECLS

guint lig_score_count_ports (const char *ports);

/* Returns whether a row has a port: an extra output, or an input that a channel can feed. */
gboolean lig_score_has_port (LigOp *op);

/* Returns the position of a channel's widget, along its lane. */
void lig_score_get_arc (const LigScoreMap *self,
                        const LigScoreColumns *columns,
                        guint number,
                        GdkRectangle *area);

/* Returns the point at which a row's channel starts or ends. */
void lig_score_get_port (
  const LigScoreMap *self, const LigScoreColumns *columns, guint slot, double *x, double *y);

typedef struct {
  GdkRGBA channel, ground, warning;
} LigScoreArcColours;

/* Draws the channels between @top and @bottom, with channel @lit highlighted. */
void lig_score_draw_arcs (const LigScoreMap *self,
                          const LigScoreColumns *columns,
                          GtkWidget *widget,
                          cairo_t *cairo,
                          double top,
                          double bottom,
                          int lit,
                          const LigScoreArcColours *colours);

G_END_DECLS
