/* SPDX-License-Identifier: MIT */
/* Tiles: the ranks' step time, its share of waits for collectives, and the imbalance. */
#include "ui/profile/rank-section.h"

#include "ui/profile/figures.h"
#include "ui/profile/rank-waits.h"
#include "ui/widgets/figures.h"

#include <glib/gi18n.h>
#include <math.h>

typedef struct {
  LigDocument *document; /* (unowned): the page's */
  GtkWidget *page;       /* (unowned): around this section */
  GtkWidget *box, *tiles;
  GtkLabel *title, *subtitle;
  GCancellable *cancellable;
} Section;

/* --- Tiles ---------------------------------------------------------------------------------- */

static void
add_tile (Section *self, const char *title, double seconds, const char *first, const char *second)
{
  g_autofree char *time = lig_figure_time (seconds);
  gtk_box_append (GTK_BOX (self->tiles), lig_profile_tile_new (title, time, first, second));
}

static char *
describe_prediction (const LigRankWaits *waits)
{
  g_autofree char *time = lig_figure_time (waits->predicted);
  return isnan (waits->predicted) ? NULL : g_strdup_printf (_ ("≈ %s predicted"), time);
}

static void
fill (Section *self, const LigRankWaits *waits)
{
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (self->tiles)))
    gtk_box_remove (GTK_BOX (self->tiles), child);
  g_autofree char *title = g_strdup_printf (
    ngettext ("Waits of %d rank", "Waits of %d ranks", waits->ranks), waits->ranks);
  g_autofree char *subtitle =
    g_strdup_printf (_ ("Measured in run %.8s with %s"), waits->run, waits->parallel);
  g_autofree char *steps = g_strdup_printf (
    ngettext ("Median of %u step", "Median of the last %u steps", waits->steps), waits->steps);
  g_autofree char *share =
    g_strdup_printf (_ ("%.0f %% of a step, not overlapped with other work"),
                     waits->step > 0 ? 100 * waits->exposed / waits->step : 0);
  g_autofree char *predicted = describe_prediction (waits);
  g_autofree char *slowest =
    g_strdup_printf (_ ("The others wait for rank %d, the slowest"), waits->slowest);
  gtk_label_set_label (self->title, title);
  gtk_label_set_label (self->subtitle, subtitle);
  add_tile (self, _ ("Step of the ranks"), waits->step, steps, NULL);
  add_tile (self, _ ("Waits for collectives"), waits->exposed, share, predicted);
  add_tile (self, _ ("Imbalance"), waits->imbalance, slowest, NULL);
}

/* --- Finding the training ------------------------------------------------------------------- */

static void
take (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LigRankWaits) waits = lig_rank_waits_finish (result);
  if (g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))))
    return;
  Section *self = data;
  g_clear_object (&self->cancellable);
  gtk_widget_set_visible (self->box, waits != NULL);
  if (waits)
    fill (self, waits);
}

static void
forget (Section *self)
{
  if (self->cancellable)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
}

static void
look (GtkWidget *box)
{
  Section *self = g_object_get_data (G_OBJECT (box), "section");
  if (!gtk_widget_get_mapped (self->page))
    return;
  forget (self);
  self->cancellable = g_cancellable_new ();
  lig_rank_waits_find (self->document, self->cancellable, take, self);
}

/* --- Construction --------------------------------------------------------------------------- */

static void
free_section (gpointer data)
{
  forget (data);
  g_free (data);
}

static GtkLabel *
new_label (const char *class)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_widget_add_css_class (label, class);
  return GTK_LABEL (label);
}

GtkWidget *
lig_rank_section_new (LigDocument *document, GtkWidget *page)
{
  Section *self = g_new0 (Section, 1);
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  self->document = document;
  self->page = page;
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  self->tiles = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  self->title = new_label ("heading");
  self->subtitle = new_label ("dim-label");
  gtk_box_set_homogeneous (GTK_BOX (self->tiles), TRUE);
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (self->subtitle));
  gtk_box_append (GTK_BOX (self->box), texts);
  gtk_box_append (GTK_BOX (self->box), self->tiles);
  gtk_widget_set_visible (self->box, FALSE);
  g_object_set_data_full (G_OBJECT (self->box), "section", self, free_section);
  g_signal_connect_object (page, "map", G_CALLBACK (look), self->box, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "planned", G_CALLBACK (look), self->box, G_CONNECT_SWAPPED);
  return self->box;
}
