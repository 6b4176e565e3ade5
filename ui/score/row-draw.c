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

/* Returns whether the row is the head of an unfolded block. */
static gboolean
is_frame (const LigOpRow *self)
{
  return self->block && self->open;
}

/* The remark on a branch that leads nowhere has the warning colour. */
static const GdkRGBA *
ink_of_params (LigOpRow *self, const Canvas *to)
{
  return self->end == LIG_END_UNREAD || self->end == LIG_END_OPEN ? &to->amber : &to->dim;
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

static int
measure_text (LigOpRow *self, int which, LigScoreTextFlags flags)
{
  return lig_score_text_measure (&self->texts[which], GTK_WIDGET (self), flags);
}

/* Draws the number of a block's repetitions on its own background; returns its width. */
static int
draw_badge (LigOpRow *self, Canvas *to, GdkRGBA ground)
{
  const LigScoreTextFlags flags = LIG_SCORE_TEXT_SMALL | LIG_SCORE_TEXT_BOLD;
  int text = lig_score_text_measure (&self->texts[COUNT], to->widget, flags);
  int wide = text + 2 * self->metrics.pad, height = self->metrics.small;
  /* The title has priority over the background of the number. */
  int room = to->width - to->gap - measure_text (self, TITLE, LIG_SCORE_TEXT_BOLD);
  int width = CLAMP (room, text + self->metrics.pad, wide);
  int x = to->x + to->width - width;
  GskRoundedRect pill;
  gsk_rounded_rect_init_from_rect (&pill,
                                   &GRAPHENE_RECT_INIT ((float) x, (float) (to->first - height / 2),
                                                        (float) width, (float) height),
                                   (float) height / 2);
  gtk_snapshot_push_rounded_clip (to->snapshot, &pill);
  gtk_snapshot_append_color (to->snapshot, &to->channel, &pill.bounds);
  gtk_snapshot_pop (to->snapshot);
  draw_text (to, &self->texts[COUNT], x + (width - text) / 2, to->first, text + 1, (int) flags,
             &ground);
  return width + to->gap;
}

/* A compact row of several parts names all but the first next to its head. */
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
    used +=
      lig_op_row_draw_load (self, to->snapshot, k, to->x + to->width - used, middle, to->width / 2);
    draw_text (to, &self->parts[k].name, to->x, middle, to->width - used, LIG_SCORE_TEXT_SMALL,
               &to->dim);
  }
}

/* Returns whether a compact row has room for its path, which the inspector also shows. */
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

/* --- The head ------------------------------------------------------------------------------ */

static int
measure_marks (LigOpRow *self)
{
  return self->marks ? self->metrics.pad / 2 + self->metrics.small * 2 : 0;
}

static int
measure_badge (LigOpRow *self)
{
  const LigScoreTextFlags flags = LIG_SCORE_TEXT_SMALL | LIG_SCORE_TEXT_BOLD;
  return self->texts[COUNT].text ? measure_text (self, COUNT, flags) + 3 * self->metrics.pad : 0;
}

/* Draws the title, which has priority over everything else in the row: on one line if it fits, else
 * in small type in a single-line row, or on both lines of a two-line row. Returns whether it filled
 * both. */
static gboolean
draw_title (LigOpRow *self, Canvas *to, int *used)
{
  const GdkRGBA *ink = self->block ? &to->channel : &to->ink;
  const gboolean two = to->second > to->first;
  int which = TITLE, flags = LIG_SCORE_TEXT_BOLD, room = to->width - measure_marks (self);
  gboolean fits = measure_text (self, TITLE, LIG_SCORE_TEXT_BOLD) <= room;
  if (!fits && !two) {
    which = TITLE_SMALL;
    flags |= LIG_SCORE_TEXT_SMALL;
  }
  if (!fits && two)
    flags |= LIG_SCORE_TEXT_WRAP;
  int middle = !fits && two ? (to->first + to->second) / 2 : to->first;
  *used = draw_text (to, &self->texts[which], to->x, middle, room, flags, ink);
  if (self->marks)
    *used += to->gap / 2 + lig_score_marks_draw (self->marks, to->widget, to->snapshot,
                                                 to->x + *used + to->gap / 2, to->first,
                                                 self->metrics.small * 3 / 4);
  self->title = which;
  return !fits && two;
}

/* Draws the shape if it fits without truncation, else its last axis. */
static void
draw_shape (LigOpRow *self, Canvas *to, int room)
{
  for (int which = SHAPE; which <= SHAPE_SHORT; which++)
    if (self->texts[which].text && measure_text (self, which, LIG_SCORE_TEXT_SMALL) <= room) {
      draw_end (to, &self->texts[which], to->first, room);
      self->omits |= which == SHAPE ? 0 : 1u << SHAPE;
      return;
    }
  self->omits |= self->texts[SHAPE].text ? 1u << SHAPE : 0;
}

/* Draws parameters or shape at the end of a row's only line. */
static void
draw_rest (LigOpRow *self, Canvas *to, int rest)
{
  LigScoreText *params = &self->texts[PARAMS];
  const gboolean hidden = is_frame (self) && !self->empty;
  if (hidden || !params->text || !*params->text) {
    draw_shape (self, to, rest);
    return;
  }
  /* A few letters and an ellipsis are useless. */
  if (measure_text (self, PARAMS, LIG_SCORE_TEXT_SMALL) > rest && rest < 5 * self->metrics.small) {
    self->omits |= 1u << PARAMS;
    if (measure_text (self, SUM_SHORT, LIG_SCORE_TEXT_SMALL) <= rest)
      draw_end (to, &self->texts[SUM_SHORT], to->second, rest);
  } else
    draw_end_in (to, params, to->second, rest, ink_of_params (self, to));
}

/* Returns whether the badge goes below the title, which would be truncated next to it. */
static gboolean
has_low_badge (LigOpRow *self, const Canvas *to)
{
  int title = measure_text (self, TITLE, LIG_SCORE_TEXT_BOLD) + measure_marks (self);
  return self->texts[COUNT].text && to->second > to->first &&
         title + measure_badge (self) > to->width;
}

/* Draws the parameter count before the text at the end of the second line, with the word if there
 * is room for it and the row's own parameters. */
static int
draw_sum (LigOpRow *self, Canvas *to, int used)
{
  Canvas before = *to;
  before.width -= used;
  int wanted = measure_text (self, PARAMS, LIG_SCORE_TEXT_SMALL) + to->gap +
               measure_text (self, SUM_UNIT, LIG_SCORE_TEXT_SMALL);
  LigScoreText *text = &self->texts[wanted <= before.width ? SUM_UNIT : SUM_SHORT];
  return draw_end (&before, text, to->second, before.width);
}

/* Draws the end of the second line, a badge or the path, and the parameter count before it. */
static void
draw_second (LigOpRow *self, Canvas *to, gboolean low, const GdkRGBA *ground, gboolean filled)
{
  int used = 0;
  if (low) {
    Canvas below = *to;
    below.first = to->second;
    used = draw_badge (self, &below, *ground);
  } else if (!filled)
    used = draw_end (to, &self->texts[PATH], to->second, to->width / 4);
  if (!filled)
    used += draw_sum (self, to, used);
  int load = filled ? 0
                    : lig_op_row_draw_load (self, to->snapshot, -1, to->x + to->width - used,
                                            to->second, to->width - used);
  used += load;
  /* A few letters and an ellipsis are useless. */
  gboolean cut = load > 0 && to->width - used < 5 * self->metrics.small &&
                 measure_text (self, PARAMS, LIG_SCORE_TEXT_SMALL) > to->width - used;
  if (filled || cut)
    self->omits |= 1u << PARAMS;
  else
    draw_text (to, &self->texts[PARAMS], to->x, to->second, to->width - used, LIG_SCORE_TEXT_SMALL,
               ink_of_params (self, to));
}

/* Draws title, shape and badge, with parameters and path below; a single-line row shows the shape
 * only if there are no parameters. */
static void
draw_head (LigOpRow *self, Canvas *to)
{
  const gboolean one = to->second == to->first, low = has_low_badge (self, to);
  const int whole = to->width;
  GdkRGBA ground = to->ink;
  int title;
  gtk_style_context_lookup_color (gtk_widget_get_style_context (to->widget), "score_card", &ground);
  self->omits = 0;
  if (self->texts[COUNT].text && !low)
    to->width -= draw_badge (self, to, ground);
  if (self->metrics.compact && leaves_room (self, to))
    to->width -= draw_end (to, &self->texts[PATH], to->second, to->width / 4);
  gboolean filled = draw_title (self, to, &title);
  int rest = to->width - title - to->gap;
  if (one) {
    int load = lig_op_row_draw_load (self, to->snapshot, -1, to->x + to->width, to->first, rest);
    to->width -= load;
    rest -= load;
    draw_rest (self, to, rest);
    return;
  }
  if (filled)
    self->omits |= 1u << SHAPE;
  else
    draw_shape (self, to, rest);
  to->width = whole;
  draw_second (self, to, low, &ground, filled);
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

void
lig_op_row_draw (LigOpRow *self, GtkSnapshot *snapshot)
{
  GtkWidget *widget = GTK_WIDGET (self);
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
  /* A single-line row has it in the middle. */
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

char *
lig_op_row_find_hidden (LigOpRow *self)
{
  static const int shown[] = {TITLE, SHAPE, PARAMS, SUM, PROBLEM};
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++) {
    const int which = shown[i];
    const LigScoreText *part = &self->texts[which];
    gboolean used = part->text && *part->text && !(which == PARAMS && is_frame (self));
    if (!used || (which != TITLE && which != PROBLEM && self->texts[PROBLEM].text))
      continue;
    gboolean cut = lig_score_text_is_cut (which == TITLE ? &self->texts[self->title] : part);
    if (cut || which == SUM || self->omits & (1u << which))
      g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", part->text);
  }
  return text->len > 0 ? g_strdup (text->str) : NULL;
}

gboolean
lig_op_row_is_disclosure (LigOpRow *self, double x, double y)
{
  return self->folds &&
         x < self->metrics.pad + lig_score_metrics_scale (&self->metrics, DISCLOSURE) &&
         y < self->metrics.base;
}
