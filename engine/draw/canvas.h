/* SPDX-License-Identifier: MIT */
/* The canvas structure, and the drawing functions that are not public. */
#pragma once

#include <ligature/canvas.h>

#include <pango/pangocairo.h>

#define LIG_FONT "Cantarell, Inter, Noto Sans, DejaVu Sans, sans-serif"

struct _LigCanvas {
  cairo_t *cairo; /* NULL without a surface */
  GString *svg;   /* NULL unless SVG is written */
  const LigColours *colours;
  double width, height;
  PangoLayout *layout;
  PangoFontDescription *font;
  GArray *marks;             /* LigMark */
  GArray *offsets;           /* double: x and y of each open translation */
  double offset_x, offset_y; /* the sum of the open offsets */
};

/* Makes an SVG canvas write the colours of @colours as variables, `var(--lig-ink)`, so that a style
 * sheet chooses them. */
void lig_canvas_name_colours (LigCanvas *self, const LigColours *colours);

/* Returns (transfer full) the definitions for a style sheet: `--lig-ink: #1e1e1e; …`. */
char *lig_colours_to_style (const LigColours *colours);

/* Returns @pixel limited to the range of a surface, 0 if it is not finite. */
double lig_canvas_clamp (double pixel);

/* --- Shapes, texts and marks ---------------------------------------------------------------- */

typedef enum { LIG_TEXT_START, LIG_TEXT_MIDDLE, LIG_TEXT_END } LigTextAnchor;

typedef struct {
  double size; /* in pixels */
  gboolean bold;
  LigColour colour;
  LigTextAnchor anchor;
  double width; /* longer text is shortened with an ellipsis; 0: unlimited */
  double angle; /* in degrees, clockwise */
} LigTextStyle;

/* Draws lines from point to point: x and y of each, and a NaN begins a new line. @dash: the length
 * of dashes; 0: solid lines */
void lig_canvas_lines (
  LigCanvas *self, const double *points, guint count, LigColour stroke, double width, double dash);

/* Fills a polygon. */
void lig_canvas_area (LigCanvas *self, const double *points, guint count, LigColour fill);

/* Draws a cubic Bézier curve. */
void lig_canvas_curve (LigCanvas *self,
                       const double points[8], /* start, two control points, end */
                       LigColour stroke,
                       double width);

/* Fills a disc around a centre. */
void lig_canvas_disc (LigCanvas *self, double x, double y, double radius, LigColour fill);

/* Draws one line of text, UTF-8, with its anchor at @x and its baseline at @y. */
void
lig_canvas_text (LigCanvas *self, double x, double y, const LigTextStyle *style, const char *text);

/* Returns the width of the uncut text in pixels. */
double lig_canvas_text_width (LigCanvas *self, const LigTextStyle *style, const char *text);

/* Clips everything drawn until lig_canvas_end_clip() to a rectangle. */
void lig_canvas_begin_clip (LigCanvas *self, double x, double y, double width, double height);
void lig_canvas_end_clip (LigCanvas *self);

/* Moves everything drawn until lig_canvas_end_translate(), including marks, to the right and
 * downward. */
void lig_canvas_begin_translate (LigCanvas *self, double x, double y);
void lig_canvas_end_translate (LigCanvas *self);

/* --- The SVG implementation of each call ----------------------------------------------------- */

void lig_svg_box (LigCanvas *self,
                  double x,
                  double y,
                  double width,
                  double height,
                  double radius,
                  LigColour fill,
                  LigColour stroke,
                  double stroke_width);
void lig_svg_lines (
  LigCanvas *self, const double *points, guint count, LigColour stroke, double width, double dash);
void lig_svg_area (LigCanvas *self, const double *points, guint count, LigColour fill);
void lig_svg_curve (LigCanvas *self, const double points[8], LigColour stroke, double width);
void lig_svg_disc (LigCanvas *self, double x, double y, double radius, LigColour fill);
void
lig_svg_text (LigCanvas *self, double x, double y, const LigTextStyle *style, const char *text);
void lig_svg_begin_clip (LigCanvas *self, double x, double y, double width, double height);
void lig_svg_end_clip (LigCanvas *self);
void lig_svg_begin_translate (LigCanvas *self, double x, double y);
void lig_svg_end_group (LigCanvas *self);
void lig_svg_begin_mark (LigCanvas *self, const char *text);

/* Appends @text to XML: escapes the reserved characters and replaces those that XML cannot hold. */
void lig_svg_append_text (GString *to, const char *text);

/* --- Shared by the pictures ----------------------------------------------------------------- */

/* Returns (transfer full) a number with at most the given number of digits: `1.5k`, `0.002`,
 * `3e-5`. */
char *lig_draw_number (double value, int digits);

/* Returns the colour with another opacity, 0 to 255. */
static inline LigColour
lig_colour_fade (LigColour colour, guint alpha)
{
  return (colour & 0xffffff00u) | alpha;
}
