/* SPDX-License-Identifier: MIT */
#include "ui/try/bars.h"

#include "ui/widgets/tooltip.h"

#define LIG_TYPE_BAR (lig_bar_get_type ())
G_DECLARE_FINAL_TYPE (LigBar, lig_bar, LIG, BAR, GtkWidget)

struct _LigBar {
  GtkWidget parent_instance;
  double share;
  gboolean is_signed;
};

G_DEFINE_FINAL_TYPE (LigBar, lig_bar, GTK_TYPE_WIDGET)

/* --- A bar --------------------------------------------------------------------------------- */

static void
fill (GtkSnapshot *snapshot, double x, double width, double height, const GdkRGBA *colour)
{
  GskRoundedRect outline;
  graphene_rect_t place = GRAPHENE_RECT_INIT ((float) x, 0, (float) width, (float) height);
  gsk_rounded_rect_init_from_rect (&outline, &place, (float) MIN (4, height / 2));
  gtk_snapshot_push_rounded_clip (snapshot, &outline);
  gtk_snapshot_append_color (snapshot, colour, &place);
  gtk_snapshot_pop (snapshot);
}

static void
lig_bar_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LigBar *self = LIG_BAR (widget);
  double width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  double share = CLAMP (self->share, -1, 1), from = self->is_signed ? width / 2 : 0;
  double length = (self->is_signed ? width / 2 : width) * ABS (share);
  gboolean mirrored = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  GdkRGBA colour, ground;
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &colour);
  ground = colour;
  ground.alpha *= 0.13f;
  fill (snapshot, 0, width, height, &ground);
  /* A share above zero is visible. */
  length = share != 0 ? MAX (length, 2) : 0;
  gboolean left = (share < 0) != mirrored;
  if (length > 0)
    fill (snapshot,
          self->is_signed ? (left ? from - length : from)
          : mirrored      ? width - length
                          : 0,
          length, height, &colour);
}

static void
lig_bar_measure (GtkWidget *widget,
                 GtkOrientation orientation,
                 int for_size,
                 int *minimum,
                 int *natural,
                 int *minimum_baseline,
                 int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 40 : 8;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 100 : 10;
}

static void
lig_bar_class_init (LigBarClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  widget_class->snapshot = lig_bar_snapshot;
  widget_class->measure = lig_bar_measure;
  gtk_widget_class_set_css_name (widget_class, "bar");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void
lig_bar_init (LigBar *self)
{
  gtk_widget_set_valign (GTK_WIDGET (self), GTK_ALIGN_CENTER);
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
}

GtkWidget *
lig_bar_new (double share, gboolean is_signed, const char *class)
{
  LigBar *self = g_object_new (LIG_TYPE_BAR, NULL);
  self->share = share;
  self->is_signed = is_signed;
  if (class)
    gtk_widget_add_css_class (GTK_WIDGET (self), class);
  return GTK_WIDGET (self);
}

/* --- Rows ---------------------------------------------------------------------------------- */

GtkGrid *
lig_bars_new (void)
{
  GtkGrid *self = GTK_GRID (gtk_grid_new ());
  gtk_grid_set_row_spacing (self, 6);
  gtk_grid_set_column_spacing (self, 12);
  gtk_widget_add_css_class (GTK_WIDGET (self), "bars");
  return self;
}

void
lig_bars_clear (GtkGrid *self)
{
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))))
    gtk_grid_remove (self, child);
}

static GtkWidget *
make_label (const char *text, double xalign, gboolean strong)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), (float) xalign);
  if (strong)
    gtk_widget_add_css_class (label, "heading");
  return label;
}

void
lig_bars_add (GtkGrid *self, const LigBarRow *row)
{
  int y = 0;
  GtkWidget *label = make_label (row->label, 0, row->strong);
  GtkWidget *bar = lig_bar_new (row->share, row->is_signed,
                                row->class    ? row->class
                                : row->strong ? "strong"
                                              : NULL);
  GtkWidget *figure = make_label (row->figure, 1, row->strong);
  while (gtk_grid_get_child_at (self, 0, y))
    y++;
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 18);
  lig_tooltip_when_cut (GTK_LABEL (label));
  gtk_widget_add_css_class (figure, "numeric");
  gtk_grid_attach (self, label, 0, y, 1, 1);
  gtk_grid_attach (self, bar, 1, y, 1, 1);
  gtk_grid_attach (self, figure, 2, y, 1, 1);
}
