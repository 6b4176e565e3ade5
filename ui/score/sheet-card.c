/* SPDX-License-Identifier: MIT */
/* The verdict card of the score's sheet: opened at a gap or at a bracket. */
#include "ui/score/group.h"
#include "ui/score/sheet-private.h"
#include "ui/score/verdict-card.h"

/* GTK keeps a popover alive if its button had the focus, so its card is emptied. */
void
lig_score_sheet_drop_card (LigScoreSheet *self)
{
  GtkWidget *card = self->card ? gtk_popover_get_child (GTK_POPOVER (self->card)) : NULL;
  if (card)
    lig_verdict_card_clear (LIG_VERDICT_CARD (card));
  g_clear_pointer (&self->card, gtk_widget_unparent);
}

static gboolean
drop_card (gpointer data)
{
  LigScoreSheet *self = data;
  self->closing = 0;
  if (self->card && !gtk_widget_get_visible (self->card))
    lig_score_sheet_drop_card (self);
  return G_SOURCE_REMOVE;
}

static void
card_closed (LigScoreSheet *self)
{
  if (!self->closing)
    self->closing = g_idle_add (drop_card, self);
}

static void
explain (
  LigScoreSheet *self, int first, int last, LigPass pass, GtkWidget *at, GtkPositionType side)
{
  graphene_rect_t bounds;
  GtkWidget *root = GTK_WIDGET (gtk_widget_get_root (GTK_WIDGET (self)));
  GtkWidget *content = lig_verdict_card_new (self->document, first, last, pass);
  const char *title = lig_verdict_card_get_title (LIG_VERDICT_CARD (content));
  lig_score_sheet_drop_card (self);
  /* The card leaves part of the score visible. */
  if (root)
    lig_verdict_card_set_height (LIG_VERDICT_CARD (content),
                                 CLAMP (gtk_widget_get_height (root) * 3 / 5, 240, 560));
  self->card = gtk_popover_new ();
  gtk_widget_add_css_class (self->card, "verdict-popover");
  gtk_popover_set_child (GTK_POPOVER (self->card), content);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->card), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  title ? title : "", -1);
  gtk_widget_set_parent (self->card, GTK_WIDGET (self));
  gtk_popover_set_position (GTK_POPOVER (self->card), side);
  if (gtk_widget_compute_bounds (at, GTK_WIDGET (self), &bounds))
    gtk_popover_set_pointing_to (
      GTK_POPOVER (self->card), &(GdkRectangle){(int) bounds.origin.x, (int) bounds.origin.y,
                                                (int) bounds.size.width, (int) bounds.size.height});
  g_signal_connect_swapped (self->card, "closed", G_CALLBACK (card_closed), self);
  gtk_popover_popup (GTK_POPOVER (self->card));
}

void
lig_score_sheet_explain_gap (LigScoreSheet *self, guint gap)
{
  int before, after;
  if (lig_score_map_get_gap_ops (self->map, gap, &before, &after))
    explain (self, before, after, LIG_PASS_JOINT, self->gaps->pdata[gap], GTK_POS_BOTTOM);
}

void
lig_score_sheet_explain_group (LigScoreSheet *self, LigPass pass, guint number)
{
  int first, last;
  GtkWidget *group = lig_score_sheet_get_group (self, pass, number);
  if (group && lig_score_group_get_ops (LIG_SCORE_GROUP (group), &first, &last))
    explain (self, first, last, pass, group,
             pass == LIG_PASS_FORWARD ? GTK_POS_RIGHT : GTK_POS_LEFT);
}

gboolean
lig_score_sheet_is_explaining (LigScoreSheet *self)
{
  return self->card && gtk_widget_get_visible (self->card);
}
