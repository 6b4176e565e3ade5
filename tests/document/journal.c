/* SPDX-License-Identifier: MIT */
/* Tests files, and the recovery of a killed program's edits from the journal. */
#include "tests/document/case.h"
#include "ui/document/edit.h"
#include <ligature/store.h>

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

static void
test_files (DocumentFixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (f->folder, "one.lig", NULL);
  g_autofree char *broken = g_build_filename (f->folder, "two.lig", NULL);
  g_assert_true (lig_document_is_pristine (f->doc));
  fill (f->doc, "gelu ! relu");
  g_assert_true (lig_document_is_modified (f->doc));
  g_assert_true (lig_document_save (f->doc, path, &error));
  g_assert_false (lig_document_is_modified (f->doc));
  lig_document_undo (f->doc);
  g_assert_true (lig_document_is_modified (f->doc));
  lig_document_redo (f->doc);
  g_assert_false (lig_document_is_modified (f->doc));
  g_assert_true (
    g_file_set_contents (broken, "{\"ligature\":1,\"ops\":[{\"op\":\"gelo\"}]}", -1, NULL));
  g_assert_false (lig_document_load (f->doc, broken, NULL, &error));
  g_assert_nonnull (strstr (error->message, "$.ops[0]"));
  assert_text (f->doc, "gelu ! relu");
  g_clear_error (&error);
  g_assert_false (lig_document_save (f->doc, "/proc/nowhere/x.lig", &error));
  g_assert_nonnull (error);
  g_autofree char *command = lig_document_to_command (f->doc, "fuse");
  g_assert_true (g_str_has_suffix (command, "/one.lig --device cpu"));
}

/* A child process edits and is killed; its edits are offered once. */
static void
test_recovery (DocumentFixture *f, gconstpointer data)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  const char *argv[] = {program, "--edit-and-die",
                        lig_store_get_path (lig_session_get_store (f->session)), NULL};
  int status;
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL,
                               &status, NULL));
  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  g_autoptr (GPtrArray) lost = lig_journal_find_lost (lig_session_get_store (f->session));
  g_assert_cmpuint (lost->len, ==, 1);
  const LigLostEdit *edit = lost->pdata[0];
  g_assert_cmpuint (edit->edits, ==, 4);
  lig_document_recover (f->doc, edit);
  assert_text (f->doc, "gelu ! relu");
  g_assert_true (lig_document_is_modified (f->doc));
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Add ReLU");
  g_assert_cmpstr (lig_document_get_redo_label (f->doc), ==, "Add SiLU");
  lig_document_redo (f->doc);
  assert_text (f->doc, "gelu ! relu ! silu");
  for (guint i = 0; i < 3; i++)
    lig_document_undo (f->doc);
  assert_text (f->doc, "");
  g_assert_null (lig_document_get_undo_label (f->doc));
  lig_journal_forget (lig_session_get_store (f->session), edit->key);
  g_autoptr (GPtrArray) none = lig_journal_find_lost (lig_session_get_store (f->session));
  g_assert_cmpuint (none->len, ==, 0);
}

/* Adds a row of a program that ran before the machine was last started. */
static void
add_row (DocumentFixture *f, const char *key, const char *json)
{
  sqlite3 *db;
  sqlite3_stmt *statement;
  g_assert_cmpint (sqlite3_open (lig_store_get_path (lig_session_get_store (f->session)), &db), ==,
                   SQLITE_OK);
  sqlite3_prepare_v2 (db, "INSERT INTO edit (document, json, made) VALUES (?1, ?2, 1)", -1,
                      &statement, NULL);
  sqlite3_bind_text (statement, 1, key, -1, SQLITE_TRANSIENT);
  sqlite3_bind_text (statement, 2, json, -1, SQLITE_TRANSIENT);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_DONE);
  sqlite3_finalize (statement);
  sqlite3_close (db);
}

/* Journals with damaged rows can be read, shown and deleted; an intact row among damaged ones is
 * recovered. */
static void
test_damaged_journal (DocumentFixture *f, gconstpointer data)
{
  LigStore *store = lig_session_get_store (f->session);
  g_autofree char *deep = g_strnfill (2000000, '[');
  g_autofree char *wide = g_strnfill (1000000, 'A');
  g_autofree char *label =
    g_strdup_printf ("{\"kind\":\"edit\",\"label\":\"%s\",\"path\":\"%s\"}", wide, wide);
  const char *const rows[] = {"{\"kind\":1}",
                              deep,
                              label,
                              "{\"kind\":\"edit\",\"label\":[],\"path\":{},\"sequence\":7}",
                              "{\"kind\":\"edit\",\"when\":\"today\"}",
                              "{\"kind\":\"edit\",\"when\":9223372036854775807}",
                              "{\"kind\":\"undo\"}",
                              "\"edit\"",
                              "{\"label\":\"\xc3\"}",
                              ""};
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *key = g_strdup_printf ("before|1|1|%u", i);
    add_row (f, key, rows[i]);
  }
  add_row (f, "before|1|1|good", deep);
  add_row (f, "before|1|1|good",
           "{\"kind\":\"edit\",\"label\":\"Add\",\"sequence\":\"{\\\"ligature\\\":1,"
           "\\\"ops\\\":[{\\\"op\\\":\\\"gelu\\\"}]}\"}");
  g_autoptr (GPtrArray) lost = lig_journal_find_lost (store);
  g_assert_cmpuint (lost->len, ==, G_N_ELEMENTS (rows) + 1);
  for (guint i = 0; i < lost->len; i++) {
    const LigLostEdit *edit = lost->pdata[i];
    g_autoptr (LigSequence) sequence = lig_sequence_from_json (edit->sequence, -1, NULL, NULL);
    g_assert_cmpint (g_utf8_strlen (edit->label, -1), <=, 201);
    g_assert_null (edit->path);
    g_assert_true ((sequence != NULL) == g_str_has_suffix (edit->key, "good"));
    if (sequence) {
      lig_document_recover (f->doc, edit);
      assert_text (f->doc, "gelu");
    }
    lig_journal_forget (store, edit->key);
  }
  g_autoptr (GPtrArray) none = lig_journal_find_lost (store);
  g_assert_cmpuint (none->len, ==, 0);
}

static int
edit_and_die (const char *store)
{
  LigSession *session = lig_session_new (store, NULL);
  LigDocument *doc = lig_document_new (session);
  lig_edit_add (doc, "gelu", NULL);
  lig_edit_add (doc, "relu", NULL);
  lig_edit_add (doc, "silu", NULL);
  lig_document_undo (doc);
  g_usleep (G_USEC_PER_SEC);
  kill (getpid (), SIGKILL);
  return 1;
}

int
main (int argc, char **argv)
{
  if (argc == 3 && strcmp (argv[1], "--edit-and-die") == 0)
    return edit_and_die (argv[2]);
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/document/journal/files", test_files);
  ADD_DOCUMENT_TEST ("/document/journal/recovery", test_recovery);
  ADD_DOCUMENT_TEST ("/document/journal/damaged-journal", test_damaged_journal);
  return g_test_run ();
}
