/* SPDX-License-Identifier: MIT */
/* The drawing of a row of the score. */
#include "ui/score/marks.h"
#include "ui/score/row-private.h"

#include <glib/gi18n.h>

/* Colours and lengths of one drawing. */
typedef struct {
  GtkWidget *widget;
  GtkSnapshot *snapshot;
  GdkRGBA ink, dim, line, channel, red, amber;
  int x, width, gap;
  int first, second; /* the middle of both lines */
} Canvas;

static int
draw_text (Canvas *to, LigScoreText *text, int x, int y, int width, int flags, const GdkRGBA *ink)
{
  return lig_score_text_draw (text, to->widget, to->snapshot, x, y, width,
                              (LigScoreTextFlags) flags, ink);
}

static int
draw_end_in (Canvas *to, LigScoreText *text, int y, int width, const GdkRGBA *ink)
{
  int used = draw_text (to, text, to->x + to->width - width, y, width,
                        LIG_SCORE_TEXT_SMALL | LIG_SCORE_TEXT_END, ink);
  return used > 0 ? used + to->gap : 0;
}

static int
draw_end (Canvas *to, LigScoreText *text, int y, int width)
{
  return draw_end_in (to, text, y, width, &to->dim);
}

/* Returns whether the row is the head of an opened block. */
static gboolean
is_frame (const LigOpRow *self)
{
  return self->block && self->open;
}

/* The remark on a branch that leads nowhere has the colour of a warning. */
static const GdkRGBA *
ink_of_params (LigOpRow *self, const Canvas *to)
{
  return self->end == LIG_END_UNREAD ? &to->amber : &to->dim;
}

static void
draw_disclosure (LigOpRow *self, Canvas *to)
{
  const double unit = self->metrics.unit;
  graphene_rect_t area = GRAPHENE_RECT_INIT ((float) to->x, (float) (to->first - 8 * unit),
                                             (float) (16 * unit), (float) (16 * unit));
  cairo_t *cairo = gtk_snapshot_append_cairo (to->snapshot, &area);
  cairo_translate (cairo, to->x + 8 * unit, to->first);
  cairo_scale (cairo, unit, unit);
  cairo_rotate (cairo, self->open ? G_PI / 2 : 0);
  cairo_move_to (cairo, -2.5, -5);
  cairo_line_to (cairo, 2.5, 0);
  cairo_line_to (cairo, -2.5, 5);
  gdk_cairo_set_source_rgba (cairo, &to->channel);
  cairo_set_line_width (cairo, 2);
  cairo_stroke (cairo);
  cairo_destroy (cairo);
}

/* Draws the number of a block's repetitions on a ground of its own; returns its width. */
static int
draw_badge (LigOpRow *self, Canvas *to, GdkRGBA ground)
{
  const LigScoreTextFlags flags = LIG_SCORE_TEXT_SMALL | LIG_SCORE_TEXT_BOLD;
  int text = lig_score_text_measure (&self->texts[COUNT], to->widget, flags);
  int width = text + 2 * self->metrics.pad, height = self->metrics.small;
  int x = to->x + to->width - width;
  GskRoundedRect pill;
  gsk_rounded_rect_init_from_rect (&pill,
                                   &GRAPHENE_RECT_INIT ((float) x, (float) (to->first - height / 2),
                                                        (float) width, (float) height),
                                   (float) height / 2);
  gtk_snapshot_push_rounded_clip (to->snapshot, &pill);
  gtk_snapshot_append_color (to->snapshot, &to->channel, &pill.bounds);
  gtk_snapshot_pop (to->snapshot);
  draw_text (to, &self->texts[COUNT], x + self->metrics.pad, to->first, text + 1, (int) flags,
             &ground);
  return width + to->gap;
}

/* A compact row of several parts names all but the first beside its head. */
static void
draw_parts (LigOpRow *self, Canvas *to)
{
  const LigScoreMetrics *metrics = &self->metrics;
  int height = gtk_widget_get_height (to->widget);
  if (metrics->compact && self->shown < 3)
    return;
  for (int k = metrics->compact ? 1 : 0; k < self->shown; k++) {
    int y = metrics->compact ? height * k / self->shown : metrics->base + k * metrics->part;
    int middle = y + metrics->part / 2;
    gtk_snapshot_append_color (
      to->snapshot, &to->line,
      &GRAPHENE_RECT_INIT ((float) to->x, (float) y, (float) to->width, 1));
    int used = draw_end (to, &self->parts[k].count, middle, to->width / 2);
    draw_text (to, &self->parts[k].name, to->x, middle, to->width - used, LIG_SCORE_TEXT_SMALL,
               &to->dim);
  }
}

/* Returns whether a compact row has room for its path, which the inspector shows, too. */
static gboolean
leaves_room (LigOpRow *self, Canvas *to)
{
  const LigScoreTextFlags bold = LIG_SCORE_TEXT_BOLD, small = LIG_SCORE_TEXT_SMALL;
  int title = lig_score_text_measure (&self->texts[TITLE], to->widget, bold);
  int params =
    is_frame (self) ? 0 : lig_score_text_measure (&self->texts[PARAMS], to->widget, small);
  int path = lig_score_text_measure (&self->texts[PATH], to->widget, small);
  return title + params + path + 2 * to->gap <= to->width;
}

/* Draws title, shape or badge, and below parameters and path; a compact row has one line, and the
 * shape only where there are no parameters. */
static void
draw_head (LigOpRow *self, Canvas *to)
{
  const gboolean compact = self->metrics.compact;
  LigScoreText *params = &self->texts[PARAMS], *shape = &self->texts[SHAPE];
  const GdkRGBA *ink = self->block ? &to->channel : &to->ink;
  int whole = to->width, used = 0;
  self->omits = FALSE;
  if (self->texts[COUNT].text) {
    GdkRGBA ground = to->ink;
    gtk_style_context_lookup_color (gtk_widget_get_style_context (to->widget), "score_card",
                                    &ground);
    to->width -= draw_badge (self, to, ground);
  }
  if (compact && leaves_room (self, to))
    to->width -= draw_end (to, &self->texts[PATH], to->second, to->width / 4);
  int title = draw_text (to, &self->texts[TITLE], to->x, to->first,
                         to->width - (compact || !shape->text ? 0 : to->width * 3 / 10),
                         LIG_SCORE_TEXT_BOLD, ink);
  if (self->marks)
    title += to->gap / 2 + lig_score_marks_draw (self->marks, to->widget, to->snapshot,
                                                 to->x + title + to->gap / 2, to->first,
                                                 self->metrics.small * 3 / 4);
  int rest = to->width - title - to->gap;
  if (!compact || ((!params->text || !*params->text) && !is_frame (self)))
    draw_end (to, shape, to->first, rest);
  if (is_frame (self) && !self->empty)
    return;
  if (compact) {
    int wanted = lig_score_text_measure (params, to->widget, LIG_SCORE_TEXT_SMALL);
    /* A few letters and an ellipsis say nothing. */
    self->omits = wanted > rest && rest < 5 * self->metrics.small;
    if (!self->omits)
      draw_end_in (to, params, to->second, rest, ink_of_params (self, to));
    return;
  }
  to->width = whole;
  used = draw_end (to, &self->texts[PATH], to->second, to->width / 4);
  draw_text (to, params, to->x, to->second, to->width - used, LIG_SCORE_TEXT_SMALL,
             ink_of_params (self, to));
}

static void
draw_warning (Canvas *to, int size)
{
  double middle = to->first;
  graphene_rect_t area = GRAPHENE_RECT_INIT ((float) to->x, (float) middle - (float) size / 2,
                                             (float) size, (float) size);
  cairo_t *cairo = gtk_snapshot_append_cairo (to->snapshot, &area);
  cairo_translate (cairo, to->x + size / 2.0, middle);
  cairo_scale (cairo, size / 16.0, size / 16.0);
  gdk_cairo_set_source_rgba (cairo, &to->red);
  cairo_arc (cairo, 0, 0, 8, 0, 2 * G_PI);
  cairo_rectangle (cairo, -1, -4.5, 2, 6);
  cairo_rectangle (cairo, -1, 3, 2, 2);
  cairo_set_fill_rule (cairo, CAIRO_FILL_RULE_EVEN_ODD);
  cairo_fill (cairo);
  cairo_destroy (cairo);
}

/* The engine's error replaces the parameters. */
static void
draw_problem (LigOpRow *self, Canvas *to)
{
  const int icon = lig_score_metrics_scale (&self->metrics, 16);
  const int indent = icon + to->gap * 2 / 3;
  draw_warning (to, icon);
  int title = draw_text (to, &self->texts[TITLE], to->x + indent, to->first, to->width - indent,
                         LIG_SCORE_TEXT_BOLD, &to->ink);
  int used = draw_end (to, &self->texts[PATH], to->first, to->width - indent - title - to->gap);
  if (self->metrics.compact) {
    to->x += indent + title + to->gap;
    to->width -= indent + title + to->gap + used;
  }
  draw_text (to, &self->texts[PROBLEM], to->x, to->second, to->width, LIG_SCORE_TEXT_SMALL,
             &to->red);
}

static GdkRGBA
find_colour (GtkWidget *widget, const char *name, GdkRGBA other)
{
  gtk_style_context_lookup_color (gtk_widget_get_style_context (widget), name, &other);
  return other;
}

static void
snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LigOpRow *self = LIG_OP_ROW (widget);
  const LigScoreMetrics *metrics = &self->metrics;
  int height = gtk_widget_get_height (widget);
  Canvas to = {.widget = widget,
               .snapshot = snapshot,
               .x = metrics->pad,
               .width = gtk_widget_get_width (widget) - 2 * metrics->pad,
               .gap = metrics->pad,
               .first = metrics->first,
               .second = metrics->second};
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &to.ink);
  to.dim = lig_score_dim (&to.ink);
  to.line = to.ink;
  to.line.alpha *= 0.12f;
  to.channel = find_colour (widget, "score_block", to.ink);
  to.red = find_colour (widget, "error_color", to.ink);
  to.amber = find_colour (widget, "score_fence", to.ink);
  /* A row of one line has it in the middle. */
  if ((is_frame (self) && !self->empty) || (metrics->compact && self->shown < 3))
    to.first = to.second = height / 2;
  else if (metrics->compact && self->shown > 0)
    to.first = to.second = height / self->shown / 2;
  Canvas below = to;
  if (self->folds) {
    draw_disclosure (self, &to);
    to.x += lig_score_metrics_scale (metrics, DISCLOSURE);
    to.width -= lig_score_metrics_scale (metrics, DISCLOSURE);
  }
  Canvas head = to;
  if (self->texts[PROBLEM].text)
    draw_problem (self, &head);
  else
    draw_head (self, &head);
  draw_parts (self, &below);
}

/* Returns what the row has no room for; null if it shows all. */
static char *
find_hidden (LigOpRow *self)
{
  static const int shown[] = {TITLE, PARAMS, PROBLEM};
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++) {
    const LigScoreText *part = &self->texts[shown[i]];
    gboolean used = part->text && *part->text && !(shown[i] == PARAMS && is_frame (self));
    if (!used || (shown[i] == PARAMS && self->texts[PROBLEM].text))
      continue;
    gboolean cut = part->layout && pango_layout_is_ellipsized (part->layout);
    if (cut || (shown[i] == PARAMS && self->omits))
      g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", part->text);
  }
  return text->len > 0 ? g_strdup (text->str) : NULL;
}

static gboolean
query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  LigOpRow *self = LIG_OP_ROW (widget);
  g_autofree char *text = self->menu ? NULL : find_hidden (self);
  if (!text)
    return FALSE;
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
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
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 60 : 18;
}

void
lig_op_row_install_drawing (GtkWidgetClass *class)
{
  class->snapshot = snapshot;
  class->measure = measure;
  class->query_tooltip = query_tooltip;
}

gboolean
lig_op_row_is_disclosure (LigOpRow *self, double x, double y)
{
  return self->folds &&
         x < self->metrics.pad + lig_score_metrics_scale (&self->metrics, DISCLOSURE) &&
         y < self->metrics.base;
}
