/* SPDX-License-Identifier: MIT */
/* Tabs: documents of one window, their titles, actions, questions and positions. */
#include "tests/ui/window-case.h"
#include "ui/document/edit.h"
#include "ui/page.h"

static void
write_op (Fixture *f, const char *name, const char *op)
{
  g_autofree char *text = g_strdup_printf ("{\"ligature\":1,\"ops\":[{\"op\":\"%s\"}]}", op);
  write_file (f, name, text);
}

static AdwTabView *
get_tabs (Fixture *f)
{
  return lig_window_get_tabs (f->window);
}

static int
count_tabs (Fixture *f)
{
  return adw_tab_view_get_n_pages (get_tabs (f));
}

static guint
count_windows (Fixture *f)
{
  guint count = 0;
  for (GList *item = gtk_application_get_windows (GTK_APPLICATION (f->application)); item;
       item = item->next)
    count += LIG_IS_WINDOW (item->data);
  return count;
}

static const char *
get_title (Fixture *f, int tab)
{
  return adw_tab_page_get_title (adw_tab_view_get_nth_page (get_tabs (f), tab));
}

static void
select_tab (Fixture *f, int tab)
{
  adw_tab_view_set_selected_page (get_tabs (f), adw_tab_view_get_nth_page (get_tabs (f), tab));
}

static void
add_tab (Fixture *f, const char *op)
{
  act (f, "new-tab");
  act_on (f, "insert-op", op);
}

/* Waits for a question and answers it like its button. */
static void
answer (const char *response)
{
  WAIT_FOR (find_dialog ());
  AdwMessageDialog *dialog = find_dialog ();
  adw_message_dialog_response (dialog, response);
  gtk_window_destroy (GTK_WINDOW (dialog));
}

/* --- Opening ------------------------------------------------------------------------------- */

static void
test_open (Fixture *f, gconstpointer data)
{
  write_op (f, "a.lig", "gelu");
  write_op (f, "b.lig", "relu");
  open_file (f, "a.lig");
  /* A file that is still being read also counts as open. */
  open_file (f, "a.lig");
  g_assert_cmpint (count_tabs (f), ==, 1);
  open_file (f, "b.lig");
  g_assert_cmpint (count_tabs (f), ==, 2);
  WAIT_FOR (lig_document_get_path (get_document (get_tabs (f), 0)) &&
            lig_document_get_path (get_document (get_tabs (f), 1)));
  assert_text (lig_window_get_document (f->window), "relu");
  open_file (f, "a.lig");
  g_assert_cmpint (count_tabs (f), ==, 2);
  assert_text (lig_window_get_document (f->window), "gelu");
  g_assert_cmpstr (get_title (f, 0), ==, "a");
  g_assert_cmpstr (get_title (f, 1), ==, "b");
  g_assert_cmpuint (count_windows (f), ==, 1);
}

/* The first file replaces an empty document; a file that cannot be read also gets a tab. */
static void
test_broken (Fixture *f, gconstpointer data)
{
  write_op (f, "a.lig", "gelu");
  write_file (f, "broken.lig", "{");
  open_file (f, "a.lig");
  WAIT_FOR (lig_document_get_path (f->doc));
  open_file (f, "broken.lig");
  WAIT_FOR (says (f, "cannot be opened"));
  g_assert_cmpint (count_tabs (f), ==, 2);
  select_tab (f, 0);
  g_assert_cmpstr (get_page (f), ==, "sequence");
  assert_text (lig_window_get_document (f->window), "gelu");
}

/* --- The selected tab ---------------------------------------------------------------------- */

static void
test_actions (Fixture *f, gconstpointer data)
{
  act_on (f, "insert-op", "gelu");
  g_assert_true (is_enabled (f, "undo"));
  act (f, "new-tab");
  /* The actions are those of the new document, which has no edits. */
  g_assert_false (is_enabled (f, "undo"));
  g_assert_false (is_enabled (f, "export"));
  act_on (f, "insert-op", "relu");
  act_on (f, "page", "plan");
  assert_text (f->doc, "gelu");
  assert_text (get_document (get_tabs (f), 1), "relu");
  select_tab (f, 0);
  g_autoptr (GVariant) page = g_action_group_get_action_state (G_ACTION_GROUP (f->window), "page");
  g_assert_cmpstr (g_variant_get_string (page, NULL), ==, "sequence");
  act (f, "undo");
  assert_text (f->doc, "");
  assert_text (get_document (get_tabs (f), 1), "relu");
}

/* A widget of an unselected tab acts on its own document. */
static void
test_background (Fixture *f, gconstpointer data)
{
  GtkWidget *first = GTK_WIDGET (lig_window_get_view (f->window));
  AdwViewStack *stack = lig_document_view_get_stack (LIG_DOCUMENT_VIEW (first));
  act (f, "new-tab");
  g_assert_true (gtk_widget_activate_action (first, "win.page", "s", "devices"));
  g_assert_true (gtk_widget_activate_action (first, "win.insert-op", "s", "gelu"));
  g_assert_cmpstr (adw_view_stack_get_visible_child_name (stack), ==, "sequence");
  assert_text (f->doc, "gelu");
  assert_text (lig_window_get_document (f->window), "");
  /* Actions of the window are also found from there. */
  g_assert_true (gtk_widget_activate_action (first, "win.new-tab", NULL));
  g_assert_cmpint (count_tabs (f), ==, 3);
}

static void
test_titles (Fixture *f, gconstpointer data)
{
  g_assert_cmpstr (get_title (f, 0), ==, "Untitled");
  act_on (f, "insert-op", "gelu");
  g_assert_cmpstr (get_title (f, 0), ==, "• Untitled");
  lig_edit_set_name (f->doc, "first");
  add_tab (f, "relu");
  lig_edit_set_name (lig_window_get_document (f->window), "second");
  g_assert_cmpstr (get_title (f, 0), ==, "• first");
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (f->window)), ==, "• second — Ligature");
  select_tab (f, 0);
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (f->window)), ==, "• first — Ligature");
}

/* --- Closing ------------------------------------------------------------------------------- */

static void
test_close_tab (Fixture *f, gconstpointer data)
{
  add_tab (f, "gelu");
  GObject *watched = G_OBJECT (lig_window_get_view (f->window));
  g_object_add_weak_pointer (watched, (gpointer *) &watched);
  act (f, "close-tab");
  answer ("cancel");
  g_assert_cmpint (count_tabs (f), ==, 2);
  act (f, "close-tab");
  answer ("discard");
  WAIT_FOR (count_tabs (f) == 1);
  /* Nothing keeps a closed tab alive. */
  WAIT_FOR (!watched);
  g_assert_true (lig_window_get_document (f->window) == f->doc);
  /* The last tab closes the window. */
  act (f, "close-tab");
  WAIT_FOR (!find_window (f));
}

static void
test_close_and_save (Fixture *f, gconstpointer data)
{
  g_autofree char *path = in_folder (f, "saved.lig");
  g_autoptr (GError) error = NULL;
  act_on (f, "insert-op", "gelu");
  act_on (f, "save-to", path);
  WAIT_FOR (lig_document_get_path (f->doc));
  act_on (f, "insert-op", "relu");
  act (f, "new-tab");
  select_tab (f, 0);
  act (f, "close-tab");
  answer ("save");
  WAIT_FOR (count_tabs (f) == 1);
  g_autoptr (LigSequence) saved = lig_sequence_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (lig_sequence_get_length (saved), ==, 2);
}

/* A window asks about each document, and keeps all if the user cancels. */
static void
test_close_window (Fixture *f, gconstpointer data)
{
  GObject *watched = G_OBJECT (f->window);
  g_object_add_weak_pointer (watched, (gpointer *) &watched);
  act_on (f, "insert-op", "gelu");
  act (f, "new-tab");
  add_tab (f, "relu");
  gtk_window_close (GTK_WINDOW (f->window));
  g_assert_true (lig_window_get_document (f->window) == f->doc);
  answer ("discard");
  WAIT_FOR (find_dialog ());
  assert_text (lig_window_get_document (f->window), "relu");
  answer ("cancel");
  g_assert_cmpint (count_tabs (f), ==, 3);
  /* A document that was to be discarded is asked about again. */
  gtk_window_close (GTK_WINDOW (f->window));
  g_assert_true (lig_window_get_document (f->window) == f->doc);
  answer ("discard");
  answer ("discard");
  WAIT_FOR (!watched);
  g_assert_null (find_window (f));
}

/* --- Windows ------------------------------------------------------------------------------- */

static void
test_move (Fixture *f, gconstpointer data)
{
  AdwTabBar *bar = find_type (GTK_WIDGET (f->window), ADW_TYPE_TAB_BAR);
  g_assert_false (adw_tab_bar_get_tabs_revealed (bar));
  act_on (f, "insert-op", "gelu");
  add_tab (f, "relu");
  g_assert_true (adw_tab_bar_get_tabs_revealed (bar));
  LigDocument *moved = lig_window_get_document (f->window);
  act (f, "move-tab");
  g_assert_cmpuint (count_windows (f), ==, 2);
  g_assert_cmpint (count_tabs (f), ==, 1);
  assert_text (lig_window_get_document (f->window), "gelu");
  /* With two windows a tab can be dragged from one to the other. */
  g_assert_true (adw_tab_bar_get_tabs_revealed (bar));
  LigWindow *other = NULL;
  for (GList *item = gtk_application_get_windows (GTK_APPLICATION (f->application)); item;
       item = item->next)
    if (LIG_IS_WINDOW (item->data) && item->data != f->window)
      other = item->data;
  g_assert_true (lig_window_get_document (other) == moved);
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (other), "win.insert-op", "s", "silu"));
  assert_text (moved, "relu ! silu");
  g_assert_true (g_str_has_prefix (gtk_window_get_title (GTK_WINDOW (other)), "• "));
  /* Back again: a window without tabs closes. */
  AdwTabView *tabs = lig_window_get_tabs (other);
  adw_tab_view_transfer_page (tabs, adw_tab_view_get_nth_page (tabs, 0), get_tabs (f), 1);
  WAIT_FOR (count_windows (f) == 1);
  g_assert_true (get_document (get_tabs (f), 1) == moved);
  g_assert_true (lig_document_is_modified (moved));
}

/* --- Small windows ------------------------------------------------------------------------- */

static int
measure (GtkWidget *widget)
{
  int min;
  gtk_widget_measure (widget, GTK_ORIENTATION_HORIZONTAL, -1, &min, NULL, NULL, NULL);
  g_test_message ("%s: %d", G_OBJECT_TYPE_NAME (widget), min);
  return min;
}

/* Two windows fit next to each other. */
static void
test_narrow (Fixture *f, gconstpointer data)
{
  AdwViewStack *stack = lig_document_view_get_stack (lig_window_get_view (f->window));
  const LigPageInfo *info;
  int too_wide = 0;
  add_tab (f, "gelu");
  select_tab (f, 0);
  g_assert_cmpint (measure (find_type (GTK_WIDGET (f->window), ADW_TYPE_HEADER_BAR)), <=, 640);
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    act_on (f, "page", info->name);
    GtkWidget *place = adw_view_stack_get_child_by_name (stack, info->name);
    too_wide += measure (adw_bin_get_child (ADW_BIN (place))) > 640;
  }
  g_assert_cmpint (too_wide, ==, 0);
  g_assert_cmpint (measure (GTK_WIDGET (f->window)), ==, 640);
}

/* The sidebar buttons show their state, and have none on other pages. */
static void
test_sidebars (Fixture *f, gconstpointer data)
{
  static const char *const names[] = {"palette", "inspector"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GActionGroup *group = G_ACTION_GROUP (f->window);
    g_autoptr (GVariant) before = g_action_group_get_action_state (group, names[i]);
    act (f, names[i]);
    g_autoptr (GVariant) after = g_action_group_get_action_state (group, names[i]);
    g_assert_cmpint (g_variant_get_boolean (before), !=, g_variant_get_boolean (after));
    act (f, names[i]);
    act_on (f, "page", "plan");
    WAIT_FOR (!is_enabled (f, names[i]));
    act_on (f, "page", "sequence");
    WAIT_FOR (is_enabled (f, names[i]));
  }
}

static void
add_tests (void)
{
#define ADD(name, func) g_test_add ("/tabs/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("open", test_open);
  ADD ("broken", test_broken);
  ADD ("actions", test_actions);
  ADD ("background", test_background);
  ADD ("titles", test_titles);
  ADD ("close-tab", test_close_tab);
  ADD ("close-and-save", test_close_and_save);
  ADD ("close-window", test_close_window);
  ADD ("move", test_move);
  ADD ("narrow", test_narrow);
  ADD ("sidebars", test_sidebars);
}

int
main (int argc, char **argv)
{
  return run_application_tests (argc, argv, add_tests);
}
