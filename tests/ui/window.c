/* SPDX-License-Identifier: MIT */
/* The window and the application: good and broken files, every action of the document, questions
 * before data loss, and the edits of a killed program. */
#include "app/preferences.h"
#include "app/window-commands.h"
#include "tests/ui/window-case.h"
#include "ui/document/edit.h"
#include "ui/page.h"
#include "ui/score/sheet.h"
#include "ui/session/training.h"
#include "ui/widgets/clipboard.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <unistd.h>

/* --- Files --------------------------------------------------------------------------------- */

static void
test_open (Fixture *f, gconstpointer data)
{
  write_file (f, "a.lig", "{\"ligature\":1,\"name\":\"first\",\"ops\":[{\"op\":\"gelu\"}]}");
  write_file (f, "b.lig", "{\"ligature\":1,\"odd\":3,\"ops\":[{\"op\":\"relu\"}]}");
  open_file (f, "a.lig");
  WAIT_FOR (lig_document_get_path (f->doc));
  assert_text (f->doc, "gelu");
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (f->window)), ==, "first — Ligature");
  /* The same file is in the same tab, another file in another one. */
  open_file (f, "a.lig");
  g_assert_cmpint (adw_tab_view_get_n_pages (lig_window_get_tabs (f->window)), ==, 1);
  open_file (f, "b.lig");
  g_assert_cmpint (adw_tab_view_get_n_pages (lig_window_get_tabs (f->window)), ==, 2);
  f->doc = lig_window_get_document (f->window);
  WAIT_FOR (lig_document_get_path (f->doc));
  assert_text (f->doc, "relu");
  WAIT_FOR (says (f, "unknown key"));
}

static void
test_broken (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *text, *sentence, *place;
  } files[] = {
    {"{\"ligature\":1,\n\"ops\":[{\"op\":\"linear\",}]}", "Expected a string", "Line 2, column"},
    {"{\"ligature\":1,\"ops\":[{\"op\":\"gelu\"},{\"op\":\"linear\",\"out-features\":\"x\"}]}",
     "Expected a whole number", "$.ops[1].out-features"},
    {"\xff\xfe", "UTF-8", "broken.lig"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    write_file (f, "broken.lig", files[i].text);
    open_file (f, "broken.lig");
    WAIT_FOR (says (f, files[i].sentence) && says (f, files[i].place));
    g_assert_cmpstr (get_page (f), ==, "error");
    g_assert_true (lig_document_view_is_pristine (lig_window_get_view (f->window)));
  }
  act (f, "copy-error");
  write_file (f, "good.lig", "{\"ligature\":1,\"ops\":[{\"op\":\"gelu\"}]}");
  open_file (f, "good.lig");
  WAIT_FOR (lig_document_get_path (f->doc));
  g_assert_cmpstr (get_page (f), ==, "sequence");
}

static void
test_save (Fixture *f, gconstpointer data)
{
  g_autofree char *path = in_folder (f, "saved.lig");
  g_autoptr (GError) error = NULL;
  act_on (f, "insert-op", "gelu");
  g_assert_true (g_str_has_prefix (gtk_window_get_title (GTK_WINDOW (f->window)), "• "));
  act_on (f, "save-to", path);
  /* Edits made while the file is written remain unsaved. */
  act_on (f, "insert-op", "relu");
  WAIT_FOR (lig_document_get_path (f->doc));
  g_assert_true (lig_document_is_modified (f->doc));
  g_autoptr (LigSequence) half = lig_sequence_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (lig_sequence_get_length (half), ==, 1);
  act (f, "save");
  WAIT_FOR (!lig_document_is_modified (f->doc));
  g_autoptr (LigSequence) whole = lig_sequence_load (path, NULL, &error);
  g_assert_cmpuint (lig_sequence_get_length (whole), ==, 2);
  g_assert_false (is_enabled (f, "save"));
  act (f, "undo");
  g_assert_true (lig_document_is_modified (f->doc));
  act (f, "redo");
  g_assert_false (lig_document_is_modified (f->doc));
}

static void
test_save_fails (Fixture *f, gconstpointer data)
{
  g_autofree char *path = in_folder (f, "no/such/folder.lig");
  act_on (f, "insert-op", "gelu");
  act_on (f, "save-to", path);
  WAIT_FOR (find_dialog ());
  g_assert_nonnull (strstr (adw_message_dialog_get_body (find_dialog ()), "No such file"));
  adw_message_dialog_response (find_dialog (), "cancel");
  g_assert_true (lig_document_is_modified (f->doc));
  g_assert_null (lig_document_get_path (f->doc));
  assert_text (f->doc, "gelu");
}

/* --- Edits --------------------------------------------------------------------------------- */

/* Returns the label of an item of the menu, found by its action. */
static char *
find_label (GMenuModel *menu, const char *action)
{
  for (int i = 0; i < g_menu_model_get_n_items (menu); i++) {
    g_autofree char *found = NULL;
    g_autofree char *label = NULL;
    g_menu_model_get_item_attribute (menu, i, "action", "s", &found);
    if (g_strcmp0 (found, action) == 0 &&
        g_menu_model_get_item_attribute (menu, i, "label", "s", &label))
      return g_steal_pointer (&label);
    g_autoptr (GMenuLinkIter) links = g_menu_model_iterate_item_links (menu, i);
    while (g_menu_link_iter_next (links)) {
      g_autoptr (GMenuModel) inner = g_menu_link_iter_get_value (links);
      char *deep = find_label (inner, action);
      if (deep)
        return deep;
    }
  }
  return NULL;
}

static GMenuModel *
find_main_menu (Fixture *f)
{
  GtkWidget *bar = find_type (GTK_WIDGET (f->window), ADW_TYPE_HEADER_BAR);
  GtkWidget *found = NULL;
  for (GtkWidget *end =
         gtk_widget_get_last_child (gtk_widget_get_first_child (gtk_widget_get_first_child (bar)));
       end && !found; end = gtk_widget_get_prev_sibling (end))
    found = find_type (end, GTK_TYPE_MENU_BUTTON);
  g_assert_nonnull (found);
  return gtk_menu_button_get_menu_model (GTK_MENU_BUTTON (found));
}

static void
test_edit (Fixture *f, gconstpointer data)
{
  g_assert_false (is_enabled (f, "undo"));
  g_assert_false (is_enabled (f, "delete"));
  act_on (f, "insert-op", "gelu");
  act_on (f, "insert-op", "relu");
  assert_text (f->doc, "gelu ! relu");
  g_autofree char *label = find_label (find_main_menu (f), "win.undo");
  g_assert_nonnull (strstr (label, "Add"));
  act (f, "move-up");
  assert_text (f->doc, "relu ! gelu");
  g_assert_false (is_enabled (f, "fence"));
  act (f, "move-down");
  assert_text (f->doc, "gelu ! relu");
  act (f, "fence");
  assert_text (f->doc, "gelu ! | ! relu");
  act (f, "fence");
  act (f, "duplicate");
  assert_text (f->doc, "gelu ! relu ! relu");
  act (f, "select-all");
  act (f, "group");
  assert_text (f->doc, "block() { gelu ! relu ! relu }");
  act (f, "ungroup");
  assert_text (f->doc, "gelu ! relu ! relu");
  act (f, "select-all");
  act (f, "delete");
  assert_text (f->doc, "");
  WAIT_FOR (says (f, "Deleted 3 operations"));
  act (f, "undo");
  assert_text (f->doc, "gelu ! relu ! relu");
  act_on (f, "insert-op", "nothing-like-it");
  assert_text (f->doc, "gelu ! relu ! relu");
  WAIT_FOR (says (f, "nothing-like-it"));
}

static void
test_clipboard (Fixture *f, gconstpointer data)
{
  GdkClipboard *clipboard = gtk_widget_get_clipboard (GTK_WIDGET (f->window));
  act_on (f, "insert-op", "gelu");
  act (f, "copy");
  g_assert_true (gdk_content_formats_contain_mime_type (gdk_clipboard_get_formats (clipboard),
                                                        LIG_CLIPBOARD_TYPE));
  WAIT_FOR (is_enabled (f, "paste"));
  act (f, "paste");
  WAIT_FOR (lig_sequence_get_length (lig_document_get_sequence (f->doc)) == 2);
  act (f, "cut");
  assert_text (f->doc, "gelu");
  gdk_clipboard_set_text (clipboard, "silu ! relu");
  act (f, "paste");
  WAIT_FOR (lig_sequence_get_length (lig_document_get_sequence (f->doc)) == 3);
  assert_text (f->doc, "gelu ! silu ! relu");
  gdk_clipboard_set_text (clipboard, "what is this?");
  act (f, "paste");
  WAIT_FOR (says (f, "what") || says (f, "What"));
  assert_text (f->doc, "gelu ! silu ! relu");
}

/* --- Pages, exports, windows --------------------------------------------------------------- */

static void
test_pages (Fixture *f, gconstpointer data)
{
  const LigPageInfo *info;
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    act_on (f, "page", info->name);
    g_assert_cmpstr (get_page (f), ==, info->name);
    g_autoptr (GVariant) state =
      g_action_group_get_action_state (G_ACTION_GROUP (f->window), "page");
    g_assert_cmpstr (g_variant_get_string (state, NULL), ==, info->name);
  }
  act_on (f, "page", "no-such-page");
  g_assert_cmpstr (get_page (f), ==, "devices");
}

/* The focus goes to the search of the visible page, or to the ops if it has none. */
static void
test_find (Fixture *f, gconstpointer data)
{
  static const char *const pages[][2] = {
    {"history", "history"}, {"sequence", "sequence"}, {"plan", "plan"}, {"run", "sequence"}};
  act_on (f, "insert-op", "gelu");
  WAIT_FOR (lig_document_get_plan (f->doc));
  for (guint i = 0; i < G_N_ELEMENTS (pages); i++) {
    act_on (f, "page", pages[i][0]);
    act (f, "find");
    g_assert_cmpstr (get_page (f), ==, pages[i][1]);
    GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (f->window));
    g_assert_nonnull (focus);
    g_assert_nonnull (gtk_widget_get_ancestor (focus, GTK_TYPE_SEARCH_ENTRY));
  }
}

static void
test_export (Fixture *f, gconstpointer data)
{
  static const char *const formats[] = {"md", "json", "csv"};
  act_on (f, "insert-op", "gelu");
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autofree char *name = g_strconcat ("report.", formats[i], NULL);
    g_autofree char *path = in_folder (f, name);
    g_autofree char *said = g_strdup_printf ("Exported “%s”", name);
    act_on (f, "export-to", path);
    WAIT_FOR (g_file_test (path, G_FILE_TEST_EXISTS));
  }
  WAIT_FOR (says (f, "Exported"));
  act_on (f, "export-to", "/no/such/folder/report.md");
  act (f, "copy-command");
  g_assert_cmpuint (
    gdk_content_formats_contain_gtype (
      gdk_clipboard_get_formats (gtk_widget_get_clipboard (GTK_WIDGET (f->window))), G_TYPE_STRING),
    ==, TRUE);
}

static gboolean
is_key (GtkWidget *widget, gconstpointer key)
{
  g_autofree char *accelerator = NULL;
  if (GTK_IS_SHORTCUTS_SHORTCUT (widget))
    g_object_get (widget, "accelerator", &accelerator, NULL);
  return g_strcmp0 (accelerator, key) == 0;
}

/* Each page has a key, and the overlay shows it. */
static void
test_page_keys (Fixture *f, gconstpointer data)
{
  act (f, "show-help-overlay");
  g_autoptr (GList) windows = gtk_window_list_toplevels ();
  GList *overlay = windows;
  while (overlay && !GTK_IS_SHORTCUTS_WINDOW (overlay->data))
    overlay = overlay->next;
  g_assert_nonnull (overlay);
  const LigPageInfo *info;
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    g_autofree char *key = g_strdup_printf ("<Alt>%u", i + 1);
    g_autofree char *action = g_strdup_printf ("win.page::%s", info->name);
    g_auto (GStrv) actions =
      gtk_application_get_actions_for_accel (GTK_APPLICATION (f->application), key);
    g_assert_cmpstr (actions[0], ==, action);
    GtkWidget *shown = find_widget (overlay->data, is_key, key);
    g_assert_nonnull (shown);
    g_autofree char *title = NULL;
    g_object_get (shown, "title", &title, NULL);
    g_assert_cmpstr (title, ==, info->title);
  }
  gtk_window_destroy (overlay->data);
}

static void
test_dialogs (Fixture *f, gconstpointer data)
{
  static const char *const names[] = {"show-help-overlay", "export"};
  act_on (f, "insert-op", "gelu");
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    guint before = g_list_model_get_n_items (gtk_window_get_toplevels ());
    act (f, names[i]);
    g_assert_cmpuint (g_list_model_get_n_items (gtk_window_get_toplevels ()), ==, before + 1);
    g_autoptr (GtkWindow) shown = g_list_model_get_item (gtk_window_get_toplevels (), 0);
    gtk_test_widget_wait_for_draw (GTK_WIDGET (f->window));
    g_autoptr (GList) windows = gtk_window_list_toplevels ();
    for (GList *item = windows; item; item = item->next)
      if (item->data != f->window)
        gtk_window_destroy (item->data);
  }
  g_action_group_activate_action (G_ACTION_GROUP (f->application), "about", NULL);
  g_action_group_activate_action (G_ACTION_GROUP (f->application), "preferences", NULL);
  gtk_test_widget_wait_for_draw (GTK_WIDGET (f->window));
  g_autoptr (GList) windows = gtk_window_list_toplevels ();
  for (GList *item = windows; item; item = item->next)
    if (item->data != f->window)
      gtk_window_destroy (item->data);
}

/* Checks that an action of a key or a menu exists. */
static void
assert_action (Fixture *f, const char *name)
{
  gboolean of_application = g_str_has_prefix (name, "app.");
  GActionGroup *group =
    of_application ? G_ACTION_GROUP (f->application) : G_ACTION_GROUP (f->window);
  if (!of_application && !g_str_has_prefix (name, "win."))
    return;
  if (!g_action_group_has_action (group, name + 4))
    g_error ("there is no action %s", name);
}

/* Checks the actions in the file of the window's menus. */
static void
assert_menus (Fixture *f)
{
  g_autoptr (GBytes) bytes =
    g_resources_lookup_data ("/org/ligature/Ligature/app/window.ui", 0, NULL);
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  guint count = 0;
  g_autoptr (GRegex) regex = g_regex_new ("name=\"action\">((app|win)[^<]*)<", 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  for (g_regex_match (regex, text, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL)) {
    g_autofree char *name = g_match_info_fetch (match, 1);
    assert_action (f, name);
    count++;
  }
  g_assert_cmpuint (count, >, 20);
}

static void
test_keys (Fixture *f, gconstpointer data)
{
  g_auto (GStrv) described =
    gtk_application_list_action_descriptions (GTK_APPLICATION (f->application));
  gint64 until = g_get_monotonic_time () + 3 * G_USEC_PER_SEC;
  /* Pages are made one by one. */
  while (!g_action_group_has_action (G_ACTION_GROUP (f->window), "profile") &&
         g_get_monotonic_time () < until)
    g_main_context_iteration (NULL, TRUE);
  for (char **name = described; *name; name++) {
    g_autoptr (GVariant) target = NULL;
    g_autofree char *plain = NULL;
    g_assert_true (g_action_parse_detailed_name (*name, &plain, &target, NULL));
    assert_action (f, plain);
  }
  assert_menus (f);
}

/* --- Closing ------------------------------------------------------------------------------- */

static void
count (guint *calls)
{
  (*calls)++;
}

static void
test_close (Fixture *f, gconstpointer data)
{
  GObject *watched = G_OBJECT (f->window);
  guint stayed = 0;
  g_signal_connect_swapped (f->window, "stayed", G_CALLBACK (count), &stayed);
  g_object_add_weak_pointer (watched, (gpointer *) &watched);
  act_on (f, "insert-op", "gelu");
  gtk_window_close (GTK_WINDOW (f->window));
  WAIT_FOR (find_dialog ());
  adw_message_dialog_response (find_dialog (), "cancel");
  g_assert_cmpuint (stayed, ==, 1);
  g_assert_nonnull (find_window (f));
  gtk_window_close (GTK_WINDOW (f->window));
  WAIT_FOR (find_dialog ());
  adw_message_dialog_response (find_dialog (), "discard");
  /* Nothing keeps a closed window alive. */
  WAIT_FOR (!watched);
  g_assert_null (find_window (f));
}

/* Edits with another program, which is killed. */
static void
leave_edits (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  char *args[] = {program, (char *) "--edit-and-die", (char *) g_getenv ("LIGATURE_STORE"), NULL};
  int status;
  g_assert_true (
    g_spawn_sync (NULL, args, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, NULL));
}

/* A program with edits is killed: the next one offers them. */
static void
test_recover (Fixture *f, gconstpointer data)
{
  leave_edits ();
  lig_window_offer_help (f->window);
  WAIT_FOR (says (f, "unsaved edit"));
  GtkWidget *bar = find_type (GTK_WIDGET (f->window), GTK_TYPE_INFO_BAR);
  gtk_info_bar_response (GTK_INFO_BAR (bar), 0);
  assert_text (f->doc, "gelu ! relu");
  g_assert_true (lig_document_is_modified (f->doc));
}

/* Trains with another program, which is interrupted after its first steps. */
static void
leave_run (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) process =
    g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, &error,
                      g_getenv ("LIG"), "train", "linear(4) ! mean-squared-error", "--input", "8x6",
                      "--data", "synthetic", "--steps", "200000", "--name", name, "--device", "cpu",
                      "--metrics", "-", "--store", g_getenv ("LIGATURE_STORE"), NULL);
  g_assert_no_error (error);
  g_autoptr (GDataInputStream) lines =
    g_data_input_stream_new (g_subprocess_get_stdout_pipe (process));
  g_free (g_data_input_stream_read_line (lines, NULL, NULL, NULL));
  g_subprocess_send_signal (process, SIGINT);
  for (char *line; (line = g_data_input_stream_read_line (lines, NULL, NULL, NULL));)
    g_free (line);
  g_subprocess_wait (process, NULL, &error);
  g_assert_no_error (error);
}

/* Returns the newest run of the session, null without one. */
static LigTraining *
get_training (Fixture *f)
{
  GListModel *trainings =
    G_LIST_MODEL (lig_session_get_trainings (lig_document_get_session (f->doc)));
  g_autoptr (LigTraining) first = g_list_model_get_item (trainings, 0);
  return first;
}

/* A run that ended unexpectedly is shown, and continues in the window. */
static void
test_interrupted (Fixture *f, gconstpointer data)
{
  LigRunProgress progress;
  leave_run ("left");
  lig_window_offer_help (f->window);
  WAIT_FOR (says (f, "“left”"));
  WAIT_FOR (says (f, "was interrupted"));
  g_autoptr (LigTraining) left = g_object_ref (get_training (f));
  g_assert_false (lig_training_is_active (left));
  lig_training_get_progress (left, &progress);
  g_assert_cmpint (progress.status, ==, LIG_RUN_INTERRUPTED);
  g_assert_cmpint (progress.steps, ==, 200000);
  gint64 step = progress.step;
  g_assert_cmpint (step, >, 0);
  g_assert_cmpuint (lig_curve_get_length (lig_training_get_curve (left, "loss")), ==,
                    (guint64) step);
  g_assert_nonnull (lig_training_get_checkpoint (left));
  GtkWidget *bar = find_type (GTK_WIDGET (f->window), GTK_TYPE_INFO_BAR);
  gtk_info_bar_response (GTK_INFO_BAR (bar), 0);
  WAIT_FOR (get_training (f) != left);
  g_autoptr (LigTraining) next = g_object_ref (get_training (f));
  WAIT_FOR (lig_training_get_uuid (next));
  g_assert_cmpstr (lig_training_get_uuid (next), ==, lig_training_get_uuid (left));
  g_assert_cmpstr (get_page (f), ==, "run");
  lig_training_get_progress (next, &progress);
  g_assert_cmpint (progress.first_step, ==, step);
  /* It takes the place of the interrupted run, with its curves. */
  GListModel *trainings =
    G_LIST_MODEL (lig_session_get_trainings (lig_document_get_session (f->doc)));
  for (guint i = 0; i < g_list_model_get_n_items (trainings); i++) {
    g_autoptr (LigTraining) listed = g_list_model_get_item (trainings, i);
    g_assert_true (listed != left);
  }
  guint count;
  LigCurve *losses = lig_training_get_curve (next, "loss");
  WAIT_FOR (lig_curve_get_length (losses) > (guint64) step);
  g_assert_cmpfloat (lig_curve_get_points (losses, &count)[0].x, <=, (double) step);
  lig_training_cancel (next);
  WAIT_FOR (!lig_training_is_active (next));
}

static void
count_bars (GtkWidget *widget, guint *count)
{
  *count += GTK_IS_INFO_BAR (widget) && gtk_widget_get_mapped (widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    count_bars (child, count);
}

/* Unsaved edits and an interrupted run are offered at the same time, each with its answers. */
static void
test_both_notices (Fixture *f, gconstpointer data)
{
  guint count = 0;
  g_list_store_remove_all (lig_session_get_trainings (lig_document_get_session (f->doc)));
  leave_edits ();
  leave_run ("also");
  lig_window_offer_help (f->window);
  WAIT_FOR (says (f, "unsaved edit") && says (f, "“also”"));
  count_bars (GTK_WIDGET (f->window), &count);
  g_assert_cmpuint (count, ==, 2);
  for (guint i = 0; i < 2; i++)
    gtk_info_bar_response (GTK_INFO_BAR (find_type (GTK_WIDGET (f->window), GTK_TYPE_INFO_BAR)), 1);
  g_assert_false (says (f, "unsaved edit"));
  g_assert_false (says (f, "“also”"));
}

/* The checkpoint of an interrupted run was deleted: the notice names the file, and offers no
 * continuation. */
static void
test_lost_checkpoint (Fixture *f, gconstpointer data)
{
  g_list_store_remove_all (lig_session_get_trainings (lig_document_get_session (f->doc)));
  leave_run ("lost");
  lig_window_offer_help (f->window);
  WAIT_FOR (says (f, "“lost”"));
  g_unlink (lig_training_get_checkpoint (get_training (f)));
  g_list_store_remove_all (lig_session_get_trainings (lig_document_get_session (f->doc)));
  lig_window_offer_help (f->window);
  WAIT_FOR (says (f, ".safetensors is missing; restore the file, or train again"));
  for (guint i = 0; i < 2; i++)
    gtk_info_bar_response (GTK_INFO_BAR (find_type (GTK_WIDGET (f->window), GTK_TYPE_INFO_BAR)), 1);
  g_assert_false (says (f, "“lost”"));
}

/* A run that the Run page continues withdraws the offer. */
static void
test_continued_elsewhere (Fixture *f, gconstpointer data)
{
  LigSession *session = lig_document_get_session (f->doc);
  g_list_store_remove_all (lig_session_get_trainings (session));
  leave_run ("elsewhere");
  lig_window_offer_help (f->window);
  WAIT_FOR (says (f, "“elsewhere”"));
  g_autoptr (LigTraining) left = g_object_ref (get_training (f));
  LigLayout one;
  lig_layout_init (&one, 1);
  LigTraining *next =
    g_object_ref (lig_training_resume (session, lig_training_get_checkpoint (left), one));
  WAIT_FOR (!says (f, "“elsewhere”"));
  WAIT_FOR (lig_training_get_uuid (next));
  lig_training_cancel (next);
  WAIT_FOR (!lig_training_is_active (next));
  g_object_unref (next);
}

/* A declined run is not offered again. */
static void
test_declined (Fixture *f, gconstpointer data)
{
  leave_run ("unwanted");
  g_list_store_remove_all (lig_session_get_trainings (lig_document_get_session (f->doc)));
  lig_window_offer_help (f->window);
  WAIT_FOR (says (f, "“unwanted”"));
  GtkWidget *bar = find_type (GTK_WIDGET (f->window), GTK_TYPE_INFO_BAR);
  gtk_info_bar_response (GTK_INFO_BAR (bar), 1);
  g_list_store_remove_all (lig_session_get_trainings (lig_document_get_session (f->doc)));
  lig_window_offer_help (f->window);
  gint64 until = g_get_monotonic_time () + G_USEC_PER_SEC / 2;
  WAIT_FOR (g_get_monotonic_time () > until);
  g_assert_null (get_training (f));
}

/* An X server closes the connection if a title is that long. */
static void
test_long_name (Fixture *f, gconstpointer data)
{
  g_autofree char *name = g_strnfill (1000000, 'A');
  g_autofree char *text = g_strdup_printf (
    "{\"ligature\":1,\"name\":\"%s\",\"input\":{\"shape\":[4,8]},\"ops\":[{\"op\":\"gelu\"}]}",
    name);
  write_file (f, "long.lig", text);
  open_file (f, "long.lig");
  WAIT_FOR (says (f, "1000000 characters"));
  lig_sequence_set_name (lig_document_get_sequence (f->doc), name);
  lig_edit_add (f->doc, "relu", NULL);
  WAIT_FOR (strlen (gtk_window_get_title (GTK_WINDOW (f->window))) > 190);
  gdk_display_sync (gdk_display_get_default ());
  g_assert_cmpuint (strlen (gtk_window_get_title (GTK_WINDOW (f->window))), <, 300);
}

/* Leaves two edits in the journal of the store. */
static int
edit_and_die (const char *store)
{
  g_autoptr (LigSession) session = lig_session_new (store, NULL);
  LigDocument *document = lig_document_new (session);
  lig_edit_add (document, "gelu", NULL);
  lig_edit_add (document, "relu", NULL);
  g_object_run_dispose (G_OBJECT (document)); /* waits for the journal */
  _exit (0);
}

/* --- The command palette ------------------------------------------------------------------- */

static GtkWidget *
find_palette (void)
{
  g_autoptr (GList) windows = gtk_window_list_toplevels ();
  for (GList *at = windows; at; at = at->next)
    if (g_strcmp0 (gtk_window_get_title (at->data), "Commands") == 0)
      return at->data;
  return NULL;
}

/* The actions of the window are the commands, once its pages exist. */
static void
test_commands (Fixture *f, gconstpointer data)
{
  GtkApplication *program = gtk_window_get_application (GTK_WINDOW (f->window));
  g_autoptr (GPtrArray) all = lig_window_commands_list (program);
  for (guint i = 0; i < all->len; i++) {
    const LigWindowCommand *command = all->pdata[i];
    g_auto (GStrv) parts = g_strsplit (command->action, ".", 2);
    GActionGroup *group =
      g_str_equal (parts[0], "win") ? G_ACTION_GROUP (f->window) : G_ACTION_GROUP (program);
    parts[1][strcspn (parts[1], ":")] = '\0';
    g_test_message ("waiting for %s", command->action);
    WAIT_FOR (g_action_group_has_action (group, parts[1]));
  }
  g_autofree char *missing = lig_window_commands_find_missing (G_ACTION_GROUP (f->window));
  g_assert_cmpstr (missing, ==, NULL);
}

static void
test_palette (Fixture *f, gconstpointer data)
{
  act (f, "command-palette");
  GtkWidget *palette = find_palette ();
  g_assert_nonnull (palette);
  GtkWidget *entry = find_type (palette, GTK_TYPE_SEARCH_ENTRY);
  GtkWidget *list = find_type (palette, GTK_TYPE_LIST_BOX);
  gtk_editable_set_text (GTK_EDITABLE (entry), "go plan");
  GtkListBoxRow *row = gtk_list_box_get_selected_row (GTK_LIST_BOX (list));
  g_assert_nonnull (row);
  g_signal_emit_by_name (entry, "activate");
  WAIT_FOR (!find_palette ());
  g_assert_cmpstr (get_page (f), ==, "plan");
  act (f, "command-palette");
  entry = find_type (find_palette (), GTK_TYPE_SEARCH_ENTRY);
  gtk_editable_set_text (GTK_EDITABLE (entry), "no such thing");
  list = find_type (find_palette (), GTK_TYPE_LIST_BOX);
  g_assert_null (gtk_list_box_get_selected_row (GTK_LIST_BOX (list)));
  g_signal_emit_by_name (entry, "activate");
  g_assert_nonnull (find_palette ());
  gtk_window_destroy (GTK_WINDOW (find_palette ()));
}

/* The palette zooms the score, also from another page, and shows the key. */
static void
test_palette_view (Fixture *f, gconstpointer data)
{
  LigScoreSheet *sheet = find_type (GTK_WIDGET (f->window), LIG_TYPE_SCORE_SHEET);
  WAIT_FOR (g_action_group_has_action (G_ACTION_GROUP (f->window), "zoom-in"));
  double zoom = lig_score_sheet_get_zoom (sheet);
  g_action_group_activate_action (G_ACTION_GROUP (f->window), "page",
                                  g_variant_new_string ("plan"));
  act (f, "command-palette");
  GtkWidget *palette = find_palette ();
  GtkWidget *entry = find_type (palette, GTK_TYPE_SEARCH_ENTRY);
  GtkWidget *list = find_type (palette, GTK_TYPE_LIST_BOX);
  gtk_editable_set_text (GTK_EDITABLE (entry), "zoom in");
  GtkListBoxRow *row = gtk_list_box_get_selected_row (GTK_LIST_BOX (list));
  g_assert_nonnull (row);
  GtkShortcutLabel *key = find_type (GTK_WIDGET (row), GTK_TYPE_SHORTCUT_LABEL);
  g_assert_cmpstr (gtk_shortcut_label_get_accelerator (key), ==, "<Control>plus");
  g_signal_emit_by_name (entry, "activate");
  WAIT_FOR (!find_palette ());
  g_assert_cmpstr (get_page (f), ==, "sequence");
  g_assert_cmpfloat (lig_score_sheet_get_zoom (sheet), >, zoom);
}

static void
add_tests (void)
{
#define ADD(name, func) g_test_add ("/window/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("open", test_open);
  ADD ("broken-file", test_broken);
  ADD ("save", test_save);
  ADD ("save-fails", test_save_fails);
  ADD ("edit", test_edit);
  ADD ("clipboard", test_clipboard);
  ADD ("pages", test_pages);
  ADD ("find", test_find);
  ADD ("export", test_export);
  ADD ("dialogs", test_dialogs);
  ADD ("page-keys", test_page_keys);
  ADD ("keys", test_keys);
  ADD ("close", test_close);
  ADD ("recover", test_recover);
  ADD ("interrupted", test_interrupted);
  ADD ("continued-elsewhere", test_continued_elsewhere);
  ADD ("declined", test_declined);
  ADD ("both-notices", test_both_notices);
  ADD ("lost-checkpoint", test_lost_checkpoint);
  ADD ("commands", test_commands);
  ADD ("palette", test_palette);
  ADD ("palette-view", test_palette_view);
  ADD ("long-name", test_long_name);
}

int
main (int argc, char **argv)
{
  if (argc == 3 && g_str_equal (argv[1], "--edit-and-die"))
    return edit_and_die (argv[2]);
  return run_application_tests (argc, argv, add_tests);
}
