/* SPDX-License-Identifier: MIT */
/* The page Try predicts rows: typed ones, validation rows, and those of a cell of the matrix. */
#include "tests/ui/try-case.h"
#include "ui/try/bars.h"
#include "ui/try/confusion.h"
#include "ui/try/form.h"
#include "ui/try/influence.h"
#include "ui/try/rows.h"
#include "ui/try/worst.h"
#include <ligature/json.h>

/* Rows of two classes; every third label is wrong, so that some predictions are, too. */
static void
train_rows (Fixture *f)
{
  g_autoptr (GString) text = g_string_new ("size,age,colour\n");
  for (int i = 0; i < 80; i++) {
    gboolean red = (i % 2) != (i % 3 == 0);
    g_string_append_printf (text, "%d,%d,%s\n", i % 2 ? 10 + i % 5 : -10 - i % 5, i % 7,
                            red ? "red" : "blue");
  }
  train (f, "rows", "linear(2) ! cross-entropy", "8x2", "csv", text->str, "100");
}

static void
open_rows (Fixture *f)
{
  train_rows (f);
  open_page (f);
  WAIT_FOR (says (f, "rows, step 100"));
  WAIT_FOR (says (f, "Worst first: "));
  WAIT_FOR (says (f, "It is "));
}

static LigTryForm *
get_form (Fixture *f)
{
  return find_type (f->page, LIG_TYPE_TRY_FORM);
}

static LigTryWorst *
get_worst (Fixture *f)
{
  return find_type (f->page, LIG_TYPE_TRY_WORST);
}

/* The prediction follows what is typed; a cell that is not a number is a sentence. */
static void
test_typed (Fixture *f, gconstpointer data)
{
  open_rows (f);
  lig_try_form_type (get_form (f), 0, "12");
  WAIT_FOR (find_widget (f->page, shows_text, "red"));
  lig_try_form_type (get_form (f), 0, "x");
  WAIT_FOR (says (f, "Column size is 'x', expected a number"));
  lig_try_form_type (get_form (f), 0, "-12");
  lig_try_form_type (get_form (f), 1, "3");
  WAIT_FOR (!says (f, "expected a number"));
  g_autofree char *command = get_command (f);
  g_assert_true (g_str_has_prefix (command, "printf "));
  g_assert_nonnull (strstr (command, "\"size\": \"-12\", \"age\": \"3\""));
  g_assert_nonnull (strstr (command, "| lig predict "));
  g_assert_nonnull (strstr (command, " --lines"));
}

/* A validation row has a target, and its command names its number. */
static void
test_validation (Fixture *f, gconstpointer data)
{
  open_rows (f);
  lig_try_rows_show_row (find_type (f->page, LIG_TYPE_TRY_ROWS), 4);
  g_autofree char *command = get_command (f);
  g_assert_nonnull (strstr (command, "\"validation\": 4"));
  WAIT_FOR (says (f, "It is "));
  g_assert_true (says (f, "of 20"));
  g_assert_true (says (f, "Columns that move it most"));
}

/* A cell lists its rows, and a row of the list is shown. */
static void
test_matrix (Fixture *f, gconstpointer data)
{
  open_rows (f);
  LigConfusion *matrix = find_type (f->page, LIG_TYPE_CONFUSION);
  LigTryWorst *worst = get_worst (f);
  guint listed = lig_try_worst_get_count (worst), sum = 0;
  g_assert_cmpuint (listed, ==, 20);
  for (guint i = 0; i < 2; i++)
    for (guint j = 0; j < 2; j++) {
      GtkWidget *cell = lig_confusion_get_cell (matrix, i, j);
      guint count = (guint) atoi (gtk_button_get_label (GTK_BUTTON (cell)));
      sum += count;
      g_signal_emit_by_name (cell, "clicked");
      WAIT_FOR (lig_try_worst_get_count (worst) == count);
      g_assert_true (gtk_widget_has_css_class (cell, "chosen"));
    }
  g_assert_cmpuint (sum, ==, 20);
  GtkWidget *all = find_widget (f->page, shows_text, "All rows");
  g_assert_nonnull (all);
  g_signal_emit_by_name (gtk_widget_get_ancestor (all, GTK_TYPE_BUTTON), "clicked");
  WAIT_FOR (lig_try_worst_get_count (worst) == 20);
  gint64 row = lig_try_worst_get_row (worst, 0);
  g_signal_emit_by_name (worst, "chosen", row);
  GtkSpinButton *number = find_type (f->page, GTK_TYPE_SPIN_BUTTON);
  WAIT_FOR (find_widget (f->page, shows_text, "wrong, loss"));
  g_assert_nonnull (number);
}

/* Tab reaches the form, the matrix and the list. */
static void
test_keys (Fixture *f, gconstpointer data)
{
  gboolean form = FALSE, matrix = FALSE, list = FALSE;
  open_rows (f);
  for (int i = 0; i < 60 && !(form && matrix && list); i++) {
    gtk_widget_child_focus (f->page, GTK_DIR_TAB_FORWARD);
    GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (f->window));
    g_assert_nonnull (focus);
    form |= gtk_widget_get_ancestor (focus, LIG_TYPE_TRY_FORM) != NULL;
    matrix |= gtk_widget_get_ancestor (focus, LIG_TYPE_CONFUSION) != NULL;
    list |= gtk_widget_get_ancestor (focus, LIG_TYPE_TRY_WORST) != NULL;
  }
  g_assert_true (form);
  g_assert_true (matrix);
  g_assert_true (list);
}

/* --- Parts --------------------------------------------------------------------------------- */

/* Counts the rows of bars, and returns the label of the first one. */
static guint
count_bars (GtkGrid *bars, const char **first)
{
  guint count = 0;
  while (gtk_grid_get_child_at (bars, 0, (int) count))
    count++;
  *first = count > 0 ? gtk_label_get_text (GTK_LABEL (gtk_grid_get_child_at (bars, 0, 0))) : NULL;
  return count;
}

static void
test_influence (void)
{
  const char *first;
  GtkGrid *bars = g_object_ref_sink (lig_bars_new ());
  g_autoptr (JsonNode) model = lig_json_from_text (
    "{\"features\": [{\"name\": \"a\"}, {\"name\": \"b\"}, {\"name\": \"c\"}]}", NULL);
  g_autoptr (JsonNode) influence = lig_json_from_text ("[0.5, -2, null]", NULL);
  lig_influence_show (bars, json_node_get_object (model), json_node_get_array (influence));
  g_assert_cmpuint (count_bars (bars, &first), ==, 3);
  g_assert_cmpstr (first, ==, "b");
  lig_influence_show (bars, json_node_get_object (model), NULL);
  g_assert_cmpuint (count_bars (bars, &first), ==, 0);
  g_object_unref (bars);
}

/* Of many classes the matrix has those with the most wrong rows. */
static void
test_many (void)
{
  enum { N = 30 };
  g_autoptr (GString) names = g_string_new ("{\"classes\": ["), counts = g_string_new ("[");
  for (int i = 0; i < N; i++) {
    g_string_append_printf (names, "%s\"c%d\"", i > 0 ? "," : "", i);
    g_string_append (counts, i > 0 ? ",[" : "[");
    for (int j = 0; j < N; j++)
      g_string_append_printf (counts, "%s%d", j > 0 ? "," : "",
                              i == j               ? 9
                              : i == 20 && j == 25 ? 5
                                                   : 0);
    g_string_append (counts, "]");
  }
  g_string_append (names, "]}");
  g_string_append (counts, "]");
  LigConfusion *matrix = g_object_ref_sink (LIG_CONFUSION (lig_confusion_new ()));
  g_autoptr (JsonNode) model = lig_json_from_text (names->str, NULL);
  g_autoptr (JsonNode) array = lig_json_from_text (counts->str, NULL);
  lig_confusion_show (matrix, json_node_get_object (model), json_node_get_array (array));
  GtkWidget *cell = lig_confusion_get_cell (matrix, 20, 25);
  g_assert_nonnull (cell);
  g_assert_cmpstr (gtk_button_get_label (GTK_BUTTON (cell)), ==, "5");
  g_assert_null (lig_confusion_get_cell (matrix, 29, 29));
  g_object_unref (matrix);
}

static void
add_tests (void)
{
#define ADD(name, test) g_test_add ("/ui/try-rows/" name, Fixture, NULL, set_up, test, tear_down)
  ADD ("typed", test_typed);
  ADD ("validation", test_validation);
  ADD ("matrix", test_matrix);
  ADD ("keys", test_keys);
  g_test_add_func ("/ui/try-rows/influence", test_influence);
  g_test_add_func ("/ui/try-rows/many", test_many);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
