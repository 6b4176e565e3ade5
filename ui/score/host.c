/* SPDX-License-Identifier: MIT */
/* The host of the score's parts. */
#include "ui/score/host.h"

G_DEFINE_INTERFACE (LigScoreHost, lig_score_host, GTK_TYPE_WIDGET)

static void
lig_score_host_default_init (LigScoreHostInterface *class)
{
  g_signal_new ("mapped", LIG_TYPE_SCORE_HOST, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                0);
}

LigScoreHost *
lig_score_host_of (GtkWidget *widget)
{
  return LIG_SCORE_HOST (gtk_widget_get_ancestor (widget, LIG_TYPE_SCORE_HOST));
}

const LigScoreMap *
lig_score_host_get_map (LigScoreHost *self)
{
  return LIG_SCORE_HOST_GET_IFACE (self)->get_map (self);
}

GtkWidget *
lig_score_host_get_channel (LigScoreHost *self, guint n)
{
  return LIG_SCORE_HOST_GET_IFACE (self)->get_channel (self, n);
}

GtkWidget *
lig_score_host_get_group (LigScoreHost *self, LigPass pass, guint n)
{
  return LIG_SCORE_HOST_GET_IFACE (self)->get_group (self, pass, n);
}

GtkWidget *
lig_score_host_get_card (LigScoreHost *self)
{
  return LIG_SCORE_HOST_GET_IFACE (self)->get_card (self);
}

void
lig_score_host_find_sight (LigScoreHost *self, double *top, double *bottom)
{
  LIG_SCORE_HOST_GET_IFACE (self)->find_sight (self, top, bottom);
}

void
lig_score_host_focus_row (LigScoreHost *self, guint n)
{
  LIG_SCORE_HOST_GET_IFACE (self)->focus_row (self, n);
}

void
lig_score_host_explain_gap (LigScoreHost *self, guint gap)
{
  LIG_SCORE_HOST_GET_IFACE (self)->explain_gap (self, gap);
}

void
lig_score_host_explain_group (LigScoreHost *self, LigPass pass, guint n)
{
  LIG_SCORE_HOST_GET_IFACE (self)->explain_group (self, pass, n);
}
