/* SPDX-License-Identifier: MIT */
/* A GtkFlowBox does the same, but keeps the keyboard's focus in its children. */
#include "ui/try/columns.h"

struct _LigColumns {
  GtkLayoutManager parent_instance;
  int spacing;
};

G_DEFINE_FINAL_TYPE (LigColumns, lig_columns, GTK_TYPE_LAYOUT_MANAGER)

static GtkWidget *
find_shown (GtkWidget *child)
{
  while (child && !gtk_widget_should_layout (child))
    child = gtk_widget_get_next_sibling (child);
  return child;
}

static GtkWidget *
first_shown (GtkWidget *box)
{
  return find_shown (gtk_widget_get_first_child (box));
}

static GtkWidget *
next_shown (GtkWidget *child)
{
  return find_shown (gtk_widget_get_next_sibling (child));
}

/* Measures the widths of the widest child, and counts the children. */
static int
measure_widths (GtkWidget *box, int *minimum, int *natural)
{
  int count = 0;
  *minimum = *natural = 0;
  for (GtkWidget *child = first_shown (box); child; child = next_shown (child)) {
    int minimal, usual;
    gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, &minimal, &usual, NULL, NULL);
    *minimum = MAX (*minimum, minimal);
    *natural = MAX (*natural, usual);
    count++;
  }
  return count;
}

static int
count_columns (LigColumns *self, GtkWidget *box, int width)
{
  int minimal, usual, count = measure_widths (box, &minimal, &usual);
  return CLAMP ((width + self->spacing) / MAX (minimal + self->spacing, 1), 1, MAX (count, 1));
}

static int
get_width (LigColumns *self, int columns, int width)
{
  return MAX ((width - (columns - 1) * self->spacing) / columns, 0);
}

/* Returns the height of the row that begins with a child, and sets the child after it. */
static int
measure_row (GtkWidget *child, int columns, int width, GtkWidget **next)
{
  int height = 0;
  for (int i = 0; child && i < columns; i++, child = next_shown (child)) {
    int usual;
    gtk_widget_measure (child, GTK_ORIENTATION_VERTICAL, width, NULL, &usual, NULL, NULL);
    height = MAX (height, usual);
  }
  *next = child;
  return height;
}

static void
lig_columns_measure (GtkLayoutManager *layout,
                     GtkWidget *box,
                     GtkOrientation orientation,
                     int for_size,
                     int *minimum,
                     int *natural,
                     int *minimum_baseline,
                     int *natural_baseline)
{
  LigColumns *self = LIG_COLUMNS (layout);
  int minimal, usual, count = measure_widths (box, &minimal, &usual), height = 0;
  if (orientation == GTK_ORIENTATION_HORIZONTAL) {
    *minimum = minimal;
    *natural = count * usual + MAX (count - 1, 0) * self->spacing;
    return;
  }
  int width = for_size >= 0 ? for_size : count * usual + MAX (count - 1, 0) * self->spacing;
  int columns = count_columns (self, box, width);
  for (GtkWidget *child = first_shown (box); child;) {
    height += height > 0 ? self->spacing : 0;
    height += measure_row (child, columns, get_width (self, columns, width), &child);
  }
  *minimum = *natural = height;
}

static void
lig_columns_allocate (GtkLayoutManager *layout, GtkWidget *box, int width, int height, int baseline)
{
  LigColumns *self = LIG_COLUMNS (layout);
  gboolean mirrored = gtk_widget_get_direction (box) == GTK_TEXT_DIR_RTL;
  int columns = count_columns (self, box, width), y = 0;
  int share = get_width (self, columns, width);
  for (GtkWidget *child = first_shown (box), *next; child;) {
    int row = measure_row (child, columns, share, &next);
    for (int i = 0; child != next; i++, child = next_shown (child)) {
      int place = mirrored ? columns - 1 - i : i;
      gtk_widget_size_allocate (
        child, &(GtkAllocation){place * (share + self->spacing), y, share, row}, -1);
    }
    y += row + self->spacing;
  }
}

static GtkSizeRequestMode
lig_columns_get_request_mode (GtkLayoutManager *layout, GtkWidget *box)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
lig_columns_class_init (LigColumnsClass *class)
{
  GtkLayoutManagerClass *layout_class = GTK_LAYOUT_MANAGER_CLASS (class);
  layout_class->measure = lig_columns_measure;
  layout_class->allocate = lig_columns_allocate;
  layout_class->get_request_mode = lig_columns_get_request_mode;
}

static void
lig_columns_init (LigColumns *self)
{
}

void
lig_columns_use (GtkBox *box, int spacing)
{
  LigColumns *self = g_object_new (LIG_TYPE_COLUMNS, NULL);
  self->spacing = spacing;
  gtk_widget_set_layout_manager (GTK_WIDGET (box), GTK_LAYOUT_MANAGER (self));
}
