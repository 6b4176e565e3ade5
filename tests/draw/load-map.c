/* SPDX-License-Identifier: MIT */
/* The pictures of the load of experts: the marks of the map, the number of dropped rows, the bars
 * of a strip. */
#include <ligature/draw-loads.h>
#include <ligature/loads.h>

#include <math.h>
#include <string.h>

/* Returns a series of two steps; the first has only even loads. */
static LigLoadSeries *
make (const char *path, guint experts, const double *last, double dropped)
{
  LigLoadSeries *self = g_new0 (LigLoadSeries, 1);
  self->path = g_strdup (path);
  self->experts = experts;
  self->steps = g_array_new (FALSE, FALSE, sizeof (gint64));
  GArray **numbers[] = {&self->loads, &self->balance, &self->z, &self->dropped};
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    *numbers[i] = g_array_new (FALSE, FALSE, sizeof (double));
  for (gint64 step = 10; step <= 20; step += 10) {
    double one = 1, none = step == 10 ? 0 : dropped, even = 6;
    g_array_append_val (self->steps, step);
    g_array_append_val (self->balance, one);
    g_array_append_val (self->z, one);
    g_array_append_val (self->dropped, none);
    for (guint e = 0; e < experts; e++)
      g_array_append_vals (self->loads, step == 10 ? &even : &last[e], 1);
  }
  return self;
}

static GPtrArray *
make_two (void)
{
  static const double first[] = {24, 0, 6, 6}, second[] = {3, 9};
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_load_series_free);
  g_ptr_array_add (all, make ("1.0.0", 4, first, 7));
  g_ptr_array_add (all, make ("2", 2, second, 5));
  return all;
}

static char *
draw (GPtrArray *all, int step, char **last, guint *count)
{
  double height = lig_draw_loads_height (all);
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (600, height);
  lig_draw_loads (canvas, lig_colours (LIG_COLOURS_LIGHT), all, step, 600, height);
  const LigMark *marks = lig_canvas_get_marks (canvas, count);
  *last = g_strdup (marks[*count - 1].text);
  return lig_canvas_to_svg (canvas);
}

static void
test_map (void)
{
  g_autoptr (GPtrArray) all = make_two ();
  g_autofree char *text = NULL, *even = NULL, *sum = NULL;
  guint count;
  g_autofree char *last = draw (all, 1, &text, &count);
  g_assert_cmpuint (count, ==, 6);
  g_assert_cmpstr (text, ==, "2, expert 1: rows 9, 1.5 × the mean");
  g_assert_nonnull (strstr (last, "1.0.0, expert 1: rows 0, 0 × the mean"));
  g_assert_nonnull (strstr (last, ">rows dropped: 12<"));
  g_autofree char *first = draw (all, 0, &even, &count);
  g_assert_cmpstr (even, ==, "2, expert 1: rows 6, 1 × the mean");
  g_assert_null (strstr (first, "dropped"));
  g_autofree char *both = draw (all, -1, &sum, &count);
  g_assert_cmpstr (sum, ==, "2, expert 1: rows 15, 1.2 × the mean");
  g_assert_nonnull (strstr (both, ">rows dropped: 12<"));
}

static guint
count_boxes (const char *svg, LigColour colour)
{
  g_autofree char *fill = g_strdup_printf ("fill=\"#%06x\"", colour >> 8);
  guint count = 0;
  for (const char *at = svg; (at = strstr (at, fill)); at++)
    count++;
  return count;
}

/* Each expert has a bar, red without rows; of many experts, neighbours share one. */
static void
test_strip (void)
{
  const LigColours *colours = lig_colours (LIG_COLOURS_LIGHT);
  static const struct {
    guint experts, idle;
    double width;
    guint bars, red;
  } cases[] = {{8, 0, 72, 8, 0}, {8, 3, 72, 5, 3},   {1, 0, 9, 1, 0},
               {8, 8, 72, 0, 8}, {64, 0, 30, 10, 0}, {1000, 999, 120, 1, 39}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree double *load = g_new0 (double, cases[i].experts);
    g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (200, 20);
    for (guint e = cases[i].idle; e < cases[i].experts; e++)
      load[e] = 10;
    lig_draw_load_strip (canvas, colours, load, cases[i].experts, 4, 2, cases[i].width, 14);
    g_autofree char *svg = lig_canvas_to_svg (canvas);
    g_test_message ("%s", svg);
    g_assert_cmpuint (count_boxes (svg, colours->forward), ==, cases[i].bars);
    g_assert_cmpuint (count_boxes (svg, colours->error), ==, cases[i].red);
  }
  g_assert_cmpfloat (lig_draw_load_strip_width (4), ==, 36);
  g_assert_cmpfloat (lig_draw_load_strip_width (1024), ==, 120);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/load-map/map", test_map);
  g_test_add_func ("/load-map/strip", test_strip);
  return g_test_run ();
}
