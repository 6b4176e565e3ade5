/* SPDX-License-Identifier: MIT */
/* The appearance of the score in a window: hotspots, colours by figures, larger text, high
 * contrast. */
#include "tests/ui/view-case.h"
#include "ui/score/text.h"
#include "ui/widgets/chart-plot.h"
#include "ui/widgets/chart-view.h"
#include "ui/widgets/picture-view.h"

/* --- The hottest --------------------------------------------------------------------------- */

static const LigScoreBracket *
focused_bracket (Fixture *f)
{
  GtkWidget *child = gtk_widget_get_focus_child (GTK_WIDGET (f->sheet));
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < map_of (f)->brackets[pass]->len; i++)
      if (lig_score_sheet_get_group (f->sheet, (LigPass) pass, i) == child)
        return &g_array_index (map_of (f)->brackets[pass], LigScoreBracket, i);
  return NULL;
}

static void
test_hotspots (Fixture *f, gconstpointer data)
{
  show_rows (f, 60);
  g_autoptr (GPtrArray) hot = lig_score_map_list_hot (map_of (f));
  g_assert_cmpuint (hot->len, >, 60);
  for (guint i = 1; i < hot->len; i++)
    g_assert_cmpfloat (lig_score_bracket_seconds (hot->pdata[i - 1]), >=,
                       lig_score_bracket_seconds (hot->pdata[i]));
  for (guint i = 0; i < 5; i++) {
    press (f, f->score, "<Control>h");
    const LigScoreBracket *bracket = focused_bracket (f);
    g_assert_true (bracket == hot->pdata[i]);
    double top = gtk_adjustment_get_value (f->adjustment);
    g_assert_cmpfloat (bracket->y, >=, top);
    g_assert_cmpfloat (bracket->y + bracket->height, <=,
                       top + gtk_adjustment_get_page_size (f->adjustment));
    for (guint row = bracket->from; row <= bracket->to; row++)
      g_assert_true (lig_document_is_selected (f->doc, slot_at (f, row)->op));
  }
  act (f, "previous-hotspot");
  g_assert_true (focused_bracket (f) == hot->pdata[3]);
  /* A folded block counts as a whole, an opened block by its groups. */
  show (f, "gelu ! block(12) { linear(64) } ! silu");
  act (f, "hotspot");
  g_assert_null (focused_bracket (f)->group);
  act (f, "unfold-all");
  act (f, "hotspot");
  g_assert_nonnull (focused_bracket (f)->group);
}

/* --- Colours ------------------------------------------------------------------------------- */

static guint
find_level (Fixture *f, LigPass pass, guint n)
{
  GtkWidget *group = lig_score_sheet_get_group (f->sheet, pass, n);
  for (guint level = 0; level <= LIG_SCORE_HEAT_LEVELS; level++) {
    g_autofree char *class = g_strdup_printf ("heat-%u", level);
    if (gtk_widget_has_css_class (group, class))
      return level;
  }
  return G_MAXUINT;
}

static void
assert_levels (Fixture *f, LigScoreColour colour)
{
  double peak = lig_score_map_peak (map_of (f), colour);
  gboolean hotspot = FALSE;
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < map_of (f)->brackets[pass]->len; i++) {
      const LigScoreBracket *bracket =
        &g_array_index (map_of (f)->brackets[pass], LigScoreBracket, i);
      double value = lig_score_bracket_value (map_of (f), bracket, colour);
      guint level = find_level (f, (LigPass) pass, i);
      g_assert_cmpuint (level, <=, LIG_SCORE_HEAT_LEVELS);
      g_assert_cmpfloat (value, <=, peak * level / LIG_SCORE_HEAT_LEVELS * (1 + 1e-9));
      hotspot |= level == LIG_SCORE_HEAT_LEVELS;
    }
  g_assert_true (hotspot);
}

static void
test_colours (Fixture *f, gconstpointer data)
{
  fill_with (f->doc, "layer-norm ! linear(3072) ! gelu ! linear(768)", "2048x768:bf16", NULL);
  settle (f);
  g_assert_null (find_widget (f->score, shows_text, "Bytes moved"));
  g_assert_cmpuint (find_level (f, LIG_PASS_FORWARD, 0), ==, G_MAXUINT);
  g_assert_true (gtk_widget_activate_action (f->score, "view.score-colour", "s", "time"));
  settle (f);
  assert_levels (f, LIG_SCORE_COLOUR_TIME);
  g_assert_true (gtk_widget_activate_action (f->score, "view.score-colour", "s", "bytes"));
  settle (f);
  assert_levels (f, LIG_SCORE_COLOUR_BYTES);
  g_assert_nonnull (find_widget (f->score, shows_text, "Bytes moved"));
  g_settings_set_string (settings_of (f), "score-colour", "bound");
  settle (f);
  g_assert_true (gtk_widget_has_css_class (
    lig_score_sheet_get_group (f->sheet, LIG_PASS_FORWARD, 1), "bound-compute"));
  g_assert_false (gtk_widget_has_css_class (
    lig_score_sheet_get_group (f->sheet, LIG_PASS_FORWARD, 0), "bound-compute"));
  g_assert_nonnull (find_widget (f->score, shows_text, "compute"));
  g_assert_cmpuint (find_level (f, LIG_PASS_FORWARD, 0), ==, G_MAXUINT);
  g_settings_set_string (settings_of (f), "score-colour", "fusion");
  settle (f);
  g_assert_false (gtk_widget_has_css_class (
    lig_score_sheet_get_group (f->sheet, LIG_PASS_FORWARD, 1), "bound-compute"));
}

/* --- Text ---------------------------------------------------------------------------------- */

static void
measure_text (Fixture *f, LigScoreTextFlags flags, int *height)
{
  PangoRectangle extents;
  LigScoreText text = {0};
  lig_score_text_set (&text, "Ágy 2048 × 768");
  lig_score_text_measure (&text, GTK_WIDGET (f->sheet), flags);
  pango_layout_get_pixel_extents (text.layout, NULL, &extents);
  *height = extents.height;
  lig_score_text_clear (&text);
}

/* Both lines of a row and each part have room for their text and do not touch. */
static void
assert_space (Fixture *f)
{
  int title, small;
  const LigScoreMetrics *metrics = &map_of (f)->metrics;
  measure_text (f, LIG_SCORE_TEXT_BOLD, &title);
  measure_text (f, LIG_SCORE_TEXT_SMALL, &small);
  if (metrics->compact) {
    g_assert_cmpint (title, <=, metrics->base);
    g_assert_cmpint (small, <=, metrics->part);
    return;
  }
  g_assert_cmpint (metrics->first - title / 2, >=, 0);
  g_assert_cmpint (metrics->second - metrics->first, >=, (title + small) / 2 - 3);
  g_assert_cmpint (metrics->second + small / 2, <=, metrics->base);
  g_assert_cmpint (small, <=, metrics->part);
}

static void
test_text_scale (Fixture *f, gconstpointer data)
{
  int dpi;
  GtkSettings *desktop = gtk_settings_get_default ();
  g_object_get (desktop, "gtk-xft-dpi", &dpi, NULL);
  show (f, "layer-norm ! linear(256) ! gelu ! linear(64)");
  assert_space (f);
  int base = map_of (f)->metrics.base, height = slot_at (f, 1)->height;
  g_object_set (desktop, "gtk-xft-dpi", dpi * 3 / 2, NULL);
  settle (f);
  g_assert_cmpint (map_of (f)->metrics.base, >=, base * 14 / 10);
  g_assert_cmpint (gtk_widget_get_height (lig_score_sheet_get_row (f->sheet, 1)), >=,
                   height * 14 / 10 - 2);
  assert_space (f);
  g_settings_set_string (settings_of (f), "score-rows", "compact");
  settle (f);
  assert_space (f);
  g_object_set (desktop, "gtk-xft-dpi", dpi, NULL);
  settle (f);
  assert_space (f);
  g_settings_set_string (settings_of (f), "score-rows", "automatic");
  settle (f);
  g_assert_cmpint (map_of (f)->metrics.base, ==, base);
}

typedef struct {
  double width, height;
} Drawn;

static void
draw_mark (LigCanvas *canvas, const LigColours *colours, double width, double height, gpointer data)
{
  *(Drawn *) data = (Drawn){width, height};
  lig_canvas_begin_mark (canvas, 10, 20, 30, 40, "a mark");
  lig_canvas_box (canvas, 10, 20, 30, 40, 0, colours->forward, colours->ink, 1);
  lig_canvas_end_mark (canvas);
}

static int
natural_height (GtkWidget *widget)
{
  int min, natural;
  gtk_widget_measure (widget, GTK_ORIENTATION_VERTICAL, -1, &min, &natural, NULL, NULL);
  return natural;
}

/* Pictures and charts are the same as with usual text, but larger; marks are where they are
 * drawn. */
static void
test_picture_scale (Fixture *f, gconstpointer data)
{
  int dpi;
  guint count;
  Drawn drawn = {0};
  GtkSettings *desktop = gtk_settings_get_default ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *picture = lig_picture_view_new ("Picture", "picture");
  GtkWidget *chart = lig_chart_view_new (), *window = gtk_window_new ();
  GtkWidget *plot = find_type (chart, LIG_TYPE_CHART_PLOT);
  gtk_box_append (GTK_BOX (box), picture);
  gtk_box_append (GTK_BOX (box), chart);
  lig_picture_view_set_picture (LIG_PICTURE_VIEW (picture), draw_mark, NULL, 200, &drawn, NULL);
  g_object_get (desktop, "gtk-xft-dpi", &dpi, NULL);
  show_in (window, box, 640, 700);
  int height = natural_height (picture), plot_height = natural_height (plot);
  g_assert_cmpint (height, ==, 200);
  g_assert_cmpfloat (drawn.width, ==, gtk_widget_get_width (picture));
  g_object_set (desktop, "gtk-xft-dpi", dpi * 3 / 2, NULL);
  wait_for_frame (window);
  wait_for_frame (window);
  g_assert_cmpint (natural_height (picture), >=, 1.4 * height);
  g_assert_cmpint (natural_height (plot), >=, 1.4 * plot_height);
  double scale = gtk_widget_get_width (picture) / drawn.width;
  g_assert_cmpfloat_with_epsilon (scale, 1.5, 0.1);
  const LigMark *marks = lig_picture_view_get_marks (LIG_PICTURE_VIEW (picture), &count);
  g_assert_cmpuint (count, ==, 1);
  g_assert_cmpfloat_with_epsilon (marks[0].x, 10 * scale, 0.01);
  g_assert_cmpfloat_with_epsilon (marks[0].height, 40 * scale, 0.01);
  g_object_set (desktop, "gtk-xft-dpi", dpi, NULL);
  wait_for_frame (window);
  wait_for_frame (window);
  g_assert_cmpint (natural_height (picture), ==, height);
  gtk_window_destroy (GTK_WINDOW (window));
}

/* Secondary text is nearly as strong as other text in high contrast. */
static void
test_contrast (Fixture *f, gconstpointer data)
{
  const GdkRGBA ink = {0, 0, 0, 1};
  float alpha = lig_score_dim (&ink).alpha;
  if (g_test_subprocess ()) {
    g_assert_cmpfloat (alpha, >, 0.85f);
    return;
  }
  g_assert_cmpfloat (alpha, >, 0.5f);
  g_assert_cmpfloat (alpha, <, 0.7f);
  g_setenv ("ADW_DEBUG_HIGH_CONTRAST", "1", TRUE);
  g_test_trap_subprocess (NULL, 0, 0);
  g_unsetenv ("ADW_DEBUG_HIGH_CONTRAST");
  g_test_trap_assert_passed ();
}

static void
add_tests (void)
{
#define ADD(name) g_test_add ("/look/" #name, Fixture, NULL, set_up_view, test_##name, tear_down)
  ADD (hotspots);
  ADD (colours);
  ADD (text_scale);
  ADD (picture_scale);
  ADD (contrast);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
