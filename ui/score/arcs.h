/* SPDX-License-Identifier: MIT */
/* Channels of the score: their rows, lanes and drawing. */
#pragma once

#include "ui/score/map.h"

#include <cairo.h>
#include <gtk/gtk.h>

G_BEGIN_DECLS

guint lig_score_count_ports (const char *ports);

/* Returns the point at which a row's channel begins or ends. */
void lig_score_get_port (
  const LigScoreMap *self, const LigScoreColumns *columns, guint slot, double *x, double *y);

typedef struct {
  GdkRGBA channel, ground;
} LigScoreArcColours;

/* Draws the channels between @top and @bottom. */
void lig_score_draw_arcs (const LigScoreMap *self,
                          const LigScoreColumns *columns,
                          GtkWidget *widget,
                          cairo_t *cairo,
                          double top,
                          double bottom,
                          const LigScoreArcColours *colours);

G_END_DECLS
