/* SPDX-License-Identifier: MIT */
/* The legend of the brackets' colours. */
#include "ui/score/legend.h"

#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

typedef struct {
  LigScoreSheet *sheet;
  GtkWidget *revealer, *box;
  LigScoreColour colour;
  double peak;
} Legend;

static void
append_label (Legend *self, const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  if (class)
    gtk_widget_add_css_class (label, class);
  gtk_box_append (GTK_BOX (self->box), label);
}

static void
append_swatch (Legend *self, const char *class)
{
  GtkWidget *swatch = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_add_css_class (swatch, "swatch");
  gtk_widget_add_css_class (swatch, class);
  gtk_widget_set_valign (swatch, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (self->box), swatch);
}

static void
fill_levels (Legend *self)
{
  gboolean bytes = self->colour == LIG_SCORE_COLOUR_BYTES;
  g_autofree char *max = bytes ? lig_figure_bytes (self->peak) : lig_figure_time (self->peak);
  append_label (self, bytes ? _ ("Bytes moved") : _ ("Time"), "heading");
  append_label (self, "0", NULL);
  for (guint i = 1; i <= LIG_SCORE_HEAT_LEVELS; i++) {
    g_autofree char *class = g_strdup_printf ("heat-%u", i);
    append_swatch (self, class);
  }
  append_label (self, max, NULL);
}

static void
fill_bounds (Legend *self)
{
  append_label (self, _ ("Bound by"), "heading");
  append_swatch (self, "bound-memory");
  append_label (self, _ ("memory"), NULL);
  append_swatch (self, "bound-compute");
  append_label (self, _ ("compute"), NULL);
  append_swatch (self, "bound-launch");
  append_label (self, _ ("launch"), NULL);
}

static void
append_close (Legend *self)
{
  GtkWidget *button = gtk_button_new_from_icon_name ("window-close-symbolic");
  gtk_widget_add_css_class (button, "flat");
  lig_tooltip_set (button, _ ("Show fusions by colour again"));
  gtk_actionable_set_detailed_action_name (GTK_ACTIONABLE (button), "view.score-colour::fusion");
  gtk_box_append (GTK_BOX (self->box), button);
}

static void
update (Legend *self)
{
  GtkWidget *child;
  LigScoreColour colour = lig_score_sheet_get_colour (self->sheet);
  double peak = lig_score_map_peak (lig_score_sheet_get_map (self->sheet), colour);
  gtk_revealer_set_reveal_child (GTK_REVEALER (self->revealer), colour != LIG_SCORE_COLOUR_FUSION);
  if (colour == self->colour && peak == self->peak)
    return;
  self->colour = colour;
  self->peak = peak;
  while ((child = gtk_widget_get_first_child (self->box)))
    gtk_box_remove (GTK_BOX (self->box), child);
  if (colour == LIG_SCORE_COLOUR_BOUND)
    fill_bounds (self);
  else if (colour != LIG_SCORE_COLOUR_FUSION)
    fill_levels (self);
  append_close (self);
}

static void
free_legend (gpointer data, GClosure *closure)
{
  g_free (data);
}

GtkWidget *
lig_score_legend_new (LigScoreSheet *sheet)
{
  Legend *self = g_new0 (Legend, 1);
  self->sheet = sheet;
  self->revealer = gtk_revealer_new ();
  self->box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_widget_set_halign (self->box, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (self->box, "score-legend");
  gtk_revealer_set_child (GTK_REVEALER (self->revealer), self->box);
  g_signal_connect_data (sheet, "mapped", G_CALLBACK (update), self, free_legend,
                         G_CONNECT_SWAPPED);
  update (self);
  return self->revealer;
}
