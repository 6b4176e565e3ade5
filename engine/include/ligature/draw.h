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
 * LigInks:
 * @ground, @card, @ink, @dim, @line: behind all, of boxes, of text, of lesser text, of rules
 * @forward, @backward, @channel, @warning, @error: accents; the _fill ones lie behind text
 * @series: of curves, told apart by people who see colours differently, too
 *
 * The colours of a picture. Fused groups are never told by colour alone.
 */
typedef struct {
  LigColour ground, card, ink, dim, line;
  LigColour forward, forward_fill, backward, backward_fill, channel, warning, error;
  LigColour series[LIG_N_SERIES];
} LigInks;

typedef enum {
  LIG_INKS_LIGHT,
  LIG_INKS_DARK,
  LIG_INKS_LIGHT_CONTRAST,
  LIG_INKS_DARK_CONTRAST
} LigInksKind;

LIG_API const LigInks *lig_inks (LigInksKind kind);

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

/* @cairo: (transfer none): has to outlive the canvas. */
LIG_API LigCanvas *lig_canvas_new (cairo_t *cairo);
LIG_API LigCanvas *lig_canvas_new_svg (double width, double height);

/* Measures, collects marks and draws nothing. */
LIG_API LigCanvas *lig_canvas_new_blank (void);

/* (transfer full): of an SVG canvas: the <svg> element. */
LIG_API char *lig_canvas_to_svg (LigCanvas *self);
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

/* A colour of 0 draws nothing; a radius of 0 gives sharp corners. */
LIG_API void lig_canvas_box (LigCanvas *self,
                             double x,
                             double y,
                             double width,
                             double height,
                             double radius,
                             LigColour fill,
                             LigColour stroke,
                             double stroke_width);

/* @points: x and y in turn; a NaN begins a new line. @dash: length of dashes, 0: none. */
LIG_API void lig_canvas_lines (
  LigCanvas *self, const double *points, guint count, LigColour stroke, double width, double dash);
LIG_API void lig_canvas_area (LigCanvas *self, const double *points, guint count, LigColour fill);
LIG_API void lig_canvas_curve (LigCanvas *self,
                               const double points[8], /* start, two controls, end */
                               LigColour stroke,
                               double width);
LIG_API void lig_canvas_disc (LigCanvas *self, double x, double y, double radius, LigColour fill);

/* @y: of the baseline. */
LIG_API void
lig_canvas_text (LigCanvas *self, double x, double y, const LigTextStyle *style, const char *text);
LIG_API double lig_canvas_text_width (LigCanvas *self, const LigTextStyle *style, const char *text);

/* What is drawn until the end keeps within the rectangle. */
LIG_API void
lig_canvas_begin_clip (LigCanvas *self, double x, double y, double width, double height);
LIG_API void lig_canvas_end_clip (LigCanvas *self);

/* What is drawn until the end is moved by so much, marks too. */
LIG_API void lig_canvas_begin_shift (LigCanvas *self, double x, double y);
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

LIG_API void lig_canvas_begin_mark (
  LigCanvas *self, double x, double y, double width, double height, const char *text);
LIG_API void lig_canvas_end_mark (LigCanvas *self);

/* In the order in which they were drawn; (transfer none). */
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

/* Forward rail | ops | backward rail with brackets, names, times, channels, fences. Blocks are
 * folded, with their count. The height follows from the ops. */
LIG_API double lig_draw_score_height (LigPlan *plan);
LIG_API void
lig_draw_score (LigCanvas *canvas, const LigInks *inks, const LigTimedPlan *timed, double width);

/* --- Charts -------------------------------------------------------------------------------- */

/**
 * LigChartSeries:
 * @least, @greatest: (nullable): of what each point stands for: drawn as a band
 * @colour: index into the inks' series
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
 * @from, @to: part of the x axis to show; NaN: all
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

/* However many points: each column of pixels shows the least and the greatest of its points. */
LIG_API void lig_draw_chart (
  LigCanvas *canvas, const LigInks *inks, const LigChart *chart, double width, double height);

/* The x value at a pixel, for pointers; NaN outside. */
LIG_API double lig_chart_find_x (const LigChart *chart, double width, double height, double pixel);

/* (transfer full): `step 1200 · loss 1.412 · held out 1.447`; null where there is nothing. */
LIG_API char *lig_chart_read_out (const LigChart *chart, double x);

/* (transfer full): a column of x and one for each series. */
LIG_API char *lig_chart_to_csv (const LigChart *chart);

/* --- Where the time goes ------------------------------------------------------------------- */

/* A bar for each group of both passes: measured beside predicted. */
LIG_API double lig_draw_times_height (const LigTimedPlan *timed);
LIG_API void
lig_draw_times (LigCanvas *canvas, const LigInks *inks, const LigTimedPlan *timed, double width);

/* One step of training from left to right: forward, backward and update in rows of their own. */
LIG_API void lig_draw_timeline (
  LigCanvas *canvas, const LigInks *inks, const LigTimedPlan *timed, double width, double height);

/* Flops a second over flops a byte, both logarithmic, under the device's ceilings; with @unfused an
 * arrow from the ops apart to each fusion of @timed. */
LIG_API void lig_draw_roofline (LigCanvas *canvas,
                                const LigInks *inks,
                                const LigTimedPlan *timed,
                                const LigTimedPlan *unfused,
                                double width,
                                double height);

/* Bytes alive at each step, by kind: parameters, gradients, optimizer, kept for backward, other. */
LIG_API void lig_draw_memory (
  LigCanvas *canvas, const LigInks *inks, LigPlan *plan, double width, double height);

/* Who lives where and when in the plan's arena: lifetimes over offsets. */
LIG_API void
lig_draw_map (LigCanvas *canvas, const LigInks *inks, LigPlan *plan, double width, double height);

/* --- Figures for people -------------------------------------------------------------------- */

/* (transfer full): `1.5k`, `0.002`, `3e-5`: at most @digits significant digits. */
LIG_API char *lig_draw_number (double value, int digits);

/* (transfer full): `142 µs`, `5.37 ms`; `1.41 GB`; `12.5 TFLOP/s`. */
LIG_API char *lig_draw_time (double seconds);
LIG_API char *lig_draw_bytes (double bytes);
LIG_API char *lig_draw_rate (double flops);

/* --- Files --------------------------------------------------------------------------------- */

/* Draws on a canvas of the wanted kind: `svg`, `pdf` or `png` (at twice the size). */
typedef void (*LigDrawFunc) (LigCanvas *canvas, gpointer data);

/**
 * lig_draw_to_file:
 * @draw: (scope call) (closure data): draws the picture
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
