/* SPDX-License-Identifier: MIT */
/* A finished run shows its losses, links to its charts, and can be exported as a report. */
#include "tests/ui/window-case.h"
#include "ui/run/result.h"
#include "ui/run/settings.h"
#include <ligature/report.h>

static LigTraining *
train (Fixture *f, const char *settings)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  g_autoptr (LigSequence) sequence =
    lig_sequence_from_expression ("linear(5) ! cross-entropy", &error);
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (8), G_GINT64_CONSTANT (4));
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  lig_sequence_set_name (sequence, "small");
  lig_sequence_set_train (sequence, settings);
  lig_document_set_device (f->doc, "cpu");
  lig_document_replace (f->doc, sequence, "test");
  wait_for_plan (f->doc);
  /* Pages are made one by one after the window is shown. */
  WAIT_FOR (g_action_group_has_action (G_ACTION_GROUP (f->window), "run"));
  act_on (f, "page", "sequence");
  act (f, "run");
  LigTraining *training = lig_train_get_current (f->doc);
  WAIT_FOR (!lig_training_is_active (training));
  g_assert_null (lig_training_get_error (training));
  return training;
}

static gboolean
has_link (GtkWidget *widget, gconstpointer target)
{
  return GTK_IS_LABEL (widget) && gtk_widget_get_mapped (widget) &&
         strstr (gtk_label_get_label (GTK_LABEL (widget)), target);
}

static gboolean
is_button (GtkWidget *widget, gconstpointer title)
{
  return GTK_IS_BUTTON (widget) && gtk_widget_get_mapped (widget) &&
         g_strcmp0 (gtk_button_get_label (GTK_BUTTON (widget)), title) == 0;
}

/* The bar and a toast show the losses, and each links to the charts. */
static void
test_result (Fixture *f, gconstpointer data)
{
  LigTraining *training = train (f, "{\"data\":\"synthetic?samples=400\",\"steps\":120}");
  LigRunProgress progress;
  lig_training_get_progress (training, &progress);
  g_autofree char *loss = lig_train_format_number (progress.loss);
  g_autofree char *validation = lig_train_format_number (progress.eval_loss);
  g_autofree char *expected = g_strdup_printf ("loss %s · validation loss %s", loss, validation);
  g_autofree char *result = lig_result_format (training);
  g_assert_true (g_str_has_prefix (result, expected));
  g_assert_nonnull (strstr (result, "accuracy"));
  WAIT_FOR (says (f, "Done: 120 steps"));
  GtkWidget *line = find_widget (GTK_WIDGET (f->window), has_link, "<a href=\"run\">");
  g_assert_nonnull (line);
  g_assert_nonnull (strstr (gtk_label_get_text (GTK_LABEL (line)), expected));
  /* The rate of the steps is also in the line, and next to the charts. */
  g_autofree char *rate = lig_run_describe_rate (&progress);
  g_assert_nonnull (strstr (rate, " samples/s"));
  g_assert_nonnull (strstr (gtk_label_get_text (GTK_LABEL (line)), rate));
  WAIT_FOR (says (f, "small is trained: "));
  GtkWidget *button = find_widget (GTK_WIDGET (f->window), is_button, "Show charts");
  g_assert_nonnull (button);
  gboolean handled = FALSE;
  g_signal_emit_by_name (line, "activate-link", "run", &handled);
  g_assert_true (handled);
  g_assert_cmpstr (get_page (f), ==, "run");
  WAIT_FOR (says (f, rate));
  act_on (f, "page", "sequence");
  g_signal_emit_by_name (button, "clicked");
  g_assert_cmpstr (get_page (f), ==, "run");
}

/* Without validation data there is one loss. */
static void
test_one_loss (Fixture *f, gconstpointer data)
{
  LigTraining *training =
    train (f, "{\"data\":\"synthetic?samples=400&validation=0\",\"steps\":20}");
  g_autofree char *result = lig_result_format (training);
  g_assert_true (g_str_has_prefix (result, "loss "));
  g_assert_null (strstr (result, "validation loss"));
  WAIT_FOR (says (f, result));
}

/* On the Run page, a report describes the run, elsewhere the plan; every format can be chosen. */
static void
test_export (Fixture *f, gconstpointer data)
{
  const char *format;
  LigTraining *training = train (f, "{\"data\":\"synthetic?samples=400\",\"steps\":40}");
  g_autofree char *plan = in_folder (f, "plan.md");
  act_on (f, "export-to", plan);
  WAIT_FOR (g_file_test (plan, G_FILE_TEST_EXISTS));
  act_on (f, "page", "run");
  for (guint i = 0; (format = lig_report_format_nth (i)); i++) {
    g_autofree char *name = g_strconcat ("run.", format, NULL);
    g_autofree char *path = in_folder (f, name);
    act_on (f, "export-to", path);
    WAIT_FOR (g_file_test (path, G_FILE_TEST_EXISTS));
  }
  g_autofree char *markdown = in_folder (f, "run.md");
  g_autofree char *text = NULL, *other = NULL;
  g_assert_true (g_file_get_contents (markdown, &text, NULL, NULL));
  g_assert_true (g_file_get_contents (plan, &other, NULL, NULL));
  g_assert_nonnull (strstr (text, lig_training_get_uuid (training)));
  g_assert_nonnull (strstr (text, "Validation loss"));
  g_assert_null (strstr (other, lig_training_get_uuid (training)));
  g_assert_nonnull (find_widget (GTK_WIDGET (f->window), has_action, "win.export"));
}

static void
add_tests (void)
{
#define ADD(path, function) \
  g_test_add ("/ui/finished/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("result", test_result);
  ADD ("one-loss", test_one_loss);
  ADD ("export", test_export);
#undef ADD
}

int
main (int argc, char **argv)
{
  return run_application_tests (argc, argv, add_tests);
}
