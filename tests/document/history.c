/* SPDX-License-Identifier: MIT */
/* The list of a document's edits, and jumps in it. */
#include "tests/document/case.h"
#include "ui/document/edit.h"
#include <ligature/store.h>

#include <unistd.h>

static void
assert_edits (LigDocument *doc, gboolean redo, const char *expected)
{
  g_auto (GStrv) labels = lig_document_list_edits (doc, redo);
  g_autofree char *joined = g_strjoinv (", ", labels);
  g_assert_cmpstr (joined, ==, expected);
}

static void
add (LigDocument *doc, const char *op)
{
  g_autoptr (GError) error = NULL;
  g_assert_true (lig_edit_add (doc, op, &error));
}

static void
test_list (DocumentFixture *f, gconstpointer data)
{
  assert_edits (f->doc, FALSE, "");
  add (f->doc, "gelu");
  add (f->doc, "relu");
  add (f->doc, "silu");
  assert_edits (f->doc, FALSE, "Add SiLU, Add ReLU, Add GELU");
  assert_edits (f->doc, TRUE, "");
  lig_document_step (f->doc, 2);
  assert_text (f->doc, "gelu");
  assert_edits (f->doc, FALSE, "Add GELU");
  assert_edits (f->doc, TRUE, "Add ReLU, Add SiLU");
  lig_document_step (f->doc, -1);
  assert_text (f->doc, "gelu ! relu");
  /* More steps than exist lead to the end. */
  lig_document_step (f->doc, -9);
  assert_text (f->doc, "gelu ! relu ! silu");
  lig_document_step (f->doc, 9);
  assert_text (f->doc, "");
  /* An edit discards the redo history. */
  lig_document_step (f->doc, -1);
  add (f->doc, "identity");
  assert_edits (f->doc, FALSE, "Add Identity, Add GELU");
  assert_edits (f->doc, TRUE, "");
}

/* If the program is killed after a jump, the target state of the jump is recovered. */
static void
test_journal (DocumentFixture *f, gconstpointer data)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  const char *argv[] = {program, "--jump-and-die",
                        lig_store_get_path (lig_session_get_store (f->session)), NULL};
  int status;
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL,
                               &status, NULL));
  g_autoptr (GPtrArray) lost = lig_journal_find_lost (lig_session_get_store (f->session));
  g_assert_cmpuint (lost->len, ==, 1);
  lig_document_recover (f->doc, lost->pdata[0]);
  assert_text (f->doc, "gelu ! relu");
  assert_edits (f->doc, FALSE, "Add ReLU, Add GELU");
  assert_edits (f->doc, TRUE, "Add SiLU, Add Identity");
}

static int
jump_and_die (const char *store)
{
  g_autoptr (LigSession) session = lig_session_new (store, NULL);
  LigDocument *doc = lig_document_new (session);
  static const char *const ops[] = {"gelu", "relu", "silu", "identity"};
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    lig_edit_add (doc, ops[i], NULL);
  lig_document_step (doc, 3);
  lig_document_step (doc, -1);
  g_object_run_dispose (G_OBJECT (doc)); /* waits for the journal */
  _exit (0);
}

int
main (int argc, char **argv)
{
  if (argc == 3 && g_str_equal (argv[1], "--jump-and-die"))
    return jump_and_die (argv[2]);
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/document/history/list", test_list);
  ADD_DOCUMENT_TEST ("/document/history/journal", test_journal);
  return g_test_run ();
}
