/* SPDX-License-Identifier: MIT */
#include "ui/try/worst.h"

#include "ui/try/bars.h"
#include "ui/try/model.h"
#include "ui/try/token-card.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <math.h>

enum { NUMBER, TARGET, PREDICTION, SHARE, LOSS, N_COLUMNS };

struct _LigTryWorst {
  AdwBin parent_instance;
  GtkListBox *list;
  GtkWidget *head;
  GtkSizeGroup *groups[N_COLUMNS];
  JsonObject *model;
  gboolean classes;
};

G_DEFINE_FINAL_TYPE (LigTryWorst, lig_try_worst, ADW_TYPE_BIN)

static guint chosen_signal;

/* --- Cells --------------------------------------------------------------------------------- */

static GtkWidget *
make_cell (const char *text, double xalign, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), (float) xalign);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_width_chars (GTK_LABEL (label), 6);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 24);
  lig_tooltip_when_cut (GTK_LABEL (label));
  if (class)
    gtk_widget_add_css_class (label, class);
  return label;
}

static void
append (LigTryWorst *self, GtkWidget *line, int column, GtkWidget *cell)
{
  gtk_size_group_add_widget (self->groups[column], cell);
  gtk_box_append (GTK_BOX (line), cell);
}

static char *
name_value (LigTryWorst *self, double value)
{
  const char *name = self->classes ? lig_try_model_get_class (self->model, (gint64) value) : NULL;
  return name ? g_strdup (name) : lig_try_format (value);
}

/* The bar is the probability of the right class. */
static GtkWidget *
make_share (double probability, gboolean right)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 9);
  g_autofree char *percent = lig_token_percent (probability);
  GtkWidget *figure = make_cell (percent, 1, "numeric");
  GtkWidget *bar = lig_bar_new (probability, FALSE, right ? "good" : "bad");
  gtk_box_append (GTK_BOX (box), bar);
  gtk_box_append (GTK_BOX (box), figure);
  return box;
}

static GtkWidget *
make_line (void)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 18);
  gtk_widget_add_css_class (line, "try-worst");
  return line;
}

/* --- Rows ---------------------------------------------------------------------------------- */

static void
show_head (LigTryWorst *self)
{
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (self->head)))
    gtk_box_remove (GTK_BOX (self->head), child);
  append (self, self->head, NUMBER, make_cell (_ ("Row"), 0, "dim-label"));
  append (self, self->head, TARGET,
          make_cell (self->classes ? _ ("Class") : _ ("Target"), 0, "dim-label"));
  append (self, self->head, PREDICTION, make_cell (_ ("Prediction"), 0, "dim-label"));
  GtkWidget *share =
    make_cell (self->classes ? _ ("Probability of the class") : "", 0, "dim-label");
  gtk_widget_set_hexpand (share, TRUE);
  append (self, self->head, SHARE, share);
  append (self, self->head, LOSS,
          make_cell (self->classes ? _ ("Loss") : _ ("Squared error"), 1, "dim-label"));
}

void
lig_try_worst_clear (LigTryWorst *self, JsonObject *model)
{
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->list))))
    gtk_list_box_remove (self->list, child);
  g_clear_pointer (&self->model, json_object_unref);
  self->model = json_object_ref (model);
  self->classes = lig_try_model_count (model, "classes") > 0;
  show_head (self);
}

void
lig_try_worst_add (LigTryWorst *self, const LigTryWorstRow *row)
{
  GtkWidget *line = make_line (), *item = gtk_list_box_row_new ();
  gint64 *number = g_new (gint64, 1);
  gboolean right = row->target == row->prediction;
  g_autofree char *index = lig_figure_count (row->row + 1);
  g_autofree char *target = name_value (self, row->target);
  g_autofree char *prediction = name_value (self, row->prediction);
  g_autofree char *loss = lig_try_format (row->loss);
  g_autofree char *text =
    g_strdup_printf (_ ("Row %s: %s, predicted %s, loss %s"), index, target, prediction, loss);
  append (self, line, NUMBER, make_cell (index, 0, "numeric"));
  append (self, line, TARGET, make_cell (target, 0, NULL));
  append (self, line, PREDICTION,
          make_cell (prediction, 0, self->classes ? right ? "success" : "error" : NULL));
  GtkWidget *share = self->classes ? make_share (exp (-row->loss), right) : make_cell ("", 0, NULL);
  gtk_widget_set_hexpand (share, TRUE);
  append (self, line, SHARE, share);
  append (self, line, LOSS, make_cell (loss, 1, "numeric"));
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (item), line);
  gtk_accessible_update_property (GTK_ACCESSIBLE (item), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  *number = row->row;
  g_object_set_data_full (G_OBJECT (item), "row", number, g_free);
  gtk_list_box_append (self->list, item);
}

gint64
lig_try_worst_get_row (LigTryWorst *self, guint n)
{
  GtkListBoxRow *item = gtk_list_box_get_row_at_index (self->list, (int) n);
  return item ? *(const gint64 *) g_object_get_data (G_OBJECT (item), "row") : -1;
}

guint
lig_try_worst_get_count (LigTryWorst *self)
{
  guint count = 0;
  while (gtk_list_box_get_row_at_index (self->list, (int) count))
    count++;
  return count;
}

static void
row_activated (GtkListBox *list, GtkListBoxRow *item, LigTryWorst *self)
{
  const gint64 *row = g_object_get_data (G_OBJECT (item), "row");
  g_signal_emit (self, chosen_signal, 0, *row);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_try_worst_finalize (GObject *object)
{
  LigTryWorst *self = LIG_TRY_WORST (object);
  for (guint i = 0; i < N_COLUMNS; i++)
    g_object_unref (self->groups[i]);
  g_clear_pointer (&self->model, json_object_unref);
  G_OBJECT_CLASS (lig_try_worst_parent_class)->finalize (object);
}

static void
lig_try_worst_class_init (LigTryWorstClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_try_worst_finalize;
  chosen_signal = g_signal_new ("chosen", LIG_TYPE_TRY_WORST, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 1, G_TYPE_INT64);
}

static void
lig_try_worst_init (LigTryWorst *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  self->head = make_line ();
  for (guint i = 0; i < N_COLUMNS; i++)
    self->groups[i] = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL);
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_NONE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Validation rows"), -1);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "try-list");
  gtk_box_append (GTK_BOX (box), self->head);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->list));
  adw_bin_set_child (ADW_BIN (self), box);
  g_signal_connect (self->list, "row-activated", G_CALLBACK (row_activated), self);
}

GtkWidget *
lig_try_worst_new (void)
{
  return g_object_new (LIG_TYPE_TRY_WORST, NULL);
}
