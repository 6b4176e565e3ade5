/* SPDX-License-Identifier: MIT */
/* The room of the score in a window: zoom, compact rows, frames of blocks, the overview strip, the
 * hottest group, colours by figures, larger text, and how fast it stays. */
#include "ui/score/room.h"
#include "tests/ui/case.h"
#include "ui/page.h"
#include "ui/score/group.h"
#include "ui/score/score.h"
#include "ui/score/strip.h"
#include "ui/score/text.h"
#include "ui/widgets/chart-plot.h"
#include "ui/widgets/chart-view.h"
#include "ui/widgets/picture-view.h"

#include <math.h>

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *score;
  LigScoreSheet *sheet;
  GtkAdjustment *adjustment;
} Fixture;

static void
wait_for_score (Fixture *f)
{
  wait_for_plan (f->doc);
  /* Rows that became compact, or a zoom, are laid out in the frame after the one that decides. */
  for (guint i = 0; i < 3; i++) {
    wait_for_frame (f->window);
    while (g_main_context_iteration (NULL, FALSE))
      continue;
  }
}

static GSettings *
settings_of (Fixture *f)
{
  return lig_session_get_settings (f->session);
}

static void
set_up (Fixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "null:h200");
  g_settings_set_string (settings_of (f), "score-rows", "automatic");
  g_settings_set_string (settings_of (f), "score-colour", "fusion");
  f->window = gtk_window_new ();
  f->score = lig_score_view_new (f->doc);
  f->sheet = find_type (f->score, LIG_TYPE_SCORE_SHEET);
  GtkWidget *scroller = gtk_widget_get_ancestor (GTK_WIDGET (f->sheet), GTK_TYPE_SCROLLED_WINDOW);
  f->adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scroller));
  show_in (f->window, f->score, 1200, 800);
  wait_for_score (f);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  GtkWidget *score = f->score;
  g_object_add_weak_pointer (G_OBJECT (score), (gpointer *) &score);
  gtk_window_destroy (GTK_WINDOW (f->window));
  WAIT_FOR (!score);
  g_object_unref (f->doc);
  g_object_unref (f->session);
  remove_folder (f->folder);
}

static void
show (Fixture *f, const char *expression)
{
  fill_with (f->doc, expression, "64x64:bf16", NULL);
  wait_for_score (f);
}

static void
show_long (Fixture *f, guint rows)
{
  static const char *const ops[] = {"layer-norm", "linear(64)", "gelu", "linear(64)"};
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < rows; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? " ! " : "", ops[i % 4]);
  show (f, text->str);
}

static const LigScoreMap *
map_of (Fixture *f)
{
  return lig_score_sheet_get_map (f->sheet);
}

static const LigScoreSlot *
slot_at (Fixture *f, guint n)
{
  return lig_score_map_get_slot (map_of (f), n);
}

static void
act (Fixture *f, const char *action)
{
  g_autofree char *name = g_strconcat ("room.", action, NULL);
  g_assert_true (gtk_widget_activate_action (f->score, name, NULL));
  wait_for_score (f);
}

/* Presses a key that a controller or the class of the widget has bound. */
static void
press (Fixture *f, GtkWidget *widget, const char *key)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);
  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++) {
    g_autoptr (GObject) controller = g_list_model_get_item (controllers, i);
    if (!GTK_IS_SHORTCUT_CONTROLLER (controller))
      continue;
    for (guint k = 0; k < g_list_model_get_n_items (G_LIST_MODEL (controller)); k++) {
      g_autoptr (GtkShortcut) shortcut = g_list_model_get_item (G_LIST_MODEL (controller), k);
      g_autofree char *trigger =
        gtk_shortcut_trigger_to_string (gtk_shortcut_get_trigger (shortcut));
      g_auto (GStrv) keys = g_strsplit (trigger, "|", -1);
      if (!g_strv_contains ((const char *const *) keys, key))
        continue;
      g_assert_true (gtk_shortcut_action_activate (gtk_shortcut_get_action (shortcut), 0, widget,
                                                   gtk_shortcut_get_arguments (shortcut)));
      wait_for_score (f);
      return;
    }
  }
  g_error ("nothing is bound to %s", key);
}

/* --- Zoom ---------------------------------------------------------------------------------- */

/* Returns the row at a height of the window, and how far down in it that is. */
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
  show_long (f, 60);
  gtk_adjustment_set_value (f->adjustment, 1000);
  wait_for_score (f);
  double full = map_of (f)->metrics.base, share = place_of (f, 300, &before);
  lig_score_sheet_set_zoom (f->sheet, 1.5, 300);
  wait_for_score (f);
  g_assert_cmpfloat_with_epsilon (map_of (f)->metrics.base, 1.5 * full, 0.1 * full);
  g_assert_cmpfloat_with_epsilon (place_of (f, 300, &after), share, 0.05);
  g_assert_cmpuint (after, ==, before);
  lig_score_sheet_set_zoom (f->sheet, 0.6, 300);
  wait_for_score (f);
  g_assert_cmpfloat_with_epsilon (place_of (f, 300, &after), share, 0.1);
  g_assert_cmpuint (after, ==, before);
  act (f, "zoom-reset");
  g_assert_cmpfloat (map_of (f)->metrics.base, ==, full);
  press (f, f->score, "<Control>plus");
  g_assert_cmpfloat (lig_score_sheet_get_zoom (f->sheet), >, 1.05);
  press (f, f->score, "<Control>minus");
  g_assert_cmpfloat (lig_score_sheet_get_zoom (f->sheet), ==, 1);
  /* The card is not part of what is zoomed. */
  lig_score_sheet_set_zoom (f->sheet, 2, 0);
  wait_for_score (f);
  gtk_adjustment_set_value (f->adjustment, 0);
  wait_for_score (f);
  lig_score_sheet_explain_gap (f->sheet, 1);
  GtkWidget *label =
    find_type (find_type (GTK_WIDGET (f->sheet), GTK_TYPE_POPOVER), GTK_TYPE_LABEL);
  GtkWidget *outside = gtk_label_new ("x");
  gtk_grid_attach (GTK_GRID (gtk_widget_get_parent (find_type (f->score, LIG_TYPE_SCORE_STRIP))),
                   outside, 0, 3, 1, 1);
  wait_for_score (f);
  PangoContext *one = gtk_widget_get_pango_context (label);
  PangoContext *two = gtk_widget_get_pango_context (outside);
  g_assert_cmpint (pango_font_description_get_size (pango_context_get_font_description (one)), <=,
                   pango_font_description_get_size (pango_context_get_font_description (two)) * 13 /
                     10);
}

static void
test_fit (Fixture *f, gconstpointer data)
{
  show_long (f, 24);
  lig_score_sheet_set_zoom (f->sheet, 1.6, NAN);
  wait_for_score (f);
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
  /* A bracket that covers a bias alone still stands beside its half of the row. */
  const LigScoreSlot *linear = slot_at (f, 1);
  int bias = map_of (f)->tops[2];
  g_assert_cmpint (map_of (f)->bottoms[1], ==, bias);
  g_assert_cmpint (bias, >, linear->y);
  g_assert_cmpint (bias, <, linear->y + linear->height);
  g_assert_cmpint (bias - linear->y, >=, map_of (f)->metrics.part);
  act (f, "compact");
  g_assert_false (map_of (f)->metrics.compact);
  g_settings_set_string (settings_of (f), "score-rows", "automatic");
  wait_for_score (f);
  g_assert_false (map_of (f)->metrics.compact);
  show_long (f, 60);
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
  wait_for_score (f);
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

/* Returns the number of rows after a file with a block of that many ops is opened. */
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
  wait_for_score (f);
  return map_of (f)->slots->len;
}

/* A file opens unfolded where all its rows fit, and folded otherwise. */
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
  show_long (f, 100);
  double page = gtk_adjustment_get_page_size (f->adjustment);
  double most = gtk_adjustment_get_upper (f->adjustment) - page;
  int height = gtk_widget_get_height (strip);
  GtkEventController *drag = find_controller (strip, GTK_TYPE_GESTURE_DRAG);
  g_assert_cmpint (height, >, (int) page / 2);
  g_signal_emit_by_name (drag, "drag-begin", 5.0, height - 2.0);
  g_assert_cmpfloat (gtk_adjustment_get_value (f->adjustment), ==, most);
  g_signal_emit_by_name (drag, "drag-update", 0.0, -height / 2.0);
  g_assert_cmpfloat_with_epsilon (gtk_adjustment_get_value (f->adjustment) + page / 2,
                                  (most + page) / 2, page / 8);
  /* Within the frame the first press moves nothing. */
  double before = gtk_adjustment_get_value (f->adjustment);
  double middle = height * (before + page / 2) / (most + page);
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
test_hottest (Fixture *f, gconstpointer data)
{
  show_long (f, 60);
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
  act (f, "previous-hottest");
  g_assert_true (focused_bracket (f) == hot->pdata[3]);
  /* A folded block counts as a whole, an opened one by its groups. */
  show (f, "gelu ! block(12) { linear(64) } ! silu");
  act (f, "hottest");
  g_assert_null (focused_bracket (f)->group);
  act (f, "unfold-all");
  act (f, "hottest");
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
  gboolean hottest = FALSE;
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < map_of (f)->brackets[pass]->len; i++) {
      const LigScoreBracket *bracket =
        &g_array_index (map_of (f)->brackets[pass], LigScoreBracket, i);
      double value = lig_score_bracket_value (map_of (f), bracket, colour);
      guint level = find_level (f, (LigPass) pass, i);
      g_assert_cmpuint (level, <=, LIG_SCORE_HEAT_LEVELS);
      g_assert_cmpfloat (value, <=, peak * level / LIG_SCORE_HEAT_LEVELS * (1 + 1e-9));
      hottest |= level == LIG_SCORE_HEAT_LEVELS;
    }
  g_assert_true (hottest);
}

static void
test_colours (Fixture *f, gconstpointer data)
{
  fill_with (f->doc, "layer-norm ! linear(3072) ! gelu ! linear(768)", "2048x768:bf16", NULL);
  wait_for_score (f);
  g_assert_null (find_widget (f->score, shows_text, "Bytes moved"));
  g_assert_cmpuint (find_level (f, LIG_PASS_FORWARD, 0), ==, G_MAXUINT);
  g_assert_true (gtk_widget_activate_action (f->score, "room.score-colour", "s", "time"));
  wait_for_score (f);
  assert_levels (f, LIG_SCORE_COLOUR_TIME);
  g_assert_true (gtk_widget_activate_action (f->score, "room.score-colour", "s", "bytes"));
  wait_for_score (f);
  assert_levels (f, LIG_SCORE_COLOUR_BYTES);
  g_assert_nonnull (find_widget (f->score, shows_text, "Bytes moved"));
  g_settings_set_string (settings_of (f), "score-colour", "bound");
  wait_for_score (f);
  g_assert_true (gtk_widget_has_css_class (
    lig_score_sheet_get_group (f->sheet, LIG_PASS_FORWARD, 1), "bound-compute"));
  g_assert_false (gtk_widget_has_css_class (
    lig_score_sheet_get_group (f->sheet, LIG_PASS_FORWARD, 0), "bound-compute"));
  g_assert_nonnull (find_widget (f->score, shows_text, "compute"));
  g_assert_cmpuint (find_level (f, LIG_PASS_FORWARD, 0), ==, G_MAXUINT);
  g_settings_set_string (settings_of (f), "score-colour", "fusion");
  wait_for_score (f);
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

/* Both lines of a row and each part have room for their text, and do not touch. */
static void
assert_room (Fixture *f)
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
  assert_room (f);
  int base = map_of (f)->metrics.base, height = slot_at (f, 1)->height;
  g_object_set (desktop, "gtk-xft-dpi", dpi * 3 / 2, NULL);
  wait_for_score (f);
  g_assert_cmpint (map_of (f)->metrics.base, >=, base * 14 / 10);
  g_assert_cmpint (gtk_widget_get_height (lig_score_sheet_get_row (f->sheet, 1)), >=,
                   height * 14 / 10 - 2);
  assert_room (f);
  g_settings_set_string (settings_of (f), "score-rows", "compact");
  wait_for_score (f);
  assert_room (f);
  g_object_set (desktop, "gtk-xft-dpi", dpi, NULL);
  wait_for_score (f);
  assert_room (f);
  g_settings_set_string (settings_of (f), "score-rows", "automatic");
  wait_for_score (f);
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
  int least, natural;
  gtk_widget_measure (widget, GTK_ORIENTATION_VERTICAL, -1, &least, &natural, NULL, NULL);
  return natural;
}

/* Pictures and charts are drawn as with usual text, and larger; marks are where they are seen. */
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

/* --- How fast ------------------------------------------------------------------------------ */

static double
get_factor (void)
{
  const char *text = g_getenv ("LIGATURE_TEST_SLOWNESS");
  return text ? g_ascii_strtod (text, NULL) : 1;
}

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
  show_long (f, 1200);
  double compact = INFINITY, coloured = INFINITY, zoomed = INFINITY;
  for (guint i = 0; i < 5 && compact >= 33 * get_factor (); i++)
    compact = time_frames (f, 120);
  g_settings_set_string (settings_of (f), "score-colour", "bound");
  wait_for_score (f);
  for (guint i = 0; i < 5 && coloured >= 33 * get_factor (); i++)
    coloured = time_frames (f, 120);
  for (guint i = 0; i < 10 && (i < 3 || zoomed >= 250 * get_factor ()); i++) {
    gint64 start = g_get_monotonic_time ();
    lig_score_sheet_set_zoom (f->sheet, i % 2 == 0 ? 1.2 : 1, 300);
    wait_for_frame (f->window);
    zoomed = MIN (zoomed, (double) (g_get_monotonic_time () - start) * 1e-3);
  }
  g_test_message ("1,200 rows: %.1f ms a frame of scrolling, %.1f ms coloured, %.1f ms a zoom",
                  compact, coloured, zoomed);
  g_assert_cmpfloat (compact, <, 33 * get_factor ());
  g_assert_cmpfloat (coloured, <, 33 * get_factor ());
  g_assert_cmpfloat (zoomed, <, 250 * get_factor ());
}

static void
add_tests (void)
{
#define ADD(name) g_test_add ("/room/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (zoom);
  ADD (fit);
  ADD (compact);
  ADD (small);
  ADD (frames);
  ADD (opened);
  ADD (subtitles);
  ADD (strip);
  ADD (hottest);
  ADD (colours);
  ADD (text_scale);
  ADD (picture_scale);
  ADD (contrast);
  ADD (speed);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
