/* SPDX-License-Identifier: MIT */
/* Pictures of sweeps: a line and a dot for each run, marks with settings and losses. */
#include "tests/train/case.h"
#include <ligature/device.h>
#include <ligature/draw-sweep.h>

#define MODEL "linear(8, init-std=0.3) ! gelu ! linear(2, init-std=0.3) ! mean-squared-error"

/* Trains a sweep over two settings; with `one`, only the first point. */
static LigSweep *
make_sweep (Fixture *f, gboolean one)
{
  g_autoptr (GError) error = NULL;
  g_auto (LigRunSettings) settings;
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  int next;
  lig_run_settings_init (&settings);
  set (&settings, "steps=20 optimizer=sgd data=synthetic");
  g_autoptr (LigSequence) sequence = lig_sequence_open (MODEL, NULL, NULL);
  g_assert_true (lig_shape_parse ("8x4", &shape, &dtype, NULL));
  lig_sequence_set_input (sequence, &shape, dtype);
  LigSweep *sweep = lig_sweep_new (sequence, "cpu", &settings, NULL);
  g_assert_true (lig_sweep_add (sweep, "lr=0.0001,0.001,0.01", FALSE, &error));
  g_assert_true (lig_sweep_add (sweep, "optimizer=sgd,adamw", FALSE, &error));
  g_assert_true (lig_sweep_add (sweep, "seed=1..2", FALSE, &error));
  g_assert_true (lig_sweep_begin (sweep, f->store, &error));
  for (int i = 0; (!one || i < 1) && (next = lig_sweep_next (sweep)) >= 0; i++) {
    g_autoptr (LigRun) run = lig_sweep_prepare (sweep, (guint) next, f->device, &error);
    finish (run);
    g_assert_true (lig_sweep_refresh (sweep, &error));
  }
  return sweep;
}

static char *
draw_picture (LigSweep *sweep, int axis, int chosen, guint *marks)
{
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (800, 360);
  const LigSweepPicture picture = {sweep, axis, chosen};
  lig_draw_sweep (canvas, lig_colours (LIG_COLOURS_LIGHT), &picture, 800, 360);
  lig_canvas_get_marks (canvas, marks);
  return lig_canvas_to_svg (canvas);
}

static void
assert_has (const char *svg, const char *part)
{
  if (!strstr (svg, part))
    g_error ("the picture has no '%s'", part);
}

static void
test_parallel (Fixture *f, gconstpointer data)
{
  guint marks;
  g_autoptr (LigSweep) sweep = make_sweep (f, FALSE);
  g_autofree char *svg = draw_picture (sweep, -1, -1, &marks);
  static const char *const parts[] = {
    ">lr<",     ">optimizer<", ">seed<",  ">validation loss<",
    ">0.0001<", ">sgd<",       ">adamw<", "lr 0.01, optimizer adamw"};
  g_assert_cmpuint (marks, ==, 12);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    assert_has (svg, parts[i]);
  /* The best settings are drawn last, which the table has first, with their mean. */
  g_autoptr (GPtrArray) summaries = lig_sweep_summarize (sweep);
  const LigSweepSummary *best = summaries->pdata[0];
  g_autofree char *settings = lig_sweep_describe_point (sweep, best->best);
  const char *last = g_strrstr (svg, ": validation loss ");
  g_assert_true (last - strlen (settings) > svg);
  g_assert_true (g_str_has_prefix (last - strlen (settings), settings));
  g_assert_nonnull (strstr (last, ", the best"));
}

/* Returns the least opacity of a line. */
static double
find_faintest (LigSweep *sweep, LigColoursKind kind)
{
  double least = 1;
  const char *name = "stroke-opacity=\"";
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (800, 360);
  const LigSweepPicture picture = {sweep, -1, -1};
  lig_draw_sweep (canvas, lig_colours (kind), &picture, 800, 360);
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  for (const char *at = svg; (at = strstr (at, name)); at++)
    least = MIN (least, g_ascii_strtod (at + strlen (name), NULL));
  return least;
}

/* With high contrast no line is faint. */
static void
test_contrast (Fixture *f, gconstpointer data)
{
  g_autoptr (LigSweep) sweep = make_sweep (f, FALSE);
  g_assert_cmpfloat (find_faintest (sweep, LIG_COLOURS_LIGHT), <, 0.5);
  g_assert_cmpfloat (find_faintest (sweep, LIG_COLOURS_LIGHT_CONTRAST), >, 0.5);
  g_assert_cmpfloat (find_faintest (sweep, LIG_COLOURS_DARK_CONTRAST), >, 0.5);
}

/* Returns the number of lines in the colour of the best settings. */
static guint
count_best (const char *svg)
{
  g_autofree char *blue = g_strdup_printf ("#%06x", lig_colours (LIG_COLOURS_LIGHT)->forward >> 8);
  g_autofree char *width = g_strdup_printf ("stroke=\"%s\" stroke-width=\"2.5\"", blue);
  guint count = 0;
  for (const char *at = svg; (at = strstr (at, width)); at++)
    count++;
  return count;
}

/* All runs with the best settings are emphasized, also the worse of their seeds; choosing the best
 * makes no others blue. */
static void
test_best (Fixture *f, gconstpointer data)
{
  guint marks;
  g_autoptr (LigSweep) sweep = make_sweep (f, FALSE);
  g_autofree char *none = draw_picture (sweep, -1, -1, &marks);
  g_autofree char *best = draw_picture (sweep, -1, lig_sweep_find_best (sweep), &marks);
  /* Two runs, each with a line from each of three axes. */
  g_assert_cmpuint (count_best (none), ==, 6);
  g_assert_cmpuint (count_best (best), ==, 0);
}

static void
test_scatter (Fixture *f, gconstpointer data)
{
  guint marks;
  g_autoptr (LigSweep) sweep = make_sweep (f, FALSE);
  g_autofree char *numbers = draw_picture (sweep, 0, -1, &marks);
  g_assert_cmpuint (marks, ==, 12);
  assert_has (numbers, ">0.001<");
  g_autofree char *words = draw_picture (sweep, 1, 3, &marks);
  g_assert_cmpuint (marks, ==, 12);
  assert_has (words, ">adamw<");
}

/* Pictures before the first result, and at sizes that are too small. */
static void
test_early (Fixture *f, gconstpointer data)
{
  guint marks;
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  g_autoptr (LigSequence) sequence = lig_sequence_open (MODEL, NULL, NULL);
  g_autoptr (LigSweep) none = lig_sweep_new (sequence, "cpu", &settings, NULL);
  g_autofree char *empty = draw_picture (none, -1, -1, &marks);
  g_assert_cmpuint (marks, ==, 0);
  assert_has (empty, "No run has finished yet");
  g_autoptr (LigSweep) sweep = make_sweep (f, TRUE);
  for (int axis = -1; axis < 3; axis++)
    for (int chosen = -1; chosen < 3; chosen++) {
      g_autofree char *one = draw_picture (sweep, axis, chosen, &marks);
      g_assert_cmpuint (marks, ==, 1);
      g_assert_null (strstr (one, "nan"));
    }
  g_autoptr (LigCanvas) small = lig_canvas_new_svg (1, 1);
  lig_draw_sweep (small, lig_colours (LIG_COLOURS_DARK), &(LigSweepPicture){sweep, -1, 0}, 1, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/draw/sweep/parallel", Fixture, NULL, set_up, test_parallel, tear_down);
  g_test_add ("/draw/sweep/best", Fixture, NULL, set_up, test_best, tear_down);
  g_test_add ("/draw/sweep/contrast", Fixture, NULL, set_up, test_contrast, tear_down);
  g_test_add ("/draw/sweep/scatter", Fixture, NULL, set_up, test_scatter, tear_down);
  g_test_add ("/draw/sweep/early", Fixture, NULL, set_up, test_early, tear_down);
  return run_tests ();
}
