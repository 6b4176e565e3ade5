/* SPDX-License-Identifier: MIT */
/* Functions for tests of the command line: they run the real program in a temporary folder and read
 * values from the JSON that it prints. */
#pragma once

#include "tests/base/contains.h"
#include "tests/base/folder.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <sys/wait.h>

/* The folder in which commands run; removed at the end. */
static char *folder;

typedef struct {
  int code;
  char *out, *err;
  JsonNode *json; /* NULL if stdout is not one JSON document */
} Outcome;

static inline void
outcome_clear (Outcome *outcome)
{
  g_free (outcome->out);
  g_free (outcome->err);
  g_clear_pointer (&outcome->json, json_node_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Outcome, outcome_clear)

static inline Outcome
run_argv (char **argv)
{
  Outcome outcome = {0};
  g_autoptr (GError) error = NULL;
  int status = 0;
  g_spawn_sync (folder, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &outcome.out, &outcome.err,
                &status, &error);
  g_assert_no_error (error);
  g_assert_true (WIFEXITED (status));
  outcome.code = WEXITSTATUS (status);
  outcome.json = json_from_string (outcome.out, NULL);
  return outcome;
}

/* Runs lig with these arguments, null-terminated. */
static inline Outcome
lig (const char *first, ...)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  va_list arguments;
  g_ptr_array_add (argv, (gpointer) g_getenv ("LIG"));
  va_start (arguments, first);
  for (const char *one = first; one; one = va_arg (arguments, const char *))
    g_ptr_array_add (argv, (gpointer) one);
  va_end (arguments);
  g_ptr_array_add (argv, NULL);
  return run_argv ((char **) argv->pdata);
}

/* Runs a line in a shell, as a user would paste it. */
static inline Outcome
shell (const char *line)
{
  return run_argv ((char *[]){"sh", "-c", (char *) line, NULL});
}

/* Returns the value below `node` at a place such as "ops.0.output": members and array indexes,
 * separated by dots. */
static inline JsonNode *
at (JsonNode *node, const char *place)
{
  g_auto (GStrv) keys = g_strsplit (place, ".", -1);
  for (char **key = keys; node && *key; key++) {
    if (JSON_NODE_HOLDS_OBJECT (node)) {
      node = json_object_get_member (json_node_get_object (node), *key);
    } else if (JSON_NODE_HOLDS_ARRAY (node)) {
      JsonArray *array = json_node_get_array (node);
      guint index = (guint) g_ascii_strtoull (*key, NULL, 10);
      node = index < json_array_get_length (array) ? json_array_get_element (array, index) : NULL;
    } else {
      node = NULL;
    }
  }
  if (!node)
    g_test_message ("there is no %s", place);
  g_assert_nonnull (node);
  return node;
}

static inline const char *
text_at (JsonNode *node, const char *place)
{
  return json_node_get_string (at (node, place));
}

static inline gint64
int_at (JsonNode *node, const char *place)
{
  return json_node_get_int (at (node, place));
}

static inline guint
length_at (JsonNode *node, const char *place)
{
  return json_array_get_length (json_node_get_array (at (node, place)));
}

/* Checks that the object has exactly these keys, in this order, separated by spaces. */
static inline void
assert_keys (JsonNode *node, const char *expected)
{
  g_autoptr (GList) keys = json_object_get_members (json_node_get_object (node));
  g_autoptr (GString) text = g_string_new (NULL);
  for (GList *key = keys; key; key = key->next)
    g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", (const char *) key->data);
  g_assert_cmpstr (text->str, ==, expected);
}

/* Checks that the command failed with this exit code and printed the error as JSON. */
static inline void
assert_error (const Outcome *outcome, int code, const char *word, const char *part)
{
  g_assert_cmpint (outcome->code, ==, code);
  g_assert_nonnull (outcome->json);
  assert_keys (at (outcome->json, "error"), "code message path");
  g_assert_cmpstr (text_at (outcome->json, "error.code"), ==, word);
  assert_contains (text_at (outcome->json, "error.message"), part);
  assert_contains (outcome->err, part);
}

static inline void
assert_failed (const Outcome *outcome, int code, const char *word, const char *part)
{
  assert_error (outcome, code, word, part);
  assert_keys (outcome->json, "error");
}

static inline char *
in_folder (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

/* Runs the tests. All files, including the store and the checkpoints, are in the folder. */
static inline int
run_cli_tests (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *program = g_path_get_dirname (g_getenv ("LIG"));
  g_autofree char *path = g_strconcat (program, ":", g_getenv ("PATH"), NULL);
  folder = g_dir_make_tmp ("lig-XXXXXX", &error);
  g_assert_no_error (error);
  g_autofree char *store = in_folder ("runs.db");
  g_setenv ("PATH", path, TRUE);
  g_setenv ("LIGATURE_STORE", store, TRUE);
  g_setenv ("XDG_DATA_HOME", folder, TRUE);
  g_setenv ("LC_ALL", "C.UTF-8", TRUE);
  int result = g_test_run ();
  remove_folder (folder);
  g_free (folder);
  return result;
}
