/* SPDX-License-Identifier: MIT */
#include "ui/try/confusion.h"

#include "ui/try/model.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <math.h>

/* The most classes that are shown. */
enum { MAX_CLASSES = 12 };

struct _LigConfusion {
  AdwBin parent_instance;
  GtkGrid *grid;
  GtkLabel *note;
  GArray *classes; /* guint: the classes that are shown, ascending */
};

G_DEFINE_FINAL_TYPE (LigConfusion, lig_confusion, ADW_TYPE_BIN)

static guint chosen_signal;

static double
get_count (JsonArray *matrix, guint target, guint prediction)
{
  return lig_try_number_at (json_array_get_array_element (matrix, target), prediction);
}

/* --- Classes ------------------------------------------------------------------------------- */

/* Returns how many rows of a class, or rows that were predicted as the class, are wrong. */
static double
count_wrong (JsonArray *matrix, guint class)
{
  double wrong = 0;
  for (guint i = 0; i < json_array_get_length (matrix); i++)
    if (i != class)
      wrong += get_count (matrix, class, i) + get_count (matrix, i, class);
  return wrong;
}

static int
compare_wrong (gconstpointer a, gconstpointer b, gpointer matrix)
{
  double one = count_wrong (matrix, *(const guint *) a);
  double other = count_wrong (matrix, *(const guint *) b);
  return (one < other) - (one > other);
}

static int
compare_classes (gconstpointer a, gconstpointer b)
{
  return (int) *(const guint *) a - (int) *(const guint *) b;
}

static void
choose_classes (LigConfusion *self, JsonArray *matrix)
{
  guint count = json_array_get_length (matrix);
  g_array_set_size (self->classes, 0);
  for (guint i = 0; i < count; i++)
    g_array_append_val (self->classes, i);
  if (count > MAX_CLASSES) {
    g_array_sort_with_data (self->classes, compare_wrong, matrix);
    g_array_set_size (self->classes, MAX_CLASSES);
    g_array_sort (self->classes, compare_classes);
  }
  g_autofree char *text = g_strdup_printf (
    ngettext ("The %d of %u class with the most wrong rows. Click on a cell for its rows.",
              "The %d of %u classes with the most wrong rows. Click on a cell for its rows.",
              count),
    MAX_CLASSES, count);
  gtk_label_set_label (self->note, count > MAX_CLASSES
                                     ? text
                                     : _ ("Rows: their class; columns: the prediction. Click on a "
                                          "cell for its rows."));
}

static guint
nth_class (LigConfusion *self, guint n)
{
  return g_array_index (self->classes, guint, n);
}

static int
find_class (LigConfusion *self, guint class)
{
  for (guint i = 0; i < self->classes->len; i++)
    if (nth_class (self, i) == class)
      return (int) i;
  return -1;
}

/* --- Cells --------------------------------------------------------------------------------- */

static void
cell_clicked (GtkButton *button, LigConfusion *self)
{
  guint target = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "target"));
  guint prediction = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "prediction"));
  g_signal_emit (self, chosen_signal, 0, target, prediction);
}

/* The shade is the share of the target's rows, in five steps, of which the first one is none. */
static void
set_shade (GtkWidget *cell, double count, double total, gboolean right)
{
  int level = count > 0 ? (int) CLAMP (ceil (4 * count / total), 1, 4) : 0;
  g_autofree char *class = g_strdup_printf ("%s-%d", right ? "right" : "wrong", level);
  gtk_widget_add_css_class (cell, "confusion-cell");
  gtk_widget_add_css_class (cell, class);
}

static GtkWidget *
make_cell (LigConfusion *self,
           JsonObject *model,
           JsonArray *matrix,
           guint target,
           guint prediction,
           double total)
{
  double count = get_count (matrix, target, prediction);
  g_autofree char *number = lig_figure_count ((gint64) count);
  g_autofree char *text = g_strdup_printf (
    ngettext ("%s, predicted as %s: %s row", "%s, predicted as %s: %s rows", (gulong) count),
    lig_try_model_get_class (model, target), lig_try_model_get_class (model, prediction), number);
  GtkWidget *cell = gtk_button_new_with_label (number);
  set_shade (cell, count, total, target == prediction);
  gtk_widget_set_hexpand (cell, TRUE);
  gtk_widget_set_tooltip_text (cell, text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (cell), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  g_object_set_data (G_OBJECT (cell), "target", GUINT_TO_POINTER (target));
  g_object_set_data (G_OBJECT (cell), "prediction", GUINT_TO_POINTER (prediction));
  g_signal_connect (cell, "clicked", G_CALLBACK (cell_clicked), self);
  return cell;
}

static GtkWidget *
make_header (JsonObject *model, guint class, double xalign)
{
  GtkWidget *label = gtk_label_new (lig_try_model_get_class (model, class));
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 12);
  gtk_label_set_xalign (GTK_LABEL (label), (float) xalign);
  gtk_widget_add_css_class (label, "caption");
  gtk_widget_add_css_class (label, "dim-label");
  lig_tooltip_when_cut (GTK_LABEL (label));
  return label;
}

void
lig_confusion_show (LigConfusion *self, JsonObject *model, JsonArray *matrix)
{
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->grid))))
    gtk_grid_remove (self->grid, child);
  choose_classes (self, matrix);
  for (guint i = 0; i < self->classes->len; i++) {
    guint target = nth_class (self, i);
    double total = 0;
    for (guint j = 0; j < json_array_get_length (matrix); j++)
      total += get_count (matrix, target, j);
    gtk_grid_attach (self->grid, make_header (model, target, 0.5), (int) i + 1, 0, 1, 1);
    gtk_grid_attach (self->grid, make_header (model, target, 1), 0, (int) i + 1, 1, 1);
    for (guint j = 0; j < self->classes->len; j++)
      gtk_grid_attach (self->grid,
                       make_cell (self, model, matrix, target, nth_class (self, j), MAX (total, 1)),
                       (int) j + 1, (int) i + 1, 1, 1);
  }
}

GtkWidget *
lig_confusion_get_cell (LigConfusion *self, guint target, guint prediction)
{
  int row = find_class (self, target), column = find_class (self, prediction);
  return row >= 0 && column >= 0 ? gtk_grid_get_child_at (self->grid, column + 1, row + 1) : NULL;
}

void
lig_confusion_mark (LigConfusion *self, int target, int prediction)
{
  for (guint i = 0; i < self->classes->len; i++)
    for (guint j = 0; j < self->classes->len; j++)
      lig_css_class_set (gtk_grid_get_child_at (self->grid, (int) j + 1, (int) i + 1), "chosen",
                         (int) nth_class (self, i) == target &&
                           (int) nth_class (self, j) == prediction);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_confusion_finalize (GObject *object)
{
  g_array_unref (LIG_CONFUSION (object)->classes);
  G_OBJECT_CLASS (lig_confusion_parent_class)->finalize (object);
}

static void
lig_confusion_class_init (LigConfusionClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_confusion_finalize;
  chosen_signal = g_signal_new ("chosen", LIG_TYPE_CONFUSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 2, G_TYPE_UINT, G_TYPE_UINT);
}

static void
lig_confusion_init (LigConfusion *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 9);
  self->classes = g_array_new (FALSE, FALSE, sizeof (guint));
  self->grid = GTK_GRID (gtk_grid_new ());
  self->note = GTK_LABEL (gtk_label_new (NULL));
  gtk_grid_set_row_spacing (self->grid, 3);
  gtk_grid_set_column_spacing (self->grid, 3);
  gtk_label_set_wrap (self->note, TRUE);
  gtk_label_set_max_width_chars (self->note, 28);
  gtk_label_set_xalign (self->note, 0);
  gtk_widget_add_css_class (GTK_WIDGET (self->note), "caption");
  gtk_widget_add_css_class (GTK_WIDGET (self->note), "dim-label");
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->grid));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->note));
  adw_bin_set_child (ADW_BIN (self), box);
}

GtkWidget *
lig_confusion_new (void)
{
  return g_object_new (LIG_TYPE_CONFUSION, NULL);
}
