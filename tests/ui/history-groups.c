/* SPDX-License-Identifier: MIT */
/* The History page organizes runs by their settings: columns for settings, groups with mean and
 * spread, a comparison without duplicates. */
#include "tests/ui/history-case.h"

#include "ui/history/column-kinds.h"
#include "ui/history/format.h"
#include "ui/history/group-names.h"
#include <ligature/store-sweeps.h>

/* Three seeds of one learning rate, and one run of another. */
static void
fill (Page *p)
{
  g_autoptr (LigStore) store = open_store (p->files.path);
  static const struct {
    const char *lr;
    guint64 seed;
    double loss;
  } runs[] = {{"0.1", 1, 1}, {"0.1", 2, 2}, {"0.1", 3, 3}, {"1.25e-05", 1, 0.000712345}};
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *settings = g_strdup_printf (
      "{\"lr\":%s,\"batch\":65536,\"seed\":%u,\"optimizer\":\"adamw\",\"policy\":\"all\"}",
      runs[i].lr, (guint) runs[i].seed);
    LigRunRecord record = example;
    record.settings = settings;
    record.seed = runs[i].seed;
    g_autofree char *run = lig_store_begin_run (store, &record, &error);
    g_assert_no_error (error);
    lig_store_add_metric (store, run, 1, "loss", runs[i].loss);
    lig_store_add_metric (store, run, 1, "eval-loss", runs[i].loss);
    g_assert_true (lig_store_finish_run (store, run, "done", NULL, &error));
  }
}

static void
group_by (Page *p, const char *by)
{
  const char *nth;
  GtkDropDown *choice = GTK_DROP_DOWN (gtk_widget_get_template_child (
    GTK_WIDGET (p->page->filters), LIG_TYPE_HISTORY_FILTERS, "group"));
  loaded = FALSE;
  for (guint i = 0; (nth = lig_history_grouping_nth (i)); i++)
    if (strcmp (nth, by) == 0)
      gtk_drop_down_set_selected (choice, i + 1);
  wait_until (p, is_loaded, 5);
}

static void
test_groups (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  g_signal_connect (p->page->groups, "loaded", note_loaded, NULL);
  group_by (p, "lr");
  g_assert_cmpstr (gtk_stack_get_visible_child_name (p->page->matches), ==, "groups");
  g_autofree char *csv = lig_history_groups_to_csv (p->page->groups);
  g_test_message ("%s", csv);
  g_assert_nonnull (strstr (csv, "\n1.25e-05,1,0.000712345,"));
  g_assert_nonnull (strstr (csv, "\n0.1,3,2,1,3,1,"));
  group_by (p, LIG_RUN_ALL_BUT_SEED);
  g_autofree char *repetitions = lig_history_groups_to_csv (p->page->groups);
  g_assert_nonnull (strstr (repetitions, "mlp · lr 0.1,3,"));
  g_assert_nonnull (strstr (repetitions, "mlp · lr 1.25e-05,1,"));
  /* Opening a group lists its runs. */
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) groups =
    lig_store_group_runs (lig_history_get_store (p->page), NULL, LIG_RUN_ALL_BUT_SEED, &error);
  for (guint i = 0; i < groups->len; i++) {
    const LigRunGroup *group = groups->pdata[i];
    group_by (p, LIG_RUN_ALL_BUT_SEED);
    g_signal_emit_by_name (p->page->groups, "opened", group->value);
    wait_for_count (p, group->runs, 5);
    g_assert_cmpstr (gtk_stack_get_visible_child_name (p->page->matches), ==, "some");
  }
  lig_history_filters_clear (p->page->filters);
  wait_for_count (p, 4, 5);
  close_page (p);
}

/* Runs of a sweep form one group with the sweep's name; the others have none. */
static void
test_sweeps (Page *p, gconstpointer data)
{
  fill (p);
  g_autoptr (GError) error = NULL;
  g_autofree char *sweep = NULL;
  {
    g_autoptr (LigStore) store = open_store (p->files.path);
    sweep = lig_store_begin_sweep (store, "rates", "{}", &error);
    g_assert_no_error (error);
    g_autoptr (GArray) keys = lig_store_list_keys (store, NULL, LIG_RUN_BY_START, TRUE, &error);
    g_assert_no_error (error);
    g_autoptr (GPtrArray) rows =
      lig_store_read_runs (store, &g_array_index (keys, gint64, 0), 2, &error);
    g_assert_no_error (error);
    for (guint i = 0; i < rows->len; i++)
      g_assert_true (
        lig_store_set_sweep (store, ((LigRunRow *) rows->pdata[i])->uuid, sweep, i, &error));
  }
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  g_signal_connect (p->page->groups, "loaded", note_loaded, NULL);
  group_by (p, "sweep");
  g_autofree char *csv = lig_history_groups_to_csv (p->page->groups);
  g_autofree char *wanted = g_strdup_printf ("\nrates · %.8s,2,", sweep);
  g_test_message ("%s", csv);
  g_assert_nonnull (strstr (csv, wanted));
  g_assert_nonnull (strstr (csv, "\nno sweep,2,"));
  g_signal_emit_by_name (p->page->groups, "opened", sweep);
  wait_for_count (p, 2, 5);
  close_page (p);
}

static void
test_setting_columns (Page *p, gconstpointer data)
{
  static const char *const wanted[][2] = {{"setting-lr", "1.25e-05"},
                                          {"setting-batch", "65,536"},
                                          {"setting-optimizer", "adamw"},
                                          {"setting-clip", "–"}};
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  const LigRunRow *row = wait_for_row (p, 0);
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++) {
    const LigHistoryColumn *column = lig_history_column_find (wanted[i][0]);
    g_assert_nonnull (column);
    g_autofree char *text = lig_history_column_text (column, row);
    g_assert_cmpstr (text, ==, wanted[i][1]);
  }
  lig_run_list_set_order (p->page->list, LIG_RUN_BY_SETTING, "lr", TRUE);
  g_assert_cmpuint (lig_run_list_get_count (p->page->list), ==, 4);
  close_page (p);
}

static guint wanted_rows;

static gboolean
has_rows (Page *p)
{
  return g_list_model_get_n_items (G_LIST_MODEL (p->page->list)) == wanted_rows;
}

static char *
get_fold_text (Page *p, guint position, const char *column)
{
  g_autoptr (LigRunItem) item = g_list_model_get_item (G_LIST_MODEL (p->page->list), position);
  return lig_history_column_fold_text (lig_history_column_find (column),
                                       lig_run_item_get_fold (item), lig_run_item_get_row (item));
}

static void
assert_fold_text (Page *p, const char *column, const char *expected)
{
  g_autofree char *text = get_fold_text (p, 1, column);
  g_assert_cmpstr (text, ==, expected);
}

/* Three repetitions are one row with the mean and the spread, which opens; selecting it selects its
 * runs, and the actions count them. */
static void
test_folds (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  wanted_rows = 2;
  wait_until (p, has_rows, 5);
  wait_for_row (p, 1);
  assert_fold_text (p, "name", "3 runs · mlp");
  assert_fold_text (p, "status", "Done");
  assert_fold_text (p, "loss", "2 ± 1");
  assert_fold_text (p, "setting-lr", "0.1");
  assert_fold_text (p, "setting-seed", "");
  gtk_selection_model_select_item (GTK_SELECTION_MODEL (p->page->selection), 1, TRUE);
  g_autoptr (GArray) selected = lig_history_get_selected (p->page);
  g_assert_cmpuint (selected->len, ==, 3);
  g_assert_null (lig_history_get_only (p->page));
  g_assert_cmpstr (gtk_label_get_text (p->page->many), ==, "3 runs selected");
  /* Open, its runs follow it and stay selected with it; the fold itself stays. */
  g_signal_emit_by_name (p->page->view, "activate", 1);
  wanted_rows = 5;
  wait_until (p, has_rows, 5);
  g_assert_true (gtk_selection_model_is_selected (GTK_SELECTION_MODEL (p->page->selection), 1));
  g_assert_cmpuint (lig_run_list_get_count (p->page->list), ==, 4);
  for (guint i = 2; i < 5; i++)
    g_assert_cmpuint (wait_for_row (p, i)->seed, ==, 5 - i);
  g_signal_emit_by_name (p->page->view, "activate", 1);
  wanted_rows = 2;
  wait_until (p, has_rows, 5);
  /* Deleting the fold moves all of its runs to the trash, which lists them one by one. */
  gtk_widget_activate_action (GTK_WIDGET (p->page), "history.delete", NULL);
  wait_for_count (p, 1, 5);
  lig_run_list_set_filter (p->page->list, &(LigRunFilter){.deleted = TRUE});
  wait_for_count (p, 3, 5);
  wanted_rows = 3;
  wait_until (p, has_rows, 5);
  lig_run_list_set_filter (p->page->list, &(LigRunFilter){0});
  wait_for_count (p, 1, 5);
  gtk_widget_activate_action (GTK_WIDGET (p->page), "history.undelete", NULL);
  wait_for_count (p, 4, 5);
  g_settings_set_boolean (lig_session_get_settings (p->session), "history-fold", FALSE);
  wanted_rows = 4;
  wait_until (p, has_rows, 5);
  g_settings_reset (lig_session_get_settings (p->session), "history-fold");
  close_page (p);
}

/* Returns the titles of the columns that are shown. */
static char *
get_titles (Page *p)
{
  GListModel *columns = gtk_column_view_get_columns (p->page->view);
  GString *titles = g_string_new (NULL);
  for (guint i = 1; i < g_list_model_get_n_items (columns); i++) {
    g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, i);
    g_string_append_printf (titles, "%s|", gtk_column_view_column_get_title (column));
  }
  return g_string_free (titles, FALSE);
}

/* Settings that differ have columns, until the user chooses columns, and again on request. */
static void
test_automatic_columns (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  GSettings *settings = lig_session_get_settings (p->session);
  GActionGroup *actions = lig_history_columns_get_actions (p->page->columns);
  g_autofree char *first = get_titles (p);
  g_assert_true (g_str_has_prefix (first, "Name|Learning rate|Status|Device|"));
  lig_run_list_set_filter (p->page->list, &(LigRunFilter){.group_by = "lr", .group = "1.25e-05"});
  wait_for_count (p, 1, 5);
  g_autofree char *alone = get_titles (p);
  g_assert_true (g_str_has_prefix (alone, "Name|Status|Device|"));
  g_assert_null (g_settings_get_user_value (settings, "history-columns"));
  lig_run_list_set_filter (p->page->list, &(LigRunFilter){0});
  wait_for_count (p, 4, 5);
  g_action_group_activate_action (actions, "tags", NULL);
  lig_run_list_set_filter (p->page->list, &(LigRunFilter){.group_by = "lr", .group = "1.25e-05"});
  wait_for_count (p, 1, 5);
  g_autofree char *chosen = get_titles (p);
  g_assert_true (g_str_has_prefix (chosen, "Name|Learning rate|Status|Device|"));
  g_autoptr (GVariant) state = g_action_group_get_action_state (actions, "automatic");
  g_assert_false (g_variant_get_boolean (state));
  g_action_group_activate_action (actions, "automatic", NULL);
  g_autofree char *again = get_titles (p);
  g_assert_true (g_str_has_prefix (again, "Name|Status|Device|"));
  close_page (p);
}

/* The recipe has a column; a run without one shows a dash. */
static void
test_recipe_column (void)
{
  const LigHistoryColumn *column = lig_history_column_find ("recipe");
  LigRunRow rows[] = {{.recipe = (char *) "none"}, {.recipe = (char *) "fp8-rows"}};
  g_autofree char *none = lig_history_column_text (column, &rows[0]);
  g_autofree char *rows_text = lig_history_column_text (column, &rows[1]);
  g_assert_cmpstr (none, ==, "–");
  g_assert_cmpstr (rows_text, ==, "fp8-rows");
}

/* A column of numbers cannot become so narrow that it truncates them. */
static void
test_widths (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  GListModel *columns = gtk_column_view_get_columns (p->page->view);
  guint checked = 0;
  for (guint i = 0; i < g_list_model_get_n_items (columns); i++) {
    g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, i);
    const LigHistoryColumn *kind = g_object_get_data (G_OBJECT (column), "column");
    int width;
    if (!kind->numeric)
      continue;
    gtk_column_view_column_set_fixed_width (column, 10);
    g_autoptr (PangoLayout) layout =
      gtk_widget_create_pango_layout (GTK_WIDGET (p->page->view), "-1.234e-05");
    pango_layout_get_pixel_size (layout, &width, NULL);
    g_assert_cmpint (gtk_column_view_column_get_fixed_width (column), >, width);
    checked++;
  }
  g_assert_cmpuint (checked, >, 1);
  close_page (p);
}

static void
test_numbers (void)
{
  static const struct {
    double number;
    const char *text;
  } cases[] = {{0.000712345, "7.123e-04"},
               {3e-5, "3e-05"},
               {0.0031416, "0.003142"},
               {12345.678, "1.235e+04"},
               {0, "0"},
               {-2.5e-9, "-2.5e-09"},
               {NAN, "–"},
               {INFINITY, "inf"},
               {1, "1"}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = lig_history_number (cases[i].number);
    g_assert_cmpstr (text, ==, cases[i].text);
  }
  const LigRunMean several = {.count = 3, .mean = 0.5, .std = 0.0123},
                   one = {.count = 1, .mean = 0.5, .std = NAN};
  g_autofree char *spread = lig_history_mean (&several), *alone = lig_history_mean (&one);
  g_assert_cmpstr (spread, ==, "0.5 ± 0.012");
  g_assert_cmpstr (alone, ==, "0.5");
}

/* A value with its own line is not repeated in another. */
static void
test_compare_once (Page *p, gconstpointer data)
{
  fill (p);
  show_page (p, p->files.path);
  wait_for_count (p, 4, 5);
  gtk_selection_model_select_all (GTK_SELECTION_MODEL (p->page->selection));
  loaded = FALSE;
  g_signal_connect (p->page->compare, "loaded", note_loaded, NULL);
  gtk_widget_activate_action (GTK_WIDGET (p->page), "history.compare", NULL);
  wait_until (p, is_loaded, 5);
  lig_run_compare_set_all (p->page->compare, TRUE);
  g_autofree char *csv = lig_run_compare_to_csv (p->page->compare);
  g_test_message ("%s", csv);
  g_assert_null (strstr (csv, "settings.seed"));
  g_assert_null (strstr (csv, "settings.policy"));
  g_assert_nonnull (strstr (csv, "\nseed,"));
  g_assert_nonnull (strstr (csv, "\nsettings.lr,"));
  close_page (p);
}

int
main (int argc, char **argv)
{
  program = argv[0];
  gtk_test_init (&argc, &argv, NULL);
  adw_init ();
  g_test_add_func ("/history-groups/numbers", test_numbers);
  g_test_add_func ("/history-groups/recipe-column", test_recipe_column);
#define ADD(name, function) \
  g_test_add ("/history-groups/" name, Page, NULL, begin_test, function, end_test)
  ADD ("groups", test_groups);
  ADD ("sweeps", test_sweeps);
  ADD ("setting-columns", test_setting_columns);
  ADD ("folds", test_folds);
  ADD ("automatic-columns", test_automatic_columns);
  ADD ("widths", test_widths);
  ADD ("compare-once", test_compare_once);
  return g_test_run ();
}
