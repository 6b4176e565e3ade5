/* SPDX-License-Identifier: MIT */
#include "ui/session/repeat-child.h"

#include "ui/session/child-run.h"
#include <ligature/error.h>
#include <ligature/json.h>
#include <ligature/store.h>

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <signal.h>
#include <sys/prctl.h>

/* In the child: it is interrupted when the thread that waits for it ends, which happens when this
 * program ends. */
static void
end_with_parent (gpointer unused)
{
  prctl (PR_SET_PDEATHSIG, SIGINT);
}

static GSubprocess *
start (LigStore *store, const char *run, GError **error)
{
  g_autofree char *program = lig_child_run_find_program ();
  if (!program) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_FILE,
                         _ ("ranks: the program lig is not installed"));
    return NULL;
  }
  const char *const words[] = {
    program, "runs", "repeat", run, "--json", "--store", lig_store_get_path (store), NULL};
  g_autoptr (GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_subprocess_launcher_set_child_setup (launcher, end_with_parent, NULL, NULL);
  return g_subprocess_launcher_spawnv (launcher, words, error);
}

/* A repetition that differs is also printed. Without one, the last line of the errors is the
 * reason. */
static char *
read_result (const char *printed, char *said, GError **error)
{
  g_autoptr (JsonNode) root = printed && *printed ? lig_json_from_text (printed, NULL) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const char *run = object ? lig_json_get_string (object, "run", NULL) : NULL;
  if (run)
    return g_strdup (run);
  g_autofree char *reason = lig_child_run_find_reason (said);
  g_set_error_literal (error, LIG_ERROR, LIG_ERROR_RANKS, reason);
  return NULL;
}

char *
lig_repeat_child_run (LigStore *store, const char *run, GCancellable *stop, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autofree char *printed = NULL, *said = NULL;
  g_autoptr (GSubprocess) process = start (store, run, error);
  if (!process)
    return NULL;
  if (g_subprocess_communicate_utf8 (process, NULL, stop, &printed, &said, &failure))
    return read_result (printed, said, error);
  g_subprocess_send_signal (process, SIGINT);
  g_subprocess_wait (process, NULL, NULL);
  if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_CANCELLED, _ ("the repetition was stopped"));
  else
    g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}
