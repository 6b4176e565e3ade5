/* SPDX-License-Identifier: MIT */
/* `lig runs repeat`: trains or profiles again from what is recorded, and compares both. */
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

/* Trains again; returns the uuid of the new run, NULL with an error set. A training that fails as
 * the recorded one did is a result and no error. */
static char *
train (const LigRecording *recording, LigDevice *device, LigStore *store, GError **error)
{
  LigRunProgress progress;
  g_autoptr (GError) failure = NULL;
  g_autoptr (LigRun) run = lig_recording_train (recording, device, store, error);
  if (!run)
    return NULL;
  lig_cli_watch_run (run);
  if (!lig_run_wait (run, &failure))
    lig_cli_warn ("the repetition failed: %s", failure->message);
  lig_run_get_progress (run, &progress);
  if (progress.status != LIG_RUN_INTERRUPTED)
    return g_strdup (lig_run_get_uuid (run));
  g_set_error (error, LIG_ERROR, LIG_ERROR_CANCELLED,
               "the repetition was interrupted at step %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
               progress.step, progress.steps);
  return NULL;
}

/* Shows how far the measurement is. */
static gboolean
show_round (guint round, guint rounds, gpointer data)
{
  g_autofree char *text = g_strdup_printf ("run %u/%u", round, rounds);
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

int
lig_runs_repeat (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  const char *what = arguments[0], *device_name = options->device;
  GError *error = NULL;
  g_autoptr (LigRecording) recording = open_recording (store, what, &error);
  if (!recording)
    return lig_cli_fail (error);
  const char *name = device_name ? device_name : lig_recording_get_device (recording);
  g_autoptr (LigDevice) device = lig_cli_open_training_device (name, &error);
  if (!device) {
    if (!device_name)
      lig_cli_warn ("the run was on %s; repeat it elsewhere with --device", name);
    return lig_cli_fail (error);
  }
  if (!lig_cli_json ())
    lig_cli_say ("repeating %s %.8s %s on %s",
                 lig_recording_is_profile (recording) ? "profile" : "training",
                 lig_recording_get_run (recording), lig_recording_get_name (recording),
                 lig_device_get_name (device));
  if (lig_recording_get_ranks (recording) > 1)
    lig_cli_warn (
      "the number of ranks was %d, and this process repeats the run alone: sums are added up "
      "in another order, so that the last digits differ",
      lig_recording_get_ranks (recording));
  g_autofree char *run = lig_recording_is_profile (recording)
                           ? profile (recording, device, store, &error)
                           : train (recording, device, store, &error);
  g_autoptr (LigRepetition) found =
    run ? lig_recording_conclude (recording, store, run, &error) : NULL;
  if (!found)
    return lig_cli_fail (error);
  print (recording, found, run);
  return found->outcome == LIG_REPETITION_DIFFERENT ? LIG_EXIT_FAILED : LIG_EXIT_OK;
}
