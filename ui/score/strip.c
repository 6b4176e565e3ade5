/* SPDX-License-Identifier: MIT */
/* The overview of the score. A bar's width and its colour both show its figure; forward is on
 * the left, backward on the right. */
#include "ui/score/strip.h"

#include "ui/widgets/tooltip.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

enum { WIDTH = 22, EDGE = 2 };

struct _LigScoreStrip {
  GtkWidget parent_instance;
  LigScoreSheet *sheet;
  GtkAdjustment *adjustment;
  GskRenderNode *bars; /* drawn once per layout; null: to be drawn */
  int bars_height;
  double start, grip; /* of a drag: its y position, and that relative to the middle of the frame */
};

G_DEFINE_FINAL_TYPE (LigScoreStrip, lig_score_strip, GTK_TYPE_WIDGET)

/* --- Places -------------------------------------------------------------------------------- */

/* Returns the pixels of the strip per pixel of the sheet. */
static double
get_scale (LigScoreStrip *self)
{
  int height = gtk_widget_get_height (GTK_WIDGET (self)) - 2 * EDGE;
  double whole = MAX (gtk_adjustment_get_upper (self->adjustment), 1);
  return height < whole ? height / whole : 1;
}

static void
scroll_to (LigScoreStrip *self, double y)
{
  double page = gtk_adjustment_get_page_size (self->adjustment);
  gtk_adjustment_set_value (self->adjustment, (y - EDGE) / get_scale (self) - page / 2);
}

/* --- Drawing ------------------------------------------------------------------------------- */

static GdkRGBA
find_colour (GtkWidget *widget, const char *name)
{
  GdkRGBA colour = {0, 0, 0, 1};
  GtkStyleContext *style = gtk_widget_get_style_context (widget);
  if (!gtk_style_context_lookup_color (style, name, &colour))
    gtk_style_context_get_color (style, &colour);
  return colour;
}

typedef struct {
  GdkRGBA passes[2], bounds[4];
  double peak, scale;
  int half;
} Bars;

static void
append_bar (LigScoreStrip *self, Bars *bars, const LigScoreBracket *bracket, GtkSnapshot *to)
{
  const LigScoreMap *map = lig_score_sheet_get_map (self->sheet);
  LigScoreColour colour = lig_score_sheet_get_colour (self->sheet);
  double value = lig_score_bracket_value (map, bracket, colour);
  if (!(value > 0) || !lig_score_bracket_counts (map, bracket))
    return;
  double share = CLAMP (value / bars->peak, 0, 1);
  GdkRGBA ink = bars->passes[bracket->pass];
  if (colour == LIG_SCORE_COLOUR_BOUND)
    ink = bars->bounds[lig_score_bracket_bound (map, bracket)];
  ink.alpha *= (float) (0.3 + 0.7 * share);
  double width = MAX (bars->half * (0.3 + 0.7 * share), 2);
  double x = bracket->pass == LIG_PASS_FORWARD ? EDGE + bars->half - width : EDGE + bars->half + 1;
  double height = MAX (bracket->height * bars->scale - 1, 1);
  gtk_snapshot_append_color (to, &ink,
                             &GRAPHENE_RECT_INIT ((float) x,
                                                  (float) (EDGE + bracket->y * bars->scale),
                                                  (float) width, (float) height));
}

static GskRenderNode *
draw_bars (LigScoreStrip *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  const LigScoreMap *map = lig_score_sheet_get_map (self->sheet);
  g_autoptr (GtkSnapshot) to = gtk_snapshot_new ();
  Bars bars = {
    .passes = {find_colour (widget, "score_forward"), find_colour (widget, "score_backward")},
    .bounds = {find_colour (widget, "score_line"), find_colour (widget, "score_memory"),
               find_colour (widget, "score_compute"), find_colour (widget, "score_launch")},
    .peak = lig_score_map_peak (map, lig_score_sheet_get_colour (self->sheet)),
    .scale = get_scale (self),
    .half = (gtk_widget_get_width (widget) - 2 * EDGE - 1) / 2};
  for (guint pass = 0; pass < 2 && bars.peak > 0; pass++)
    for (guint i = 0; i < map->brackets[pass]->len; i++)
      append_bar (self, &bars, &g_array_index (map->brackets[pass], LigScoreBracket, i), to);
  return gtk_snapshot_to_node (to);
}

static gboolean
high_contrast (void)
{
  return adw_style_manager_get_high_contrast (adw_style_manager_get_default ());
}

static void
append_frame (LigScoreStrip *self, GtkSnapshot *snapshot)
{
  GskRoundedRect outline;
  GtkWidget *widget = GTK_WIDGET (self);
  GdkRGBA line, ground;
  double scale = get_scale (self), value = gtk_adjustment_get_value (self->adjustment);
  double page = gtk_adjustment_get_page_size (self->adjustment);
  double max = gtk_widget_get_height (widget);
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &line);
  ground = line;
  ground.alpha *= 0.04f;
  line.alpha *= high_contrast () ? 0.9f : 0.45f;
  const float widths[4] = {1.5f, 1.5f, 1.5f, 1.5f};
  const GdkRGBA colours[4] = {line, line, line, line};
  double y = EDGE + value * scale - 1, height = MAX (page * scale, 8) + 2;
  graphene_rect_t area =
    GRAPHENE_RECT_INIT (0, (float) MAX (y, 0), (float) gtk_widget_get_width (widget),
                        (float) MIN (height, max - MAX (y, 0)));
  gsk_rounded_rect_init_from_rect (&outline, &area, 5);
  gtk_snapshot_push_rounded_clip (snapshot, &outline);
  gtk_snapshot_append_color (snapshot, &ground, &area);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_append_border (snapshot, &outline, widths, colours);
}

static void
snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LigScoreStrip *self = LIG_SCORE_STRIP (widget);
  if (!self->sheet || !lig_score_sheet_get_map (self->sheet)->plan)
    return;
  if (!self->bars || self->bars_height != gtk_widget_get_height (widget)) {
    g_clear_pointer (&self->bars, gsk_render_node_unref);
    self->bars = draw_bars (self);
    self->bars_height = gtk_widget_get_height (widget);
  }
  if (self->bars)
    gtk_snapshot_append_node (snapshot, self->bars);
  append_frame (self, snapshot);
}

static void
measure (GtkWidget *widget,
         GtkOrientation orientation,
         int for_size,
         int *minimum,
         int *natural,
         int *minimum_baseline,
         int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? WIDTH : 24;
}

/* --- Following ----------------------------------------------------------------------------- */

static guint
find_row (const LigScoreMap *map, double y)
{
  guint row = 0;
  while (row + 1 < map->slots->len && lig_score_map_get_slot (map, row + 1)->y <= y)
    row++;
  return row;
}

static void
update_accessible (LigScoreStrip *self)
{
  const LigScoreMap *map = lig_score_sheet_get_map (self->sheet);
  double value = gtk_adjustment_get_value (self->adjustment);
  double page = gtk_adjustment_get_page_size (self->adjustment);
  g_autofree char *text = g_strdup_printf (_ ("rows %u to %u of %u"), find_row (map, value) + 1,
                                           find_row (map, value + page) + 1, map->slots->len);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_VALUE_MIN, 0.0,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_MAX,
                                  MAX (gtk_adjustment_get_upper (self->adjustment) - page, 0.0),
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, value,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text, -1);
}

static void
scrolled (LigScoreStrip *self)
{
  update_accessible (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
redraw (LigScoreStrip *self)
{
  g_clear_pointer (&self->bars, gsk_render_node_unref);
  scrolled (self);
}

void
lig_score_strip_set_sheet (LigScoreStrip *self, LigScoreSheet *sheet, GtkAdjustment *adjustment)
{
  self->sheet = g_object_ref (sheet);
  self->adjustment = g_object_ref (adjustment);
  g_signal_connect_object (sheet, "mapped", G_CALLBACK (redraw), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (adjustment, "changed", G_CALLBACK (redraw), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (adjustment, "value-changed", G_CALLBACK (scrolled), self,
                           G_CONNECT_SWAPPED);
}

static void
css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  LigScoreStrip *self = LIG_SCORE_STRIP (widget);
  GTK_WIDGET_CLASS (lig_score_strip_parent_class)->css_changed (widget, change);
  g_clear_pointer (&self->bars, gsk_render_node_unref);
}

/* --- Pointer and keys ---------------------------------------------------------------------- */

/* A press inside the frame drags it; outside, the frame first jumps to the pointer. */
static void
drag_begin (GtkGestureDrag *gesture, double x, double y, LigScoreStrip *self)
{
  double scale = get_scale (self), page = gtk_adjustment_get_page_size (self->adjustment);
  double middle = EDGE + (gtk_adjustment_get_value (self->adjustment) + page / 2) * scale;
  self->start = y;
  self->grip = fabs (y - middle) <= page * scale / 2 ? y - middle : 0;
  if (self->grip == 0)
    scroll_to (self, y);
  gtk_widget_grab_focus (GTK_WIDGET (self));
}

static void
drag_update (GtkGestureDrag *gesture, double dx, double dy, LigScoreStrip *self)
{
  scroll_to (self, self->start + dy - self->grip);
}

/* The argument counts tenths of a page. */
static gboolean
go (GtkWidget *widget, GVariant *tenths, gpointer data)
{
  LigScoreStrip *self = LIG_SCORE_STRIP (widget);
  double page = gtk_adjustment_get_page_size (self->adjustment);
  gtk_adjustment_set_value (self->adjustment, gtk_adjustment_get_value (self->adjustment) +
                                                g_variant_get_int32 (tenths) * page / 10);
  return TRUE;
}

static void
add_keys (GtkWidgetClass *class)
{
  static const struct {
    guint key, keypad;
    int tenths;
  } keys[] = {
    {GDK_KEY_Up, GDK_KEY_KP_Up, -1},           {GDK_KEY_Down, GDK_KEY_KP_Down, 1},
    {GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up, -9}, {GDK_KEY_Page_Down, GDK_KEY_KP_Page_Down, 9},
    {GDK_KEY_Home, GDK_KEY_KP_Home, -1000000}, {GDK_KEY_End, GDK_KEY_KP_End, 1000000}};
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    gtk_widget_class_add_binding (class, keys[i].key, 0, go, "i", keys[i].tenths);
    gtk_widget_class_add_binding (class, keys[i].keypad, 0, go, "i", keys[i].tenths);
  }
  gtk_widget_class_add_binding_action (class, GDK_KEY_Return, 0, "view.hotspot", NULL);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
dispose (GObject *object)
{
  LigScoreStrip *self = LIG_SCORE_STRIP (object);
  g_clear_pointer (&self->bars, gsk_render_node_unref);
  g_clear_object (&self->sheet);
  g_clear_object (&self->adjustment);
  G_OBJECT_CLASS (lig_score_strip_parent_class)->dispose (object);
}

static void
lig_score_strip_class_init (LigScoreStripClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  widget_class->snapshot = snapshot;
  widget_class->measure = measure;
  widget_class->css_changed = css_changed;
  gtk_widget_class_set_css_name (widget_class, "scorestrip");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_SCROLLBAR);
  add_keys (widget_class);
}

static void
lig_score_strip_init (LigScoreStrip *self)
{
  GtkGesture *drag = gtk_gesture_drag_new ();
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  lig_tooltip_set (GTK_WIDGET (self), _ ("Overview: forward on the left, backward on the right; "
                                         "longer, stronger bars take more time"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Overview"), GTK_ACCESSIBLE_PROPERTY_ORIENTATION,
                                  GTK_ORIENTATION_VERTICAL, -1);
}
