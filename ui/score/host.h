/* SPDX-License-Identifier: MIT */
/* The host of the score's parts: rows, gaps, brackets, channels and the preview ask it about each
 * other and about their context. Its signal `mapped` announces a new map. */
#pragma once

#include "ui/score/map.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_SCORE_HOST (lig_score_host_get_type ())
G_DECLARE_INTERFACE (LigScoreHost, lig_score_host, LIG, SCORE_HOST, GtkWidget)

struct _LigScoreHostInterface {
  GTypeInterface parent_interface;
  const LigScoreMap *(*get_map) (LigScoreHost *self);
  GtkWidget *(*get_channel) (LigScoreHost *self, guint n);
  GtkWidget *(*get_group) (LigScoreHost *self, LigPass pass, guint n);
  GtkWidget *(*get_card) (LigScoreHost *self);
  void (*find_sight) (LigScoreHost *self, double *top, double *bottom);
  void (*focus_row) (LigScoreHost *self, guint n);
  void (*explain_gap) (LigScoreHost *self, guint gap);
  void (*explain_group) (LigScoreHost *self, LigPass pass, guint n);
};

/* Returns: (transfer none): the host around a part of the score. */
LigScoreHost *lig_score_host_of (GtkWidget *widget);

const LigScoreMap *lig_score_host_get_map (LigScoreHost *self);

/* Return: (nullable): null beyond the last. */
GtkWidget *lig_score_host_get_channel (LigScoreHost *self, guint n);
GtkWidget *lig_score_host_get_group (LigScoreHost *self, LigPass pass, guint n);

/* Returns: (nullable): the verdict card that is open. */
GtkWidget *lig_score_host_get_card (LigScoreHost *self);

/* Gets the part of the host's height that is visible. */
void lig_score_host_find_sight (LigScoreHost *self, double *top, double *bottom);

void lig_score_host_focus_row (LigScoreHost *self, guint n);

/* Open the verdict card of a gap or a group. */
void lig_score_host_explain_gap (LigScoreHost *self, guint gap);
void lig_score_host_explain_group (LigScoreHost *self, LigPass pass, guint n);

G_END_DECLS
