/* SPDX-License-Identifier: MIT */
/* Undo and redo: the list of edits, jumps in it, and pages with their own edits. */
#include "tests/ui/window-case.h"
#include <ligature/store-rows.h>
#include <ligature/store.h>

/* --- The document -------------------------------------------------------------------------- */

/* Returns the Undo button's menu. */
static GMenuModel *
get_undo_menu (Fixture *f)
{
  GtkWidget *bar = find_type (GTK_WIDGET (f->window), ADW_TYPE_HEADER_BAR);
  GtkWidget *button = find_widget (bar, has_action, "win.undo");
  g_assert_nonnull (button);
  GtkWidget *split = gtk_widget_get_ancestor (button, ADW_TYPE_SPLIT_BUTTON);
  g_assert_nonnull (split);
  return adw_split_button_get_menu_model (ADW_SPLIT_BUTTON (split));
}

/* Appends the labels and the steps of all items. */
static void
read_list (GMenuModel *menu, GString *text)
{
  for (int i = 0; i < g_menu_model_get_n_items (menu); i++) {
    g_autofree char *label = NULL;
    int steps = 0;
    g_autoptr (GMenuModel) inner = g_menu_model_get_item_link (menu, i, G_MENU_LINK_SECTION);
    if (inner)
      read_list (inner, text);
    else if (g_menu_model_get_item_attribute (menu, i, "label", "s", &label) &&
             g_menu_model_get_item_attribute (menu, i, "target", "i", &steps))
      g_string_append_printf (text, "%d %s;", steps, label);
  }
}

static void
assert_list (Fixture *f, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  read_list (get_undo_menu (f), text);
  g_assert_cmpstr (text->str, ==, expected);
}

static void
jump (Fixture *f, int steps)
{
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (f->window), "win.undo-steps", "i", steps));
}

static void
test_list (Fixture *f, gconstpointer data)
{
  assert_list (f, "");
  act_on (f, "insert-op", "gelu");
  act_on (f, "insert-op", "relu");
  act_on (f, "insert-op", "silu");
  assert_list (f, "1 Add SiLU;2 Add ReLU;3 Add GELU;");
  jump (f, 2);
  assert_text (f->doc, "gelu");
  assert_list (f, "-2 Add SiLU;-1 Add ReLU;1 Add GELU;");
  jump (f, -2);
  assert_text (f->doc, "gelu ! relu ! silu");
  /* More steps than exist go to the end. */
  jump (f, 100);
  assert_text (f->doc, "");
  assert_list (f, "-3 Add SiLU;-2 Add ReLU;-1 Add GELU;");
  g_assert_false (is_enabled (f, "undo"));
  g_assert_true (is_enabled (f, "redo"));
}

static gboolean
is_open (Fixture *f, const char *path)
{
  const LigRow *row = lig_document_find_path (f->doc, path);
  return row && row->open;
}

/* Undoing an edit restores removed blocks, unfolded as before. */
static void
test_open (Fixture *f, gconstpointer data)
{
  fill (f->doc, "gelu ! block(2) { relu ! block(2) { silu ! gelu } } ! relu");
  lig_document_set_open (f->doc, lig_document_find_path (f->doc, "1")->op, TRUE);
  lig_document_set_open (f->doc, lig_document_find_path (f->doc, "1.0.1")->op, TRUE);
  lig_document_select (f->doc, lig_document_find_path (f->doc, "1")->op, LIG_SELECT_ONLY);
  act (f, "delete");
  assert_text (f->doc, "gelu ! relu");
  act (f, "undo");
  g_assert_true (is_open (f, "1"));
  g_assert_true (is_open (f, "1.0.1"));
  lig_document_select (f->doc, lig_document_find_path (f->doc, "1")->op, LIG_SELECT_ONLY);
  act (f, "ungroup");
  act (f, "undo");
  g_assert_true (is_open (f, "1"));
  act (f, "redo");
  act (f, "undo");
  g_assert_true (is_open (f, "1.0.1"));
}

/* Each tab has its own edits. */
static void
test_tabs (Fixture *f, gconstpointer data)
{
  act_on (f, "insert-op", "gelu");
  act (f, "new-tab");
  assert_list (f, "");
  adw_tab_view_set_selected_page (lig_window_get_tabs (f->window),
                                  adw_tab_view_get_nth_page (lig_window_get_tabs (f->window), 0));
  assert_list (f, "1 Add GELU;");
}

/* --- History ------------------------------------------------------------------------------- */

static void
fill_store (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = lig_store_open (g_getenv ("LIGATURE_STORE"), &error);
  g_assert_no_error (error);
  for (int i = 0; i < 3; i++) {
    g_autofree char *settings = g_strdup_printf ("{\"lr\":0.%d}", i + 1);
    const LigRunRecord record = {.name = "mlp",
                                 .sequence = "{\"ops\":[]}",
                                 .kind = "train",
                                 .device = "cpu",
                                 .dtype = "fp32",
                                 .recipe = "none",
                                 .policy = "all",
                                 .settings = settings,
                                 .versions = "{}"};
    g_autofree char *run = lig_store_begin_run (store, &record, &error);
    g_assert_no_error (error);
    g_assert_true (lig_store_finish_run (store, run, "done", NULL, &error));
  }
}

static gboolean
says_runs (Fixture *f, const char *count)
{
  g_autofree char *text = g_strdup_printf ("%s runs", count);
  return says (f, text);
}

static gboolean
lists_runs (GtkWidget *widget, gconstpointer data)
{
  return GTK_IS_COLUMN_VIEW (widget) && gtk_widget_has_css_class (widget, "history-list");
}

/* On the History page, Ctrl+Z undoes the deletion of runs; the sequence is unchanged. */
static void
test_history (Fixture *f, gconstpointer data)
{
  fill_store ();
  act_on (f, "insert-op", "gelu");
  act_on (f, "page", "history");
  WAIT_FOR (says_runs (f, "3"));
  g_assert_false (is_enabled (f, "undo"));
  GtkWidget *view = find_widget (GTK_WIDGET (f->window), lists_runs, NULL);
  GtkSelectionModel *selection = gtk_column_view_get_model (GTK_COLUMN_VIEW (view));
  WAIT_FOR (g_list_model_get_n_items (G_LIST_MODEL (selection)) == 3);
  gtk_selection_model_select_item (selection, 0, TRUE);
  gboolean deleted = FALSE;
  WAIT_FOR ((deleted = deleted || gtk_widget_activate_action (view, "history.delete", NULL)));
  WAIT_FOR (says_runs (f, "2"));
  assert_list (f, "1 Delete 1 run;");
  act (f, "undo");
  WAIT_FOR (says_runs (f, "3"));
  assert_text (f->doc, "gelu");
  assert_list (f, "-1 Delete 1 run;");
  act (f, "redo");
  WAIT_FOR (says_runs (f, "2"));
  act (f, "undo");
  WAIT_FOR (says_runs (f, "3"));
  /* On other pages, it undoes the document's edits. */
  act_on (f, "page", "sequence");
  act (f, "undo");
  assert_text (f->doc, "");
}

static void
add_tests (void)
{
#define ADD(name, func) g_test_add ("/undo/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("list", test_list);
  ADD ("open", test_open);
  ADD ("tabs", test_tabs);
  ADD ("history", test_history);
}

int
main (int argc, char **argv)
{
  return run_application_tests (argc, argv, add_tests);
}
