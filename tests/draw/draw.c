/* SPDX-License-Identifier: MIT */
/* Pictures: all kinds of canvas draw the same, charts show their data, and the score shows the
 * plan. The tests need no display. */
#include "engine/draw/canvas.h"
#include "engine/draw/score.h"
#include "tests/base/contains.h"
#include "tests/base/slowness.h"
#include "tests/draw/read-picture.h"
#include <ligature/compile.h>
#include <ligature/draw.h>

#include <cairo.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define WIDTH 1000.0

static LigPlan *
new_plan (const char *expression, const char *device_name, LigPolicy policy)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape shape;
  options.policy = policy;
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (64), G_GINT64_CONSTANT (32));
  g_autoptr (LigDevice) device = lig_device_open (device_name, &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

/* --- Colours ------------------------------------------------------------------------------- */

static double
luminance (LigColour colour)
{
  double sum = 0, weights[] = {0.2126, 0.7152, 0.0722};
  for (int i = 0; i < 3; i++) {
    double share = (colour >> (24 - 8 * i) & 0xff) / 255.;
    sum += weights[i] * (share <= 0.03928 ? share / 12.92 : pow ((share + 0.055) / 1.055, 2.4));
  }
  return sum;
}

/* Computes the contrast as defined by WCAG 2. */
static void
assert_contrast (LigColour a, LigColour b, double min)
{
  double x = luminance (a), y = luminance (b);
  g_assert_cmpfloat ((MAX (x, y) + 0.05) / (MIN (x, y) + 0.05), >=, min);
}

static void
test_colours (void)
{
  for (LigColoursKind kind = LIG_COLOURS_LIGHT; kind <= LIG_COLOURS_DARK_CONTRAST; kind++) {
    const LigColours *colours = lig_colours (kind);
    const LigColour texts[] = {colours->ink,      colours->dim,     colours->forward,
                               colours->backward, colours->channel, colours->warning,
                               colours->error};
    double min = kind >= LIG_COLOURS_LIGHT_CONTRAST ? 7 : 4.5;
    for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
      assert_contrast (texts[i], colours->ground, min);
      assert_contrast (texts[i], colours->card, min);
    }
    assert_contrast (colours->forward, colours->forward_fill, 4.5);
    assert_contrast (colours->backward, colours->backward_fill, 4.5);
    assert_contrast (colours->dim, colours->forward_fill, 4.5);
    assert_contrast (colours->dim, colours->backward_fill, 4.5);
    for (guint i = 0; i < LIG_N_SERIES; i++) {
      assert_contrast (colours->series[i], colours->ground, 3);
      for (guint j = 0; j < i; j++)
        g_assert_cmphex (colours->series[i], !=, colours->series[j]);
    }
  }
}

/* --- Canvases ------------------------------------------------------------------------------- */

typedef struct {
  LigTimedPlan timed;
  LigPlan *unfused;
} Score;

static void
draw_score (LigCanvas *canvas, gpointer data)
{
  const Score *score = data;
  lig_draw_score_against (canvas, lig_colours (LIG_COLOURS_LIGHT), &score->timed, score->unfused,
                          NULL, WIDTH);
}

static void
assert_same_marks (LigCanvas *a, LigCanvas *b)
{
  guint n, m;
  const LigMark *left = lig_canvas_get_marks (a, &n), *right = lig_canvas_get_marks (b, &m);
  g_assert_cmpuint (n, ==, m);
  g_assert_cmpuint (n, >, 0);
  for (guint i = 0; i < n; i++) {
    g_assert_cmpstr (left[i].text, ==, right[i].text);
    g_assert_cmpfloat (left[i].x, ==, right[i].x);
    g_assert_cmpfloat (left[i].y, ==, right[i].y);
    g_assert_cmpfloat (left[i].width, ==, right[i].width);
    g_assert_cmpfloat (left[i].height, ==, right[i].height);
  }
}

/* Surfaces, SVG and blank canvases have the same marks. */
static void
test_marks (void)
{
  g_autoptr (LigPlan) plan =
    new_plan ("layer-norm ! linear(48) ! gelu ! linear(32)", "null:h200", LIG_POLICY_ALL);
  Score score = {.timed.plan = plan};
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 10, 10);
  cairo_t *cairo = cairo_create (surface);
  g_autoptr (LigCanvas) real = lig_canvas_new (cairo);
  g_autoptr (LigCanvas) svg = lig_canvas_new_svg (WIDTH, 500);
  g_autoptr (LigCanvas) blank = lig_canvas_new_blank ();
  draw_score (real, &score);
  draw_score (svg, &score);
  draw_score (blank, &score);
  assert_same_marks (real, svg);
  assert_same_marks (real, blank);
  g_assert_cmpint (cairo_status (cairo), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cairo);
  cairo_surface_destroy (surface);
}

static void
test_shift (void)
{
  guint count;
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (100, 100);
  lig_canvas_begin_translate (canvas, 10, 20);
  lig_canvas_begin_translate (canvas, 1, 2);
  lig_canvas_begin_mark (canvas, 5, 5, 1, 1, "in");
  lig_canvas_end_mark (canvas);
  lig_canvas_end_translate (canvas);
  lig_canvas_end_translate (canvas);
  lig_canvas_begin_mark (canvas, 5, 5, 1, 1, "out");
  lig_canvas_end_mark (canvas);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  g_assert_cmpuint (count, ==, 2);
  g_assert_cmpfloat (marks[0].x, ==, 16);
  g_assert_cmpfloat (marks[0].y, ==, 27);
  g_assert_cmpfloat (marks[1].x, ==, 5);
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  g_autofree char *text = read_xml (svg, "\n");
}

/* The SVG is well-formed and contains the text, even if that contains markup or invalid UTF-8. */
static void
test_hostile_text (void)
{
  g_autofree char *letters = g_strnfill (100000, 'w');
  const char *const texts[] = {"<script>alert(\"x\")</script>",
                               "a & b ' c",
                               "]]>",
                               "\x01\x1b[0m",
                               "not \xff UTF-8",
                               letters,
                               "\xef\xbf\xbf",
                               ""};
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (200, 200);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    LigTextStyle style = {.size = 12, .colour = 0xff, .width = i % 2 ? 100 : 0};
    lig_canvas_begin_mark (canvas, 0, 0, 10, 10, texts[i]);
    lig_canvas_text (canvas, 0, 20, &style, texts[i]);
    lig_canvas_end_mark (canvas);
    style.width = 100;
    g_assert_cmpfloat (lig_canvas_text_width (canvas, &style, texts[i]), <=, 100.01);
  }
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  g_assert_null (strstr (svg, "<script"));
  g_autofree char *text = read_xml (svg, "\n");
  assert_contains (text, "<script>alert(\"x\")</script>");
  assert_contains (text, "a & b ' c");
}

/* A picture with named colours contains no literal colours. */
static void
test_named_colours (void)
{
  g_autoptr (LigPlan) plan =
    new_plan ("make-extra-output(to=r) ! linear(32) ! add-extra-input(from=r) ! | ! gelu",
              "null:h200", LIG_POLICY_ALL);
  Score score = {.timed.plan = plan};
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (WIDTH, 500);
  lig_canvas_name_colours (canvas, lig_colours (LIG_COLOURS_LIGHT));
  draw_score (canvas, &score);
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  g_autofree char *style = lig_colours_to_style (lig_colours (LIG_COLOURS_DARK));
  g_assert_null (strstr (svg, "\"#"));
  assert_contains (svg, "fill=\"var(--lig-forward-fill)\"");
  assert_contains (svg, "stroke=\"var(--lig-warning)\"");
  assert_contains (style, "--lig-forward-fill: #");
}

/* --- Charts -------------------------------------------------------------------------------- */

static char *
draw_chart (const LigChart *chart)
{
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (600, 240);
  lig_draw_chart (canvas, lig_colours (LIG_COLOURS_LIGHT), chart, 600, 240);
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  g_autofree char *text = read_xml (svg, "\n");
  return g_steal_pointer (&svg);
}

static void
test_chart_read_out (void)
{
  const double x[] = {1000, 1200, 1400}, y[] = {1.5, 1.412, 1.3}, later[] = {1.447};
  const LigChartSeries series[] = {
    {.label = "loss", .x = x, .y = y, .count = 3},
    {.label = "validation loss", .x = x + 1, .y = later, .count = 1},
  };
  LigChart chart = LIG_CHART_INIT;
  chart.series = series;
  chart.count = 2;
  chart.x_label = "step";
  g_autofree char *text = lig_chart_read_out (&chart, 1201);
  g_autofree char *nothing = lig_chart_read_out (&chart, NAN);
  g_autofree char *early = lig_chart_read_out (&chart, -5);
  g_assert_cmpstr (text, ==, "step 1200 · loss 1.412 · validation loss 1.447");
  g_assert_cmpstr (early, ==, "step 1000 · loss 1.5");
  g_assert_null (nothing);
  g_autofree char *csv = lig_chart_to_csv (&chart);
  g_assert_cmpstr (csv, ==, "step,loss,validation loss\n1000,1.5,\n1200,1.412,1.447\n1400,1.3,\n");
}

static void
test_chart_find (void)
{
  const double x[] = {10, 1000}, y[] = {1, 2};
  const LigChartSeries series = {.label = "a", .x = x, .y = y, .count = 2};
  for (int log = 0; log < 2; log++) {
    LigChart chart = LIG_CHART_INIT;
    chart.series = &series;
    chart.count = 1;
    chart.log_x = log;
    g_assert_true (isnan (lig_chart_find_x (&chart, 600, 240, 2)));
    g_assert_true (isnan (lig_chart_find_x (&chart, 600, 240, 599)));
    double left = NAN, right = NAN, previous = -INFINITY;
    for (int pixel = 0; pixel < 600; pixel++) {
      double value = lig_chart_find_x (&chart, 600, 240, pixel);
      if (isnan (value))
        continue;
      left = isnan (left) ? value : left;
      right = value;
      g_assert_cmpfloat (value, >, previous);
      previous = value;
    }
    g_assert_cmpfloat_with_epsilon (left, 10, 0.1);
    g_assert_cmpfloat_with_epsilon (right, 1000, 0.1);
  }
}

/* Charts without points, with one point, with NaNs and infinities, with a constant line. */
static void
test_chart_odd (void)
{
  const double x[] = {0, 1, 2, 3}, odd[] = {NAN, INFINITY, -INFINITY, NAN}, flat[] = {5, 5, 5, 5},
               negative[] = {-1, -2, 0, -3}, huge[] = {1e300, -1e300, 1e-300, 0};
  const double *const values[] = {odd, flat, negative, huge};
  LigChart chart = LIG_CHART_INIT;
  chart.title = "<Title>";
  g_autofree char *empty = draw_chart (&chart);
  assert_contains (empty, "no values yet");
  for (guint i = 0; i < 16; i++) {
    LigChartSeries series = {.label = "\"a\"", .x = x, .y = values[i % 4], .count = i < 8 ? 4 : 1};
    chart.series = &series;
    chart.count = 1;
    chart.log_x = chart.log_y = i / 4 % 2;
    chart.smoothing = 0.5;
    chart.cursor = 1;
    g_autofree char *svg = draw_chart (&chart);
    g_assert_null (strstr (svg, "nan"));
    g_assert_null (strstr (svg, "inf"));
    g_autofree char *text = lig_chart_read_out (&chart, 1);
    g_assert_nonnull (text);
  }
}

/* A spike among a million points is visible, and the picture stays small and fast to draw. */
static void
test_chart_dense (void)
{
  const guint count = 1000000;
  g_autofree double *x = g_new (double, count), *y = g_new (double, count);
  for (guint i = 0; i < count; i++) {
    x[i] = i;
    y[i] = 0.25;
  }
  y[777777] = 3;
  y[0] = 0;
  LigChartSeries series = {.label = "loss", .x = x, .y = y, .count = count};
  LigChart chart = LIG_CHART_INIT;
  chart.series = &series;
  chart.count = 1;
  clock_t start = clock ();
  g_autofree char *svg = draw_chart (&chart);
  double seconds = (double) (clock () - start) / CLOCKS_PER_SEC;
  g_assert_cmpfloat (seconds, <, 2 * lig_test_slowness ());
  g_assert_cmpuint (strlen (svg), <, 100000);
  /* The line must reach the top of the plot, the position of the value 3. */
  const char *path = strstr (svg, "stroke-width=\"1.75\"");
  g_assert_nonnull (path);
  g_autofree char *until = g_strndup (svg, (gsize) (path - svg));
  const char *points = g_strrstr (until, "<path d=\"M");
  double top = INFINITY;
  g_auto (GStrv) words = g_strsplit_set (points + 10, "ML \"", -1);
  for (char **word = words; *word && word[1] && !strchr (*word, '='); word += 2)
    if (**word)
      top = MIN (top, g_ascii_strtod (word[1], NULL));
  g_assert_cmpfloat (top, <, 60);
}

/* --- The score ----------------------------------------------------------------------------- */

static char *
score_text (const Score *score)
{
  g_autoptr (LigCanvas) canvas =
    lig_canvas_new_svg (WIDTH, lig_draw_score_height (score->timed.plan));
  draw_score (canvas, (gpointer) score);
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  return read_xml (svg, "\n");
}

static double
sum_bytes (LigPlan *plan, LigPass pass)
{
  guint count;
  double bytes = 0;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  for (guint i = 0; i < count; i++)
    bytes += groups[i].bytes;
  return bytes;
}

static void
test_score_numbers (void)
{
  const char *expression = "layer-norm ! linear(48) ! gelu ! linear(32)";
  g_autoptr (LigPlan) plan = new_plan (expression, "null:h200", LIG_POLICY_ALL);
  g_autoptr (LigPlan) unfused = new_plan (expression, "null:h200", LIG_POLICY_NONE);
  Score score = {.timed.plan = plan, .unfused = unfused};
  guint count;
  g_autofree char *text = score_text (&score);
  assert_contains (text, "Linear + bias + GELU");
  assert_contains (text, "Bias + GELU");
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
    for (guint i = 0; i < count; i++) {
      g_autofree char *time = lig_draw_time (groups[i].predicted);
      g_autofree char *whole = g_strdup_printf ("≈ %s", time);
      if (groups[i].n_steps > 0)
        assert_contains (text, whole);
    }
    g_autofree char *saved = lig_draw_bytes (sum_bytes (unfused, pass) - sum_bytes (plan, pass));
    g_autofree char *sentence = g_strdup_printf ("%s less", saved);
    assert_contains (text, sentence);
  }
  /* Without an unfused plan the score must not show savings. */
  score.unfused = NULL;
  g_autofree char *alone = score_text (&score);
  g_assert_null (strstr (alone, " less"));
}

static void
test_score_measured (void)
{
  g_autoptr (LigPlan) plan = new_plan ("linear(48) ! gelu", "null:h200", LIG_POLICY_ALL);
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  g_autofree double *times = g_new0 (double, count);
  double forward = 0;
  for (guint i = 0; i < count; i++) {
    times[i] = (i + 1) * 1.25e-3;
    forward += steps[i].pass == LIG_PASS_FORWARD ? times[i] : 0;
  }
  Score score = {.timed = {plan, times}};
  g_autofree char *text = score_text (&score);
  g_autofree char *time = lig_draw_time (forward);
  g_autofree char *predicted = g_strdup_printf ("≈ %s", time);
  assert_contains (text, time);
  g_assert_null (strstr (text, predicted));
  assert_contains (text, " % of roofline");
}

/* The description of a forced group says that it is forced. */
static void
test_score_forced (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression ("linear(48) ! gelu", &error);
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  const char *const names[] = {"forward-linear-bias-activation", NULL};
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  g_assert_true (lig_shape_parse ("16x32", &shape, &dtype, &error));
  lig_sequence_set_input (sequence, &shape, dtype);
  g_autoptr (LigPlan) plain = lig_plan_compile (sequence, device, NULL, &error);
  lig_op_set_forced (lig_sequence_get (sequence, 0, NULL), names);
  g_autoptr (LigPlan) forced = lig_plan_compile (sequence, device, NULL, &error);
  g_assert_no_error (error);
  Score with = {.timed.plan = forced}, without = {.timed.plan = plain};
  g_autofree char *one = score_text (&with), *other = score_text (&without);
  assert_contains (one, "forward-linear-bias-activation (forced)");
  g_assert_null (strstr (other, "(forced)"));
}

/* Rows must not overlap, because overlapping marks would hide each other. */
static void
test_score_layout (void)
{
  static const char *const expressions[] = {
    "linear(48) ! gelu",
    "make-extra-output(to=r) ! linear(32) ! add-extra-input(from=r)",
    "block(3) { linear(32) ! gelu ! linear(32) } ! layer-norm",
    "block(2) { block(3) { rms-norm ! linear(32) } ! gelu } ! block(4) { gelu }",
    "gelu",
  };
  for (guint i = 0; i < G_N_ELEMENTS (expressions); i++) {
    g_autoptr (LigPlan) plan = new_plan (expressions[i], "null:h200", LIG_POLICY_ALL);
    g_autoptr (LigScoreLayout) layout = lig_score_layout_new (plan, NULL);
    double end = 0;
    for (guint j = 0; j < layout->rows->len; j++) {
      const LigLayoutRow *row = &g_array_index (layout->rows, LigLayoutRow, j);
      g_assert_cmpfloat (row->y, >, end);
      end = row->y + row->height;
    }
    g_assert_cmpfloat (end, <, layout->height);
    for (guint j = 0; j < layout->blocks->len; j++) {
      const LigLayoutBlock *block = &g_array_index (layout->blocks, LigLayoutBlock, j);
      g_assert_cmpfloat (block->y + block->height, >, layout->places[block->last].y);
      g_assert_cmpfloat (block->y + block->height, <, layout->height);
      /* The last linear of the inner block is followed by gelu, the others are not. */
      g_assert_cmpint (block->alike, ==, i != 3 || j == 2);
    }
  }
}

/* A block of twelve repetitions is drawn once, and its time is the sum of all twelve. */
static void
test_score_blocks (void)
{
  g_autoptr (LigPlan) plan =
    new_plan ("block(12) { layer-norm ! linear(32) }", "null:h200", LIG_POLICY_ALL);
  g_autoptr (LigScoreLayout) layout = lig_score_layout_new (plan, NULL);
  guint count;
  double seconds = 0;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &count);
  for (guint i = 0; i < count; i++)
    seconds += groups[i].predicted;
  const LigLayoutBlock *block = &g_array_index (layout->blocks, LigLayoutBlock, 0);
  g_assert_cmpuint (layout->blocks->len, ==, 1);
  g_assert_cmpuint (layout->rows->len, ==, 2);
  g_assert_cmpint (block->count, ==, 12);
  g_assert_cmpfloat_with_epsilon (block->figures[LIG_PASS_FORWARD].seconds, seconds, 1e-12);
  Score score = {.timed.plan = plan};
  g_autofree char *text = score_text (&score);
  assert_contains (text, "Block × 12");
}

static void
test_score_large (void)
{
  g_autoptr (GString) expression = g_string_new ("gelu");
  for (guint i = 1; i < 1000; i++)
    g_string_append (expression, i % 3 == 0 ? " ! layer-norm" : " ! gelu");
  g_autoptr (LigPlan) plan = new_plan (expression->str, "null:h200", LIG_POLICY_ALL);
  Score score = {.timed.plan = plan};
  clock_t start = clock ();
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (WIDTH, lig_draw_score_height (plan));
  draw_score (canvas, &score);
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  double seconds = (double) (clock () - start) / CLOCKS_PER_SEC;
  g_test_message ("1000 ops: %.0f ms", seconds * 1e3);
  g_assert_cmpfloat (seconds, <, 2 * lig_test_slowness ());
}

/* --- Files --------------------------------------------------------------------------------- */

static void
draw_box (LigCanvas *canvas, gpointer data)
{
  lig_canvas_box (canvas, 0, 0, 10, 10, 0, 0xff0000ff, 0, 0);
}

static void
test_file_png (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) png = lig_draw_to_file ("png", 100, 50, 0xffffffff, draw_box, NULL, &error);
  g_assert_no_error (error);
  cairo_surface_t *surface = read_png (png);
  g_assert_cmpint (cairo_image_surface_get_width (surface), ==, 200);
  g_assert_cmpint (cairo_image_surface_get_height (surface), ==, 100);
  const guint32 *pixels = (const guint32 *) (gpointer) cairo_image_surface_get_data (surface);
  g_assert_cmphex (pixels[0] & 0xffffff, ==, 0xff0000);
  g_assert_cmphex (pixels[100] & 0xffffff, ==, 0xffffff);
  cairo_surface_destroy (surface);
}

static void
test_file_rejected (void)
{
  static const struct {
    const char *format;
    double width, height;
  } cases[] = {
    {"gif", 10, 10}, {"svg", 0, 10}, {"svg", NAN, 10}, {"pdf", 10, 1e9}, {"png", 100, 1e6}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (lig_draw_to_file (cases[i].format, cases[i].width, cases[i].height, 0xffffffff,
                                     draw_box, NULL, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  }
}

int
main (int argc, char **argv)
{
  g_unsetenv ("DISPLAY");
  g_unsetenv ("WAYLAND_DISPLAY");
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/draw/inks", test_colours);
  g_test_add_func ("/draw/canvas/marks", test_marks);
  g_test_add_func ("/draw/canvas/shift", test_shift);
  g_test_add_func ("/draw/canvas/hostile-text", test_hostile_text);
  g_test_add_func ("/draw/canvas/named-inks", test_named_colours);
  g_test_add_func ("/draw/chart/read-out", test_chart_read_out);
  g_test_add_func ("/draw/chart/find", test_chart_find);
  g_test_add_func ("/draw/chart/odd", test_chart_odd);
  g_test_add_func ("/draw/chart/dense", test_chart_dense);
  g_test_add_func ("/draw/score/numbers", test_score_numbers);
  g_test_add_func ("/draw/score/measured", test_score_measured);
  g_test_add_func ("/draw/score/forced", test_score_forced);
  g_test_add_func ("/draw/score/layout", test_score_layout);
  g_test_add_func ("/draw/score/blocks", test_score_blocks);
  g_test_add_func ("/draw/score/large", test_score_large);
  g_test_add_func ("/draw/file/png", test_file_png);
  g_test_add_func ("/draw/file/rejected", test_file_rejected);
  return g_test_run ();
}
