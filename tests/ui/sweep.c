/* SPDX-License-Identifier: MIT */
/* Sweeps and repetitions in the window: the dialog, pausing, stopping and continuing, the table and
 * the picture, and the result of a repetition in the run's detail. */
#include "ui/history/sweep.h"
#include "tests/ui/case.h"
#include "ui/document/ranks.h"
#include "ui/history/history-page.h"
#include "ui/history/repeat-row.h"
#include "ui/history/sweep-dialog.h"
#include "ui/history/sweep-setting-row.h"
#include "ui/history/sweep-table.h"
#include "ui/history/sweep-view.h"
#include "ui/run/settings.h"
#include "ui/widgets/picture-view.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <ligature/json.h>
#include <ligature/report.h>
#include <ligature/store-sweeps.h>

#define MODEL "linear(8, init-std=0.3) ! gelu ! linear(2, init-std=0.3) ! mean-squared-error"

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  LigHistoryPage *page;
  GtkWidget *window;
} Fixture;

static void
set_up (Fixture *f, gconstpointer train)
{
  make_document (&f->folder, &f->session, &f->doc, "cpu");
  f->page = g_object_new (LIG_TYPE_HISTORY_PAGE, "document", f->doc, "session", f->session, NULL);
  f->window = g_object_new (GTK_TYPE_APPLICATION_WINDOW, NULL);
  GtkWidget *toasts = adw_toast_overlay_new ();
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (toasts), GTK_WIDGET (f->page));
  lig_page_add_actions (LIG_PAGE (f->page), G_ACTION_MAP (f->window));
  fill_with (f->doc, MODEL, "8x4", train ? train : "{\"steps\": 20, \"data\": \"synthetic\"}");
  show_in (f->window, toasts, 1100, 700);
  wait_for_plan (f->doc);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  free_document (f->folder, f->session, f->doc);
}

/* --- Looking ------------------------------------------------------------------------------- */

/* Returns the first descendant of a type, with this label if it is not null. */
static GtkWidget *
find (GtkWidget *below, GType type, const char *label)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (below, type)) {
    const char *text = !label                  ? NULL
                       : GTK_IS_BUTTON (below) ? gtk_button_get_label (GTK_BUTTON (below))
                       : GTK_IS_LABEL (below)  ? gtk_label_get_text (GTK_LABEL (below))
                                               : NULL;
    if (!label || g_strcmp0 (text, label) == 0)
      return below;
  }
  GtkWidget *child = gtk_widget_get_first_child (below);
  for (; child; child = gtk_widget_get_next_sibling (child)) {
    GtkWidget *found = find (child, type, label);
    if (found)
      return found;
  }
  return NULL;
}

static GtkWidget *
find_dialog (void)
{
  g_autoptr (GList) windows = gtk_window_list_toplevels ();
  for (GList *at = windows; at; at = at->next)
    if (LIG_IS_SWEEP_DIALOG (at->data))
      return at->data;
  return NULL;
}

static LigSweepView *
get_view (Fixture *f)
{
  return LIG_SWEEP_VIEW (gtk_stack_get_child_by_name (f->page->states, "sweep"));
}

static const LigSweepPoint *
get_points (Fixture *f, guint *count)
{
  return lig_sweep_get_points (lig_sweep_view_get_sweep (get_view (f)), count);
}

static void
click (GtkWidget *button)
{
  g_assert_nonnull (button);
  g_assert_true (gtk_widget_get_sensitive (button));
  g_signal_emit_by_name (button, "clicked");
}

/* --- Waiting ------------------------------------------------------------------------------- */

static guint wanted;

static gboolean
has_ended (gpointer data)
{
  LigSweep *sweep = lig_sweep_view_get_sweep (get_view (data));
  return sweep && lig_sweep_count_ended (sweep) >= wanted;
}

static gboolean
is_shown (gpointer data)
{
  Fixture *f = data;
  return g_strcmp0 (gtk_stack_get_visible_child_name (f->page->states), "sweep") == 0;
}

static gboolean
has_runs (gpointer data)
{
  Fixture *f = data;
  if (!lig_run_list_is_loaded (f->page->list))
    return FALSE;
  /* The store writes the beginning and the end of a run with a delay. A list that is asked again
   * before it has answered would never answer, so it is polled. */
  g_autoptr (LigRunItem) item = g_list_model_get_item (G_LIST_MODEL (f->page->list), 0);
  const LigRunRow *row = item ? lig_run_item_get_row (item) : NULL;
  if (lig_run_list_get_count (f->page->list) != wanted ||
      (row && strcmp (row->status, "running") == 0)) {
    lig_run_list_poll (f->page->list);
    return FALSE;
  }
  return row != NULL;
}

static void
wait_for (Fixture *f, gboolean (*condition) (gpointer data), guint count)
{
  wanted = count;
  /* Ranks that share two busy CPU cores with other tests may take minutes. */
  for (int i = 0; i < 48000 && !condition (f); i++) {
    while (g_main_context_iteration (NULL, FALSE))
      ;
    g_usleep (5000);
  }
  g_assert_true (condition (f));
}

/* --- The dialog ---------------------------------------------------------------------------- */

static GtkWidget *
open_dialog (Fixture *f)
{
  g_assert_null (find_dialog ());
  g_action_group_activate_action (G_ACTION_GROUP (f->window), "new-sweep", NULL);
  GtkWidget *dialog = find_dialog ();
  g_assert_nonnull (dialog);
  return dialog;
}

static void
set_values (GtkWidget *dialog, guint row, const char *values)
{
  GtkWidget *first = find (dialog, LIG_TYPE_SWEEP_SETTING_ROW, NULL);
  for (guint i = 0; i < row; i++)
    first = gtk_widget_get_next_sibling (first);
  gtk_editable_set_text (GTK_EDITABLE (find (first, GTK_TYPE_ENTRY, NULL)), values);
}

static void
test_dialog (Fixture *f, gconstpointer data)
{
  GtkWidget *dialog = open_dialog (f);
  GtkWidget *start = find (dialog, GTK_TYPE_BUTTON, "_Start");
  set_values (dialog, 0, "0.01, 0.001");
  set_values (dialog, 1, "1..3");
  g_assert_true (gtk_widget_get_sensitive (start));
  GtkLabel *summary = NULL;
  GtkWidget *any = find (dialog, GTK_TYPE_CHECK_BUTTON, NULL);
  summary = GTK_LABEL (gtk_widget_get_next_sibling (any));
  g_assert_true (g_str_has_prefix (gtk_label_get_text (summary), "6 runs"));
  /* A value that is not a number is reported below its row. */
  set_values (dialog, 0, "0.01, fast");
  g_assert_false (gtk_widget_get_sensitive (start));
  GtkWidget *row = find (dialog, LIG_TYPE_SWEEP_SETTING_ROW, NULL);
  GtkWidget *error = gtk_widget_get_last_child (row);
  g_assert_true (gtk_widget_get_visible (error));
  g_assert_nonnull (strstr (gtk_label_get_text (GTK_LABEL (error)), "'fast'"));
  /* If zipped, both need the same number of values. */
  set_values (dialog, 0, "0.01, 0.001");
  gtk_check_button_set_active (GTK_CHECK_BUTTON (any), TRUE);
  g_assert_false (gtk_widget_get_sensitive (start));
  set_values (dialog, 1, "1..2");
  g_assert_true (gtk_widget_get_sensitive (start));
  g_assert_true (g_str_has_prefix (gtk_label_get_text (summary), "2 runs"));
  set_values (dialog, 0, "");
  set_values (dialog, 1, "");
  g_assert_false (gtk_widget_get_sensitive (start));
  gtk_window_destroy (GTK_WINDOW (dialog));
}

/* --- Sweeps -------------------------------------------------------------------------------- */

static void
start_sweep (Fixture *f, const char *rates, const char *seeds)
{
  GtkWidget *dialog = open_dialog (f);
  set_values (dialog, 0, rates);
  set_values (dialog, 1, seeds);
  click (find (dialog, GTK_TYPE_BUTTON, "_Start"));
  wait_for (f, is_shown, 0);
}

static gboolean
has_inner_row (gpointer data)
{
  Fixture *f = data;
  g_autoptr (LigRunItem) item = g_list_model_get_item (G_LIST_MODEL (f->page->list), 1);
  return item && item->inner && lig_run_item_get_row (item);
}

/* The buttons set the best settings, or those of the selected row, in the document, each as one
 * edit; the row of the best is the first, like in the picture. */
static void
use_settings (Fixture *f, GtkWidget *view)
{
  g_auto (LigRunSettings) settings;
  LigSweep *sweep = lig_sweep_view_get_sweep (get_view (f));
  int best = lig_sweep_find_best (sweep);
  guint count;
  const LigSweepPoint *points = lig_sweep_get_points (sweep, &count);
  g_assert_cmpint (best, >=, 0);
  double rate = g_ascii_strtod (points[best].values[0], NULL), other = rate == 0.01 ? 0.001 : 0.01;
  click (find (view, GTK_TYPE_BUTTON, "_Use the best settings"));
  lig_train_read (f->doc, &settings, NULL);
  g_assert_cmpfloat (settings.lr, ==, rate);
  g_assert_cmpuint (settings.seed, ==, 0);
  g_autofree char *said = g_strdup_printf ("The sequence now has lr %s", points[best].values[0]);
  g_assert_nonnull (find (f->window, GTK_TYPE_LABEL, said));
  GtkColumnView *rows = GTK_COLUMN_VIEW (find (view, GTK_TYPE_COLUMN_VIEW, NULL));
  gtk_selection_model_select_item (gtk_column_view_get_model (rows), 1, TRUE);
  click (find (view, GTK_TYPE_BUTTON, "_Use these settings"));
  lig_run_settings_clear (&settings);
  lig_train_read (f->doc, &settings, NULL);
  g_assert_cmpfloat (settings.lr, ==, other);
  lig_document_undo (f->doc);
  lig_run_settings_clear (&settings);
  lig_train_read (f->doc, &settings, NULL);
  g_assert_cmpfloat (settings.lr, ==, rate);
  /* The menu in the head saves the picture as the picture's own menu does. */
  g_autofree char *path = g_build_filename (f->folder, "sweep.svg", NULL), *svg = NULL;
  GtkWidget *picture = find (view, LIG_TYPE_PICTURE_VIEW, NULL);
  gtk_widget_activate_action (picture, "picture.export-to", "s", path);
  g_assert_true (g_file_get_contents (path, &svg, NULL, NULL));
  g_assert_nonnull (strstr (svg, "validation loss"));
  GtkWidget *menu = find (view, GTK_TYPE_MENU_BUTTON, NULL);
  GMenuModel *model = gtk_menu_button_get_menu_model (GTK_MENU_BUTTON (menu));
  g_assert_cmpint (g_menu_model_get_n_items (model), ==, 2);
  /* Reports describe the sweep that is shown. */
  g_autofree char *title = NULL, *shown = lig_page_find_sweep (LIG_PAGE (f->page), &title);
  g_assert_cmpstr (shown, ==, lig_sweep_get_uuid (sweep));
  g_autofree char *report = g_build_filename (f->folder, "sweep.md", NULL), *text = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_true (
    lig_report_write_sweep (lig_session_get_store (f->session), shown, report, &error));
  g_assert_true (g_file_get_contents (report, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, "Lowest mean loss: lr "));
  g_assert_false (lig_report_shows_sweep ("dot"));
  g_assert_true (lig_report_shows_sweep ("svg"));
}

static void
test_whole (Fixture *f, gconstpointer data)
{
  guint count;
  start_sweep (f, "0.01, 0.001", "1..2");
  wait_for (f, has_ended, 4);
  const LigSweepPoint *points = get_points (f, &count);
  g_assert_cmpuint (count, ==, 4);
  for (guint i = 0; i < count; i++)
    g_assert_cmpstr (points[i].status, ==, "done");
  GtkWidget *view = GTK_WIDGET (get_view (f));
  LigSweepTable *table = LIG_SWEEP_TABLE (find (view, LIG_TYPE_SWEEP_TABLE, NULL));
  g_assert_cmpuint (lig_sweep_table_count (table), ==, 2);
  g_assert_nonnull (find (view, GTK_TYPE_LABEL, "Runs finished: 4 of 4"));
  /* Finished runs do not fill the session's list. */
  g_assert_cmpuint (
    g_list_model_get_n_items (G_LIST_MODEL (lig_session_get_trainings (f->session))), ==, 0);
  gtk_test_widget_wait_for_draw (view);
  LigPictureView *picture = LIG_PICTURE_VIEW (find (view, LIG_TYPE_PICTURE_VIEW, NULL));
  lig_picture_view_get_marks (picture, &count);
  g_assert_cmpuint (count, ==, 4);
  use_settings (f, view);
  /* Escape and the button lead back; the runs name their sweep. */
  gtk_widget_activate_action (GTK_WIDGET (f->page), "history.back", NULL);
  g_assert_cmpstr (gtk_stack_get_visible_child_name (f->page->states), !=, "sweep");
  lig_run_list_reload (f->page->list);
  wait_for (f, has_runs, 4);
  /* The four runs are one row, which opens; its first run has a row by itself then. */
  GListModel *list = G_LIST_MODEL (f->page->list);
  GtkSelectionModel *selection = GTK_SELECTION_MODEL (f->page->selection);
  WAIT_FOR (g_list_model_get_n_items (list) == 1);
  gtk_selection_model_select_item (selection, 0, TRUE);
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (f->page), "history.sweep", NULL));
  wait_for (f, is_shown, 0);
  gtk_widget_activate_action (GTK_WIDGET (f->page), "history.back", NULL);
  g_assert_true (lig_run_list_open (f->page->list, 0, TRUE));
  g_assert_cmpuint (g_list_model_get_n_items (list), ==, 5);
  wait_for (f, has_inner_row, 0);
  gtk_selection_model_select_item (selection, 1, TRUE);
  g_autofree char *title = NULL, *run = lig_page_find_run (LIG_PAGE (f->page), &title);
  g_assert_nonnull (run);
  g_assert_null (lig_page_find_sweep (LIG_PAGE (f->page), &title));
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (f->page), "history.sweep", NULL));
  wait_for (f, is_shown, 0);
}

static gboolean
is_training (gpointer data)
{
  LigTraining *training = lig_training_find_active (((Fixture *) data)->session);
  LigRunProgress progress;
  if (!training)
    return FALSE;
  lig_training_get_progress (training, &progress);
  return progress.step > 0;
}

/* A thread sets the uuid of a new sweep at any time, so it may not be found yet. */
static gboolean
is_inactive (gpointer data)
{
  Fixture *f = data;
  LigSweeping *sweeping =
    lig_sweeping_find (f->session, lig_sweep_get_uuid (lig_sweep_view_get_sweep (get_view (f))));
  return sweeping && !lig_sweeping_is_active (sweeping);
}

/* The steps of this run take longer than the test. */
static void
test_stopped (Fixture *f, gconstpointer data)
{
  guint count;
  start_sweep (f, "0.001, 0.0001", "1");
  wait_for (f, is_training, 0);
  GtkWidget *view = GTK_WIDGET (get_view (f));
  click (find (view, GTK_TYPE_BUTTON, "_Pause"));
  LigRunProgress progress;
  gint64 step = -1;
  for (int i = 0; i < 400; i++) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (2000);
    lig_training_get_progress (lig_training_find_active (f->session), &progress);
    if (progress.status == LIG_RUN_PAUSED && step < 0)
      step = progress.step;
  }
  g_assert_cmpint (progress.status, ==, LIG_RUN_PAUSED);
  GtkWidget *go_on = find (view, GTK_TYPE_BUTTON, "_Continue");
  g_assert_true (gtk_widget_get_visible (go_on));
  click (find (view, GTK_TYPE_BUTTON, "_Stop"));
  wait_for (f, is_inactive, 0);
  const LigSweepPoint *points = get_points (f, &count);
  g_assert_cmpstr (points[0].status, ==, "interrupted");
  g_assert_null (points[1].status);
  g_autofree char *run = g_strdup (points[0].run);
  gint64 done = points[0].done;
  /* The button continues the interrupted run from its checkpoint. */
  LigSweepView *shown = get_view (f);
  GtkWidget *resume = NULL;
  for (GtkWidget *at = find (view, GTK_TYPE_BUTTON, "_Stop"); at;
       at = gtk_widget_get_next_sibling (at))
    resume = at;
  g_assert_true (gtk_widget_get_visible (resume));
  click (resume);
  wait_for (f, is_training, 0);
  LigTraining *training = lig_training_find_active (f->session);
  g_assert_cmpstr (lig_training_get_uuid (training), ==, run);
  lig_training_get_progress (training, &progress);
  g_assert_cmpint (progress.first_step, >=, done);
  click (find (GTK_WIDGET (shown), GTK_TYPE_BUTTON, "_Stop"));
  wait_for (f, is_inactive, 0);
}

/* A sweep of an earlier session is read from the store. */
static void
test_earlier (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  settings.steps = 2;
  settings.data = g_strdup ("synthetic");
  g_autoptr (LigSweep) sweep =
    lig_sweep_new (lig_document_get_sequence (f->doc), "cpu", &settings, NULL);
  g_assert_true (lig_sweep_add (sweep, "lr=0.1,0.2,0.3", FALSE, &error));
  g_assert_true (lig_sweep_begin (sweep, lig_session_get_store (f->session), &error));
  lig_history_show_sweep (f->page, lig_sweep_get_uuid (sweep));
  wait_for (f, has_ended, 0);
  GtkWidget *view = GTK_WIDGET (get_view (f));
  g_assert_nonnull (find (view, GTK_TYPE_LABEL, "Runs finished: 0 of 3"));
  g_assert_false (gtk_widget_get_visible (find (view, GTK_TYPE_BUTTON, "_Stop")));
}

/* --- Repeating ----------------------------------------------------------------------------- */

static gboolean
is_repeated (gpointer data)
{
  Fixture *f = data;
  g_autoptr (LigRunItem) item = lig_history_get_only (f->page);
  const LigRunRow *row = item ? lig_run_item_get_row (item) : NULL;
  LigRepeating *repeating = row ? lig_repeating_find (f->session, row->uuid) : NULL;
  return repeating && !lig_repeating_is_active (repeating);
}

static gboolean
has_ended_training (gpointer data)
{
  Fixture *f = data;
  LigTraining *training = lig_train_get_current (f->doc);
  return training && !lig_training_is_active (training);
}

static void
test_repeat (Fixture *f, gconstpointer data)
{
  lig_train_start (f->doc);
  wait_for (f, has_ended_training, 0);
  lig_run_list_reload (f->page->list);
  wait_for (f, has_runs, 1);
  GtkWidget *row = GTK_WIDGET (lig_run_detail_get_repeat_row (f->page->detail));
  gtk_selection_model_select_item (GTK_SELECTION_MODEL (f->page->selection), 0, TRUE);
  g_assert_false (gtk_widget_get_visible (row));
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (f->page), "history.repeat", NULL));
  g_assert_true (gtk_widget_get_visible (row));
  g_assert_nonnull (find (row, GTK_TYPE_LABEL, "Repeating"));
  wait_for (f, is_repeated, 0);
  g_assert_nonnull (find (row, GTK_TYPE_LABEL, "Bitwise identical"));
  g_assert_nonnull (find (row, GTK_TYPE_LABEL, "Bitwise identical for 20 steps"));
  g_assert_false (gtk_widget_get_visible (find (row, GTK_TYPE_BUTTON, "_Stop")));
}

static void
test_not_repeated (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (f->folder, "d.csv", NULL);
  g_autofree char *train =
    g_strdup_printf ("{\"steps\": 5, \"data\": \"csv:%s?target=c,d\"}", path);
  GString *rows = g_string_new ("a,b,e,f,c,d\n");
  for (int i = 0; i < 40; i++)
    g_string_append_printf (rows, "%d,%d,1,2,%d,0\n", i, i % 7, i % 3);
  g_assert_true (g_file_set_contents (path, rows->str, -1, NULL));
  g_string_free (rows, TRUE);
  fill_with (f->doc, MODEL, "8x4", train);
  wait_for_plan (f->doc);
  lig_train_start (f->doc);
  wait_for (f, has_ended_training, 0);
  g_assert_null (lig_training_get_error (lig_train_get_current (f->doc)));
  lig_run_list_reload (f->page->list);
  wait_for (f, has_runs, 1);
  g_assert_cmpint (g_remove (path), ==, 0);
  gtk_selection_model_select_item (GTK_SELECTION_MODEL (f->page->selection), 0, TRUE);
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (f->page), "history.repeat", NULL));
  wait_for (f, is_repeated, 0);
  GtkWidget *row = GTK_WIDGET (lig_run_detail_get_repeat_row (f->page->detail));
  g_assert_nonnull (find (row, GTK_TYPE_LABEL, "Not repeated"));
}

/* --- Ranks --------------------------------------------------------------------------------- */

/* Makes the window train on two ranks. */
static gboolean
choose_two_ranks (Fixture *f)
{
  g_autofree char *mpirun = g_find_program_in_path ("mpirun");
  if (!mpirun) {
    g_test_skip ("there is no mpirun");
    return FALSE;
  }
  lig_ranks_set (f->doc, 2);
  g_signal_emit_by_name (f->doc, "settings");
  return TRUE;
}

static void
check_two_ranks (Fixture *f, const char *run)
{
  g_autofree char *inputs = lig_store_get_inputs (lig_session_get_store (f->session), run, NULL);
  g_autoptr (JsonNode) root = inputs ? lig_json_from_text (inputs, NULL) : NULL;
  g_assert_nonnull (root);
  g_assert_cmpint (lig_json_get_int (json_node_get_object (root), "ranks", 1), ==, 2);
}

/* Repeats the first run of the list, also if it is the first of a fold. */
static void
repeat_first (Fixture *f)
{
  gboolean folded = lig_run_list_open (f->page->list, 0, TRUE);
  if (folded)
    wait_for (f, has_inner_row, 0);
  gtk_selection_model_select_item (GTK_SELECTION_MODEL (f->page->selection), folded, TRUE);
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (f->page), "history.repeat", NULL));
  wait_for (f, is_repeated, 0);
}

/* Both ranks train each point; repeating such a run uses as many ranks. */
static void
test_ranks (Fixture *f, gconstpointer data)
{
  guint count;
  if (!choose_two_ranks (f))
    return;
  GtkWidget *dialog = open_dialog (f);
  set_values (dialog, 0, "0.01, 0.001");
  set_values (dialog, 1, "1");
  GtkWidget *summary = gtk_widget_get_next_sibling (find (dialog, GTK_TYPE_CHECK_BUTTON, NULL));
  g_assert_true (g_str_has_prefix (gtk_label_get_text (GTK_LABEL (summary)), "2 runs · 2 ranks"));
  click (find (dialog, GTK_TYPE_BUTTON, "_Start"));
  wait_for (f, is_shown, 0);
  wait_for (f, has_ended, 2);
  const LigSweepPoint *points = get_points (f, &count);
  g_assert_cmpuint (count, ==, 2);
  for (guint i = 0; i < count; i++) {
    g_assert_cmpstr (points[i].status, ==, "done");
    check_two_ranks (f, points[i].run);
  }
  gtk_widget_activate_action (GTK_WIDGET (f->page), "history.back", NULL);
  lig_run_list_reload (f->page->list);
  wait_for (f, has_runs, 2);
  repeat_first (f);
  GtkWidget *row = GTK_WIDGET (lig_run_detail_get_repeat_row (f->page->detail));
  g_assert_nonnull (find (row, GTK_TYPE_LABEL, "Bitwise identical"));
  g_autoptr (LigRunItem) item = lig_history_get_only (f->page);
  LigRepeating *repeating = lig_repeating_find (f->session, lig_run_item_get_row (item)->uuid);
  check_two_ranks (f, lig_repeating_get_run (repeating));
}

/* Both ranks continue an interrupted point; a point that they cannot share shows the reason. */
static void
test_ranks_stopped (Fixture *f, gconstpointer data)
{
  guint count;
  if (!choose_two_ranks (f))
    return;
  start_sweep (f, "0.001, 0.0001", "1");
  wait_for (f, is_training, 0);
  LigSweepView *view = get_view (f);
  click (find (GTK_WIDGET (view), GTK_TYPE_BUTTON, "_Stop"));
  wait_for (f, is_inactive, 0);
  g_autofree char *run = g_strdup (get_points (f, &count)[0].run);
  g_assert_cmpstr (get_points (f, &count)[0].status, ==, "interrupted");
  lig_ranks_set (f->doc, 1);
  lig_sweep_view_follow (
    view, lig_sweeping_start (f->session, g_object_ref (lig_sweep_view_get_sweep (view))));
  wait_for (f, is_training, 0);
  LigTraining *training = lig_training_find_active (f->session);
  g_assert_cmpstr (lig_training_get_uuid (training), ==, run);
  g_assert_nonnull (strstr (lig_training_get_device (training), "2 ranks"));
  click (find (GTK_WIDGET (view), GTK_TYPE_BUTTON, "_Stop"));
  wait_for (f, is_inactive, 0);
}

/* A sweep with a batch that the ranks cannot share ends with the reason. */
static void
test_ranks_rejected (Fixture *f, gconstpointer data)
{
  if (!choose_two_ranks (f))
    return;
  fill_with (f->doc, MODEL, "7x4", "{\"steps\": 2, \"data\": \"synthetic\"}");
  wait_for_plan (f->doc);
  g_auto (LigRunSettings) settings;
  lig_train_read (f->doc, &settings, NULL);
  g_autoptr (LigSweep) sweep =
    lig_sweep_new (lig_document_get_sequence (f->doc), "cpu", &settings, NULL);
  lig_sweep_set_ranks (sweep, 2, "data=2");
  g_assert_true (lig_sweep_add (sweep, "lr=0.1,0.2,0.3", FALSE, NULL));
  lig_history_show_sweep (f->page, "");
  lig_sweep_view_follow (get_view (f), lig_sweeping_start (f->session, g_object_ref (sweep)));
  wait_for (f, is_inactive, 0);
  LigSweeping *sweeping =
    lig_sweeping_find (f->session, lig_sweep_get_uuid (lig_sweep_view_get_sweep (get_view (f))));
  g_assert_nonnull (strstr (lig_sweeping_get_error (sweeping), "7"));
}

static void
add_tests (void)
{
  static const char *const endless =
    "{\"steps\": 1000000000, \"data\": \"synthetic\", \"optimizer\": \"sgd\"}";
#define ADD(name) g_test_add ("/sweep/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (dialog);
  ADD (whole);
  g_test_add ("/sweep/stopped", Fixture, endless, set_up, test_stopped, tear_down);
  ADD (earlier);
  ADD (repeat);
  ADD (not_repeated);
  ADD (ranks);
  g_test_add ("/sweep/ranks/stopped", Fixture, endless, set_up, test_ranks_stopped, tear_down);
  ADD (ranks_rejected);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
