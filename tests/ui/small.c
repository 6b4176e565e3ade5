/* SPDX-License-Identifier: MIT */
/* Small features of the window: names of devices, the single-line bar, searches that Escape clears,
 * tooltips, toasts, templates, and a journal that cannot be read. */
#include "tests/ui/window-case.h"
#include "ui/page.h"
#include "ui/score/score.h"
#include "ui/score/sheet.h"
#include "ui/sequence/templates.h"
#include "ui/widgets/fit-box.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"
#include <ligature/store.h>

#include <sqlite3.h>

static void
draw (Fixture *f)
{
  wait_for_frame (GTK_WIDGET (f->window));
}

/* --- The bar ------------------------------------------------------------------------------- */

static GtkWidget *
add_button (LigFitBox *box, const char *label, int rank)
{
  GtkWidget *button = gtk_button_new_with_label (label);
  gtk_widget_set_size_request (button, 100, -1);
  lig_fit_box_add (box, button, label, rank);
  return button;
}

static void
allocate (GtkWidget *window, int width)
{
  gtk_window_set_default_size (GTK_WINDOW (window), width, 100);
  for (int i = 0; i < 3; i++)
    wait_for_frame (window);
}

/* Children that do not fit move into the popover when it opens, and back. */
static void
test_fit_box (Fixture *f, gconstpointer data)
{
  GtkWidget *window = gtk_window_new ();
  LigFitBox *box = g_object_new (LIG_TYPE_FIT_BOX, NULL);
  GtkWidget *first = add_button (box, "first", 0);
  GtkWidget *second = add_button (box, "second", 2);
  GtkWidget *third = add_button (box, "third", 1);
  GtkWidget *more = lig_fit_box_get_button (box);
  show_in (window, GTK_WIDGET (box), 500, 100);
  g_assert_true (gtk_widget_get_mapped (first) && gtk_widget_get_mapped (second) &&
                 gtk_widget_get_mapped (third));
  g_assert_false (gtk_widget_get_mapped (more));
  allocate (window, 290);
  g_assert_true (gtk_widget_get_mapped (first) && gtk_widget_get_mapped (third));
  g_assert_false (gtk_widget_get_mapped (second));
  g_assert_true (gtk_widget_get_mapped (more));
  gtk_menu_button_popup (GTK_MENU_BUTTON (more));
  WAIT_FOR (gtk_widget_get_mapped (second));
  g_assert_nonnull (gtk_widget_get_ancestor (second, GTK_TYPE_POPOVER));
  gtk_menu_button_popdown (GTK_MENU_BUTTON (more));
  WAIT_FOR (gtk_widget_get_parent (second) == GTK_WIDGET (box));
  g_assert_true (gtk_widget_get_next_sibling (first) == second);
  g_assert_true (gtk_widget_get_next_sibling (second) == third);
  allocate (window, 160);
  g_assert_true (gtk_widget_get_mapped (first));
  g_assert_false (gtk_widget_get_mapped (third));
  gtk_window_destroy (GTK_WINDOW (window));
}

static gboolean
is_internal (GtkWidget *widget, gconstpointer data)
{
  return GTK_IS_LABEL (widget) && gtk_widget_get_mapped (widget) &&
         strstr (gtk_label_get_text (GTK_LABEL (widget)), "null:");
}

/* Returns whether it is a list whose selected item has that name, shown or in the overflow. */
static gboolean
has_selected (GtkWidget *widget, gconstpointer name)
{
  gpointer item =
    GTK_IS_DROP_DOWN (widget) ? gtk_drop_down_get_selected_item (GTK_DROP_DOWN (widget)) : NULL;
  return GTK_IS_STRING_OBJECT (item) &&
         g_str_equal (gtk_string_object_get_string (item), (const char *) name);
}

/* No page shows the internal name of a plan-only device. */
static void
test_device_names (Fixture *f, gconstpointer data)
{
  const LigPageInfo *info;
  act_on (f, "insert-op", "gelu");
  lig_document_set_device (f->doc, "null:a100");
  WAIT_FOR (lig_document_get_plan (f->doc) && !lig_document_is_stale (f->doc));
  WAIT_FOR (says (f, ", plan only"));
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    act_on (f, "page", info->name);
    draw (f);
    g_assert_null (find_widget (GTK_WIDGET (f->window), is_internal, NULL));
  }
  act_on (f, "page", "sequence");
  WAIT_FOR (find_widget (GTK_WIDGET (f->window), has_selected, "Automatic: predicted"));
}

/* --- Searches ------------------------------------------------------------------------------ */

static GtkWidget *
find_search (Fixture *f)
{
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (f->window));
  return focus ? gtk_widget_get_ancestor (focus, GTK_TYPE_SEARCH_ENTRY) : NULL;
}

static void
test_escape (Fixture *f, gconstpointer data)
{
  static const char *const searches[][2] = {
    {"sequence", "add-op"}, {"sequence", "find"}, {"history", "find"}};
  act_on (f, "insert-op", "gelu");
  for (guint i = 0; i < G_N_ELEMENTS (searches); i++) {
    act_on (f, "page", searches[i][0]);
    draw (f);
    act (f, searches[i][1]);
    GtkWidget *search = find_search (f);
    g_assert_nonnull (search);
    gtk_editable_set_text (GTK_EDITABLE (search), "linear");
    g_signal_emit_by_name (search, "stop-search");
    g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (search)), ==, "");
    GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (f->window));
    if (g_str_equal (searches[i][0], "sequence"))
      g_assert_true (focus && gtk_widget_get_ancestor (focus, LIG_TYPE_SCORE_SHEET));
  }
}

/* --- Tooltips and toasts ------------------------------------------------------------------- */

static gboolean
asks_for_tooltip (GtkWidget *label)
{
  gboolean shown = FALSE;
  GtkTooltip *tooltip = g_object_new (GTK_TYPE_TOOLTIP, NULL);
  g_signal_emit_by_name (label, "query-tooltip", 1, 1, FALSE, tooltip, &shown);
  g_object_unref (tooltip);
  return shown;
}

static void
test_tooltip (Fixture *f, gconstpointer data)
{
  GtkWidget *window = gtk_window_new ();
  GtkWidget *label = gtk_label_new ("a text that needs some room");
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  lig_tooltip_when_cut (GTK_LABEL (label));
  show_in (window, label, 600, 50);
  g_assert_false (asks_for_tooltip (label));
  allocate (window, 60);
  g_assert_true (asks_for_tooltip (label));
  gtk_window_destroy (GTK_WINDOW (window));
}

static gboolean
is_run_bar (GtkWidget *widget, gconstpointer data)
{
  return g_str_equal (G_OBJECT_TYPE_NAME (widget), "LigRunBar");
}

/* A toast covers nothing: it is between the score and the run bar, which stays in its place. */
static void
test_toast (Fixture *f, gconstpointer data)
{
  graphene_rect_t bounds, bar, before, score;
  GtkWidget *view = GTK_WIDGET (lig_window_get_view (f->window));
  act_on (f, "insert-op", "gelu");
  draw (f);
  GtkWidget *run_bar = find_widget (view, is_run_bar, NULL);
  g_assert_true (gtk_widget_compute_bounds (run_bar, view, &before));
  act (f, "delete");
  WAIT_FOR (says (f, "Deleted 1 operation"));
  for (int i = 0; i < 3; i++)
    draw (f);
  GtkWidget *label = find_widget (view, shows_text, "Deleted 1 operation");
  GtkWidget *toasts = gtk_widget_get_ancestor (label, ADW_TYPE_TOAST_OVERLAY);
  g_assert_true (gtk_widget_compute_bounds (toasts, view, &bounds));
  g_assert_true (gtk_widget_compute_bounds (run_bar, view, &bar));
  g_assert_true (gtk_widget_compute_bounds (find_type (view, LIG_TYPE_SCORE_VIEW), view, &score));
  g_assert_cmpfloat (bounds.size.height, >, 20);
  g_assert_cmpfloat (bar.origin.y + bar.size.height, ==, before.origin.y + before.size.height);
  g_assert_cmpfloat (bounds.origin.y + bounds.size.height, <=, bar.origin.y);
  g_assert_cmpfloat (score.origin.y + score.size.height, <=, bounds.origin.y);
  /* Other pages have it below them. */
  act_on (f, "page", "history");
  draw (f);
  g_assert_true (gtk_widget_is_ancestor (toasts, view));
  g_assert_null (gtk_widget_get_ancestor (toasts, LIG_TYPE_PAGE));
}

/* --- Large text ---------------------------------------------------------------------------- */

static int
measure (GtkWidget *widget)
{
  int min;
  gtk_widget_measure (widget, GTK_ORIENTATION_HORIZONTAL, -1, &min, NULL, NULL, NULL);
  return min;
}

/* With text of one and a half times the size, the header and the page with the run bar fit 640
 * pixels with the window's border, and no page needs much more. */
static void
test_large_text (Fixture *f, gconstpointer data)
{
  int dpi;
  const LigPageInfo *info;
  GtkSettings *desktop = gtk_settings_get_default ();
  GtkWidget *window = GTK_WIDGET (f->window);
  AdwViewStack *stack = lig_document_view_get_stack (lig_window_get_view (f->window));
  act_on (f, "insert-op", "transformer-layer");
  for (guint i = 0; (info = lig_page_info_nth (i)); i++)
    act_on (f, "page", info->name);
  g_object_get (desktop, "gtk-xft-dpi", &dpi, NULL);
  g_object_set (desktop, "gtk-xft-dpi", 144 * 1024, NULL);
  draw (f);
  g_assert_cmpint (measure (find_type (window, ADW_TYPE_HEADER_BAR)), <=, 630);
  g_assert_cmpint (measure (adw_view_stack_get_child_by_name (stack, "sequence")), <=, 630);
  for (guint i = 0; (info = lig_page_info_nth (i)); i++)
    g_assert_cmpint (measure (adw_view_stack_get_child_by_name (stack, info->name)), <=, 680);
  g_assert_cmpint (measure (window), <=, 690);
  g_object_set (desktop, "gtk-xft-dpi", dpi, NULL);
}

/* --- Templates ----------------------------------------------------------------------------- */

static gboolean
has_ops (Fixture *f)
{
  return lig_sequence_get_length (lig_document_get_sequence (f->doc)) > 0;
}

static gboolean
click (GtkWidget *button)
{
  g_signal_emit_by_name (button, "clicked");
  return TRUE;
}

/* A click on a card, or its button, opens the template. */
static void
test_template (Fixture *f, gconstpointer data)
{
  GtkWidget *window = lig_templates_new (f->doc);
  gtk_window_present (GTK_WINDOW (window));
  GtkFlowBox *box = find_type (window, GTK_TYPE_FLOW_BOX);
  g_assert_true (gtk_flow_box_get_activate_on_single_click (box));
  GtkWidget *button = find_widget (window, has_action, "template.choose");
  g_assert_nonnull (button);
  /* The card reads its file on a thread; the window closes with the choice. */
  WAIT_FOR (has_ops (f) || !click (button));
}

/* --- A journal that cannot be read --------------------------------------------------------- */

static void
test_damaged_journal (Fixture *f, gconstpointer data)
{
  sqlite3 *db;
  g_assert_cmpint (sqlite3_open (g_getenv ("LIGATURE_STORE"), &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db,
                                 "INSERT INTO edit (document, json, made) VALUES"
                                 " ('before|1|1|damaged', '{\"kind\":\"edit\"', 1)",
                                 NULL, NULL, NULL),
                   ==, SQLITE_OK);
  sqlite3_close (db);
  lig_window_offer_help (f->window);
  WAIT_FOR (says (f, "cannot be restored"));
  /* It is reported only once, because it is then removed from the store. */
  g_autoptr (LigStore) store = lig_store_open (g_getenv ("LIGATURE_STORE"), NULL);
  gboolean gone = FALSE;
  while (!gone) {
    g_autoptr (GPtrArray) lost = lig_journal_find_lost (store);
    gone = lost->len == 0;
    g_main_context_iteration (NULL, FALSE);
  }
}

static void
add_tests (void)
{
#define ADD(name, func) g_test_add ("/small/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("fit-box", test_fit_box);
  ADD ("device-names", test_device_names);
  ADD ("escape", test_escape);
  ADD ("tooltip", test_tooltip);
  ADD ("toast", test_toast);
  ADD ("large-text", test_large_text);
  ADD ("template", test_template);
  ADD ("damaged-journal", test_damaged_journal);
}

int
main (int argc, char **argv)
{
  return run_application_tests (argc, argv, add_tests);
}
