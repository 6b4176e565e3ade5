/* SPDX-License-Identifier: MIT */
/* A child that does not fit stays in the row, but is not drawn. It moves into the popover when that
 * opens, and back when it closes: layout never moves widgets. */
#include "ui/widgets/fit-box.h"

#define SPACING 6

typedef struct {
  GtkWidget *widget;
  char *label;
  int rank;
  gboolean cut;  /* it does not fit */
  gboolean away; /* in the popover */
} Item;

struct _LigFitBox {
  GtkWidget parent_instance;
  GArray *items; /* of Item */
  GtkWidget *button;
  GtkWidget *popover;
  GtkGrid *grid;
};

G_DEFINE_FINAL_TYPE (LigFitBox, lig_fit_box, GTK_TYPE_WIDGET)

static Item *
get_item (LigFitBox *self, guint i)
{
  return i < self->items->len ? &g_array_index (self->items, Item, i) : NULL;
}

static gboolean
is_in_row (const Item *item)
{
  return !item->away && gtk_widget_get_visible (item->widget);
}

/* --- The popover --------------------------------------------------------------------------- */

static void
fill (GtkMenuButton *button, gpointer data)
{
  LigFitBox *self = data;
  Item *item;
  for (guint i = 0; (item = get_item (self, i)); i++) {
    if (!item->cut || item->away)
      continue;
    g_autoptr (GtkWidget) widget = g_object_ref (item->widget);
    GtkWidget *label = gtk_label_new (item->label);
    gtk_label_set_xalign (GTK_LABEL (label), 0);
    gtk_widget_add_css_class (label, "dim-label");
    item->away = TRUE;
    gtk_widget_unparent (widget);
    gtk_widget_set_child_visible (widget, TRUE);
    gtk_grid_attach (self->grid, label, 0, (int) i, 1, 1);
    gtk_grid_attach (self->grid, widget, 1, (int) i, 1, 1);
  }
}

static void
take_back (LigFitBox *self)
{
  GtkWidget *before = NULL;
  Item *item;
  for (guint i = 0; (item = get_item (self, i)); before = item->widget, i++) {
    if (!item->away)
      continue;
    g_autoptr (GtkWidget) widget = g_object_ref (item->widget);
    gtk_grid_remove (self->grid, widget);
    gtk_grid_remove (self->grid, gtk_grid_get_child_at (self->grid, 0, (int) i));
    gtk_widget_insert_after (widget, GTK_WIDGET (self), before);
    item->away = FALSE;
  }
}

/* The popover may close during a key press or click of the widget that moves. */
static void
take_back_later (gpointer data)
{
  g_autoptr (LigFitBox) self = data;
  if (self->popover && !gtk_widget_get_visible (self->popover))
    take_back (self);
}

static void
take_closed (LigFitBox *self)
{
  g_idle_add_once (take_back_later, g_object_ref (self));
}

/* --- Layout -------------------------------------------------------------------------------- */

static int
measure_width (GtkWidget *widget, gboolean natural)
{
  int min, usual;
  gtk_widget_measure (widget, GTK_ORIENTATION_HORIZONTAL, -1, &min, &usual, NULL, NULL);
  return natural ? usual : min;
}

static void
lig_fit_box_measure (GtkWidget *widget,
                     GtkOrientation orientation,
                     int for_size,
                     int *minimum,
                     int *natural,
                     int *minimum_baseline,
                     int *natural_baseline)
{
  LigFitBox *self = LIG_FIT_BOX (widget);
  Item *item;
  *minimum = *natural = 0;
  for (guint i = 0; (item = get_item (self, i)); i++) {
    int min, usual;
    if (!is_in_row (item))
      continue;
    gtk_widget_measure (item->widget, orientation, -1, &min, &usual, NULL, NULL);
    if (orientation == GTK_ORIENTATION_VERTICAL) {
      *minimum = MAX (*minimum, min);
      *natural = MAX (*natural, usual);
    } else {
      *minimum += item->rank == 0 ? min + SPACING : 0;
      *natural += usual + (*natural > 0 ? SPACING : 0);
    }
  }
  if (orientation == GTK_ORIENTATION_HORIZONTAL) {
    *minimum += measure_width (self->button, FALSE);
    *natural = MAX (*natural, *minimum);
  }
}

/* Hides the children of the highest ranks until the others fit. */
static void
cut (LigFitBox *self, int width)
{
  int more = measure_width (self->button, TRUE) + SPACING, needed = -SPACING, highest = 0;
  gboolean any = FALSE;
  Item *item;
  for (guint i = 0; (item = get_item (self, i)); i++) {
    item->cut = item->away;
    any |= item->away;
    highest = MAX (highest, item->rank);
    if (is_in_row (item))
      needed += measure_width (item->widget, TRUE) + SPACING;
  }
  for (int rank = highest; rank > 0 && needed + (any ? more : 0) > width; rank--)
    for (guint i = 0; (item = get_item (self, i)); i++)
      if (item->rank == rank && is_in_row (item)) {
        item->cut = any = TRUE;
        needed -= measure_width (item->widget, TRUE) + SPACING;
      }
  gtk_widget_set_child_visible (self->button, any);
}

static void
place (GtkWidget *widget, int x, int width, int height)
{
  gtk_widget_size_allocate (widget, &(GtkAllocation){x, 0, width, height}, -1);
}

static void
lig_fit_box_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LigFitBox *self = LIG_FIT_BOX (widget);
  int x = 0, more = measure_width (self->button, TRUE);
  gboolean right = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  Item *item;
  cut (self, width);
  gboolean any = gtk_widget_get_child_visible (self->button);
  int room = width - (any ? more + SPACING : 0);
  for (guint i = 0; (item = get_item (self, i)); i++) {
    if (!is_in_row (item))
      continue;
    gtk_widget_set_child_visible (item->widget, !item->cut);
    if (item->cut)
      continue;
    int min = measure_width (item->widget, FALSE);
    int own = MAX (min, MIN (measure_width (item->widget, TRUE), room - x));
    place (item->widget, right ? width - x - own : x, own, height);
    x += own + SPACING;
  }
  if (any)
    place (self->button, right ? width - x - more : x, more, height);
  if (self->popover)
    gtk_popover_present (GTK_POPOVER (self->popover));
}

/* --- Construction -------------------------------------------------------------------------- */

void
lig_fit_box_add (LigFitBox *self, GtkWidget *child, const char *label, int rank)
{
  Item item = {.widget = child, .label = g_strdup (label), .rank = rank};
  if (!gtk_widget_get_parent (child))
    gtk_widget_insert_before (child, GTK_WIDGET (self), self->button);
  g_array_append_val (self->items, item);
}

GtkWidget *
lig_fit_box_get_button (LigFitBox *self)
{
  return self->button;
}

static void
clear_item (gpointer data)
{
  Item *item = data;
  g_free (item->label);
}

static void
lig_fit_box_dispose (GObject *object)
{
  LigFitBox *self = LIG_FIT_BOX (object);
  GtkWidget *child;
  g_array_set_size (self->items, 0);
  self->popover = NULL;
  self->button = NULL;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))))
    gtk_widget_unparent (child);
  G_OBJECT_CLASS (lig_fit_box_parent_class)->dispose (object);
}

static void
lig_fit_box_finalize (GObject *object)
{
  g_array_unref (LIG_FIT_BOX (object)->items);
  G_OBJECT_CLASS (lig_fit_box_parent_class)->finalize (object);
}

static void
lig_fit_box_class_init (LigFitBoxClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_fit_box_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_fit_box_finalize;
  widget_class->measure = lig_fit_box_measure;
  widget_class->size_allocate = lig_fit_box_size_allocate;
}

static void
lig_fit_box_init (LigFitBox *self)
{
  self->items = g_array_new (FALSE, FALSE, sizeof (Item));
  g_array_set_clear_func (self->items, clear_item);
  self->button = gtk_menu_button_new ();
  self->popover = gtk_popover_new ();
  self->grid = GTK_GRID (gtk_grid_new ());
  gtk_grid_set_row_spacing (self->grid, SPACING);
  gtk_grid_set_column_spacing (self->grid, 2 * SPACING);
  gtk_popover_set_child (GTK_POPOVER (self->popover), GTK_WIDGET (self->grid));
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (self->button), "view-more-horizontal-symbolic");
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (self->button), self->popover);
  gtk_menu_button_set_create_popup_func (GTK_MENU_BUTTON (self->button), fill, self, NULL);
  g_signal_connect_swapped (self->popover, "closed", G_CALLBACK (take_closed), self);
  gtk_widget_set_parent (self->button, GTK_WIDGET (self));
}
