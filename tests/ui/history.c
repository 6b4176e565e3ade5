/* SPDX-License-Identifier: MIT */
/* The History page: the user's actions on runs, and damaged, locked and missing stores. */
#include "tests/ui/history-case.h"
#include "ui/history/facts.h"
#include "ui/widgets/histogram-view.h"
#include <ligature/store-histograms.h>

/* Four runs with curves; the last is another sequence on another device. */
static void
fill (Page *p)
{
  static const char *const sequences[] = {
    "{\"ligature\":1,\"input\":{\"shape\":[8,4],\"dtype\":\"fp32\"},\"ops\":[{\"op\":\"layer-"
    "norm\"},"
    "{\"op\":\"linear\",\"out-features\":16}]}",
    "{\"ligature\":1,\"input\":{\"shape\":[8,4],\"dtype\":\"fp32\"},\"ops\":[{\"op\":\"layer-"
    "norm\"},"
    "{\"op\":\"gelu\"},{\"op\":\"linear\",\"out-features\":16}]}",
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (p->files.path);
  for (int i = 0; i < 4; i++) {
    g_autofree char *name = g_strdup_printf ("run %d", i);
    g_autofree char *settings = g_strdup_printf ("{\"batch\":32,\"lr\":0.%d}", i + 1);
    LigRunRecord record = example;
    record.name = name;
    record.sequence = sequences[i == 3];
    record.device = i == 3 ? "cuda:0" : "cpu";
    record.settings = settings;
    g_autofree char *run = lig_store_begin_run (store, &record, &error);
    for (int step = 0; step < 10000; step++) {
      lig_store_add_metric (store, run, step, LIG_METRIC_LOSS, 4 - i + 1.0 / (step + 1));
      lig_store_add_metric (store, run, step, "step-ms", 2 + i);
    }
    g_assert_true (lig_store_finish_run (store, run, i == 2 ? "failed" : "done",
                                         i == 2 ? "it diverged" : NULL, &error));
  }
  g_assert_no_error (error);
}

static void
select_runs (Page *p, guint from, guint count)
{
  gtk_selection_model_unselect_all (GTK_SELECTION_MODEL (p->page->selection));
  for (guint i = from; i < from + count; i++)
    gtk_selection_model_select_item (GTK_SELECTION_MODEL (p->page->selection), i, FALSE);
}

static void
act (Page *p, const char *action)
{
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (p->page), action, NULL));
}

static const char *
get_state (Page *p)
{
  return gtk_stack_get_visible_child_name (p->page->states);
}

/* --- Marks --------------------------------------------------------------------------------- */

static gboolean
is_starred (Page *p)
{
  const LigRunRow *row = row_at (p, 1);
  return row && row->starred;
}

static gboolean
is_plain (Page *p)
{
  const LigRunRow *row = row_at (p, 1);
  return row && !row->starred;
}

static gboolean
is_tagged (Page *p)
{
  const LigRunRow *row = row_at (p, 1);
  return row && row->tags[0] && strcmp (row->tags[0], "good one") == 0;
}

static gboolean
is_noted (Page *p)
{
  const LigRunRow *row = row_at (p, 1);
  return row && strcmp (row->notes, "smaller rate\nnext") == 0;
}

static void
test_marks (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  g_assert_cmpstr (wait_for_row (p, 1)->name, ==, "run 2");
  g_assert_cmpstr (wait_for_row (p, 1)->status, ==, "failed");
  select_runs (p, 1, 1);
  g_assert_cmpstr (gtk_stack_get_visible_child_name (p->page->side), ==, "one");
  act (p, "history.star");
  wait_until (p, is_starred, 2);
  act (p, "history.star");
  wait_until (p, is_plain, 2);
  g_assert_true (
    gtk_widget_activate_action (GTK_WIDGET (p->page), "history.add-tag", "s", "good one"));
  wait_until (p, is_tagged, 2);
  /* Typed text is in the store half a second later. */
  GtkWidget *notes = GTK_WIDGET (
    gtk_widget_get_template_child (GTK_WIDGET (p->page->detail), LIG_TYPE_RUN_DETAIL, "notes"));
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (notes));
  gtk_text_buffer_set_text (buffer, "smaller rate\nnext", -1);
  wait_until (p, is_noted, 3);
  assert_query (p->files.path, "SELECT notes FROM run WHERE id = 3", "smaller rate\nnext");
  /* Another selection saves at once. */
  gtk_text_buffer_set_text (buffer, "never lost", -1);
  select_runs (p, 0, 1);
  close_page (p);
  assert_query (p->files.path, "SELECT notes FROM run WHERE id = 3", "never lost");
}

/* --- Histograms ---------------------------------------------------------------------------- */

static LigHistogramView *
get_histograms (Page *p)
{
  return LIG_HISTOGRAM_VIEW (gtk_widget_get_template_child (GTK_WIDGET (p->page->detail),
                                                            LIG_TYPE_RUN_DETAIL, "histograms"));
}

static gboolean
shows_histograms (Page *p)
{
  return lig_histogram_view_get_newest (get_histograms (p)) == 40 &&
         gtk_widget_get_mapped (GTK_WIDGET (get_histograms (p)));
}

static gboolean
hides_histograms (Page *p)
{
  return !gtk_widget_get_visible (GTK_WIDGET (get_histograms (p)));
}

/* A run that recorded histograms shows them; the next one has none. */
static void
test_histograms (Page *p, gconstpointer data)
{
  fill (p);
  {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigStore) store = open_store (p->files.path);
    g_autoptr (LigRunRow) row = lig_store_find_run (store, "run 1", &error);
    const float values[] = {0.5f, -1, 0};
    LigHistogram histogram;
    LigHistogramEntry entries[] = {{"1.weight", FALSE, &histogram}, {"1.weight", TRUE, &histogram}};
    lig_histogram_init (&histogram);
    lig_histogram_add (&histogram, values, G_N_ELEMENTS (values));
    for (gint64 step = 20; step <= 40; step += 20)
      g_assert_true (lig_store_add_histograms (store, row->uuid, step, entries, 2, &error));
  }
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  g_assert_cmpstr (wait_for_row (p, 2)->name, ==, "run 1");
  select_runs (p, 2, 1);
  wait_until (p, shows_histograms, 5);
  select_runs (p, 1, 1);
  wait_until (p, hides_histograms, 5);
  close_page (p);
}

/* --- Deleting ------------------------------------------------------------------------------ */

static guint wanted;

static gboolean
has_trashed (Page *p)
{
  return lig_run_list_get_trashed (p->page->list) == wanted;
}

static void
wait_for_trash (Page *p, guint count)
{
  wanted = count;
  wait_until (p, has_trashed, 5);
}

/* A deletion can be undone for as long as the page exists, and later from the trash. */
static void
test_delete (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  select_runs (p, 1, 2);
  act (p, "history.delete");
  g_assert_cmpuint (lig_run_list_get_count (p->page->list), ==, 2);
  wait_for_trash (p, 2);
  g_assert_cmpuint (lig_run_list_get_count (p->page->list), ==, 2);
  act (p, "history.undelete");
  wait_for_trash (p, 0);
  wait_for_count (p, 4, 5);
  g_assert_cmpstr (wait_for_row (p, 1)->name, ==, "run 2");
  select_runs (p, 0, 1);
  act (p, "history.delete");
  g_assert_cmpuint (lig_run_list_get_count (p->page->list), ==, 3);
  close_page (p);
  assert_query (p->files.path, "SELECT count (*) FROM run", "4");
  assert_query (p->files.path, "SELECT id FROM run WHERE deleted IS NOT NULL", "4");
}

static gboolean
shows_third (Page *p)
{
  const LigRunRow *row = row_at (p, 0);
  return row && g_str_equal (row->name, "run 3");
}

static GtkWidget *
find_question (void)
{
  g_autoptr (GList) windows = gtk_window_list_toplevels ();
  for (GList *at = windows; at; at = at->next)
    if (ADW_IS_MESSAGE_DIALOG (at->data))
      return at->data;
  return NULL;
}

static gboolean
has_question (Page *p)
{
  return find_question () != NULL;
}

/* Asks for the whole trash, and answers. */
static void
answer_empty_trash (Page *p, const char *body, const char *answer)
{
  act (p, "history.empty-trash");
  wait_until (p, has_question, 5);
  AdwMessageDialog *dialog = ADW_MESSAGE_DIALOG (find_question ());
  g_assert_cmpstr (adw_message_dialog_get_heading (dialog), ==, "Delete 2 runs for good?");
  g_assert_true (g_str_has_prefix (adw_message_dialog_get_body (dialog), body));
  adw_message_dialog_response (dialog, answer);
  gtk_window_destroy (GTK_WINDOW (dialog));
}

/* The whole trash is deleted for good, also the runs in it that a search hides. */
static void
test_trash (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  GtkWidget *trash = GTK_WIDGET (gtk_widget_get_template_child (GTK_WIDGET (p->page->filters),
                                                                LIG_TYPE_HISTORY_FILTERS, "trash"));
  g_assert_false (gtk_widget_get_visible (trash));
  select_runs (p, 0, 3);
  act (p, "history.delete");
  wait_for_trash (p, 3);
  g_assert_true (gtk_widget_get_visible (trash));
  g_assert_cmpstr (gtk_button_get_label (GTK_BUTTON (trash)), ==, "Deleted, 3");
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (trash), TRUE);
  wait_until (p, shows_third, 5);
  g_assert_cmpuint (lig_run_list_get_count (p->page->list), ==, 3);
  select_runs (p, 0, 1);
  act (p, "history.restore");
  wait_for_trash (p, 2);
  wait_for_count (p, 2, 5);
  answer_empty_trash (p, "Their checkpoints", "cancel");
  GtkWidget *search = GTK_WIDGET (gtk_widget_get_template_child (
    GTK_WIDGET (p->page->filters), LIG_TYPE_HISTORY_FILTERS, "search"));
  gtk_editable_set_text (GTK_EDITABLE (search), "run 2");
  wait_for_count (p, 1, 5);
  GtkLabel *count = GTK_LABEL (gtk_widget_get_template_child (GTK_WIDGET (p->page->filters),
                                                              LIG_TYPE_HISTORY_FILTERS, "count"));
  g_assert_cmpstr (gtk_label_get_text (count), ==, "1 of 2 deleted runs");
  answer_empty_trash (p, "1 of them does not match the filters. ", "delete");
  gtk_editable_set_text (GTK_EDITABLE (search), "");
  /* Nothing is left there, so the page shows the other runs. */
  wait_for_trash (p, 0);
  wait_for_count (p, 2, 5);
  g_assert_false (gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (trash)));
  close_page (p);
  assert_query (p->files.path, "SELECT group_concat (id) FROM run", "1,4");
}

static void
test_delete_running (Page *p, gconstpointer data)
{
  fill (p);
  g_autoptr (LigStore) store = open_store (p->files.path);
  g_autofree char *run = begin (store, "alive");
  show_page (p, p->files.path);
  wait_for_count (p, 5, 5);
  gtk_selection_model_select_all (GTK_SELECTION_MODEL (p->page->selection));
  act (p, "history.delete");
  g_assert_cmpuint (lig_run_list_get_count (p->page->list), ==, 0);
  wait_for_count (p, 1, 5);
  g_assert_cmpstr (wait_for_row (p, 0)->uuid, ==, run);
  close_page (p);
}

/* --- Sorting and filtering ----------------------------------------------------------------- */

static void
test_filter (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  select_runs (p, 0, 2);
  LigRunFilter filter = {.device = "cuda:0"};
  lig_run_list_set_filter (p->page->list, &filter);
  wait_for_count (p, 1, 2);
  g_assert_true (gtk_selection_model_is_selected (GTK_SELECTION_MODEL (p->page->selection), 0));
  filter = (LigRunFilter){.text = "nothing is called so"};
  lig_run_list_set_filter (p->page->list, &filter);
  wait_for_count (p, 0, 2);
  g_assert_cmpstr (get_state (p), ==, "list");
  g_assert_cmpstr (gtk_stack_get_visible_child_name (p->page->matches), ==, "none");
  act (p, "history.clear-filters");
  wait_for_count (p, 4, 2);
  g_assert_cmpstr (gtk_stack_get_visible_child_name (p->page->matches), ==, "some");
  /* The selection follows its run when the order changes. */
  select_runs (p, 0, 1);
  lig_run_list_set_order (p->page->list, LIG_RUN_BY_START, NULL, FALSE);
  wanted_row = 0;
  g_autofree char *first = g_strdup ("run 0");
  for (int i = 0; i < 400 && g_strcmp0 (row_at (p, 0) ? row_at (p, 0)->name : "", first); i++) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (5000);
  }
  g_assert_cmpstr (row_at (p, 0)->name, ==, first);
  g_assert_true (gtk_selection_model_is_selected (GTK_SELECTION_MODEL (p->page->selection), 3));
  close_page (p);
}

/* Clicking a header sorts. */
static void
test_headers (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  GListModel *columns = gtk_column_view_get_columns (p->page->view);
  for (guint i = 0; i < g_list_model_get_n_items (columns); i++) {
    g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, i);
    if (g_strcmp0 (gtk_column_view_column_get_title (column), "Loss") == 0)
      gtk_column_view_sort_by_column (p->page->view, column, GTK_SORT_ASCENDING);
  }
  for (int i = 0; i < 400 && g_strcmp0 (row_at (p, 3) ? row_at (p, 3)->name : "", "run 0"); i++) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (5000);
  }
  g_assert_cmpstr (row_at (p, 0)->name, ==, "run 3");
  g_assert_cmpstr (row_at (p, 3)->name, ==, "run 0");
  /* A column that was removed stays hidden. */
  GActionGroup *actions = lig_history_columns_get_actions (p->page->columns);
  guint before = g_list_model_get_n_items (columns);
  g_action_group_activate_action (actions, "device", NULL);
  g_assert_cmpuint (g_list_model_get_n_items (columns), ==, before - 1);
  gint64 until = g_get_monotonic_time () + G_USEC_PER_SEC;
  while (g_get_monotonic_time () < until)
    g_main_context_iteration (NULL, FALSE);
  g_auto (GStrv) kept =
    g_settings_get_strv (lig_session_get_settings (p->session), "history-columns");
  g_assert_false (g_strv_contains ((const char *const *) kept, "device"));
  g_assert_true (g_strv_contains ((const char *const *) kept, "loss"));
  g_action_group_activate_action (actions, "device", NULL);
  close_page (p);
}

/* --- Several runs -------------------------------------------------------------------------- */

static gboolean
fits (Page *p)
{
  GtkAdjustment *across = gtk_scrollable_get_hadjustment (GTK_SCROLLABLE (p->page->view));
  return gtk_adjustment_get_upper (across) <= gtk_adjustment_get_page_size (across) &&
         gtk_adjustment_get_page_size (across) < 800;
}

static guint
count_visible (Page *p)
{
  GListModel *columns = gtk_column_view_get_columns (p->page->view);
  guint visible = 0;
  for (guint i = 0; i < g_list_model_get_n_items (columns); i++) {
    g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, i);
    visible += gtk_column_view_column_get_visible (column);
  }
  return visible;
}

static gboolean
shows_all (Page *p)
{
  return count_visible (p) ==
         g_list_model_get_n_items (gtk_column_view_get_columns (p->page->view));
}

/* A narrow list omits columns instead of scrolling, until it is wide again. */
static void
test_narrow (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  g_assert_true (shows_all (p));
  gtk_window_set_default_size (GTK_WINDOW (p->window), 790, 600);
  wait_until (p, fits, 5);
  g_assert_cmpuint (count_visible (p), >=, 4);
  /* A size that is set before the last one is allocated is lost. */
  gtk_test_widget_wait_for_draw (p->window);
  gtk_window_set_default_size (GTK_WINDOW (p->window), 1400, 860);
  wait_until (p, shows_all, 5);
  close_page (p);
}

static gboolean
has_label (GtkWidget *widget, const char *text)
{
  gboolean found =
    GTK_IS_LABEL (widget) && g_str_equal (gtk_label_get_text (GTK_LABEL (widget)), text);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child && !found;
       child = gtk_widget_get_next_sibling (child))
    found = has_label (child, text);
  return found;
}

/* The rows of a fusion have their names; those of a sequence that cannot be compiled, numbers. */
static void
test_fusion_rows (void)
{
  LigFusionRow rows[] = {{.pass = (char *) "forward",
                          .first_op = 0,
                          .count = 3,
                          .fusion = (char *) "forward-linear-bias-gelu"},
                         {.pass = (char *) "forward",
                          .first_op = 3,
                          .count = 2,
                          .fusion = (char *) "forward-linear-bias"}};
  g_autoptr (GPtrArray) fusions = g_ptr_array_new ();
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_ptr_array_add (fusions, &rows[i]);
  LigRunRow row = {.name = "",
                   .kind = "train",
                   .device = "",
                   .dtype = "",
                   .recipe = "",
                   .policy = "",
                   .settings = "",
                   .versions = "",
                   .host = "",
                   .revision = "",
                   .uuid = "",
                   .status = "done",
                   .last_step = -1,
                   .first_loss = NAN,
                   .last_loss = NAN,
                   .eval_loss = NAN,
                   .eval_accuracy = NAN,
                   .step_ms = NAN,
                   .sequence = "{\"ligature\": 1, \"input\": {\"shape\": [4, 4]}, \"ops\": "
                               "[{\"op\": \"linear\", \"out-features\": 4}, {\"op\": \"gelu\"}, "
                               "{\"op\": \"linear\", \"out-features\": 2}]}"};
  g_autoptr (LigPlan) plan = lig_history_facts_compile (&row);
  g_assert_nonnull (plan);
  GtkWidget *box = g_object_ref_sink (gtk_box_new (GTK_ORIENTATION_VERTICAL, 0));
  lig_history_facts_append (GTK_BOX (box), &row, NULL, fusions, plan, NULL);
  g_assert_true (has_label (box, "Basic linear at 0 to GELU at 1"));
  g_assert_true (has_label (box, "Basic linear to Bias at 2"));
  lig_history_facts_append (GTK_BOX (box), &row, NULL, fusions, NULL, NULL);
  g_assert_true (has_label (box, "ops 0 to 2"));
  g_object_unref (box);
}

/* The menu of the shown run compares it with a run that is not selected. */
static void
test_compare_with (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  const LigRunRow *other = wait_for_row (p, 1);
  select_runs (p, 0, 1);
  LigRunMenu *menu = lig_run_detail_get_run_menu (p->page->detail);
  g_assert_cmpstr (lig_run_menu_get_run (menu), ==, wait_for_row (p, 0)->uuid);
  loaded = FALSE;
  g_signal_connect (p->page->compare, "loaded", note_loaded, NULL);
  g_signal_emit_by_name (menu, "chosen", other->uuid);
  wait_until (p, is_loaded, 5);
  g_assert_cmpstr (get_state (p), ==, "study");
  g_autofree char *csv = lig_run_compare_to_csv (p->page->compare);
  g_assert_nonnull (strstr (csv, "settings.lr,0.3,0.4"));
  close_page (p);
}

static void
test_compare (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  select_runs (p, 0, 2);
  loaded = FALSE;
  g_signal_connect (p->page->compare, "loaded", note_loaded, NULL);
  act (p, "history.compare");
  wait_until (p, is_loaded, 5);
  g_assert_cmpstr (get_state (p), ==, "study");
  g_autofree char *csv = lig_run_compare_to_csv (p->page->compare);
  g_test_message ("%s", csv);
  g_assert_nonnull (strstr (csv, "device,cpu,cuda:0"));
  g_assert_nonnull (strstr (csv, "settings.lr,0.3,0.4"));
  g_assert_nonnull (strstr (csv, "op 1,,gelu\n"));
  g_assert_nonnull (strstr (csv, "median-step-ms,4,5"));
  /* Equal lines are omitted, such as the ops around the inserted one. */
  g_assert_null (strstr (csv, "policy"));
  g_assert_null (strstr (csv, "layer-norm"));
  g_assert_null (strstr (csv, "out-features"));
  g_autofree char *markdown = lig_run_compare_to_markdown (p->page->compare);
  g_test_message ("%s", markdown);
  g_assert_nonnull (strstr (markdown, "5  +1 (+25 %), worse"));
  g_assert_nonnull (strstr (markdown, ", better"));
  /* The older run is the baseline, although the list has the newer one first. */
  g_assert_nonnull (strstr (csv, ",run 2 · Device cpu · Learning rate 0.3 (baseline),run 3 · "));
  lig_run_compare_set_all (p->page->compare, TRUE);
  g_autofree char *all = lig_run_compare_to_csv (p->page->compare);
  g_assert_nonnull (strstr (all, "policy,all,all"));
  g_assert_nonnull (strstr (all, "layer-norm,layer-norm"));
  act (p, "history.back");
  g_assert_cmpstr (get_state (p), ==, "list");
  close_page (p);
}

static void
assert_short (GtkWidget *widget)
{
  if (GTK_IS_LABEL (widget))
    g_assert_cmpuint (strlen (gtk_label_get_text (GTK_LABEL (widget))), <, 1000);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    assert_short (child);
}

/* Rows that Ligature never writes: deeply nested documents, a name of a million letters, members of
 * other types, times beyond all calendars. */
static void
test_hostile (Page *p, gconstpointer data)
{
  sqlite3 *db;
  g_autofree char *deep = g_strnfill (2000000, '['), *wide = g_strnfill (1000000, 'N');
  g_autofree char *sql = g_strdup_printf (
    "UPDATE run SET settings = '%s', versions = '{\"device\": 1}', message = '%s',"
    " started = 9223372036854775807, ended = -9223372036854775807 WHERE id IN (1, 2);"
    "UPDATE run SET settings = '{\"batch\": []}', versions = '7' WHERE id = 3;"
    "UPDATE experiment SET name = '%s', sequence = '%s' WHERE id = 1",
    deep, wide, wide, deep);
  fill (p);
  g_assert_cmpint (sqlite3_open (p->files.path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  for (guint i = 0; i < 4; i++) {
    wait_for_row (p, i);
    select_runs (p, i, 1);
    gtk_test_widget_wait_for_draw (p->window);
  }
  select_runs (p, 0, 4);
  loaded = FALSE;
  g_signal_connect (p->page->compare, "loaded", note_loaded, NULL);
  act (p, "history.compare");
  wait_until (p, is_loaded, 10);
  gtk_test_widget_wait_for_draw (p->window);
  assert_short (p->window);
  g_autofree char *csv = lig_run_compare_to_csv (p->page->compare);
  g_assert_nonnull (strstr (csv, "settings.lr"));
  close_page (p);
}

static void
test_overlay (Page *p, gconstpointer data)
{
  guint points = 0;
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  gtk_selection_model_select_all (GTK_SELECTION_MODEL (p->page->selection));
  loaded = FALSE;
  g_signal_connect (p->page->overlay, "loaded", note_loaded, NULL);
  act (p, "history.overlay");
  wait_until (p, is_loaded, 5);
  g_assert_cmpuint (lig_history_chart_get_curves (p->page->overlay, &points), ==, 4);
  g_assert_cmpuint (points, <=, 4 * LIG_HISTORY_POINTS);
  g_assert_cmpuint (points, >, 4 * LIG_HISTORY_POINTS / 4);
  loaded = FALSE;
  lig_history_chart_set_metric (p->page->overlay, "step-ms");
  wait_until (p, is_loaded, 5);
  g_assert_cmpuint (lig_history_chart_get_curves (p->page->overlay, &points), ==, 4);
  loaded = FALSE;
  lig_history_chart_set_time (p->page->overlay, TRUE);
  wait_until (p, is_loaded, 5);
  g_assert_cmpuint (lig_history_chart_get_curves (p->page->overlay, &points), ==, 4);
  close_page (p);
}

static void
test_open (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  wait_for_row (p, 0);
  select_runs (p, 0, 1);
  act (p, "history.open");
  g_autofree char *text = lig_sequence_to_expression (lig_document_get_sequence (p->document));
  g_assert_cmpstr (text, ==, "layer-norm ! gelu ! linear(16)");
  g_assert_nonnull (strstr (lig_document_get_undo_label (p->document), "run 3"));
  lig_document_undo (p->document);
  g_assert_cmpuint (lig_sequence_get_length (lig_document_get_sequence (p->document)), ==, 0);
  close_page (p);
}

/* --- Other processes ----------------------------------------------------------------------- */

static int
child_run (const char *path)
{
  g_autoptr (LigStore) store = open_store (path);
  g_autofree char *run = begin (store, "from the command line");
  return lig_store_finish_run (store, run, "done", NULL, NULL) ? 0 : 1;
}

static void
test_other_process (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  g_autoptr (GSubprocess) child = spawn ("run", p->files.path);
  g_assert_true (g_subprocess_wait_check (child, NULL, NULL));
  double seconds = wait_for_count (p, 5, 2);
  g_test_message ("seen after %.2f s", seconds);
  g_assert_cmpstr (wait_for_row (p, 0)->name, ==, "from the command line");
  close_page (p);
}

/* --- A store that is not as it should be --------------------------------------------------- */

static void
test_empty (Page *p, gconstpointer data)
{
  show_page (p, p->files.path);
  wait_for_count (p, 0, 5);
  g_assert_cmpstr (get_state (p), ==, "empty");
  g_autoptr (GSubprocess) child = spawn ("run", p->files.path);
  g_assert_true (g_subprocess_wait_check (child, NULL, NULL));
  wait_for_count (p, 1, 3);
  g_assert_cmpstr (get_state (p), ==, "list");
  close_page (p);
}

static void
test_newer (Page *p, gconstpointer data)
{
  fill (p);
  g_autofree char *version = query (p->files.path, "PRAGMA user_version");
  g_autofree char *restore = g_strconcat ("PRAGMA user_version = ", version, NULL);
  execute (p->files.path, "PRAGMA user_version = 99");
  show_page (p, p->files.path);
  g_assert_cmpstr (get_state (p), ==, "broken");
  g_assert_nonnull (strstr (adw_status_page_get_description (p->page->broken), "99"));
  execute (p->files.path, restore);
  g_settings_set_string (lig_session_get_settings (p->session), "store", p->files.path);
  act (p, "history.retry");
  wait_for_count (p, 4, 5);
  g_assert_cmpstr (get_state (p), ==, "list");
  g_settings_reset (lig_session_get_settings (p->session), "store");
  close_page (p);
}

static void
test_corrupt (Page *p, gconstpointer data)
{
  static const char damaged[] =
    "SQLite format 3\0this is no database behind its first words, but a "
    "text that is long enough for one";
  g_assert_true (g_file_set_contents (p->files.path, damaged, sizeof damaged, NULL));
  show_page (p, p->files.path);
  wait_for_count (p, 0, 5);
  g_assert_cmpstr (get_state (p), ==, "empty");
  g_assert_false (gtk_revealer_get_reveal_child (p->page->error_revealer));
  g_assert_nonnull (strstr (lig_store_get_warning (lig_history_get_store (p->page)), "set aside"));
  close_page (p);
}

/* Another process writes for seconds: the page stays responsive, and the edit is eventually
 * written. */
static void
test_locked (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  wait_for_row (p, 1);
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (p->files.path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "BEGIN IMMEDIATE", NULL, NULL, NULL), ==, SQLITE_OK);
  select_runs (p, 1, 1);
  gint64 start = g_get_monotonic_time ();
  act (p, "history.star");
  lig_run_list_set_order (p->page->list, LIG_RUN_BY_NAME, NULL, FALSE);
  g_assert_cmpfloat ((double) (g_get_monotonic_time () - start) / 1e6, <,
                     0.016 * lig_test_slowness ());
  for (int i = 0; i < 100; i++) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (5000);
  }
  lig_run_list_set_order (p->page->list, LIG_RUN_BY_START, NULL, TRUE);
  g_assert_cmpint (sqlite3_exec (db, "COMMIT", NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
  wait_until (p, is_starred, 5);
  close_page (p);
}

static gboolean
is_open (Page *p)
{
  return lig_session_get_store (p->session) != NULL;
}

/* Another process locks the store: the session starts without it, and opens it once the lock is
 * released. */
static void
test_held (Page *p, gconstpointer data)
{
  sqlite3 *db = NULL;
  fill (p);
  g_assert_cmpint (sqlite3_open (p->files.path, &db), ==, SQLITE_OK);
  g_assert_cmpint (
    sqlite3_exec (db, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", NULL, NULL, NULL), ==,
    SQLITE_OK);
  gint64 start = g_get_monotonic_time ();
  show_page (p, p->files.path);
  g_assert_cmpfloat ((double) (g_get_monotonic_time () - start) / 1e6, <, 2 * lig_test_slowness ());
  g_assert_false (is_open (p));
  g_assert_cmpstr (get_state (p), ==, "broken");
  sqlite3_close (db);
  wait_until (p, is_open, 20);
  wait_for_count (p, 4, 5);
  g_assert_cmpstr (get_state (p), ==, "list");
  close_page (p);
}

static gboolean
shows_error (Page *p)
{
  return gtk_revealer_get_reveal_child (p->page->error_revealer);
}

/* The file of the open store is deleted: the page reports it, and a new store can be created. */
static void
test_deleted_store (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  static const char *const ends[] = {"", "-wal", "-shm"};
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    g_autofree char *path = g_strconcat (p->files.path, ends[i], NULL);
    g_unlink (path);
  }
  wait_until (p, shows_error, 5);
  g_assert_nonnull (strstr (gtk_label_get_text (p->page->error_text), "deleted"));
  act (p, "history.retry");
  wait_for_count (p, 0, 5);
  g_assert_false (shows_error (p));
  g_assert_true (g_file_test (p->files.path, G_FILE_TEST_EXISTS));
  close_page (p);
}

int
main (int argc, char **argv)
{
  program = argv[0];
  if (argc == 4 && strcmp (argv[1], "--child") == 0)
    return child_run (argv[3]);
  gtk_test_init (&argc, &argv, NULL);
  adw_init ();
  static const struct {
    const char *name;
    void (*test) (Page *p, gconstpointer data);
  } tests[] = {
    /* First: the tests below choose columns. */
    {"/history/narrow", test_narrow},
    {"/history/marks", test_marks},
    {"/history/histograms", test_histograms},
    {"/history/delete", test_delete},
    {"/history/delete-running", test_delete_running},
    {"/history/trash", test_trash},
    {"/history/filter", test_filter},
    {"/history/headers", test_headers},
    {"/history/compare", test_compare},
    {"/history/compare-with", test_compare_with},
    {"/history/hostile", test_hostile},
    {"/history/overlay", test_overlay},
    {"/history/open", test_open},
    {"/history/other-process", test_other_process},
    {"/history/empty", test_empty},
    {"/history/newer", test_newer},
    {"/history/corrupt", test_corrupt},
    {"/history/locked", test_locked},
    {"/history/held", test_held},
    {"/history/deleted-store", test_deleted_store},
  };
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Page, NULL, begin_test, tests[i].test, end_test);
  g_test_add_func ("/history/fusion-rows", test_fusion_rows);
  return g_test_run ();
}
