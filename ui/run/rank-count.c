/* SPDX-License-Identifier: MIT */
/* The choice of the number of ranks. */
#include "ui/document/ranks.h"
#include "ui/run/rank-row.h"
#include "ui/run/rank-rows.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

typedef struct {
  LigDocument *doc;
  LigRankRow parts;
} Row;

static void
update (Row *self)
{
  const char *obstacle = lig_ranks_find_obstacle (self->doc);
  const char *help = _ ("Processes that share the work of each step (1)");
  gtk_widget_set_sensitive (self->parts.input, !obstacle);
  gtk_spin_button_set_range (GTK_SPIN_BUTTON (self->parts.input), 1, lig_ranks_get_max (self->doc));
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (self->parts.input), lig_ranks_get (self->doc));
  gtk_widget_set_sensitive (self->parts.reset, lig_ranks_get (self->doc) > 1);
  gtk_label_set_text (self->parts.help, obstacle ? obstacle : help);
  lig_tooltip_set (self->parts.input, obstacle ? obstacle : help);
}

/* With an obstacle, 1 is shown, which the user did not choose. */
static void
chosen (Row *self)
{
  int value = gtk_spin_button_get_value_as_int (GTK_SPIN_BUTTON (self->parts.input));
  if (!lig_ranks_find_obstacle (self->doc) && value != lig_ranks_get (self->doc))
    lig_ranks_set (self->doc, value);
}

static void
reset (Row *self)
{
  gtk_widget_grab_focus (self->parts.input);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (self->parts.input), 1);
}

static void
free_row (gpointer data)
{
  Row *self = data;
  g_signal_handlers_disconnect_by_data (self->doc, self);
  g_object_unref (self->doc);
  g_free (self);
}

void
lig_rank_count_attach (LigDocument *doc, GtkGrid *to, int line)
{
  Row *self = g_new0 (Row, 1);
  GtkWidget *spin = gtk_spin_button_new_with_range (1, lig_ranks_get_max (doc), 1);
  self->doc = g_object_ref (doc);
  gtk_editable_set_width_chars (GTK_EDITABLE (spin), 4);
  gtk_editable_set_max_width_chars (GTK_EDITABLE (spin), 4);
  lig_rank_row_attach (&self->parts, _ ("Ranks"), spin, to, line);
  update (self);
  g_signal_connect_swapped (spin, "value-changed", G_CALLBACK (chosen), self);
  g_signal_connect_swapped (self->parts.reset, "clicked", G_CALLBACK (reset), self);
  g_signal_connect_swapped (doc, "settings", G_CALLBACK (update), self);
  g_object_set_data_full (G_OBJECT (spin), "row", self, free_row);
}
