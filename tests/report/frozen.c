/* SPDX-License-Identifier: MIT */
/* The report of a run with frozen parameters: its rails are those that the run executed, without
 * steps for frozen parameters. */
#include "tests/train/case.h"
#include <ligature/device.h>
#include <ligature/report.h>

#define NETWORK "linear(12) ! relu ! linear(5) ! cross-entropy"

static char *
report (Fixture *f, const char *settings)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigRun) run = new_run (f, NETWORK, "8x12", "synthetic?samples=200", settings);
  finish (run);
  g_assert_true (lig_store_flush (f->store, &error));
  g_assert_no_error (error);
  g_autoptr (GBytes) bytes = lig_report_run (f->store, lig_run_get_uuid (run), "html", &error);
  g_assert_no_error (error);
  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static void
test_rails (Fixture *f, gconstpointer data)
{
  static const char *const settings[] = {"steps=2", "steps=2 freeze=0.*", "steps=2 freeze=*.bias"};
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autofree char *html = report (f, settings[i]);
    if (!strstr (html, "Recompiled with the groups that the run recorded"))
      g_test_fail_printf ("'%s': the report has no rails", settings[i]);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/report-frozen/rails", Fixture, NULL, set_up, test_rails, tear_down);
  return g_test_run ();
}
