/* SPDX-License-Identifier: MIT */
/* Pictures of extreme figures: drawing terminates in time, and all coordinates are drawable. */
#include "engine/device/device-private.h"
#include "engine/draw/chart.h"
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/draw.h>

#include <float.h>
#include <math.h>
#include <unistd.h>

static const double figures[] = {
  -INFINITY, -DBL_MAX, -1e300, -1, -1e-300, -DBL_TRUE_MIN, 0,       DBL_TRUE_MIN, 1e-308,
  1e-300,    1e-15,    1,      7,  1e15,    1e300,         DBL_MAX, INFINITY,     NAN,
};

/* Sets an alarm that ends the test if drawing takes longer. */
static void
draw_within (guint seconds)
{
  alarm (seconds);
}

static void
test_ticks (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    for (guint j = 0; j < G_N_ELEMENTS (figures); j++)
      for (int log = 0; log < 2; log++) {
        LigAxis axis = {figures[i], figures[j], 58, 900, log};
        draw_within (30);
        g_autoptr (GArray) raw = lig_axis_ticks (&axis, 76);
        lig_axis_round (&axis, 76);
        g_autoptr (GArray) ticks = lig_axis_ticks (&axis, 76);
        g_assert_true (isfinite (axis.from) && isfinite (axis.to));
        g_assert_cmpfloat (axis.from, <=, axis.to);
        g_assert_cmpuint (ticks->len, <, 10000);
        g_assert_cmpuint (raw->len, <, 10000);
        for (guint k = 0; k < ticks->len; k++) {
          const char *label = g_array_index (ticks, LigAxisTick, k).label;
          g_assert_true (!label || strlen (label) < 60);
        }
      }
}

/* Charts of combinations of three extreme values. */
static void
test_charts (void)
{
  double x[3] = {0, 1, 2};
  const guint n = G_N_ELEMENTS (figures);
  for (guint i = 0; i < n * n; i++)
    for (int log = 0; log < 2; log++) {
      double y[] = {figures[i % n], figures[i / n], figures[(i * 7) % n]};
      LigChartSeries series = {.label = "loss", .x = log ? y : x, .y = y, .count = 3};
      LigChart chart = LIG_CHART_INIT;
      chart.series = &series;
      chart.count = 1;
      chart.log_y = log;
      chart.smoothing = 0.9;
      g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (400, 200);
      draw_within (30);
      lig_draw_chart (canvas, lig_colours (LIG_COLOURS_LIGHT), &chart, 400, 200);
      g_autofree char *svg = lig_canvas_to_svg (canvas);
      g_assert_cmpuint (strlen (svg), <, 200000);
    }
}

static void
assert_figures_fit (LigCanvas *canvas)
{
  guint count;
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  for (guint i = 0; i < count; i++) {
    g_assert_true (fabs (marks[i].x) < 1e7 && fabs (marks[i].y) < 1e7);
    g_assert_true (marks[i].width < 1e7 && marks[i].height < 1e7);
  }
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  g_assert_cmpuint (strlen (svg), <, 1000000);
  for (const char *at = svg; (at = strstr (at, "=\"")); at++)
    g_assert_true (strcspn (at + 2, "\"") < 20000);
}

/* The facts of the device, and the measured times, have extreme values. */
static void
test_profiles (void)
{
  static const double positive[] = {DBL_TRUE_MIN, 1e-308, 1e-30, 1, 1e30, DBL_MAX, INFINITY, NAN};
  const guint n = G_N_ELEMENTS (positive);
  for (guint i = 0; i < n * n; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
    LigDeviceFacts facts = *lig_device_get_facts (device);
    facts.copy = positive[i % n];
    facts.matmul[LIG_FP32] = positive[i / n];
    facts.launch = i % 2 ? positive[i % n] : facts.launch;
    lig_device_set_facts (device, &facts);
    g_autoptr (LigSequence) sequence = new_sequence ("linear(96) ! gelu ! linear(32)", "64x32");
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    options.policy = i % 2 ? LIG_POLICY_ALL : LIG_POLICY_NONE;
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
    g_assert_no_error (error);
    guint count;
    lig_plan_get_steps (plan, &count);
    g_autofree double *times = g_new0 (double, count + 1);
    for (guint j = 0; j < count; j++)
      times[j] = positive[(i + j) % n];
    for (int measured = 0; measured < 2; measured++) {
      LigTimedPlan timed = {.plan = plan, .steps = measured ? times : NULL},
                   unfused = {.plan = plan};
      g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (900, 600);
      draw_within (60);
      lig_draw_roofline (canvas, lig_colours (LIG_COLOURS_LIGHT), &timed, &unfused, 900, 300);
      lig_draw_times (canvas, lig_colours (LIG_COLOURS_LIGHT), &timed, 900);
      lig_draw_timeline (canvas, lig_colours (LIG_COLOURS_LIGHT), &timed, 900, 300);
      assert_figures_fit (canvas);
    }
  }
}

static void
test_texts (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++) {
    g_autofree char *time = lig_draw_time (figures[i]), *bytes = lig_draw_bytes (figures[i]);
    g_autofree char *number = lig_draw_number (figures[i], 3);
    g_assert_cmpuint (strlen (time), <, 24);
    g_assert_cmpuint (strlen (bytes), <, 24);
    g_assert_cmpuint (strlen (number), <, 24);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/draw-extremes/ticks", test_ticks);
  g_test_add_func ("/draw-extremes/charts", test_charts);
  g_test_add_func ("/draw-extremes/profiles", test_profiles);
  g_test_add_func ("/draw-extremes/texts", test_texts);
  return g_test_run ();
}
