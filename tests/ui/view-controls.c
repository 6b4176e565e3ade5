/* SPDX-License-Identifier: MIT */
/* The view of the score in a window: zoom, compact rows, frames of blocks, subtitles, the overview
 * strip, and speed. */
#include "tests/base/slowness.h"
#include "tests/ui/view-case.h"
#include "ui/page.h"
#include "ui/score/strip.h"
#include "ui/score/text.h"

/* --- Zoom ---------------------------------------------------------------------------------- */

/* Returns the row at a y position of the window, and the offset in that row. */
static double
place_of (Fixture *f, double y, guint *row)
{
  double at = gtk_adjustment_get_value (f->adjustment) + y;
  for (*row = 0; *row + 1 < map_of (f)->slots->len && slot_at (f, *row + 1)->y <= at;)
    ++*row;
  return (at - slot_at (f, *row)->y) / (slot_at (f, *row)->height + map_of (f)->metrics.space);
}

static void
test_zoom (Fixture *f, gconstpointer data)
{
  guint before, after;
  g_settings_set_string (settings_of (f), "score-rows", "full");
  show_rows (f, 60);
  gtk_adjustment_set_value (f->adjustment, 1000);
  settle (f);
  double full = map_of (f)->metrics.base, share = place_of (f, 300, &before);
  lig_score_sheet_set_zoom (f->sheet, 1.5, 300);
  settle (f);
  g_assert_cmpfloat_with_epsilon (map_of (f)->metrics.base, 1.5 * full, 0.1 * full);
  g_assert_cmpfloat_with_epsilon (place_of (f, 300, &after), share, 0.05);
  g_assert_cmpuint (after, ==, before);
  lig_score_sheet_set_zoom (f->sheet, 0.6, 300);
  settle (f);
  g_assert_cmpfloat_with_epsilon (place_of (f, 300, &after), share, 0.1);
  g_assert_cmpuint (after, ==, before);
  act (f, "zoom-reset");
  g_assert_cmpfloat (map_of (f)->metrics.base, ==, full);
  press (f, f->score, "<Control>plus");
  g_assert_cmpfloat (lig_score_sheet_get_zoom (f->sheet), >, 1.05);
  press (f, f->score, "<Control>minus");
  g_assert_cmpfloat (lig_score_sheet_get_zoom (f->sheet), ==, 1);
  /* The card is not zoomed. */
  lig_score_sheet_set_zoom (f->sheet, 2, 0);
  settle (f);
  gtk_adjustment_set_value (f->adjustment, 0);
  settle (f);
  lig_score_sheet_explain_gap (f->sheet, 1);
  GtkWidget *label =
    find_type (find_type (GTK_WIDGET (f->sheet), GTK_TYPE_POPOVER), GTK_TYPE_LABEL);
  GtkWidget *outside = gtk_label_new ("x");
  gtk_grid_attach (GTK_GRID (gtk_widget_get_parent (find_type (f->score, LIG_TYPE_SCORE_STRIP))),
                   outside, 0, 3, 1, 1);
  settle (f);
  PangoContext *one = gtk_widget_get_pango_context (label);
  PangoContext *two = gtk_widget_get_pango_context (outside);
  g_assert_cmpint (pango_font_description_get_size (pango_context_get_font_description (one)), <=,
                   pango_font_description_get_size (pango_context_get_font_description (two)) * 13 /
                     10);
}

static void
test_fit (Fixture *f, gconstpointer data)
{
  show_rows (f, 24);
  lig_score_sheet_set_zoom (f->sheet, 1.6, NAN);
  settle (f);
  g_assert_cmpint (map_of (f)->height, >, (int) gtk_adjustment_get_page_size (f->adjustment));
  press (f, f->score, "<Control>9");
  const LigScoreSlot *last = slot_at (f, map_of (f)->slots->len - 1);
  g_assert_cmpint (last->y + last->height, <=, (int) gtk_adjustment_get_page_size (f->adjustment));
  g_assert_cmpfloat (lig_score_sheet_get_zoom (f->sheet), <, 1);
  show (f, "gelu ! relu");
  act (f, "zoom-fit");
  g_assert_cmpfloat (lig_score_sheet_get_zoom (f->sheet), ==, 1);
}

/* --- Rows ---------------------------------------------------------------------------------- */

static void
test_compact (Fixture *f, gconstpointer data)
{
  show (f, "layer-norm ! linear(256) ! gelu ! linear(64)");
  g_assert_false (map_of (f)->metrics.compact);
  int full = slot_at (f, 1)->height, height = map_of (f)->height;
  press (f, f->score, "<Control>r");
  g_autofree char *kept = g_settings_get_string (settings_of (f), "score-rows");
  g_assert_cmpstr (kept, ==, "compact");
  g_assert_true (map_of (f)->metrics.compact);
  g_assert_cmpint (slot_at (f, 1)->height, <=, full / 2);
  g_assert_cmpint (map_of (f)->height, <, height * 6 / 10);
  /* A bracket that covers only a bias is still next to its half of the row. */
  const LigScoreSlot *linear = slot_at (f, 1);
  int bias = map_of (f)->tops[2];
  g_assert_cmpint (map_of (f)->bottoms[1], ==, bias);
  g_assert_cmpint (bias, >, linear->y);
  g_assert_cmpint (bias, <, linear->y + linear->height);
  g_assert_cmpint (bias - linear->y, >=, map_of (f)->metrics.part);
  act (f, "compact");
  g_assert_false (map_of (f)->metrics.compact);
  g_settings_set_string (settings_of (f), "score-rows", "automatic");
  settle (f);
  g_assert_false (map_of (f)->metrics.compact);
  show_rows (f, 60);
  g_assert_true (map_of (f)->metrics.compact);
  show (f, "layer-norm ! linear(256) ! gelu ! linear(64)");
  g_assert_false (map_of (f)->metrics.compact);
}

/* Eight ops, with as many lines as ten rows, fit in the smallest usual window. */
static void
test_small (Fixture *f, gconstpointer data)
{
  enum { HEADER = 47 };
  const LigPageInfo *info = NULL;
  for (guint i = 0; (info = lig_page_info_nth (i)) && !g_str_equal (info->name, "sequence");)
    i++;
  show (f, "layer-norm ! linear(256) ! gelu ! linear(64) ! layer-norm ! linear(64) ! relu ! silu");
  GtkWidget *window = gtk_window_new ();
  GtkWidget *page =
    g_object_new (info->get_type (), "document", f->doc, "session", f->session, NULL);
  gtk_window_set_decorated (GTK_WINDOW (window), FALSE);
  show_in (window, page, 800, 600 - HEADER);
  for (guint i = 0; i < 4; i++)
    wait_for_frame (window);
  LigScoreSheet *sheet = find_type (page, LIG_TYPE_SCORE_SHEET);
  GtkWidget *scroller = gtk_widget_get_ancestor (GTK_WIDGET (sheet), GTK_TYPE_SCROLLED_WINDOW);
  const LigScoreMap *map = lig_score_sheet_get_map (sheet);
  const LigScoreSlot *last = lig_score_map_get_slot (map, map->slots->len - 1);
  g_assert_cmpuint (map->slots->len, ==, 8);
  g_assert_true (map->metrics.compact);
  g_test_message ("%d px of rows in %d px", last->y + last->height,
                  gtk_widget_get_height (scroller));
  g_assert_cmpint (last->y + last->height, <=, gtk_widget_get_height (scroller));
  gtk_window_destroy (GTK_WINDOW (window));
  settle (f);
}

static void
test_frames (Fixture *f, gconstpointer data)
{
  LigScoreColumns columns;
  int outer_x, outer_width, inner_x, inner_width;
  show (f, "layer-norm ! block(12) { linear(64) ! block(2) { gelu } } ! silu");
  g_assert_cmpuint (map_of (f)->slots->len, ==, 3);
  g_assert_cmpint (slot_at (f, 1)->frame, ==, 0);
  press (f, f->score, "<Control>bracketright");
  g_assert_cmpuint (map_of (f)->slots->len, ==, 6);
  const LigScoreSlot *block = slot_at (f, 1), *inner = slot_at (f, 3), *last = slot_at (f, 4);
  g_assert_cmpint (inner->frame, >, last->y + last->height);
  g_assert_cmpint (block->frame, >, inner->frame);
  g_assert_cmpint (slot_at (f, 5)->y, >=, block->frame + map_of (f)->metrics.space);
  lig_score_sheet_get_columns (f->sheet, &columns);
  lig_score_map_get_extent (map_of (f), &columns, 1, &outer_x, &outer_width);
  lig_score_map_get_extent (map_of (f), &columns, 2, &inner_x, &inner_width);
  g_assert_cmpint (inner_x, >, outer_x);
  g_assert_cmpint (inner_x + inner_width, <, outer_x + outer_width);
  g_assert_true (gtk_widget_has_css_class (lig_score_sheet_get_row (f->sheet, 1), "open"));
  g_assert_false (gtk_widget_has_css_class (lig_score_sheet_get_row (f->sheet, 2), "open"));
  act (f, "fold-all");
  g_assert_cmpuint (map_of (f)->slots->len, ==, 3);
  g_assert_false (gtk_widget_has_css_class (lig_score_sheet_get_row (f->sheet, 1), "open"));
}

/* Returns the number of rows after opening a file with a block of that many ops. */
static guint
open_file (Fixture *f, guint ops)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strdup_printf ("%u.lig", ops);
  g_autofree char *path = g_build_filename (f->folder, name, NULL);
  g_autoptr (GString) text = g_string_new ("{\"ligature\":1,\"input\":{\"shape\":[64,64],\"dtype\":"
                                           "\"bf16\"},\"ops\":[{\"op\":\"block\",\"repeat\":12,"
                                           "\"ops\":[");
  for (guint i = 0; i < ops; i++)
    g_string_append_printf (text, "%s{\"op\":\"gelu\"}", i > 0 ? "," : "");
  g_string_append (text, "]}]}");
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  g_assert_true (lig_document_load (f->doc, path, NULL, &error));
  g_assert_no_error (error);
  settle (f);
  return map_of (f)->slots->len;
}

/* A file opens unfolded if all its rows fit, else folded. */
static void
test_opened (Fixture *f, gconstpointer data)
{
  g_assert_cmpuint (open_file (f, 6), ==, 7);
  g_assert_cmpuint (open_file (f, 60), ==, 1);
}

/* --- Subtitles ----------------------------------------------------------------------------- */

static void
assert_subtitle (Fixture *f, guint row, const char *text)
{
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (lig_score_sheet_get_row (f->sheet, row)),
                                       GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text);
}

static void
test_subtitles (Fixture *f, gconstpointer data)
{
  const LigOpInfo *info;
  show (f, "layer-norm ! linear(256) ! gelu ! swiglu ! relu ! dropout ! rms-norm(eps=0.001)");
  assert_subtitle (f, 0, "eps 1e-5");
  assert_subtitle (f, 1, "64 → 256");
  assert_subtitle (f, 2, "tanh form");
  assert_subtitle (f, 3, "a sigmoid (a) b");
  assert_subtitle (f, 4, "max (x, 0)");
  assert_subtitle (f, 5, "p 0.1");
  assert_subtitle (f, 6, "eps 0.001");
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    g_autoptr (LigOp) op = lig_op_new (info->name, NULL);
    g_autofree char *text = op ? lig_score_params (op, NULL) : NULL;
    g_assert_cmpstr (text, !=, info->summary);
  }
}

/* --- Strip --------------------------------------------------------------------------------- */

static GtkEventController *
find_controller (GtkWidget *widget, GType type)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);
  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++) {
    g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);
    if (G_TYPE_CHECK_INSTANCE_TYPE (controller, type))
      return controller;
  }
  return NULL;
}

static void
test_strip (Fixture *f, gconstpointer data)
{
  GtkWidget *strip = find_type (f->score, LIG_TYPE_SCORE_STRIP);
  show_rows (f, 100);
  double page = gtk_adjustment_get_page_size (f->adjustment);
  double max = gtk_adjustment_get_upper (f->adjustment) - page;
  int height = gtk_widget_get_height (strip);
  GtkEventController *drag = find_controller (strip, GTK_TYPE_GESTURE_DRAG);
  g_assert_cmpint (height, >, (int) page / 2);
  g_signal_emit_by_name (drag, "drag-begin", 5.0, height - 2.0);
  g_assert_cmpfloat (gtk_adjustment_get_value (f->adjustment), ==, max);
  g_signal_emit_by_name (drag, "drag-update", 0.0, -height / 2.0);
  g_assert_cmpfloat_with_epsilon (gtk_adjustment_get_value (f->adjustment) + page / 2,
                                  (max + page) / 2, page / 8);
  /* Inside the frame, the first press moves nothing. */
  double before = gtk_adjustment_get_value (f->adjustment);
  double middle = height * (before + page / 2) / (max + page);
  g_signal_emit_by_name (drag, "drag-begin", 5.0, middle + 8);
  g_assert_cmpfloat (gtk_adjustment_get_value (f->adjustment), ==, before);
  press (f, strip, "Home");
  g_assert_cmpfloat (gtk_adjustment_get_value (f->adjustment), ==, 0);
  press (f, strip, "Page_Down");
  g_assert_cmpfloat_with_epsilon (gtk_adjustment_get_value (f->adjustment), 0.9 * page, 1);
  gtk_test_accessible_assert_role (strip, GTK_ACCESSIBLE_ROLE_SCROLLBAR);
  gtk_test_accessible_assert_property (strip, GTK_ACCESSIBLE_PROPERTY_LABEL, "Overview");
  gtk_test_accessible_assert_property (strip, GTK_ACCESSIBLE_PROPERTY_VALUE_NOW,
                                       gtk_adjustment_get_value (f->adjustment));
}

/* --- How fast ------------------------------------------------------------------------------ */

static double
time_frames (Fixture *f, double step)
{
  enum { FRAMES = 60 };
  gtk_adjustment_set_value (f->adjustment, 0);
  wait_for_frame (f->window);
  gint64 start = g_get_monotonic_time ();
  for (guint i = 0; i < FRAMES; i++) {
    gtk_adjustment_set_value (f->adjustment, gtk_adjustment_get_value (f->adjustment) + step);
    wait_for_frame (f->window);
  }
  return (double) (g_get_monotonic_time () - start) * 1e-3 / FRAMES;
}

static void
test_speed (Fixture *f, gconstpointer data)
{
  show_rows (f, 1200);
  double compact = INFINITY, coloured = INFINITY, zoomed = INFINITY;
  for (guint i = 0; i < 5 && compact >= 33 * lig_test_slowness (); i++)
    compact = time_frames (f, 120);
  g_settings_set_string (settings_of (f), "score-colour", "bound");
  settle (f);
  for (guint i = 0; i < 5 && coloured >= 33 * lig_test_slowness (); i++)
    coloured = time_frames (f, 120);
  for (guint i = 0; i < 10 && (i < 3 || zoomed >= 250 * lig_test_slowness ()); i++) {
    gint64 start = g_get_monotonic_time ();
    lig_score_sheet_set_zoom (f->sheet, i % 2 == 0 ? 1.2 : 1, 300);
    wait_for_frame (f->window);
    zoomed = MIN (zoomed, (double) (g_get_monotonic_time () - start) * 1e-3);
  }
  g_test_message ("1,200 rows: %.1f ms a frame of scrolling, %.1f ms coloured, %.1f ms a zoom",
                  compact, coloured, zoomed);
  g_assert_cmpfloat (compact, <, 33 * lig_test_slowness ());
  g_assert_cmpfloat (coloured, <, 33 * lig_test_slowness ());
  g_assert_cmpfloat (zoomed, <, 250 * lig_test_slowness ());
}

static void
add_tests (void)
{
#define ADD(name) \
  g_test_add ("/view-controls/" #name, Fixture, NULL, set_up_view, test_##name, tear_down)
  ADD (zoom);
  ADD (fit);
  ADD (compact);
  ADD (small);
  ADD (frames);
  ADD (opened);
  ADD (subtitles);
  ADD (strip);
  ADD (speed);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
