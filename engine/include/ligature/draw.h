/* SPDX-License-Identifier: MIT */
/* Pictures: the score, charts, timelines, rooflines, memory maps. One code draws them in the
 * window, in reports and in files, without a display. Sizes are in pixels of 1/96 inch. */
#pragma once

#include <ligature/foreign.h>
#include <ligature/plan.h>
#include <ligature/profile.h>

#include <math.h>

G_BEGIN_DECLS

/* --- Colours ------------------------------------------------------------------------------- */

/* 0xRRGGBBAA. */
typedef guint32 LigColour;

#define LIG_N_SERIES 8

/**
 * LigColours:
 * @ground: the background
 * @card: of boxes
 * @ink: of text
 * @dim: of lesser text
 * @line: of rules
 * @forward: of the forward pass
 * @forward_fill: the same behind text
 * @backward: of the backward pass
 * @backward_fill: the same behind text
 * @channel: of channels
 * @warning: of warnings
 * @error: of errors
 * @series: of curves, told apart by people who see colours differently, too
 *
 * The colours of a picture. Fused groups are never told by colour alone.
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
 * @kind: which set
 *
 * Returns: (transfer none): its colours
 */
LIG_API const LigColours *lig_colours (LigColoursKind kind);

/* --- Canvases ------------------------------------------------------------------------------ */

/**
 * LigCanvas:
 *
 * What pictures are drawn on: a cairo surface, or SVG text that stays text (small,
 * searchable, with a tooltip for each mark).
 */
typedef struct _LigCanvas LigCanvas;

#define LIG_TYPE_CANVAS (lig_canvas_get_type ())
LIG_API GType lig_canvas_get_type (void);

/**
 * lig_canvas_new:
 * @cairo: (transfer none): a context that outlives the canvas
 *
 * Returns: (transfer full): a canvas that draws on it
 */
LIG_API LigCanvas *lig_canvas_new (cairo_t *cairo);

/**
 * lig_canvas_new_svg:
 * @width: in pixels
 * @height: in pixels
 *
 * Returns: (transfer full): a canvas that writes SVG
 */
LIG_API LigCanvas *lig_canvas_new_svg (double width, double height);

/**
 * lig_canvas_new_blank:
 *
 * Returns: (transfer full): a canvas that measures, collects marks and draws nothing
 */
LIG_API LigCanvas *lig_canvas_new_blank (void);

/**
 * lig_canvas_to_svg:
 * @self: a canvas
 *
 * Returns: (transfer full): the <svg> element of an SVG canvas
 */
LIG_API char *lig_canvas_to_svg (LigCanvas *self);

/**
 * lig_canvas_free:
 * @self: a canvas
 *
 * Releases the caller's reference; the memory goes with the last one.
 */
LIG_API void lig_canvas_free (LigCanvas *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigCanvas, lig_canvas_free)

typedef enum { LIG_TEXT_START, LIG_TEXT_MIDDLE, LIG_TEXT_END } LigTextAnchor;

typedef struct {
  double size; /* pixels */
  gboolean bold;
  LigColour colour;
  LigTextAnchor anchor;
  double width; /* cut with an ellipsis beyond it; 0: never */
  double angle; /* degrees, clockwise */
} LigTextStyle;

/**
 * lig_canvas_box:
 * @self: a canvas
 * @x: of the left edge, in pixels
 * @y: of the upper edge, in pixels
 * @width: in pixels
 * @height: in pixels
 * @radius: of the corners; 0: sharp ones
 * @fill: its colour
 * @stroke: colour of its border
 * @stroke_width: in pixels
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
 * lig_canvas_lines: (skip)
 * @self: a canvas
 * @points: x and y in turn; a NaN begins a new line
 * @count: how many points
 * @stroke: their colour
 * @width: of the line
 * @dash: length of dashes; 0: none
 *
 * Draws lines from point to point.
 */
LIG_API void lig_canvas_lines (
  LigCanvas *self, const double *points, guint count, LigColour stroke, double width, double dash);

/**
 * lig_canvas_area: (skip)
 * @self: a canvas
 * @points: x and y in turn
 * @count: how many points
 * @fill: its colour
 *
 * Fills the polygon between points.
 */
LIG_API void lig_canvas_area (LigCanvas *self, const double *points, guint count, LigColour fill);

/**
 * lig_canvas_curve: (skip)
 * @self: a canvas
 * @points: x and y of start, two controls and end
 * @stroke: its colour
 * @width: of the line
 *
 * Draws a Bézier curve.
 */
LIG_API void lig_canvas_curve (LigCanvas *self,
                               const double points[8], /* start, two controls, end */
                               LigColour stroke,
                               double width);

/**
 * lig_canvas_disc:
 * @self: a canvas
 * @x: of its centre
 * @y: of its centre
 * @radius: in pixels
 * @fill: its colour
 *
 * Fills a disc.
 */
LIG_API void lig_canvas_disc (LigCanvas *self, double x, double y, double radius, LigColour fill);

/**
 * lig_canvas_text:
 * @self: a canvas
 * @x: of its anchor
 * @y: of the baseline
 * @style: size, colour and anchor
 * @text: UTF-8
 *
 * Draws one line of text.
 */
LIG_API void
lig_canvas_text (LigCanvas *self, double x, double y, const LigTextStyle *style, const char *text);

/**
 * lig_canvas_text_width:
 * @self: a canvas
 * @style: of the text
 * @text: UTF-8
 *
 * Returns: its width in pixels, uncut
 */
LIG_API double lig_canvas_text_width (LigCanvas *self, const LigTextStyle *style, const char *text);

/**
 * lig_canvas_begin_clip:
 * @self: a canvas
 * @x: of the left edge, in pixels
 * @y: of the upper edge, in pixels
 * @width: in pixels
 * @height: in pixels
 *
 * Keeps what is drawn until lig_canvas_end_clip() within a rectangle.
 */
LIG_API void
lig_canvas_begin_clip (LigCanvas *self, double x, double y, double width, double height);

/**
 * lig_canvas_end_clip:
 * @self: a canvas
 *
 * Ends the last clip that was begun.
 */
LIG_API void lig_canvas_end_clip (LigCanvas *self);

/**
 * lig_canvas_begin_shift:
 * @self: a canvas
 * @x: to the right
 * @y: down
 *
 * Moves what is drawn until lig_canvas_end_shift(), marks too.
 */
LIG_API void lig_canvas_begin_shift (LigCanvas *self, double x, double y);

/**
 * lig_canvas_end_shift:
 * @self: a canvas
 *
 * Ends the last shift that was begun.
 */
LIG_API void lig_canvas_end_shift (LigCanvas *self);

/**
 * LigMark:
 *
 * A place of a picture that has something to say: the tooltip under a pointer, what the
 * arrow keys go through, what a screen reader reads.
 */
typedef struct {
  double x, y, width, height;
  char *text;
} LigMark;

/**
 * lig_canvas_begin_mark:
 * @self: a canvas
 * @x: of the left edge, in pixels
 * @y: of the upper edge, in pixels
 * @width: in pixels
 * @height: in pixels
 * @text: its tooltip, copied
 *
 * Begins a mark, which holds what is drawn until lig_canvas_end_mark().
 */
LIG_API void lig_canvas_begin_mark (
  LigCanvas *self, double x, double y, double width, double height, const char *text);

/**
 * lig_canvas_end_mark:
 * @self: a canvas
 *
 * Ends the last mark that was begun.
 */
LIG_API void lig_canvas_end_mark (LigCanvas *self);

/**
 * lig_canvas_get_marks:
 * @self: a canvas
 * @count: (out): how many there are
 *
 * Returns: (transfer none) (array length=count): the marks in the order in which they were
 *   drawn, valid until more is drawn
 */
LIG_API const LigMark *lig_canvas_get_marks (LigCanvas *self, guint *count);

/* --- The score ----------------------------------------------------------------------------- */

/**
 * LigTimedPlan:
 * @steps: (nullable): seconds, as many as the plan has steps
 *
 * A plan and, where it was profiled, how long each of its steps took.
 */
typedef struct {
  LigPlan *plan;
  const double *steps;
} LigTimedPlan;

/**
 * lig_draw_score_height:
 * @plan: a plan
 *
 * Returns: the height of the plan's score in pixels, which follows from its ops
 */
LIG_API double lig_draw_score_height (LigPlan *plan);

/**
 * lig_draw_score:
 * @canvas: a canvas
 * @colours: the colours
 * @timed: the plan, with times where it was profiled
 * @width: in pixels
 *
 * Draws forward rail, ops and backward rail with brackets, names, times, channels and fences.
 * Blocks are folded, with their count.
 */
LIG_API void lig_draw_score (LigCanvas *canvas,
                             const LigColours *colours,
                             const LigTimedPlan *timed,
                             double width);

/* --- Charts -------------------------------------------------------------------------------- */

/**
 * LigChartSeries:
 * @least: (nullable): the least of the values behind each point: the lower edge of a band
 * @greatest: (nullable): the greatest of them
 * @colour: index into the colours' series
 *
 * One curve.
 */
typedef struct {
  const char *label;
  const double *x, *y, *least, *greatest;
  guint count;
  guint colour;
  gboolean dashed;
} LigChartSeries;

/**
 * LigChart:
 * @smoothing: 0 to 0.999: weight of what came before, the raw curve stays visible behind
 * @from: where the x axis begins; NaN: at the first point
 * @to: where it ends; NaN: at the last point
 * @cursor: an x whose values are read out, NaN: none
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
 * @width: in pixels
 * @height: in pixels
 *
 * Draws curves. However many points there are, each column of pixels shows the least and the
 * greatest of its points.
 */
LIG_API void lig_draw_chart (
  LigCanvas *canvas, const LigColours *colours, const LigChart *chart, double width, double height);

/**
 * lig_chart_find_x:
 * @chart: the curves
 * @width: in pixels
 * @height: in pixels
 * @pixel: from the left edge
 *
 * Returns: the x value there, NaN outside of the axes
 */
LIG_API double lig_chart_find_x (const LigChart *chart, double width, double height, double pixel);

/**
 * lig_chart_read_out:
 * @chart: the curves
 * @x: a value of the x axis
 *
 * Returns: (transfer full) (nullable): `step 1200 · loss 1.412 · held out 1.447`; %NULL where
 *   there is nothing
 */
LIG_API char *lig_chart_read_out (const LigChart *chart, double x);

/**
 * lig_chart_to_csv:
 * @chart: the curves
 *
 * Returns: (transfer full): a column of x and one for each series
 */
LIG_API char *lig_chart_to_csv (const LigChart *chart);

/* --- Where the time goes ------------------------------------------------------------------- */

/**
 * lig_draw_times_height:
 * @timed: a plan with times
 *
 * Returns: the height of lig_draw_times()'s picture in pixels
 */
LIG_API double lig_draw_times_height (const LigTimedPlan *timed);

/**
 * lig_draw_times:
 * @canvas: a canvas
 * @colours: the colours
 * @timed: a plan with times
 * @width: in pixels
 *
 * Draws a bar for each group of both passes: the measured time next to the predicted one.
 */
LIG_API void lig_draw_times (LigCanvas *canvas,
                             const LigColours *colours,
                             const LigTimedPlan *timed,
                             double width);

/**
 * lig_draw_timeline:
 * @canvas: a canvas
 * @colours: the colours
 * @timed: a plan with times
 * @width: in pixels
 * @height: in pixels
 *
 * Draws one step of training from left to right: forward, backward and update in rows of their
 * own.
 */
LIG_API void lig_draw_timeline (LigCanvas *canvas,
                                const LigColours *colours,
                                const LigTimedPlan *timed,
                                double width,
                                double height);

/**
 * lig_draw_roofline:
 * @canvas: a canvas
 * @colours: the colours
 * @timed: a plan with times
 * @unfused: (nullable): the same sequence without fusions: an arrow goes from the ops apart to
 *   each fusion of @timed
 * @width: in pixels
 * @height: in pixels
 *
 * Draws operations per second over operations per byte, both logarithmic, under the device's
 * ceilings.
 */
LIG_API void lig_draw_roofline (LigCanvas *canvas,
                                const LigColours *colours,
                                const LigTimedPlan *timed,
                                const LigTimedPlan *unfused,
                                double width,
                                double height);

/**
 * lig_draw_memory:
 * @canvas: a canvas
 * @colours: the colours
 * @plan: a plan
 * @width: in pixels
 * @height: in pixels
 *
 * Draws the bytes alive at each step by kind: parameters, gradients, optimizer, kept for
 * backward, other.
 */
LIG_API void lig_draw_memory (
  LigCanvas *canvas, const LigColours *colours, LigPlan *plan, double width, double height);

/**
 * lig_draw_map:
 * @canvas: a canvas
 * @colours: the colours
 * @plan: a plan
 * @width: in pixels
 * @height: in pixels
 *
 * Draws the plan's arena: the lifetimes of its values over their offsets.
 */
LIG_API void lig_draw_map (
  LigCanvas *canvas, const LigColours *colours, LigPlan *plan, double width, double height);

/* --- Figures for people -------------------------------------------------------------------- */

/**
 * lig_draw_number:
 * @value: a number
 * @digits: significant digits at most
 *
 * Returns: (transfer full): `1.5k`, `0.002`, `3e-5`
 */
LIG_API char *lig_draw_number (double value, int digits);

/**
 * lig_draw_time:
 * @seconds: a time
 *
 * Returns: (transfer full): `142 µs`, `5.37 ms`
 */
LIG_API char *lig_draw_time (double seconds);

/**
 * lig_draw_bytes:
 * @bytes: how many
 *
 * Returns: (transfer full): `1.41 GB`
 */
LIG_API char *lig_draw_bytes (double bytes);

/**
 * lig_draw_rate:
 * @flops: floating-point operations per second
 *
 * Returns: (transfer full): `12.5 TFLOP/s`
 */
LIG_API char *lig_draw_rate (double flops);

/* --- Files --------------------------------------------------------------------------------- */

/* Draws on a canvas of the wanted kind: `svg`, `pdf` or `png` (at twice the size). */
typedef void (*LigDrawFunc) (LigCanvas *canvas, gpointer data);

/**
 * lig_draw_to_file:
 * @format: `svg`, `pdf` or `png`, which has twice the size
 * @width: in pixels
 * @height: in pixels
 * @ground: colour behind the picture
 * @draw: (scope call) (closure data): draws the picture
 * @data: of @draw
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
