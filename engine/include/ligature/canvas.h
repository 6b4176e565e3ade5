/* SPDX-License-Identifier: MIT */
/* Canvases and their colours, on which pictures (<ligature/draw.h>) are drawn, and charts. The same
 * code draws in the window, in reports and in files; it needs no display. Sizes are in pixels of
 * 1/96 inch. */
#pragma once

#include <ligature/error.h>
#include <ligature/foreign.h>

#include <math.h>

G_BEGIN_DECLS

/* --- Colours ------------------------------------------------------------------------------- */

/* A colour as 0xRRGGBBAA. */
typedef guint32 LigColour;

#define LIG_N_SERIES 8

/**
 * LigColours:
 * @ground: the background
 * @card: the background of boxes
 * @ink: text
 * @dim: secondary text
 * @line: rules and axes
 * @forward: the forward pass
 * @forward_fill: the forward pass, behind text
 * @backward: the backward pass
 * @backward_fill: the backward pass, behind text
 * @channel: channels
 * @warning: warnings
 * @error: errors
 * @series: curves, in colours that people with colour blindness can distinguish
 *
 * The colours of a picture. Colour is never the only sign of a fused group.
 */
typedef struct {
  LigColour ground, card, ink, dim, line;
  LigColour forward, forward_fill, backward, backward_fill, channel, warning, error;
  LigColour series[LIG_N_SERIES];
} LigColours;

typedef enum {
  LIG_COLOURS_LIGHT,
  LIG_COLOURS_DARK,
  LIG_COLOURS_LIGHT_CONTRAST,
  LIG_COLOURS_DARK_CONTRAST
} LigColoursKind;

/**
 * lig_colours:
 * @kind: a set of colours
 *
 * Returns: (transfer none): the colours of the set
 */
LIG_API const LigColours *lig_colours (LigColoursKind kind);

/* --- Canvases ------------------------------------------------------------------------------ */

/**
 * LigCanvas:
 *
 * A target for pictures: a cairo context, or an SVG document whose text stays text (small,
 * searchable, with a tooltip for each mark).
 */
typedef struct _LigCanvas LigCanvas;

#define LIG_TYPE_CANVAS (lig_canvas_get_type ())
LIG_API GType lig_canvas_get_type (void);

/**
 * lig_canvas_new:
 * @cairo: (transfer none): a context that must outlive the canvas
 *
 * Returns: (transfer full): a canvas that draws on @cairo
 */
LIG_API LigCanvas *lig_canvas_new (cairo_t *cairo);

/**
 * lig_canvas_new_svg:
 * @width: the width in pixels
 * @height: the height in pixels
 *
 * Returns: (transfer full): a canvas that writes SVG
 */
LIG_API LigCanvas *lig_canvas_new_svg (double width, double height);

/**
 * lig_canvas_new_blank:
 *
 * Returns: (transfer full): a canvas that measures and collects marks, but draws nothing
 */
LIG_API LigCanvas *lig_canvas_new_blank (void);

/**
 * lig_canvas_to_svg:
 * @self: a canvas made by lig_canvas_new_svg()
 *
 * Returns: (transfer full): the <svg> element
 */
LIG_API char *lig_canvas_to_svg (LigCanvas *self);

/**
 * lig_canvas_free:
 * @self: a canvas
 *
 * Releases the caller's reference. The canvas is freed with the last one.
 */
LIG_API void lig_canvas_free (LigCanvas *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigCanvas, lig_canvas_free)

/**
 * lig_canvas_box:
 * @self: a canvas
 * @x: the left edge in pixels
 * @y: the upper edge in pixels
 * @width: the width in pixels
 * @height: the height in pixels
 * @radius: the radius of the corners; 0: sharp corners
 * @fill: the colour of the area
 * @stroke: the colour of the border
 * @stroke_width: the width of the border in pixels
 *
 * Draws a rectangle. A colour of 0 draws nothing.
 */
LIG_API void lig_canvas_box (LigCanvas *self,
                             double x,
                             double y,
                             double width,
                             double height,
                             double radius,
                             LigColour fill,
                             LigColour stroke,
                             double stroke_width);

/**
 * LigMark:
 *
 * A rectangle of a picture that has a description. Its text is the tooltip under the pointer; the
 * arrow keys step through the marks, and a screen reader reads them.
 */
typedef struct {
  double x, y, width, height;
  char *text;
} LigMark;

/**
 * lig_canvas_begin_mark:
 * @self: a canvas
 * @x: the left edge in pixels
 * @y: the upper edge in pixels
 * @width: the width in pixels
 * @height: the height in pixels
 * @text: the tooltip, copied
 *
 * Begins a mark, which contains everything drawn until lig_canvas_end_mark().
 */
LIG_API void lig_canvas_begin_mark (
  LigCanvas *self, double x, double y, double width, double height, const char *text);

/**
 * lig_canvas_end_mark:
 * @self: a canvas
 *
 * Ends the most recently begun mark.
 */
LIG_API void lig_canvas_end_mark (LigCanvas *self);

/**
 * lig_canvas_get_marks:
 * @self: a canvas
 * @count: (out): the number of marks
 *
 * Returns: (transfer none) (array length=count): the marks in the order in which they were
 *   drawn, valid until the next drawing operation
 */
LIG_API const LigMark *lig_canvas_get_marks (LigCanvas *self, guint *count);

/* --- Charts -------------------------------------------------------------------------------- */

/**
 * LigChartSeries:
 * @label: the name in the legend
 * @x: @count positions on the x axis
 * @y: @count values
 * @min: (nullable): the minimum of the values that each point summarizes: the lower edge of a band
 * @greatest: (nullable): the maximum of these values: the upper edge
 * @count: the number of points
 * @colour: the index into #LigColours.series
 * @dashed: whether the curve is dashed
 *
 * One curve.
 */
typedef struct {
  const char *label;
  const double *x, *y, *min, *greatest;
  guint count;
  guint colour;
  gboolean dashed;
} LigChartSeries;

/**
 * LigChart:
 * @smoothing: the weight of earlier values, from 0 to 0.999; the raw curve stays visible behind it
 * @from: the start of the x axis; NaN: the first point
 * @to: the end of the x axis; NaN: the last point
 * @cursor: the x position of the cursor, whose values are displayed; NaN: no cursor
 *
 * Curves over a common axis.
 */
typedef struct {
  const char *title, *x_label, *y_label;
  const LigChartSeries *series;
  guint count;
  gboolean log_x, log_y;
  double smoothing;
  double from, to, cursor;
} LigChart;

#define LIG_CHART_INIT \
  { \
    .from = NAN, .to = NAN, .cursor = NAN \
  }

/**
 * lig_draw_chart:
 * @canvas: a canvas
 * @colours: the colours
 * @chart: the curves
 * @width: the width in pixels
 * @height: the height in pixels
 *
 * Draws curves. Each column of pixels shows the minimum and the maximum of its points, however many
 * points it has.
 */
LIG_API void lig_draw_chart (
  LigCanvas *canvas, const LigColours *colours, const LigChart *chart, double width, double height);

/**
 * lig_chart_find_x:
 * @chart: the curves
 * @width: the width of the picture in pixels
 * @height: the height of the picture in pixels
 * @pixel: the distance from the left edge in pixels
 *
 * Returns: the x value at this position, NaN outside the axes
 */
LIG_API double lig_chart_find_x (const LigChart *chart, double width, double height, double pixel);

/**
 * lig_chart_read_out:
 * @chart: the curves
 * @x: a position on the x axis
 *
 * Returns: (transfer full) (nullable): the values at the point nearest to @x, `step 1200 ·
 *   loss 1.412 · validation loss 1.447`; %NULL without such a point
 */
LIG_API char *lig_chart_read_out (const LigChart *chart, double x);

/**
 * lig_chart_to_csv:
 * @chart: the curves
 *
 * Returns: (transfer full): CSV text with a column for x and one for each series
 */
LIG_API char *lig_chart_to_csv (const LigChart *chart);

/* --- Files --------------------------------------------------------------------------------- */

/* Draws a picture on @canvas; @data is the pointer given to lig_draw_to_file(). */
typedef void (*LigDrawFunc) (LigCanvas *canvas, gpointer data);

/**
 * lig_draw_to_file:
 * @format: `svg`, `pdf` or `png`; a `png` has twice as many pixels in each direction
 * @width: the width in pixels
 * @height: the height in pixels
 * @ground: the background colour
 * @draw: (scope call) (closure data): the function that draws the picture
 * @data: the pointer passed to @draw
 *
 * Returns: (transfer full): the contents of the file, or %NULL with an error set
 */
LIG_API GBytes *lig_draw_to_file (const char *format,
                                  double width,
                                  double height,
                                  LigColour ground,
                                  LigDrawFunc draw,
                                  gpointer data,
                                  GError **error);

G_END_DECLS
