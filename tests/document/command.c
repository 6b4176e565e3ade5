/* SPDX-License-Identifier: MIT */
/* Tests that the command line copied from a document prints the plan and writes the report that the
 * window shows. */
#include "tests/document/command-case.h"
#include "ui/document/edit.h"
#include "ui/document/export.h"

#include <glib/gstdio.h>

/* Tests the command before and after the document has a file. */
static void
test_plan (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill_odd (f->doc);
  assert_same_plan (f);
  lig_document_set_policy (f->doc, LIG_POLICY_NONE);
  assert_same_plan (f);
  lig_document_set_policy (f->doc, LIG_POLICY_ALL);
  g_autofree char *path = g_build_filename (f->folder, "with space.lig", NULL);
  g_assert_true (lig_document_save (f->doc, path, &error));
  assert_same_plan (f);
}

typedef struct {
  gboolean done;
  GError *error;
} Answer;

static void
take_export (GObject *source, GAsyncResult *result, gpointer data)
{
  Answer *answer = data;
  lig_export_finish (LIG_DOCUMENT (source), result, &answer->error);
  answer->done = TRUE;
}

/* The command contained in a report creates that report. */
static void
test_report (DocumentFixture *f, gconstpointer data)
{
  Answer answer = {0};
  g_autofree char *path = g_build_filename (f->folder, "a report.json", NULL);
  g_autofree char *before = NULL, *after = NULL;
  fill (f->doc, "linear(4) ! | ! gelu");
  lig_export_async (f->doc, path, NULL, take_export, &answer);
  while (!answer.done)
    g_main_context_iteration (NULL, TRUE);
  g_assert_no_error (answer.error);
  g_assert_true (g_file_get_contents (path, &before, NULL, NULL));
  g_autoptr (JsonNode) root = json_from_string (before, NULL);
  const char *command = json_object_get_string_member (json_node_get_object (root), "command");
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_free (run_command (f, command, ""));
  g_assert_true (g_file_get_contents (path, &after, NULL, NULL));
  g_assert_cmpstr (before, ==, after);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/document/command/plan", test_plan);
  ADD_DOCUMENT_TEST ("/document/command/report", test_report);
  return g_test_run ();
}
