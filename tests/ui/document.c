/* SPDX-License-Identifier: MIT */
/* Documents: every edit, its undoing, its plan, and what a killed program leaves. */
#include "ui/document/edit.h"
#include "ui/document/export.h"
#include "ui/document/journal.h"
#include "ui/history/format.h"
#include "ui/run/settings.h"
#include <ligature/report.h>

#include <adwaita.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  char *folder, *store;
  LigSession *session;
  LigDocument *doc;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  f->folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  f->store = g_build_filename (f->folder, "store.db", NULL);
  f->session = lig_session_new (f->store, &error);
  g_assert_no_error (error);
  f->doc = lig_document_new (f->session);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_object_unref (f->doc);
  g_object_unref (f->session);
  g_autofree char *command = g_strdup_printf ("rm -rf '%s'", f->folder);
  g_assert_cmpint (system (command), ==, 0);
  g_free (f->folder);
  g_free (f->store);
}

static void
wait_for_plan (LigDocument *doc)
{
  gint64 until = g_get_monotonic_time () + 20 * G_USEC_PER_SEC;
  while (lig_document_is_stale (doc) && g_get_monotonic_time () < until)
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (lig_document_is_stale (doc));
}

static void
fill (Fixture *f, const char *expression)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_document_replace (f->doc, sequence, "Test");
}

static char *
to_text (Fixture *f)
{
  return lig_sequence_to_expression (lig_document_get_sequence (f->doc));
}

static void
assert_text (Fixture *f, const char *expected)
{
  g_autofree char *text = to_text (f);
  g_assert_cmpstr (text, ==, expected);
}

static LigOp *
op_at (Fixture *f, const char *path)
{
  const LigRow *row = lig_document_find_path (f->doc, path);
  g_assert_nonnull (row);
  return row->op;
}

/* --- Edits --------------------------------------------------------------------------------- */

static void
test_insert (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_assert_true (lig_edit_add (f->doc, "layer-norm", &error));
  g_assert_true (lig_edit_add (f->doc, "linear", &error));
  wait_for_plan (f->doc);
  assert_text (f, "layer-norm ! linear(768)");
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Add Linear");
  lig_document_select (f->doc, op_at (f, "0"), LIG_SELECT_ONLY);
  g_assert_true (lig_edit_add (f->doc, "gelu", &error));
  assert_text (f, "layer-norm ! gelu ! linear(768)");
  g_assert_true (lig_document_is_selected (f->doc, op_at (f, "1")));
  g_assert_false (lig_edit_add (f->doc, "gelo", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
  lig_document_undo (f->doc);
  lig_document_undo (f->doc);
  assert_text (f, "layer-norm");
  lig_document_redo (f->doc);
  assert_text (f, "layer-norm ! linear(768)");
  g_assert_cmpstr (lig_document_get_redo_label (f->doc), ==, "Add GELU");
}

static void
test_move (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f, "gelu ! relu ! silu ! identity");
  lig_document_select (f->doc, op_at (f, "0"), LIG_SELECT_ONLY);
  lig_document_select (f->doc, op_at (f, "2"), LIG_SELECT_TOGGLE);
  g_assert_true (lig_edit_move (f->doc, lig_document_get_sequence (f->doc), 4, &error));
  assert_text (f, "relu ! identity ! gelu ! silu");
  lig_edit_move_by (f->doc, -1);
  assert_text (f, "relu ! gelu ! silu ! identity");
  lig_edit_move_by (f->doc, 1);
  lig_edit_move_by (f->doc, 1);
  assert_text (f, "relu ! identity ! gelu ! silu");
  g_assert_cmpuint (lig_edit_duplicate (f->doc), ==, 2);
  assert_text (f, "relu ! identity ! gelu ! silu ! gelu ! silu");
  g_assert_cmpuint (lig_edit_delete (f->doc), ==, 2);
  assert_text (f, "relu ! identity ! gelu ! silu");
  for (int i = 0; i < 6; i++)
    lig_document_undo (f->doc);
  assert_text (f, "");
}

static void
test_block (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f, "layer-norm ! gelu ! relu ! silu");
  lig_document_select (f->doc, op_at (f, "1"), LIG_SELECT_ONLY);
  lig_document_select (f->doc, op_at (f, "2"), LIG_SELECT_RANGE);
  g_assert_true (lig_edit_group (f->doc, 3, &error));
  assert_text (f, "layer-norm ! block(3) { gelu ! relu } ! silu");
  guint count;
  lig_document_get_rows (f->doc, &count);
  g_assert_cmpuint (count, ==, 5);
  LigOp *block = op_at (f, "1");
  g_assert_true (op_at (f, "1.2.1") == op_at (f, "1.0.1"));
  lig_document_select (f->doc, block, LIG_SELECT_ONLY);
  g_assert_false (lig_edit_move (f->doc, lig_op_get_body (block), 0, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
  g_clear_error (&error);
  wait_for_plan (f->doc);
  lig_document_find_parts (f->doc, "1", &count);
  g_assert_cmpuint (count, ==, 6);
  lig_document_set_open (f->doc, block, FALSE);
  g_assert_true (op_at (f, "1.0.1") == block);
  g_assert_true (lig_edit_ungroup (f->doc, &error));
  assert_text (f, "layer-norm ! gelu ! relu ! silu");
  lig_document_select (f->doc, op_at (f, "0"), LIG_SELECT_ONLY);
  lig_document_select (f->doc, op_at (f, "2"), LIG_SELECT_TOGGLE);
  g_assert_false (lig_edit_group (f->doc, 2, &error));
}

/* Rows enter and leave blocks by keys, a block stays open wherever it goes. */
static void
test_into_block (Fixture *f, gconstpointer data)
{
  guint count;
  g_autoptr (GError) error = NULL;
  fill (f, "gelu ! block(2) { relu } ! silu");
  LigOp *block = op_at (f, "1");
  lig_document_set_open (f->doc, block, TRUE);
  lig_document_select (f->doc, op_at (f, "0"), LIG_SELECT_ONLY);
  lig_edit_move_by (f->doc, 1);
  assert_text (f, "block(2) { gelu ! relu } ! silu");
  lig_document_get_rows (f->doc, &count);
  g_assert_cmpuint (count, ==, 4);
  lig_edit_move_by (f->doc, 1);
  lig_edit_move_by (f->doc, 1);
  assert_text (f, "block(2) { relu } ! gelu ! silu");
  lig_edit_move_by (f->doc, -1);
  lig_edit_move_by (f->doc, -1);
  lig_edit_move_by (f->doc, -1);
  assert_text (f, "gelu ! block(2) { relu } ! silu");
  lig_document_undo (f->doc);
  lig_document_get_rows (f->doc, &count);
  g_assert_cmpuint (count, ==, 4);
  lig_document_select (f->doc, op_at (f, "0.0.0"), LIG_SELECT_ONLY);
  lig_document_select (f->doc, op_at (f, "0.0.1"), LIG_SELECT_TOGGLE);
  lig_edit_delete (f->doc);
  lig_document_select (f->doc, op_at (f, "0"), LIG_SELECT_ONLY);
  lig_document_set_open (f->doc, op_at (f, "0"), FALSE);
  g_assert_true (lig_edit_add (f->doc, "gelu", &error));
  assert_text (f, "block(2) { gelu } ! silu");
  g_assert_true (lig_document_is_selected (f->doc, op_at (f, "0.0.0")));
  lig_document_select (f->doc, op_at (f, "0"), LIG_SELECT_ONLY);
  lig_edit_set_fence (f->doc, op_at (f, "0"), TRUE);
  g_assert_true (lig_edit_ungroup (f->doc, &error));
  g_assert_true (lig_op_get_fence (op_at (f, "0")));
}

static void
test_wishes (Fixture *f, gconstpointer data)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_autoptr (GError) error = NULL;
  fill (f, "linear(64) ! gelu ! linear(32)");
  g_value_init (&value, G_TYPE_INT64);
  for (int i = 100; i < 104; i++) {
    g_value_set_int64 (&value, i);
    g_assert_true (lig_edit_set_value (f->doc, op_at (f, "0"), "out-features", &value, &error));
  }
  assert_text (f, "linear(103) ! gelu ! linear(32)");
  lig_document_undo (f->doc);
  assert_text (f, "linear(64) ! gelu ! linear(32)");
  lig_edit_set_fence (f->doc, op_at (f, "1"), TRUE);
  assert_text (f, "linear(64) ! | ! gelu ! linear(32)");
  lig_edit_move_fence (f->doc, op_at (f, "1"), op_at (f, "2"));
  assert_text (f, "linear(64) ! gelu ! | ! linear(32)");
  lig_edit_forbid (f->doc, NULL, "forward-linear-bias-activation", TRUE);
  lig_edit_set_batch (f->doc, 17);
  wait_for_plan (f->doc);
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (lig_document_get_plan (f->doc), &shape, &dtype);
  g_assert_cmpint (shape.axes[0], ==, 17);
  g_value_set_int64 (&value, -4);
  g_assert_false (lig_edit_set_value (f->doc, op_at (f, "0"), "out-features", &value, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
}

static void
test_connect (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f, "make-extra-output ! gelu ! add-extra-input");
  LigOp *from = op_at (f, "0"), *to = op_at (f, "2");
  g_assert_false (lig_edit_connect (f->doc, to, from, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_CHANNEL);
  g_clear_error (&error);
  g_assert_true (lig_edit_connect (f->doc, from, to, &error));
  assert_text (f, "make-extra-output(residual) ! gelu ! add-extra-input(residual)");
  lig_edit_disconnect (f->doc, to);
  lig_document_undo (f->doc);
  assert_text (f, "make-extra-output(residual) ! gelu ! add-extra-input(residual)");
}

/* --- Plans --------------------------------------------------------------------------------- */

static void
test_by_key (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f, "make-extra-output ! linear(768) ! add-extra-input");
  wait_for_plan (f->doc);
  g_assert_true (lig_edit_connect_selection (f->doc, op_at (f, "2"), &error));
  g_assert_cmpstr (lig_op_get_extra_input_channel (op_at (f, "2"), 0), ==, "residual");
  g_assert_false (lig_edit_connect_selection (f->doc, op_at (f, "0"), &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_CHANNEL);
  g_clear_error (&error);
  g_assert_false (lig_edit_connect_selection (f->doc, op_at (f, "1"), &error));
  g_clear_error (&error);
  wait_for_plan (f->doc);
  g_assert_true (lig_edit_toggle_forbidden (f->doc, op_at (f, "1"), &error));
  g_assert_cmpstr (lig_op_get_forbidden (op_at (f, "1"))[0], ==, "forward-linear-bias-add");
  g_assert_true (lig_edit_toggle_forbidden (f->doc, op_at (f, "1"), &error));
  g_assert_null (lig_op_get_forbidden (op_at (f, "1"))[0]);
  g_assert_false (lig_edit_toggle_forbidden (f->doc, op_at (f, "2"), &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FUSION);
}

static void
test_problems (Fixture *f, gconstpointer data)
{
  fill (f, "layer-norm ! linear(64) ! linear(32, in-features=65) ! gelu");
  wait_for_plan (f->doc);
  const LigProblem *problem = lig_document_get_problem (f->doc, 0);
  g_assert_nonnull (problem);
  g_assert_cmpstr (problem->path, ==, "2");
  g_assert_nonnull (strstr (problem->text, "65"));
  guint count;
  lig_plan_get_ops (lig_document_get_plan (f->doc), &count);
  g_assert_cmpuint (count, ==, 3);
  lig_document_undo (f->doc);
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
}

/* A plan that cannot run is shown whole, with the reason. */
static void
test_too_large (Fixture *f, gconstpointer data)
{
  LigShape shape;
  guint count;
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (1000000), G_GINT64_CONSTANT (1000000));
  lig_document_set_device (f->doc, "null:h200");
  fill (f, "linear(2000000) ! linear(4) ! mean-squared-error");
  lig_edit_set_input (f->doc, &shape, LIG_FP32);
  wait_for_plan (f->doc);
  const LigProblem *problem = lig_document_get_problem (f->doc, 0);
  g_assert_nonnull (problem);
  g_assert_true (problem->whole && !problem->path);
  g_assert_nonnull (strstr (problem->text, "does not fit null:h200"));
  g_assert_nonnull (strstr (problem->text, "0.weight 8 TB"));
  lig_plan_get_ops (lig_document_get_plan (f->doc), &count);
  g_assert_cmpuint (count, ==, 5);
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (10), G_GINT64_CONSTANT (10));
  lig_edit_set_input (f->doc, &shape, LIG_FP32);
  wait_for_plan (f->doc);
  g_assert_null (lig_document_get_problem (f->doc, 0));
}

/* --- Files and the journal ----------------------------------------------------------------- */

static void
test_files (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (f->folder, "one.lig", NULL);
  g_autofree char *broken = g_build_filename (f->folder, "two.lig", NULL);
  g_assert_true (lig_document_is_pristine (f->doc));
  fill (f, "gelu ! relu");
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
  assert_text (f, "gelu ! relu");
  g_clear_error (&error);
  g_assert_false (lig_document_save (f->doc, "/proc/nowhere/x.lig", &error));
  g_assert_nonnull (error);
  g_autofree char *command = lig_document_to_command (f->doc, "fuse");
  g_assert_true (g_str_has_suffix (command, "/one.lig --device cpu"));
}

/* --- The same on the command line ----------------------------------------------------------- */

/* Runs what was copied as a person's shell would; (transfer full): what it prints. */
static char *
paste (Fixture *f, const char *command, const char *more)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *tests = g_path_get_dirname (program);
  g_autofree char *folder = g_build_filename (tests, "..", "..", "app", NULL);
  g_autofree char *line = g_strdup_printf ("cd '%s' && PATH='%s:'$PATH LIGATURE_STORE='%s' %s %s",
                                           f->folder, folder, f->store, command, more);
  const char *argv[] = {"sh", "-c", line, NULL};
  char *text = NULL;
  int status;
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL,
                               G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &text,
                               NULL, &status, &error));
  if (status != 0)
    g_error ("%s: status %d", command, status);
  return text;
}

static void
assert_same_plan (Fixture *f)
{
  /* The window measures the processor at its first use; the command reads that from the store. */
  wait_for_plan (f->doc);
  g_autofree char *command = lig_document_to_command (f->doc, "fuse");
  g_autofree char *printed = paste (f, command, "--json");
  g_assert_null (lig_document_get_problem (f->doc, 0));
  g_autoptr (JsonNode) node = lig_plan_to_json (lig_document_get_plan (f->doc));
  g_autofree char *shown = lig_json_to_text (node);
  g_autoptr (JsonNode) said = json_from_string (printed, NULL);
  g_autofree char *told = lig_json_to_text (said);
  g_assert_cmpstr (told, ==, shown);
}

/* What an expression can say, and what it cannot. */
static void
test_command (Fixture *f, gconstpointer data)
{
  static const char text[] =
    "{\"ligature\":1,\"name\":\"It's one\",\"input\":{\"shape\":[32,16],\"dtype\":\"fp32\"},"
    "\"types\":{\"parameters\":\"fp32\"},\"ops\":[{\"op\":\"layer-norm\"},"
    "{\"op\":\"block\",\"repeat\":2,\"ops\":[{\"op\":\"linear\",\"out-features\":16},"
    "{\"op\":\"gelu\"}]},{\"op\":\"linear\",\"out-features\":4},{\"op\":\"relu\"},"
    "{\"op\":\"linear\",\"out-features\":4},{\"op\":\"gelu\"},"
    "{\"op\":\"mean-squared-error\"}],\"fences\":[\"1.0.0\",\"3\"],"
    "\"forbid\":[{\"fusion\":\"backward-linear-bias\"},"
    "{\"fusion\":\"forward-linear-bias-activation\",\"at\":\"1.0.0\"}],"
    "\"force\":[{\"fusion\":\"forward-bias-activation\",\"at\":\"4\"}],"
    "\"train\":{\"data\":\"synthetic\",\"steps\":3,\"checkpoint\":\"a b.safetensors\"}}";
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (text, -1, NULL, &error);
  g_assert_no_error (error);
  lig_document_replace (f->doc, sequence, "Test");
  assert_same_plan (f);
  lig_document_set_policy (f->doc, LIG_POLICY_NONE);
  assert_same_plan (f);
  lig_document_set_policy (f->doc, LIG_POLICY_ALL);
  for (int saved = 0; saved < 2; saved++) {
    g_autofree char *path = g_build_filename (f->folder, "with space.lig", NULL);
    g_autofree char *command = lig_train_to_command (f->doc);
    g_autofree char *printed = paste (f, command, "--json");
    g_autoptr (LigRunRow) row =
      lig_store_find_run (lig_session_get_store (f->session), "last", &error);
    g_assert_no_error (error);
    g_assert_cmpstr (row->name, ==, "It's one");
    g_assert_cmpstr (row->policy, ==, "all");
    g_assert_nonnull (strstr (row->sequence, "\"fusion\": \"backward-linear-bias\""));
    g_assert_nonnull (strstr (row->sequence, "\"at\": \"1.0.0\""));
    g_assert_nonnull (strstr (row->sequence, "\"fusion\": \"forward-bias-activation\""));
    g_autofree char *again = lig_history_command (row, f->session);
    g_free (paste (f, again, "--steps 1"));
    g_assert_true (lig_document_save (f->doc, path, &error));
  }
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

/* The command in a report makes the report. */
static void
test_report_command (Fixture *f, gconstpointer data)
{
  Answer answer = {0};
  g_autofree char *path = g_build_filename (f->folder, "a report.json", NULL);
  g_autofree char *before = NULL, *after = NULL;
  fill (f, "linear(4) ! | ! gelu");
  lig_export_async (f->doc, path, NULL, take_export, &answer);
  while (!answer.done)
    g_main_context_iteration (NULL, TRUE);
  g_assert_no_error (answer.error);
  g_assert_true (g_file_get_contents (path, &before, NULL, NULL));
  g_autoptr (JsonNode) root = json_from_string (before, NULL);
  const char *command = json_object_get_string_member (json_node_get_object (root), "command");
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_free (paste (f, command, ""));
  g_assert_true (g_file_get_contents (path, &after, NULL, NULL));
  g_assert_cmpstr (before, ==, after);
}

/* A child edits and is killed; its edits are offered, once. */
static void
test_recovery (Fixture *f, gconstpointer data)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  const char *argv[] = {program, "--edit-and-die", f->store, NULL};
  int status;
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL,
                               &status, NULL));
  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  g_autoptr (GPtrArray) lost = lig_journal_find_lost (lig_session_get_store (f->session));
  g_assert_cmpuint (lost->len, ==, 1);
  const LigLostEdit *edit = lost->pdata[0];
  g_assert_cmpuint (edit->edits, ==, 4);
  lig_document_recover (f->doc, edit);
  assert_text (f, "gelu ! relu");
  g_assert_true (lig_document_is_modified (f->doc));
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Add ReLU");
  g_assert_cmpstr (lig_document_get_redo_label (f->doc), ==, "Add SiLU");
  lig_document_redo (f->doc);
  assert_text (f, "gelu ! relu ! silu");
  for (guint i = 0; i < 3; i++)
    lig_document_undo (f->doc);
  assert_text (f, "");
  g_assert_null (lig_document_get_undo_label (f->doc));
  lig_journal_forget (lig_session_get_store (f->session), edit->key);
  g_autoptr (GPtrArray) none = lig_journal_find_lost (lig_session_get_store (f->session));
  g_assert_cmpuint (none->len, ==, 0);
}

/* A row of a program that ran before the machine was started. */
static void
add_row (Fixture *f, const char *key, const char *json)
{
  sqlite3 *db;
  sqlite3_stmt *statement;
  g_assert_cmpint (sqlite3_open (f->store, &db), ==, SQLITE_OK);
  sqlite3_prepare_v2 (db, "INSERT INTO edit (document, json, made) VALUES (?1, ?2, 1)", -1,
                      &statement, NULL);
  sqlite3_bind_text (statement, 1, key, -1, SQLITE_TRANSIENT);
  sqlite3_bind_text (statement, 2, json, -1, SQLITE_TRANSIENT);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_DONE);
  sqlite3_finalize (statement);
  sqlite3_close (db);
}

/* Whatever the rows hold, each journal can be read, shown and forgotten; a good row among damaged
 * ones is recovered. */
static void
test_damaged_journal (Fixture *f, gconstpointer data)
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
      assert_text (f, "gelu");
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
#define ADD(name) g_test_add ("/document/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (insert);
  ADD (move);
  ADD (block);
  ADD (into_block);
  ADD (wishes);
  ADD (connect);
  ADD (by_key);
  ADD (problems);
  ADD (too_large);
  ADD (files);
  ADD (command);
  ADD (report_command);
  ADD (recovery);
  ADD (damaged_journal);
  return g_test_run ();
}
