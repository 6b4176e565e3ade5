/* SPDX-License-Identifier: MIT */
/* `lig runs repeat`: trains or profiles again from the recorded settings, and compares both. */
#include "app/cli/control.h"
#include "app/cli/launch.h"
#include "app/cli/metrics.h"
#include "app/cli/rank-device.h"
#include "app/cli/rank.h"
#include "app/cli/runs.h"
#include "app/cli/task.h"
#include "app/cli/train-options.h"
#include "app/cli/train-progress.h"

#include <ligature/repeat.h>
#include <ligature/store-sweeps.h>

#include <stdio.h>
#include <string.h>

static LigRecording *
open_recording (LigStore *store, const char *what, GError **error)
{
  if (g_file_test (what, G_FILE_TEST_IS_REGULAR))
    return lig_recording_read_report (what, error);
  g_autoptr (GError) failure = NULL;
  g_autoptr (LigRunRow) row = lig_cli_find_run (store, what, NULL, &failure);
  g_autoptr (LigSweepRow) sweep = row ? NULL : lig_store_find_sweep (store, what, NULL);
  if (sweep)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "'%s' is a sweep; repeat one of its runs: lig runs list --sweep %.8s", what,
                 sweep->uuid);
  else if (!row)
    g_propagate_error (error, g_steal_pointer (&failure));
  return row ? lig_recording_read_run (store, row->uuid, error) : NULL;
}

/* Trains again; returns the uuid of the new run, which is empty without a store, NULL with an error
 * set. A run that fails as the recorded one did is a result, not an error. */
static char *
train (const LigRecording *recording, LigDevice *device, LigStore *store, GError **error)
{
  LigRunProgress progress;
  g_autoptr (GError) failure = NULL;
  g_autoptr (LigRun) run = lig_recording_train (recording, device, store, error);
  if (!run)
    return NULL;
  lig_cli_rank_record (run, store, LIG_CLI_LOST_FAILED);
  lig_cli_control_follow (run);
  lig_cli_watch_run (run);
  lig_cli_control_end ();
  lig_cli_rank_hold ();
  lig_cli_metrics_end ();
  if (!lig_run_wait (run, &failure))
    lig_cli_warn ("the repetition failed: %s", failure->message);
  lig_cli_rank_record (NULL, NULL, LIG_CLI_LOST_FAILED);
  lig_run_get_progress (run, &progress);
  const char *uuid = lig_run_get_uuid (run); /* null without a store */
  if (progress.status != LIG_RUN_INTERRUPTED)
    return g_strdup (uuid ? uuid : "");
  g_set_error (error, LIG_ERROR, LIG_ERROR_CANCELLED,
               "the repetition was interrupted at step %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
               progress.step, progress.steps);
  return NULL;
}

/* Shows the progress of the measurement. */
static gboolean
show_round (guint round, guint rounds, gpointer data)
{
  g_autofree char *text = g_strdup_printf ("step %u/%u", round, rounds);
  lig_cli_task_advance ((double) round / rounds, text, NULL);
  return TRUE;
}

static char *
profile (const LigRecording *recording, LigDevice *device, LigStore *store, GError **error)
{
  lig_cli_task_begin ("profiling");
  char *run = lig_recording_profile (recording, device, store, show_round, NULL, error);
  lig_cli_task_end ();
  return run;
}

static void
print (const LigRecording *recording, const LigRepetition *found, const char *run)
{
  if (!lig_cli_json () && lig_cli_quiet ()) {
    lig_cli_print ("%s", run);
    return;
  }
  if (!lig_cli_json ()) {
    lig_cli_print ("%s", found->text);
    lig_cli_print ("run %.8s repeats %.8s: lig runs compare %.8s %.8s", run,
                   lig_recording_get_run (recording), lig_recording_get_run (recording), run);
    return;
  }
  JsonNode *document = lig_repetition_to_json (found);
  JsonObject *object = json_node_get_object (document);
  json_object_set_string_member (object, "repeats", lig_recording_get_run (recording));
  json_object_set_string_member (object, "run", run);
  lig_cli_print_document ("runs-repeat", document);
}

/* Returns the device of the repetition, with as many ranks as recorded. */
static LigDevice *
open_device (const LigRecording *recording, const char *given, GError **error)
{
  const char *name = given ? given : lig_recording_get_device (recording);
  int ranks = lig_recording_get_ranks (recording),
      present = lig_ranks_get_count (lig_cli_rank_get ());
  if (ranks != present) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_RANKS,
                 "the number of ranks is %d, but run %.8s had %d; start as many", present,
                 lig_recording_get_run (recording), ranks);
    return NULL;
  }
  LigDevice *device =
    lig_cli_open_sharded_device (name, lig_recording_get_layout (recording), error);
  if (!device && !given)
    lig_cli_warn ("the run was on %s; repeat it elsewhere with --device", name);
  return device;
}

static void
announce (const LigRecording *recording, LigDevice *device)
{
  int ranks = lig_recording_get_ranks (recording);
  g_autofree char *many = ranks > 1 ? g_strdup_printf ("%d × ", ranks) : g_strdup ("");
  if (!lig_cli_json ())
    lig_cli_say ("repeating %s %.8s %s on %s%s",
                 lig_recording_is_profile (recording) ? "profile" : "training run",
                 lig_recording_get_run (recording), lig_recording_get_name (recording), many,
                 lig_device_get_name (device));
  g_autofree char *length = lig_recording_explain_length (recording);
  if (length && lig_cli_rank_is_first ())
    lig_cli_say ("%s", length);
}

/* Repeats the run in this process, which may be one of the ranks; rank 0 has the store. */
static int
repeat_here (const LigRecording *recording, const LigRunsOptions *options, LigStore *store)
{
  g_autoptr (GError) error = NULL;
  gboolean first = lig_cli_rank_is_first ();
  if (options->control && first && !lig_cli_control_open (&error))
    return lig_cli_rank_fail (g_steal_pointer (&error));
  g_autoptr (LigDevice) device = open_device (recording, options->device, &error);
  if (!device)
    return lig_cli_rank_fail (g_steal_pointer (&error));
  announce (recording, device);
  g_autofree char *run = lig_recording_is_profile (recording)
                           ? profile (recording, device, first ? store : NULL, &error)
                           : train (recording, device, first ? store : NULL, &error);
  if (run && !first)
    return LIG_EXIT_OK;
  g_autoptr (LigRepetition) found =
    run ? lig_recording_conclude (recording, store, run, &error) : NULL;
  if (!found && g_error_matches (error, LIG_ERROR, LIG_ERROR_CANCELLED))
    return first ? lig_cli_fail (g_steal_pointer (&error)) : LIG_EXIT_OK;
  if (!found)
    return lig_cli_rank_fail (g_steal_pointer (&error));
  print (recording, found, run);
  return found->outcome == LIG_REPETITION_DIFFERENT ? LIG_EXIT_FAILED : LIG_EXIT_OK;
}

/* Starts the ranks. They repeat the run that this process has found, even if a newer one begins. */
static int
launch (const LigRecording *recording, const char *what, char *const *words)
{
  g_autoptr (GPtrArray) named = g_ptr_array_new ();
  gboolean report = g_file_test (what, G_FILE_TEST_IS_REGULAR);
  for (guint i = 0; words[i]; i++)
    g_ptr_array_add (
      named, words[i] == what && !report ? (gpointer) lig_recording_get_run (recording) : words[i]);
  g_ptr_array_add (named, NULL);
  return lig_cli_launch (lig_recording_get_ranks (recording), (char **) named->pdata);
}

int
lig_runs_repeat (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (LigRecording) recording = open_recording (store, arguments[0], &error);
  if (!recording)
    return lig_cli_fail (error);
  int ranks = lig_recording_get_ranks (recording);
  if (ranks > 1 && lig_cli_needs_launch (ranks))
    return launch (recording, arguments[0], options->words);
  if (!lig_cli_rank_join (&error))
    return lig_cli_rank_fail (error);
  return repeat_here (recording, options, store);
}
