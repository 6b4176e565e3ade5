/* SPDX-License-Identifier: MIT */
/* lig sweep: trains a sequence with lists of settings, one run after another, or continues a sweep
 * that was interrupted. */
#include "app/cli/blame.h"
#include "app/cli/duration.h"
#include "app/cli/find-checkpoint.h"
#include "app/cli/launch.h"
#include "app/cli/output.h"
#include "app/cli/rank-device.h"
#include "app/cli/rank.h"
#include "app/cli/sweep-table.h"
#include "app/cli/task.h"
#include "app/cli/train-options.h"
#include "app/cli/train-progress.h"

#include <ligature/shell.h>
#include <ligature/store-rows.h>
#include <ligature/store.h>
#include <ligature/sweep.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The number of files that a run has open at a time, as for lig train. */
#define MAX_FILES 24

static int run (int argc, char **argv);
static void append_notes (GString *to);

LIG_COMMAND (sweep) = {
  .name = "sweep",
  .usage =
    "P --over KEY=A,B,… [--over KEY=C,D]… [--list FILE|--zip] --data DATA … | --resume SWEEP",
  .summary = "Trains with lists of settings, one run after another, and compares",
  .example = "lig sweep 'linear(16, init-std=0.3) ! gelu ! linear(4) ! mean-squared-error' "
             "--input 32x8 --data synthetic --steps 50 --over lr=0.01,0.001 --over seed=1..2",
  .run = run,
  .notes = append_notes,
};

typedef struct {
  LigTrainOptions train;
  char *list;
  GStrv over;
  gboolean zip, retry;
  int ranks; /* as given, else LIG_CLI_UNSET_RANKS */
} Options;

static void
append_notes (GString *to)
{
  g_string_append (
    to,
    "KEY is a training setting, one of the options above, recipe, or PATH.PARAMETER of an op, such "
    "as 0.out-features. A..B are the whole numbers from A to B. Several --over form a grid; with "
    "--zip they advance together.\n\n"
    "The FILE of --list is a CSV file: keys in the first line, then one line of values per run; "
    "quote values that contain commas.\n\n"
    "Runs that differ only in the seed share a line of the table: mean, spread and count. SWEEP is "
    "a "
    "uuid, its beginning, or last.\n\n");
  lig_cli_train_notes (to);
}

static void
clear (Options *options)
{
  lig_cli_clear_training (&options->train);
  g_free (options->list);
  g_strfreev (options->over);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, clear)

/* --- Beginning ----------------------------------------------------------------------------- */

static gboolean
add_axes (LigSweep *sweep, const Options *options, GError **error)
{
  g_autofree char *text = NULL;
  if (options->list && !g_file_get_contents (options->list, &text, NULL, error))
    return FALSE;
  if (text && !lig_sweep_add_list (sweep, text, error)) {
    g_prefix_error (error, "%s: ", options->list);
    return FALSE;
  }
  for (char **over = options->over; over && *over; over++)
    if (!lig_sweep_add (sweep, *over, options->zip, error))
      return lig_cli_blame (error, "over");
  return TRUE;
}

static void
set_ranks (LigSweep *sweep, LigDevice *device)
{
  const LigLayout *layout = lig_device_get_layout (device);
  g_autofree char *parallel = layout ? lig_layout_to_string (layout) : NULL;
  lig_sweep_set_ranks (sweep, lig_device_get_n_ranks (device, LIG_GROUP_ALL), parallel);
}

/* Rank 0, which has the store, records the sweep. The others only check it, so that all ranks find
 * errors of the command line. */
static LigSweep *
begin (const char *text, const Options *options, LigDevice *device, LigStore *store, GError **error)
{
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  g_autoptr (LigSequence) sequence = lig_cli_open_sequence (text, &options->train.sequence, error);
  if (!sequence || !lig_cli_train_settings (text, sequence, &options->train, &settings, error))
    return NULL;
  g_autofree char *init = NULL;
  if (!lig_cli_find_initial (options->train.init, options->train.store, &init, error))
    return NULL;
  g_autoptr (LigSweep) sweep =
    lig_sweep_new (sequence, lig_device_get_name (device), &settings, init);
  set_ranks (sweep, device);
  if (!add_axes (sweep, options, error) ||
      !(store ? lig_sweep_begin (sweep, store, error) : lig_sweep_check (sweep, error)))
    return NULL;
  return g_steal_pointer (&sweep);
}

/* --- Continuing ---------------------------------------------------------------------------- */

/* Returns whether the value of --parallel is the parallelism of the sweep. */
static gboolean
is_layout (LigSweep *sweep, const char *parallel, GError **error)
{
  LigLayout layout, recorded;
  int count = lig_sweep_get_ranks (sweep);
  if (!lig_layout_parse (&recorded, lig_sweep_get_parallel (sweep), count, error))
    return FALSE;
  return lig_layout_parse (&layout, parallel, count, NULL) &&
         memcmp (&layout, &recorded, sizeof layout) == 0;
}

/* Rejects ranks that differ from those of the sweep. */
static gboolean
check_division (LigSweep *sweep, const Options *options, GError **error)
{
  int count = lig_sweep_get_ranks (sweep), launched = lig_ranks_launched ();
  const char *given = options->train.parallel, *parallel = lig_sweep_get_parallel (sweep);
  g_autoptr (GError) failure = NULL;
  if (options->ranks != LIG_CLI_UNSET_RANKS && options->ranks != count)
    g_set_error (&failure, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--ranks cannot be combined with --resume: the sweep fixes it (ranks %d); omit it",
                 count);
  else if (given && !is_layout (sweep, given, &failure) && !failure)
    g_set_error (
      &failure, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "--parallel cannot be combined with --resume: the sweep fixes it (parallel %s); omit it",
      parallel ? parallel : "data=1");
  else if (!failure && launched > 0 && launched != count)
    g_set_error (&failure, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "the sweep has %d rank%s, but the launcher started %d; start %d", count,
                 LIG_ENDING (count), launched, count);
  if (!failure)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&failure));
  return FALSE;
}

/* Opens the sweep that is continued, in an existing store. */
static LigSweep *
open_recorded (LigStore *store, const Options *options, GError **error)
{
  g_autoptr (LigSweep) sweep = lig_sweep_open (store, options->train.resume, error);
  return sweep && check_division (sweep, options, error) ? g_steal_pointer (&sweep) : NULL;
}

/* Returns the number of ranks of the sweep that is continued; 0 with an error set. */
static int
find_ranks (const Options *options, GError **error)
{
  g_autoptr (LigStore) store =
    lig_store_open_existing (options->train.store, LIG_STORE_READ, error);
  g_autoptr (LigSweep) sweep = store ? open_recorded (store, options, error) : NULL;
  return sweep ? lig_sweep_get_ranks (sweep) : 0;
}

/* Returns the sweep, which all ranks share, and opens the device of this one. */
static LigSweep *
open_sweep (
  const char *text, const Options *options, LigStore *store, LigDevice **device, GError **error)
{
  g_autoptr (LigSweep) own = NULL;
  gboolean fresh = !options->train.resume;
  if (fresh)
    *device = lig_cli_open_sharded_device (options->train.device, options->train.parallel, error);
  if (fresh && *device)
    own = begin (text, options, *device, store, error);
  else if (!fresh && store)
    own = open_recorded (store, options, error);
  if (!own && (fresh || store))
    return NULL;
  g_autoptr (LigSweep) sweep =
    lig_sweep_share (lig_cli_rank_is_first () ? own : NULL, lig_cli_rank_get (), error);
  if (sweep && !fresh)
    *device = lig_cli_open_sharded_device (lig_sweep_get_device (sweep),
                                           lig_sweep_get_parallel (sweep), error);
  return *device ? g_steal_pointer (&sweep) : NULL;
}

/* --- Training ------------------------------------------------------------------------------ */

static void
say_outcome (LigSweep *sweep, int number)
{
  guint count;
  const LigSweepPoint *point = &lig_sweep_get_points (sweep, &count)[number];
  g_autofree char *settings = lig_sweep_describe_point (sweep, (guint) number);
  g_autofree char *seconds = lig_cli_format_time (point->seconds);
  if (point->message)
    lig_cli_warn ("%d of %u: %s: %s: %s", number + 1, count, settings, point->status,
                  point->message);
  else if (isfinite (point->eval_loss))
    lig_cli_say ("%d of %u: %s: validation loss %.4g, %s", number + 1, count, settings,
                 point->eval_loss, seconds);
  else
    lig_cli_say ("%d of %u: %s: loss %.4g, %s", number + 1, count, settings, point->loss, seconds);
}

/* Returns whether the previous point failed to start for the same reason and no run has started:
 * the cause is then in the settings that all points share. */
static gboolean
is_hopeless (LigSweep *sweep, int number, const char *message)
{
  guint count;
  const LigSweepPoint *points = lig_sweep_get_points (sweep, &count);
  for (guint i = 0; i < count; i++)
    if (points[i].run)
      return FALSE;
  return number > 0 && g_strcmp0 (points[number - 1].message, message) == 0;
}

/* Records that a point could not start, on any rank. Returns FALSE if that ends the sweep. */
static gboolean
note_failure (LigSweep *sweep, int number, GError *failure, GError **error)
{
  gint32 hopeless = lig_cli_rank_is_first () && is_hopeless (sweep, number, failure->message);
  if (!lig_ranks_broadcast (lig_cli_rank_get (), &hopeless, sizeof hopeless, error))
    return FALSE;
  if (hopeless) {
    g_propagate_error (error, g_error_copy (failure));
    return FALSE;
  }
  lig_sweep_fail (sweep, (guint) number, failure->message);
  if (lig_cli_rank_is_first ())
    say_outcome (sweep, number);
  return TRUE;
}

/* Trains one point. Returns FALSE if the sweep has to end with an error. A run that fails on all
 * ranks does not end it. */
static gboolean
train (LigSweep *sweep,
       int number,
       LigDevice *device,
       LigStore *store,
       gboolean *interrupted,
       GError **error)
{
  g_autoptr (GError) failure = NULL;
  LigRunProgress progress;
  lig_cli_task_begin ("preparing the run");
  g_autoptr (LigRun) run = lig_sweep_prepare (sweep, (guint) number, device, &failure);
  lig_cli_task_end ();
  if (!run)
    return note_failure (sweep, number, failure, error);
  lig_cli_rank_record (run, store, LIG_CLI_LOST_INTERRUPTED);
  lig_cli_watch_sweep (run, sweep, number);
  lig_cli_rank_hold ();
  if (!lig_run_wait (run, &failure) && !lig_run_failed_together (run)) {
    g_propagate_error (error, g_steal_pointer (&failure));
    return FALSE;
  }
  lig_cli_rank_record (NULL, NULL, LIG_CLI_LOST_INTERRUPTED);
  if (!lig_cli_rank_is_first ())
    return TRUE;
  lig_run_get_progress (run, &progress);
  if (!lig_sweep_refresh (sweep, error))
    return FALSE;
  *interrupted = progress.status == LIG_RUN_INTERRUPTED;
  if (!*interrupted)
    say_outcome (sweep, number);
  return TRUE;
}

/* Trains the missing points, in the order of rank 0, until it is interrupted. */
static gboolean
train_all (
  LigSweep *sweep, LigDevice *device, LigStore *store, gboolean *interrupted, GError **error)
{
  for (;;) {
    gint32 next = lig_cli_rank_is_first () && !*interrupted ? lig_sweep_next (sweep) : -1;
    if (!lig_ranks_broadcast (lig_cli_rank_get (), &next, sizeof next, error))
      return FALSE;
    if (next < 0)
      return TRUE;
    if (!train (sweep, next, device, store, interrupted, error))
      return FALSE;
  }
}

/* --- The end ------------------------------------------------------------------------------- */

static guint
count_failed (LigSweep *sweep)
{
  guint count, failed = 0;
  const LigSweepPoint *points = lig_sweep_get_points (sweep, &count);
  for (guint i = 0; i < count; i++)
    failed += g_strcmp0 (points[i].status, "done") != 0;
  return failed;
}

/* Prints how many runs failed, and returns the exit code. */
static int
say_failed (LigSweep *sweep, const char *resume)
{
  guint count, failed = count_failed (sweep);
  lig_sweep_get_points (sweep, &count);
  if (failed == 0)
    return LIG_EXIT_OK;
  lig_cli_warn ("%u of %u run%s failed; try again with: %s --retry", failed, count,
                LIG_ENDING (count), resume);
  return LIG_EXIT_FAILED;
}

static int
finish (LigSweep *sweep, gboolean interrupted, const Options *options)
{
  guint count;
  const char *uuid = lig_sweep_get_uuid (sweep);
  lig_sweep_get_points (sweep, &count);
  if (lig_cli_json ())
    lig_cli_print_document ("sweep", lig_sweep_to_json (sweep));
  else if (lig_cli_quiet ())
    lig_cli_print ("%s", uuid);
  else
    lig_cli_print_sweep (sweep);
  g_autoptr (GString) command = g_string_new ("lig sweep");
  g_autofree char *short_uuid = g_strndup (uuid, 8);
  lig_shell_append_option (command, "resume", short_uuid);
  if (options->train.store)
    lig_shell_append_option (command, "store", options->train.store);
  if (interrupted)
    lig_cli_say ("%u of %u run%s ended; continue with: %s", lig_sweep_count_ended (sweep), count,
                 LIG_ENDING (count), command->str);
  else if (!lig_cli_json () && !lig_cli_quiet ())
    lig_cli_print ("sweep %s", uuid);
  return interrupted ? LIG_EXIT_INTERRUPTED : say_failed (sweep, command->str);
}

/* --- The command --------------------------------------------------------------------------- */

/* Returns the first given option that the record of a sweep fixes, or NULL. */
static const char *
find_contradiction (const Options *options)
{
  for (guint i = 0; lig_run_setting_nth (i); i++)
    if (options->train.values[i])
      return lig_run_setting_nth (i)->name;
  return options->over                    ? "over"
         : options->list                  ? "list"
         : options->zip                   ? "zip"
         : options->train.init            ? "init"
         : options->train.device          ? "device"
         : options->train.sequence.input  ? "input"
         : options->train.sequence.forbid ? "forbid"
         : options->train.sequence.force  ? "force"
         : options->train.sequence.fence  ? "fence"
                                          : NULL;
}

static gboolean
gives_checkpoint (const Options *options)
{
  for (guint i = 0; lig_run_setting_nth (i); i++)
    if (options->train.values[i] && strcmp (lig_run_setting_nth (i)->name, "checkpoint") == 0)
      return TRUE;
  return FALSE;
}

/* Returns LIG_EXIT_OK, or prints what is wrong with the command line. */
static int
check_options (const Options *options, const char *text)
{
  const char *foreign = options->train.resume ? find_contradiction (options) : NULL;
  if (!lig_cli_check_resume (&options->train, &lig_command_sweep, text, "SWEEP"))
    return LIG_EXIT_USAGE;
  if (foreign)
    return lig_cli_usage ("--%s cannot be combined with --resume: the sweep fixes it; omit it",
                          foreign);
  if (options->retry && !options->train.resume)
    return lig_cli_usage ("--retry is only used with --resume; give a sweep whose runs failed");
  if (!options->train.resume && !options->over && !options->list)
    return lig_cli_usage ("sweep needs settings to vary; give --over KEY=A,B,… or --list FILE");
  if (options->zip && g_strv_length (options->over ? options->over : (char *[]){NULL}) < 2)
    return lig_cli_usage ("--zip needs at least two --over; give another, or omit --zip");
  if (gives_checkpoint (options))
    return lig_cli_usage (
      "--checkpoint names one file, and each run of a sweep has its own; omit it");
  return LIG_EXIT_OK;
}

/* Only rank 0 has the store. Continuing a sweep needs an existing one. */
static gboolean
open_store (const Options *options, LigStore **store, GError **error)
{
  if (!lig_cli_need_files (MAX_FILES, error))
    return FALSE;
  if (!lig_cli_rank_is_first ())
    return TRUE;
  *store = options->train.resume
             ? lig_store_open_existing (options->train.store, LIG_STORE_CHANGE, error)
             : lig_store_open (options->train.store, error);
  if (*store && lig_store_get_warning (*store))
    lig_cli_say ("%s", lig_store_get_warning (*store));
  return *store != NULL;
}

static int
run_here (const char *text, const Options *options)
{
  GError *error = NULL;
  gboolean interrupted = FALSE;
  g_autoptr (LigStore) store = NULL;
  g_autoptr (LigDevice) device = NULL;
  if (!lig_cli_rank_join (&error) ||
      (g_strcmp0 (text, "-") == 0 && !lig_cli_rank_share_input (&error)) ||
      !open_store (options, &store, &error))
    return lig_cli_rank_fail (error);
  g_autoptr (LigSweep) sweep = open_sweep (text, options, store, &device, &error);
  if (!sweep)
    return lig_cli_rank_fail (error);
  if (options->retry)
    lig_sweep_retry (sweep);
  if (!train_all (sweep, device, store, &interrupted, &error))
    return lig_cli_rank_fail (error);
  return lig_cli_rank_is_first () ? finish (sweep, interrupted, options) : LIG_EXIT_OK;
}

/* Starts ranks, or trains in this process, which may be one of them. A continued sweep has as many
 * ranks as before. */
static int
run_checked (const char *text, const Options *options, char **words)
{
  GError *error = NULL;
  int wrong = check_options (options, text), ranks = options->ranks;
  gboolean resumed = options->train.resume != NULL;
  if (wrong != LIG_EXIT_OK)
    return wrong;
  if (!lig_cli_check_ranks (ranks, resumed ? NULL : options->train.parallel))
    return LIG_EXIT_USAGE;
  if (resumed && lig_ranks_launched () == 0 && !(ranks = find_ranks (options, &error)))
    return lig_cli_fail (error);
  return lig_cli_needs_launch (ranks) ? lig_cli_launch (ranks, words) : run_here (text, options);
}

static int
run (int argc, char **argv)
{
  g_auto (Options) options = {.ranks = LIG_CLI_UNSET_RANKS};
  g_auto (GStrv) words = g_strdupv (argv);
  lig_cli_init_training (&options.train);
  const GOptionEntry own[] = {
    {"over", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.over,
     "A setting and the values to try" LIG_CLI_SEVERAL, "KEY=A,B,…"},
    {"list", 0, 0, G_OPTION_ARG_FILENAME, &options.list, "A CSV file with the settings of each run",
     "FILE"},
    {"zip", 0, 0, G_OPTION_ARG_NONE, &options.zip, "Advance all --over together, not as a grid",
     NULL},
    {"resume", 0, 0, G_OPTION_ARG_STRING, &options.train.resume,
     "Continue a sweep with its missing runs", "SWEEP"},
    {"retry", 0, 0, G_OPTION_ARG_NONE, &options.retry, "With --resume: also try failed runs again",
     NULL},
    LIG_CLI_GROUP (LIG_CLI_DEVICE),
    LIG_CLI_RANKS_ENTRY (&options.ranks),
    LIG_CLI_PARALLEL_ENTRY (&options.train.parallel),
    {NULL},
  };
  g_autofree GOptionEntry *entries = lig_cli_train_entries (&options.train, own);
  lig_cli_rank_begin ();
  if (!lig_cli_parse_training (&lig_command_sweep, entries, &argc, &argv, 0, 1))
    return lig_cli_rank_end (LIG_EXIT_USAGE);
  lig_cli_set_quiet (options.train.quiet);
  return lig_cli_rank_end (run_checked (argv[1], &options, words));
}
