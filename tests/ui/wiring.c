/* SPDX-License-Identifier: MIT */
/* Channels of the score as widgets, its ports and targets, and the list of problems with their
 * fixes, in a window. */
#include "tests/ui/case.h"
#include "ui/document/edit.h"
#include "ui/inspector/inspector.h"
#include "ui/score/arcs.h"
#include "ui/score/channel.h"
#include "ui/score/score.h"
#include "ui/score/sheet.h"
#include "ui/sequence/problems.h"

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *problems, *inspector;
  LigScoreSheet *sheet;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "null:h200");
  f->window = gtk_window_new ();
  GtkWidget *score = lig_score_view_new (f->doc);
  GtkWidget *columns = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *lines = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  f->sheet = find_type (score, LIG_TYPE_SCORE_SHEET);
  f->problems = lig_problems_new (f->doc);
  f->inspector = lig_inspector_new (f->doc);
  gtk_widget_set_vexpand (score, TRUE);
  gtk_widget_set_hexpand (score, TRUE);
  gtk_box_append (GTK_BOX (lines), score);
  gtk_box_append (GTK_BOX (lines), f->problems);
  gtk_box_append (GTK_BOX (columns), lines);
  gtk_box_append (GTK_BOX (columns), f->inspector);
  show_in (f->window, columns, 1200, 800);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  GtkWidget *problems = f->problems;
  g_object_add_weak_pointer (G_OBJECT (problems), (gpointer *) &problems);
  gtk_window_destroy (GTK_WINDOW (f->window));
  WAIT_FOR (!problems);
  free_document (f->folder, f->session, f->doc);
}

static void
settle (Fixture *f)
{
  wait_for_plan (f->doc);
  wait_for_frame (f->window);
}

static void
show (Fixture *f, const char *expression)
{
  fill_with (f->doc, expression, "64x64:fp32", NULL);
  settle (f);
}

static LigScoreChannel *
channel_at (Fixture *f, guint n)
{
  GtkWidget *channel = lig_score_sheet_get_channel (f->sheet, n);
  g_assert_nonnull (channel);
  return LIG_SCORE_CHANNEL (channel);
}

static GtkWidget *
row_at (Fixture *f, guint n)
{
  GtkWidget *row = lig_score_sheet_get_row (f->sheet, n);
  g_assert_nonnull (row);
  return row;
}

static GtkWidget *
get_focus (Fixture *f)
{
  return gtk_root_get_focus (GTK_ROOT (f->window));
}

static void
act (gpointer widget, const char *action)
{
  g_assert_true (gtk_widget_activate_action (widget, action, NULL));
}

/* --- Channels ------------------------------------------------------------------------------ */

static void
test_select (Fixture *f, gconstpointer data)
{
  show (f, "make-extra-output(r) ! linear(64) ! add-extra-input(r)");
  LigScoreChannel *channel = channel_at (f, 0);
  gtk_test_accessible_assert_role (channel, GTK_ACCESSIBLE_ROLE_BUTTON);
  gtk_test_accessible_assert_property (channel, GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       "Branch r from Make branch at 0 to Add branch at 2");
  g_assert_false (lig_score_channel_is_lit (channel));
  /* By key from a row, and back to either end. */
  act (row_at (f, 2), "op.channel");
  g_assert_true (get_focus (f) == GTK_WIDGET (channel));
  g_assert_true (lig_score_channel_is_lit (channel));
  act (channel, "channel.start");
  g_assert_true (get_focus (f) == row_at (f, 0));
  gtk_widget_grab_focus (GTK_WIDGET (channel));
  act (channel, "channel.end");
  g_assert_true (get_focus (f) == row_at (f, 2));
  /* It is next to its rows, spanning them. */
  graphene_rect_t area, row;
  g_assert_true (gtk_widget_compute_bounds (GTK_WIDGET (channel), GTK_WIDGET (f->sheet), &area));
  g_assert_true (gtk_widget_compute_bounds (row_at (f, 0), GTK_WIDGET (f->sheet), &row));
  g_assert_cmpfloat (area.origin.x + area.size.width, <=, row.origin.x);
  g_assert_cmpfloat (area.size.height, >, 20);
}

/* The key cycles through all channels of a row. */
static void
test_several (Fixture *f, gconstpointer data)
{
  show (f, "make-extra-output(r) ! linear(64) ! add-extra-input(r) ! add-extra-input(r)");
  act (row_at (f, 0), "op.channel");
  GtkWidget *first = get_focus (f);
  g_assert_true (LIG_IS_SCORE_CHANNEL (first));
  act (first, "channel.next");
  GtkWidget *second = get_focus (f);
  g_assert_true (LIG_IS_SCORE_CHANNEL (second) && second != first);
  act (second, "channel.next");
  g_assert_true (get_focus (f) == first);
}

static void
test_rename (Fixture *f, gconstpointer data)
{
  show (f, "make-extra-output(r) ! block(2) { add-extra-input(../r) } ! add-extra-input(r)");
  act (row_at (f, 0), "op.rename-channel");
  WAIT_FOR (find_type (GTK_WIDGET (f->sheet), GTK_TYPE_ENTRY));
  GtkWidget *entry = find_type (GTK_WIDGET (f->sheet), GTK_TYPE_ENTRY);
  gtk_editable_set_text (GTK_EDITABLE (entry), "a/b");
  g_signal_emit_by_name (entry, "activate");
  g_assert_true (gtk_widget_has_css_class (entry, "error"));
  gtk_editable_set_text (GTK_EDITABLE (entry), "skip");
  g_assert_false (gtk_widget_has_css_class (entry, "error"));
  g_signal_emit_by_name (entry, "activate");
  settle (f);
  assert_text (f->doc, "make-extra-output(skip) ! block(2) { add-extra-input(../skip) } ! "
                       "add-extra-input(skip)");
  WAIT_FOR (!find_type (GTK_WIDGET (f->sheet), GTK_TYPE_ENTRY));
}

static void
test_disconnect (Fixture *f, gconstpointer data)
{
  show (f, "make-extra-output(r) ! linear(64) ! add-extra-input(r)");
  act (channel_at (f, 0), "channel.disconnect");
  settle (f);
  assert_text (f->doc, "make-extra-output ! linear(64) ! add-extra-input");
  g_assert_null (lig_score_sheet_get_channel (f->sheet, 0));
  g_assert_true (get_focus (f) == row_at (f, 2));
}

static GMenuModel *
find_menu (GtkWidget *root)
{
  GtkWidget *menu = find_type (root, GTK_TYPE_POPOVER_MENU);
  g_assert_nonnull (menu);
  return gtk_popover_menu_get_menu_model (GTK_POPOVER_MENU (menu));
}

/* Returns the actions of a menu's items, in order. */
static void
list_actions (GMenuModel *menu, GString *text)
{
  for (int i = 0; i < g_menu_model_get_n_items (menu); i++) {
    g_autofree char *action = NULL;
    g_autoptr (GMenuModel) section = g_menu_model_get_item_link (menu, i, G_MENU_LINK_SECTION);
    if (g_menu_model_get_item_attribute (menu, i, G_MENU_ATTRIBUTE_ACTION, "s", &action))
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", action);
    if (section)
      list_actions (section, text);
  }
}

static void
test_menus (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) actions = g_string_new (NULL), fixes = g_string_new (NULL);
  show (f, "make-extra-output(r) ! linear(64) ! add-extra-input(r)");
  act (channel_at (f, 0), "channel.menu");
  list_actions (find_menu (GTK_WIDGET (channel_at (f, 0))), actions);
  g_assert_cmpstr (actions->str, ==, "channel.rename channel.disconnect channel.start channel.end");
  /* A row with a problem offers its fixes first. */
  show (f, "linear(64, in-features=9) ! gelu");
  act (row_at (f, 0), "op.menu");
  list_actions (find_menu (row_at (f, 0)), fixes);
  g_assert_true (g_str_has_prefix (fixes->str, "op.fix "));
  gtk_widget_activate_action (row_at (f, 0), "op.fix", "u", 0);
  assert_text (f->doc, "linear(64, in-features=64) ! gelu");
}

/* --- Ports and targets --------------------------------------------------------------------- */

static char *
list_class (Fixture *f, const char *class)
{
  GtkWidget *row;
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; (row = lig_score_sheet_get_row (f->sheet, i)); i++)
    if (gtk_widget_has_css_class (row, class))
      g_string_append_printf (text, "%s%u", text->len > 0 ? " " : "", i);
  return g_strdup (text->str);
}

static void
test_targets (Fixture *f, gconstpointer data)
{
  show (f, "add-extra-input ! make-extra-output ! gelu ! block(2) { add-extra-input ! "
           "make-extra-output } ! add-extra-input");
  lig_document_set_open (f->doc, lig_sequence_find (lig_document_get_sequence (f->doc), "3", NULL),
                         TRUE);
  settle (f);
  /* From an output: the inputs below, including those in the block. */
  const LigScoreSlot *slot = lig_score_map_get_slot (lig_score_sheet_get_map (f->sheet), 4);
  lig_score_sheet_show_thread (f->sheet, 1, 300, slot->y + 2);
  g_autofree char *below = list_class (f, "target"), *here = list_class (f, "here");
  g_assert_cmpstr (below, ==, "4 6");
  g_assert_cmpstr (here, ==, "4");
  g_assert_true (gtk_widget_has_css_class (GTK_WIDGET (f->sheet), "wiring"));
  /* From an input: the outputs above, not those of a block. */
  lig_score_sheet_show_thread (f->sheet, 6, 300, 0);
  g_autofree char *above = list_class (f, "target");
  g_assert_cmpstr (above, ==, "1");
  lig_score_sheet_show_thread (f->sheet, -1, 0, 0);
  g_autofree char *none = list_class (f, "target");
  g_assert_cmpstr (none, ==, "");
  g_assert_false (gtk_widget_has_css_class (GTK_WIDGET (f->sheet), "wiring"));
  /* All rows with a channel end have a port. */
  for (guint i = 0; i < 7; i++)
    g_assert_true (
      lig_score_has_port (lig_score_map_get_slot (lig_score_sheet_get_map (f->sheet), i)->op) ==
      (i != 2 && i != 3));
}

static void
test_ends (Fixture *f, gconstpointer data)
{
  show (f, "make-extra-output(lost) ! add-extra-input ! make-extra-output(r) ! "
           "add-extra-input(r)");
  const LigScoreMap *map = lig_score_sheet_get_map (f->sheet);
  const LigEnd ends[] = {LIG_END_UNREAD, LIG_END_CALLER, LIG_END_FINE, LIG_END_FINE};
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    g_assert_cmpint (lig_score_map_get_slot (map, i)->end, ==, ends[i]);
  g_autofree char *lost = gtk_test_accessible_check_property (
    GTK_ACCESSIBLE (row_at (f, 0)), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, "nothing reads “lost”");
  g_assert_cmpstr (lost, ==, NULL);
}

/* --- Blocks -------------------------------------------------------------------------------- */

static void
test_block (Fixture *f, gconstpointer data)
{
  show (f, "gelu ! relu");
  act (row_at (f, 0), "op.select");
  act (row_at (f, 1), "op.toggle");
  act (row_at (f, 1), "op.group");
  assert_text (f->doc, "block() { gelu ! relu }");
  WAIT_FOR (get_focus (f) && gtk_widget_is_ancestor (get_focus (f), f->inspector));
  GtkWidget *entry = gtk_widget_get_ancestor (get_focus (f), GTK_TYPE_ENTRY);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "1");
  gtk_editable_set_text (GTK_EDITABLE (entry), "12");
  assert_text (f->doc, "block(12) { gelu ! relu }");
}

/* --- Problems ------------------------------------------------------------------------------ */

static gboolean
is_fix (GtkWidget *widget, gconstpointer data)
{
  return gtk_widget_has_css_class (widget, "fix");
}

static void
test_problems (Fixture *f, gconstpointer data)
{
  show (f, "linear(64, in-features=9) ! gelu ! add-extra-input(none) ! layer-norm([5])");
  g_assert_nonnull (find_widget (f->problems, shows_text, "3 problems"));
  /* Next selects one row after another. */
  const char *const paths[] = {"0", "2", "3", "0"};
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    lig_problems_next (LIG_PROBLEMS (f->problems));
    const LigRow *row = lig_document_find_row (f->doc, lig_document_get_cursor (f->doc));
    g_assert_cmpstr (row->path, ==, paths[i]);
  }
  GtkWidget *button = find_widget (f->problems, is_fix, NULL);
  g_signal_emit_by_name (button, "clicked");
  settle (f);
  assert_text (f->doc,
               "linear(64, in-features=64) ! gelu ! add-extra-input(none) ! layer-norm([5])");
  g_assert_nonnull (find_widget (f->problems, shows_text, "2 problems"));
  lig_document_undo (f->doc);
  settle (f);
  g_assert_nonnull (find_widget (f->problems, shows_text, "3 problems"));
}

/* The row of a problem is scrolled to, and the blocks around it open. */
static void
test_scrolls (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new ("gelu");
  for (int i = 0; i < 60; i++)
    g_string_append (text, " ! gelu");
  g_string_append (text, " ! block(2) { relu ! layer-norm([5]) }");
  show (f, text->str);
  GtkWidget *scroller = gtk_widget_get_ancestor (GTK_WIDGET (f->sheet), GTK_TYPE_SCROLLED_WINDOW);
  GtkAdjustment *at = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scroller));
  g_assert_cmpfloat (gtk_adjustment_get_value (at), ==, 0);
  lig_problems_next (LIG_PROBLEMS (f->problems));
  wait_for_frame (f->window);
  const LigRow *row = lig_document_find_row (f->doc, lig_document_get_cursor (f->doc));
  g_assert_cmpstr (row->path, ==, "61.0.1");
  g_assert_cmpfloat (gtk_adjustment_get_value (at), >, 500);
}

/* A thousand problems are counted, and the list stays short. */
static void
test_many (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new ("layer-norm([5])");
  for (int i = 1; i < 1000; i++)
    g_string_append (text, " ! layer-norm([5])");
  show (f, text->str);
  g_assert_nonnull (find_widget (f->problems, shows_text, "1000 problems"));
  g_assert_nonnull (find_widget (f->problems, shows_text, "940 more problems"));
}

#define ADD(name, test) g_test_add ("/wiring/" name, Fixture, NULL, set_up, test, tear_down)

static void
add (void)
{
  ADD ("select", test_select);
  ADD ("several", test_several);
  ADD ("rename", test_rename);
  ADD ("disconnect", test_disconnect);
  ADD ("menus", test_menus);
  ADD ("targets", test_targets);
  ADD ("ends", test_ends);
  ADD ("block", test_block);
  ADD ("problems", test_problems);
  ADD ("scrolls", test_scrolls);
  ADD ("many", test_many);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add);
}
