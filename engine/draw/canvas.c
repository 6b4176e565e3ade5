/* SPDX-License-Identifier: MIT */
/* Canvases: one set of calls draws on a cairo surface, writes SVG, or only collects marks. All of
 * them measure text in the same way, without a display. */
#include "engine/draw/canvas.h"

#include <cairo.h>
#include <math.h>

static void
clear_mark (gpointer data)
{
  g_free (((LigMark *) data)->text);
}

/* Creates a canvas whose unit is a pixel on any screen. Text is not hinted, so that all kinds of
 * canvas place it identically. */
static LigCanvas *
new_canvas (cairo_t *cairo)
{
  LigCanvas *self = g_atomic_rc_box_new0 (LigCanvas);
  PangoContext *pango = pango_font_map_create_context (pango_cairo_font_map_get_default ());
  cairo_font_options_t *options = cairo_font_options_create ();
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options (pango, options);
  pango_context_set_round_glyph_positions (pango, FALSE);
  cairo_font_options_destroy (options);
  self->cairo = cairo;
  self->font = pango_font_description_from_string (LIG_FONT);
  self->layout = pango_layout_new (pango);
  g_object_unref (pango);
  pango_layout_set_single_paragraph_mode (self->layout, TRUE);
  pango_layout_set_font_description (self->layout, self->font);
  self->marks = g_array_new (FALSE, FALSE, sizeof (LigMark));
  g_array_set_clear_func (self->marks, clear_mark);
  self->offsets = g_array_new (FALSE, FALSE, sizeof (double));
  return self;
}

LigCanvas *
lig_canvas_new (cairo_t *cairo)
{
  g_return_val_if_fail (cairo, NULL);
  return new_canvas (cairo);
}

LigCanvas *
lig_canvas_new_svg (double width, double height)
{
  LigCanvas *self = new_canvas (NULL);
  self->svg = g_string_new (NULL);
  self->width = width;
  self->height = height;
  return self;
}

LigCanvas *
lig_canvas_new_blank (void)
{
  return new_canvas (NULL);
}

static void
clear (gpointer data)
{
  LigCanvas *self = data;
  if (self->svg)
    g_string_free (self->svg, TRUE);
  g_object_unref (self->layout);
  pango_font_description_free (self->font);
  g_array_unref (self->marks);
  g_array_unref (self->offsets);
}

void
lig_canvas_free (LigCanvas *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear);
}

G_DEFINE_BOXED_TYPE (LigCanvas, lig_canvas, g_atomic_rc_box_acquire, lig_canvas_free)

/* Cairo's coordinates have 24 bits before the point; anything farther away is invisible. */
double
lig_canvas_clamp (double pixel)
{
  return isfinite (pixel) ? CLAMP (pixel, -8e6, 8e6) : 0;
}

/* --- Shapes -------------------------------------------------------------------------------- */

static void
set_colour (cairo_t *cairo, LigColour colour)
{
  cairo_set_source_rgba (cairo, (colour >> 24) / 255., (colour >> 16 & 0xff) / 255.,
                         (colour >> 8 & 0xff) / 255., (colour & 0xff) / 255.);
}

static void
stroke_path (cairo_t *cairo, LigColour stroke, double width)
{
  set_colour (cairo, stroke);
  cairo_set_line_width (cairo, width);
  cairo_set_line_join (cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_stroke (cairo);
}

static void
append_box (cairo_t *cairo, double x, double y, double width, double height, double radius)
{
  double r = MIN (radius, MIN (width, height) / 2);
  cairo_new_path (cairo);
  if (r <= 0) {
    cairo_rectangle (cairo, x, y, width, height);
    return;
  }
  cairo_arc (cairo, x + width - r, y + r, r, -G_PI_2, 0);
  cairo_arc (cairo, x + width - r, y + height - r, r, 0, G_PI_2);
  cairo_arc (cairo, x + r, y + height - r, r, G_PI_2, G_PI);
  cairo_arc (cairo, x + r, y + r, r, G_PI, 3 * G_PI_2);
  cairo_close_path (cairo);
}

void
lig_canvas_box (LigCanvas *self,
                double x,
                double y,
                double width,
                double height,
                double radius,
                LigColour fill,
                LigColour stroke,
                double stroke_width)
{
  if (!(width >= 0) || !(height >= 0) || !(fill & 0xff || stroke & 0xff))
    return;
  if (self->svg)
    lig_svg_box (self, x, y, width, height, radius, fill, stroke, stroke_width);
  if (!self->cairo)
    return;
  append_box (self->cairo, lig_canvas_clamp (x), lig_canvas_clamp (y), lig_canvas_clamp (width),
              lig_canvas_clamp (height), radius);
  if (fill & 0xff) {
    set_colour (self->cairo, fill);
    cairo_fill_preserve (self->cairo);
  }
  if (stroke & 0xff)
    stroke_path (self->cairo, stroke, stroke_width);
  cairo_new_path (self->cairo);
}

static void
append_points (cairo_t *cairo, const double *points, guint count)
{
  gboolean begun = FALSE;
  cairo_new_path (cairo);
  for (guint i = 0; i < count; i++) {
    double x = points[2 * i], y = points[2 * i + 1];
    if (!isfinite (x) || !isfinite (y))
      begun = FALSE;
    else if (begun)
      cairo_line_to (cairo, lig_canvas_clamp (x), lig_canvas_clamp (y));
    else {
      cairo_move_to (cairo, lig_canvas_clamp (x), lig_canvas_clamp (y));
      begun = TRUE;
    }
  }
}

void
lig_canvas_lines (
  LigCanvas *self, const double *points, guint count, LigColour stroke, double width, double dash)
{
  if (!(stroke & 0xff) || count < 2)
    return;
  if (self->svg)
    lig_svg_lines (self, points, count, stroke, width, dash);
  if (!self->cairo)
    return;
  append_points (self->cairo, points, count);
  cairo_set_dash (self->cairo, &dash, dash > 0 ? 1 : 0, 0);
  stroke_path (self->cairo, stroke, width);
  cairo_set_dash (self->cairo, NULL, 0, 0);
}

void
lig_canvas_area (LigCanvas *self, const double *points, guint count, LigColour fill)
{
  if (!(fill & 0xff) || count < 3)
    return;
  if (self->svg)
    lig_svg_area (self, points, count, fill);
  if (!self->cairo)
    return;
  append_points (self->cairo, points, count);
  set_colour (self->cairo, fill);
  cairo_fill (self->cairo);
}

void
lig_canvas_curve (LigCanvas *self, const double points[8], LigColour stroke, double width)
{
  if (!(stroke & 0xff))
    return;
  if (self->svg)
    lig_svg_curve (self, points, stroke, width);
  if (!self->cairo)
    return;
  cairo_new_path (self->cairo);
  cairo_move_to (self->cairo, points[0], points[1]);
  cairo_curve_to (self->cairo, points[2], points[3], points[4], points[5], points[6], points[7]);
  stroke_path (self->cairo, stroke, width);
}

void
lig_canvas_disc (LigCanvas *self, double x, double y, double radius, LigColour fill)
{
  if (!(fill & 0xff) || !isfinite (x) || !isfinite (y))
    return;
  if (self->svg)
    lig_svg_disc (self, x, y, radius, fill);
  if (!self->cairo)
    return;
  cairo_new_path (self->cairo);
  cairo_arc (self->cairo, lig_canvas_clamp (x), lig_canvas_clamp (y), radius, 0, 2 * G_PI);
  set_colour (self->cairo, fill);
  cairo_fill (self->cairo);
}

/* --- Text ---------------------------------------------------------------------------------- */

/* The maximum number of characters of a text with a limited width: more would never fit, and the
 * time for shortening grows with the length. */
#define LONGEST 400

/* Returns (transfer full) the text as valid UTF-8, at most LONGEST characters if its width is
 * limited. */
static char *
prepare_text (const LigTextStyle *style, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  if (style->width <= 0 || g_utf8_strlen (valid, -1) <= LONGEST)
    return g_steal_pointer (&valid);
  g_autofree char *start = g_utf8_substring (valid, 0, LONGEST);
  return g_strconcat (start, "…", NULL);
}

/* Sets the text of the layout; Pango shortens it to @width, unless that is 0. */
static void
set_text (LigCanvas *self, const LigTextStyle *style, const char *text, double width)
{
  pango_font_description_set_absolute_size (self->font, style->size * PANGO_SCALE);
  pango_font_description_set_weight (self->font,
                                     style->bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  pango_layout_set_font_description (self->layout, self->font);
  pango_layout_set_width (self->layout, width > 0 ? (int) (width * PANGO_SCALE) : -1);
  pango_layout_set_ellipsize (self->layout, width > 0 ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_NONE);
  pango_layout_set_text (self->layout, text, -1);
}

/* Returns the width of the layout's text. */
static double
measure (LigCanvas *self)
{
  PangoRectangle logical;
  pango_layout_get_extents (self->layout, NULL, &logical);
  return (double) logical.width / PANGO_SCALE;
}

/* Returns (transfer full) the part of the text that fits, ending in an ellipsis. */
static char *
cut_text (LigCanvas *self, const LigTextStyle *style, const char *text)
{
  glong low = 0, high = g_utf8_strlen (text, -1);
  while (low < high) {
    glong middle = low + (high - low + 1) / 2;
    g_autofree char *part = g_utf8_substring (text, 0, middle);
    g_autofree char *whole = g_strconcat (g_strchomp (part), "…", NULL);
    set_text (self, style, whole, 0);
    if (measure (self) <= style->width)
      low = middle;
    else
      high = middle - 1;
  }
  g_autofree char *part = g_utf8_substring (text, 0, low);
  return g_strconcat (g_strchomp (part), "…", NULL);
}

static void
write_svg_text (LigCanvas *self, double x, double y, const LigTextStyle *style, const char *text)
{
  set_text (self, style, text, 0);
  gboolean fits = style->width <= 0 || measure (self) <= style->width;
  g_autofree char *cut = fits ? NULL : cut_text (self, style, text);
  lig_svg_text (self, x, y, style, cut ? cut : text);
}

void
lig_canvas_text (LigCanvas *self, double x, double y, const LigTextStyle *style, const char *text)
{
  if (!text || !*text || !(style->colour & 0xff) || !isfinite (x) || !isfinite (y))
    return;
  g_autofree char *valid = prepare_text (style, text);
  if (self->svg)
    write_svg_text (self, x, y, style, valid);
  if (!self->cairo)
    return;
  set_text (self, style, valid, style->width);
  double width = measure (self);
  double shift = style->anchor == LIG_TEXT_END      ? width
                 : style->anchor == LIG_TEXT_MIDDLE ? width / 2
                                                    : 0;
  double baseline = (double) pango_layout_get_baseline (self->layout) / PANGO_SCALE;
  cairo_save (self->cairo);
  cairo_translate (self->cairo, lig_canvas_clamp (x), lig_canvas_clamp (y));
  cairo_rotate (self->cairo, style->angle * G_PI / 180);
  cairo_move_to (self->cairo, -shift, -baseline);
  set_colour (self->cairo, style->colour);
  pango_cairo_update_layout (self->cairo, self->layout);
  pango_cairo_show_layout (self->cairo, self->layout);
  cairo_restore (self->cairo);
  cairo_new_path (self->cairo);
}

double
lig_canvas_text_width (LigCanvas *self, const LigTextStyle *style, const char *text)
{
  if (!text || !*text)
    return 0;
  g_autofree char *valid = prepare_text (style, text);
  set_text (self, style, valid, style->width);
  return measure (self);
}

/* --- Clips and marks ----------------------------------------------------------------------- */

void
lig_canvas_begin_clip (LigCanvas *self, double x, double y, double width, double height)
{
  if (self->svg)
    lig_svg_begin_clip (self, x, y, width, height);
  if (!self->cairo)
    return;
  cairo_save (self->cairo);
  cairo_new_path (self->cairo);
  cairo_rectangle (self->cairo, x, y, width, height);
  cairo_clip (self->cairo);
}

void
lig_canvas_end_clip (LigCanvas *self)
{
  if (self->svg)
    lig_svg_end_clip (self);
  if (self->cairo)
    cairo_restore (self->cairo);
}

void
lig_canvas_begin_translate (LigCanvas *self, double x, double y)
{
  g_array_append_val (self->offsets, x);
  g_array_append_val (self->offsets, y);
  self->offset_x += x;
  self->offset_y += y;
  if (self->svg)
    lig_svg_begin_translate (self, x, y);
  if (!self->cairo)
    return;
  cairo_save (self->cairo);
  cairo_translate (self->cairo, x, y);
}

void
lig_canvas_end_translate (LigCanvas *self)
{
  guint last = self->offsets->len;
  g_return_if_fail (last >= 2);
  self->offset_x -= g_array_index (self->offsets, double, last - 2);
  self->offset_y -= g_array_index (self->offsets, double, last - 1);
  g_array_set_size (self->offsets, last - 2);
  if (self->svg)
    lig_svg_end_group (self);
  if (self->cairo)
    cairo_restore (self->cairo);
}

void
lig_canvas_begin_mark (
  LigCanvas *self, double x, double y, double width, double height, const char *text)
{
  LigMark mark = {lig_canvas_clamp (x + self->offset_x), lig_canvas_clamp (y + self->offset_y),
                  lig_canvas_clamp (width), lig_canvas_clamp (height),
                  g_utf8_make_valid (text ? text : "", -1)};
  g_array_append_val (self->marks, mark);
  if (self->svg)
    lig_svg_begin_mark (self, mark.text);
}

void
lig_canvas_end_mark (LigCanvas *self)
{
  if (self->svg)
    lig_svg_end_group (self);
}

const LigMark *
lig_canvas_get_marks (LigCanvas *self, guint *count)
{
  if (count)
    *count = self->marks->len;
  return &g_array_index (self->marks, LigMark, 0);
}
