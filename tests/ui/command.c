/* SPDX-License-Identifier: MIT */
/* The command lines that the pages Run and History copy train like the window. They need the pages'
 * code, but no window. */
#include "tests/document/command-case.h"
#include "ui/history/format.h"
#include "ui/run/settings.h"

static void
test_train (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill_odd (f->doc);
  lig_document_set_policy (f->doc, LIG_POLICY_ALL);
  for (int saved = 0; saved < 2; saved++) {
    g_autofree char *path = g_build_filename (f->folder, "with space.lig", NULL);
    g_autofree char *command = lig_train_to_command (f->doc);
    g_autofree char *printed = run_command (f, command, "--json");
    g_autoptr (LigRunRow) row =
      lig_store_find_run (lig_session_get_store (f->session), "last", &error);
    g_assert_no_error (error);
    g_assert_cmpstr (row->name, ==, "It's one");
    g_assert_cmpstr (row->policy, ==, "all");
    g_assert_nonnull (strstr (row->sequence, "\"fusion\": \"backward-linear-bias\""));
    g_assert_nonnull (strstr (row->sequence, "\"at\": \"1.0.0\""));
    g_assert_nonnull (strstr (row->sequence, "\"fusion\": \"forward-bias-activation\""));
    g_autofree char *again = lig_history_command (row, f->session);
    g_free (run_command (f, again, "--steps 1"));
    g_assert_true (lig_document_save (f->doc, path, &error));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/command/train", test_train);
  return g_test_run ();
}
