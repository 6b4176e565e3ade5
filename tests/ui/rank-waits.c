/* SPDX-License-Identifier: MIT */
/* The Profile page shows the waits of the ranks in the newest multi-rank run of its sequence.
 */
#include "ui/profile/rank-waits.h"
#include "tests/ui/profile-case.h"
#include "ui/document/edit.h"
#include <ligature/store-rows.h>
#include <ligature/store.h>

#include <math.h>

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *page;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "cpu");
  f->page =
    open_profile (f->doc, f->session, "linear(512) ! gelu ! linear(256) ! mean-squared-error",
                  "64x512", &f->window);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  free_document (f->folder, f->session, f->doc);
}

/* Records a run of the sequence with waits of the given median, in milliseconds. */
static char *
record (Fixture *f, LigSequence *sequence, const char *inputs, double exposed, double imbalance)
{
  g_autoptr (GError) error = NULL;
  LigStore *store = lig_session_get_store (f->session);
  g_autofree char *text = lig_sequence_to_json (sequence);
  const LigRunRecord row = {.name = "trained",
                            .sequence = text,
                            .kind = "train",
                            .device = "cpu",
                            .dtype = "fp32",
                            .recipe = "none",
                            .policy = "all",
                            .settings = "{}",
                            .versions = "{}",
                            .inputs = inputs};
  char *run = lig_store_begin_run (store, &row, &error);
  g_assert_no_error (error);
  for (gint64 step = 1; step <= 21; step++) {
    double factor = 1 + (double) (step - 11) * 0.02;
    /* Rank 1 in most of the steps; the median of the numbers is 2. */
    int slowest = step <= 6 ? 3 : step <= 12 ? 2 : 1;
    lig_store_add_metric (store, run, step, "step-ms", 12.5 * factor);
    lig_store_add_metric (store, run, step, LIG_METRIC_EXPOSED, exposed * factor);
    lig_store_add_metric (store, run, step, LIG_METRIC_IMBALANCE, imbalance * factor);
    lig_store_add_metric (store, run, step, LIG_METRIC_SLOWEST, slowest);
  }
  lig_store_finish_run (store, run, "done", NULL, &error);
  g_assert_no_error (error);
  lig_store_flush (store, &error);
  g_assert_no_error (error);
  return run;
}

static GtkWidget *
find_text (Fixture *f, const char *text)
{
  GtkWidget *found = find_widget (f->page, shows_text, text);
  return found && gtk_widget_get_mapped (found) ? found : NULL;
}

static void
show (Fixture *f)
{
  GtkWidget *overlay = adw_toast_overlay_new ();
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (overlay), f->page);
  show_in (f->window, overlay, 1200, 800);
}

/* Runs on one rank or of other ops do not count; the newest of the others does. */
static void
test_shown (Fixture *f, gconstpointer data)
{
  g_autoptr (LigSequence) other = lig_sequence_copy (lig_document_get_sequence (f->doc));
  g_assert_true (lig_sequence_remove (other, 1, NULL));
  LigSequence *own = lig_document_get_sequence (f->doc);
  g_autofree char *old = record (f, own, "{\"ranks\":4}", 9, 9);
  g_autofree char *run =
    record (f, own, "{\"ranks\":4,\"parallel\":\"data=2,tensor=2\"}", 1.25, 0.31);
  g_autofree char *foreign = record (f, other, "{\"ranks\":2}", 8, 8);
  g_autofree char *alone = record (f, own, "{}", 7, 7);
  show (f);
  WAIT_FOR (find_text (f, "Waits of 4 ranks"));
  g_autofree char *subtitle = g_strdup_printf ("Measured in run %.8s with data=2,tensor=2", run);
  g_assert_nonnull (find_text (f, subtitle));
  g_assert_nonnull (find_text (f, "1.25 ms"));
  g_assert_nonnull (find_text (f, "310 µs"));
  g_assert_nonnull (find_text (f, "12.5 ms"));
  g_assert_nonnull (find_text (f, "10 % of a step, not overlapped with other work"));
  g_assert_nonnull (find_text (f, "The others wait for rank 1, the slowest"));
  g_assert_nonnull (find_text (f, "Median of the last 21 steps"));
  /* Another sequence has no multi-rank run. */
  g_assert_true (lig_edit_add (f->doc, "relu", NULL));
  WAIT_FOR (!find_text (f, "Waits of 4 ranks"));
}

/* The prediction is for the same parallelism. */
static void
found (GObject *source, GAsyncResult *result, gpointer data)
{
  *(LigRankWaits **) data = lig_rank_waits_finish (result);
}

static void
test_predicted (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRankWaits) waits = NULL;
  g_autofree char *run =
    record (f, lig_document_get_sequence (f->doc), "{\"ranks\":2}", 1.25, 0.31);
  show (f);
  lig_document_set_device (f->doc, "null:h200");
  wait_for_plan (f->doc);
  lig_rank_waits_find (f->doc, NULL, found, &waits);
  WAIT_FOR (waits);
  g_assert_cmpstr (waits->run, ==, run);
  g_assert_cmpstr (waits->parallel, ==, "data=2");
  g_assert_cmpfloat (waits->predicted, >, 0);
  g_assert_cmpfloat (waits->predicted, <, 1e-3);
}

static void
add_tests (void)
{
  g_assert_true (g_main_context_acquire (NULL));
  g_test_add ("/ui/rank-waits/shown", Fixture, NULL, set_up, test_shown, tear_down);
  g_test_add ("/ui/rank-waits/predicted", Fixture, NULL, set_up, test_predicted, tear_down);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
