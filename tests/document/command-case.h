/* SPDX-License-Identifier: MIT */
/* Shared by the tests of copied command lines: runs one as a shell does. */
#pragma once

#include "tests/document/case.h"
#include <ligature/report.h>
#include <ligature/run.h>
#include <ligature/store.h>

#include <json-glib/json-glib.h>

/* Contains parts that an expression can express and parts that only a file can. */
static const char odd_sequence[] =
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

static inline void
fill_odd (LigDocument *doc)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (odd_sequence, -1, NULL, &error);
  g_assert_no_error (error);
  lig_document_replace (doc, sequence, "Test");
}

/* Runs a copied command as a shell would. Returns (transfer full) its output. */
static inline char *
run_command (DocumentFixture *f, const char *command, const char *more)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_path_get_dirname (g_getenv ("LIG"));
  const char *store = lig_store_get_path (lig_session_get_store (f->session));
  g_autofree char *line = g_strdup_printf ("cd '%s' && PATH='%s:'$PATH LIGATURE_STORE='%s' %s %s",
                                           f->folder, folder, store, command, more);
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

static inline void
assert_same_plan (DocumentFixture *f)
{
  /* The window measures the CPU on first use; the command reads the result from the store. */
  wait_for_plan (f->doc);
  g_autofree char *command = lig_document_to_command (f->doc, "fuse");
  g_autofree char *printed = run_command (f, command, "--json");
  g_assert_null (lig_document_get_problem (f->doc, 0));
  g_autoptr (JsonNode) node = lig_plan_to_json (lig_document_get_plan (f->doc));
  g_autofree char *shown = lig_json_to_text (node);
  g_autoptr (JsonNode) read = json_from_string (printed, NULL);
  /* The command adds its best edits, compiled, if the predicted times justify any. */
  json_object_remove_member (json_node_get_object (read), "fixes");
  g_autofree char *printed_again = lig_json_to_text (read);
  g_assert_cmpstr (printed_again, ==, shown);
}
