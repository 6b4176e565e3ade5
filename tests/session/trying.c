/* SPDX-License-Identifier: MIT */
/* Tests models that are tried in a process of their own: lines of tokens and of rows, the reason
 * of a failure, and that a stopped process ends. */
#include "ui/session/trying.h"
#include "tests/document/case.h"
#include "ui/session/child-run.h"
#include <ligature/json-members.h>
#include <ligature/json.h>

#include <signal.h>
#include <unistd.h>

typedef struct {
  char *folder, *text, *rows; /* the checkpoints of two models */
  LigTrying *trying;
  GPtrArray *lines; /* JsonObject */
  gboolean ended;
} Fixture;

/* Runs `lig` and returns its exit status. */
static int
call_lig (const char *const *arguments)
{
  int status = -1;
  g_autofree char *program = lig_child_run_find_program ();
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  g_ptr_array_add (words, program);
  for (; *arguments; arguments++)
    g_ptr_array_add (words, (char *) *arguments);
  g_ptr_array_add (words, NULL);
  g_assert_true (g_spawn_sync (NULL, (char **) words->pdata, NULL,
                               G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                               NULL, NULL, &status, NULL));
  return status;
}

static char *
train (Fixture *f, const char *sequence, const char *input, const char *kind, const char *data)
{
  g_autofree char *file = g_build_filename (f->folder, "data", NULL);
  g_autofree char *spec = g_strdup_printf ("%s:%s", kind, file);
  char *checkpoint = g_strdup_printf ("%s/%s.safetensors", f->folder, kind);
  g_assert_true (g_file_set_contents (file, data, -1, NULL));
  const char *const words[] = {"train",        sequence,   "--input", input,      "--data",
                               spec,           "--steps",  "2",       "--device", "cpu",
                               "--checkpoint", checkpoint, NULL};
  g_assert_cmpint (call_lig (words), ==, 0);
  return checkpoint;
}

static void
set_up (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new (NULL), rows = g_string_new ("a,b,class\n");
  for (int i = 0; i < 60; i++) {
    g_string_append (text, "a text that repeats ");
    g_string_append_printf (rows, "%d,%d,%s\n", i, 60 - i, i % 2 ? "odd" : "even");
  }
  f->folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  f->lines = g_ptr_array_new_with_free_func ((GDestroyNotify) json_object_unref);
  f->text =
    train (f, "embedding(8) ! linear(256) ! cross-entropy", "4x16:int32", "text", text->str);
  f->rows = train (f, "linear(2) ! cross-entropy", "4x2", "csv", rows->str);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  if (f->trying) {
    g_signal_handlers_disconnect_by_data (f->trying, f);
    lig_trying_stop (f->trying);
  }
  g_clear_object (&f->trying);
  while (g_main_context_iteration (NULL, FALSE))
    continue;
  g_ptr_array_unref (f->lines);
  g_free (f->text);
  g_free (f->rows);
  remove_folder (f->folder);
}

static void
take_line (LigTrying *trying, JsonObject *line, Fixture *f)
{
  g_ptr_array_add (f->lines, json_object_ref (line));
}

static void
take_end (LigTrying *trying, Fixture *f)
{
  f->ended = TRUE;
}

static void
start (Fixture *f, const char *model, gboolean rows)
{
  g_autoptr (GError) error = NULL;
  const LigTryingOrder order = {.model = model, .rows = rows, .device = "cpu"};
  f->trying = lig_trying_new (&order, &error);
  g_assert_no_error (error);
  g_signal_connect (f->trying, "line", G_CALLBACK (take_line), f);
  g_signal_connect (f->trying, "ended", G_CALLBACK (take_end), f);
}

static void
request (Fixture *f, const char *id, const char *prompt, gint64 max)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "id", id);
  lig_json_add_text (builder, "prompt", prompt);
  lig_json_add_integer (builder, "max", max);
  lig_trying_send (f->trying, builder);
}

static guint
count_with (Fixture *f, const char *id, const char *member)
{
  guint count = 0;
  for (guint i = 0; i < f->lines->len; i++)
    count += g_strcmp0 (lig_json_get_string (f->lines->pdata[i], "id", NULL), id) == 0 &&
             json_object_has_member (f->lines->pdata[i], member);
  return count;
}

/* Requests that are sent before the model is loaded are answered, too. */
static void
test_text (Fixture *f, gconstpointer data)
{
  g_assert_false (lig_trying_reads_rows (f->text));
  start (f, f->text, FALSE);
  request (f, "a", "a text ", 5);
  request (f, "b", "that ", 7);
  WAIT_FOR (count_with (f, "a", "ended") == 1 && count_with (f, "b", "ended") == 1);
  g_assert_cmpuint (count_with (f, "a", "token"), ==, 5);
  g_assert_cmpuint (count_with (f, "b", "token"), ==, 7);
  JsonObject *model = lig_trying_get_model (f->trying);
  g_assert_cmpint (lig_json_get_int (model, "vocabulary", 0), ==, 256);
  g_assert_false (f->ended);
}

static void
test_rows (Fixture *f, gconstpointer data)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_assert_true (lig_trying_reads_rows (f->rows));
  start (f, f->rows, TRUE);
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "id", "a");
  lig_json_add_integer (builder, "validation", 0);
  lig_trying_send (f->trying, builder);
  WAIT_FOR (count_with (f, "a", "probabilities") == 1);
  g_assert_cmpstr (lig_json_get_string (lig_trying_get_model (f->trying), "task", ""), ==, "class");
}

/* The reason is the sentence of the command. */
static void
test_failure (Fixture *f, gconstpointer data)
{
  g_autofree char *missing = g_build_filename (f->folder, "missing.safetensors", NULL);
  start (f, missing, FALSE);
  WAIT_FOR (f->ended);
  g_assert_null (lig_trying_get_model (f->trying));
  g_assert_nonnull (strstr (lig_trying_get_error (f->trying), "missing.safetensors"));
  g_assert_null (strstr (lig_trying_get_error (f->trying), "lig: "));
  /* A later request is lost without harm. */
  request (f, "a", "a", 1);
}

/* Finds the process by its command line, which has the model's file. */
static GPid
find_process (const char *model)
{
  const char *name;
  g_autoptr (GDir) folder = g_dir_open ("/proc", 0, NULL);
  while ((name = g_dir_read_name (folder))) {
    g_autofree char *file = g_build_filename ("/proc", name, "cmdline", NULL), *words = NULL;
    gsize length;
    if (!g_ascii_isdigit (*name) || !g_file_get_contents (file, &words, &length, NULL))
      continue;
    for (gsize i = 0; i < length; i += strlen (words + i) + 1)
      if (g_str_equal (words + i, model))
        return atoi (name);
  }
  return 0;
}

/* A process that was stopped ends while it writes, and says nothing more. */
static void
test_stop (Fixture *f, gconstpointer data)
{
  start (f, f->text, FALSE);
  request (f, "a", "a text ", 10000000);
  WAIT_FOR (count_with (f, "a", "token") > 3);
  g_assert_cmpint (find_process (f->text), >, 0);
  lig_trying_stop (f->trying);
  guint lines = f->lines->len;
  WAIT_FOR (find_process (f->text) == 0);
  g_assert_cmpuint (f->lines->len, ==, lines);
  g_assert_false (f->ended);
}

/* One that the kernel killed ends with advice. */
static void
test_killed (Fixture *f, gconstpointer data)
{
  start (f, f->text, FALSE);
  WAIT_FOR (lig_trying_get_model (f->trying));
  kill (find_process (f->text), SIGKILL);
  WAIT_FOR (f->ended);
  g_assert_nonnull (strstr (lig_trying_get_error (f->trying), "signal 9"));
}

static void
test_words (Fixture *f, gconstpointer data)
{
  const LigTryingOrder order = {.model = "1234", .rows = TRUE, .store = "s.db", .device = "cuda:0"};
  g_auto (GStrv) words = lig_trying_make_words ("lig", &order);
  g_autofree char *line = g_strjoinv (" ", words);
  g_assert_cmpstr (line, ==, "lig predict 1234 --lines --store s.db --device cuda:0");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, test) g_test_add ("/trying/" name, Fixture, NULL, set_up, test, tear_down)
  ADD ("text", test_text);
  ADD ("rows", test_rows);
  ADD ("failure", test_failure);
  ADD ("stop", test_stop);
  ADD ("killed", test_killed);
  ADD ("words", test_words);
  return g_test_run ();
}
