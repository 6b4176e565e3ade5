/* SPDX-License-Identifier: MIT */
/* lig train: trains a sequence on data, or continues an interrupted run. */
#include "app/cli/blame.h"
#include "app/cli/control.h"
#include "app/cli/find-checkpoint.h"
#include "app/cli/launch.h"
#include "app/cli/live.h"
#include "app/cli/metrics.h"
#include "app/cli/notes.h"
#include "app/cli/output.h"
#include "app/cli/rank-device.h"
#include "app/cli/rank.h"
#include "app/cli/runs.h"
#include "app/cli/task.h"
#include "app/cli/train-options.h"
#include "app/cli/train-progress.h"

#include <ligature/report.h>
#include <ligature/store.h>
#include <ligature/tensor-file.h>

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The maximum number of files that a run has open at a time: two connections to the store, data,
 * checkpoints, the event loop, and a margin. */
#define MAX_FILES 24

static int run (int argc, char **argv);
static void append_notes (GString *to);

LIG_COMMAND (train) = {
  .name = "train",
  .usage = "P --data DATA [--steps N] … | --resume FILE|RUN [--steps N]",
  .summary = "Trains a sequence on data and records every step in the store",
  .example = "lig train 'linear(16, init-std=0.3) ! gelu ! linear(4) ! mean-squared-error' "
             "--input 32x8 --data synthetic --steps 200",
  .run = run,
  .notes = append_notes,
};

static void
append_notes (GString *to)
{
  g_string_append (
    to, "Metrics:\n"
        "  --metrics writes one JSON object per line during the run.\n"
        "  For a step: {\"step\", \"loss\", \"lr\", \"grad_norm\", \"samples_per_second\"}\n"
        "  For an evaluation: {\"step\", \"eval_loss\", \"eval_accuracy\"}\n"
        "  With --resume the file continues after the step of the checkpoint.\n"
        "  The run never waits for a reader: one that falls 13,000 steps behind misses steps.\n"
        "  A closed pipe ends the output, not the run.\n"
        "  With - the result is printed to stderr.\n\n"
        "Control:\n"
        "  --control is for programs. Standard input takes commands, one per line: pause,\n"
        "  continue, save, stop (with a checkpoint, as interrupted) and cancel (with a\n"
        "  checkpoint, as cancelled). End of input means stop.\n"
        "  Standard output has one JSON object per line: {\"measuring\"}, {\"training\"}, the\n"
        "  metrics, {\"progress\"}, and finally the document of --json.\n\n");
  lig_cli_train_notes (to);
}

static LigRun *
begin (const char *text, const LigTrainOptions *options, LigStore *store, GError **error)
{
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  g_autoptr (LigSequence) sequence = lig_cli_open_sequence (text, &options->sequence, error);
  if (!sequence || !lig_cli_train_settings (text, sequence, options, &settings, error) ||
      !lig_cli_check_uses (options, &settings, error))
    return NULL;
  g_autoptr (LigDevice) device =
    lig_cli_open_sharded_device (options->device, options->parallel, error);
  g_autofree char *init = NULL;
  if (!device || !lig_cli_find_initial (options->init, options->store, &init, error))
    return NULL;
  LigRun *run = lig_run_new (sequence, device, &settings, init, store, error);
  if (run && lig_run_get_weights_note (run))
    lig_cli_say ("%s: %s", init, lig_run_get_weights_note (run));
  if (run)
    lig_cli_note_recipe (lig_run_get_plan (run));
  return run;
}

/* Returns the first given option whose value the checkpoint determines, or NULL. */
static const char *
find_contradiction (const LigTrainOptions *options, const char *device)
{
  return options->init                                              ? "init"
         : options->sequence.input                                  ? "input"
         : options->sequence.recipe                                 ? "recipe"
         : options->sequence.forbid                                 ? "forbid"
         : options->sequence.force                                  ? "force"
         : options->sequence.fence                                  ? "fence"
         : options->device && strcmp (options->device, device) != 0 ? "device"
                                                                    : NULL;
}

/* Returns whether a setting is given that a checkpoint fixes. */
static gboolean
has_fixed (const LigTrainOptions *options)
{
  for (guint i = 0; lig_run_setting_nth (i); i++)
    if (options->values[i] && strcmp (lig_run_setting_nth (i)->name, "steps") != 0)
      return TRUE;
  return FALSE;
}

/* Returns the checkpoint that rank 0, which has the store, found. */
static char *
find_checkpoint (const LigTrainOptions *options, LigStore *store, GError **error)
{
  g_autofree char *path = NULL;
  if (lig_cli_rank_is_first () &&
      !(path = lig_cli_find_checkpoint (options->resume, store, "continuing", error)))
    return NULL;
  return lig_ranks_broadcast_text (lig_cli_rank_get (), &path, error) ? g_steal_pointer (&path)
                                                                      : NULL;
}

static LigRun *
resume (const LigTrainOptions *options, LigStore *store, GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autofree char *checkpoint = find_checkpoint (options, store, error);
  g_autofree char *name = checkpoint ? lig_run_checkpoint_device (checkpoint, error) : NULL;
  if (!name)
    return NULL;
  const char *foreign = find_contradiction (options, name);
  if (foreign) {
    g_autofree char *value =
      g_str_equal (foreign, "device") ? g_strdup_printf (" (%s)", name) : g_strdup ("");
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--%s cannot be combined with --resume: the checkpoint fixes it%s; omit it",
                 foreign, value);
    return NULL;
  }
  for (guint i = 0; lig_run_setting_nth (i); i++) {
    g_autofree char *text =
      g_strconcat (lig_run_setting_nth (i)->name, "=", options->values[i], NULL);
    if (options->values[i])
      g_strv_builder_add (builder, text);
  }
  g_auto (GStrv) overrides = g_strv_builder_end (builder);
  g_autoptr (LigDevice) device = lig_cli_open_sharded_device (name, options->parallel, error);
  if (!device)
    g_prefix_error (error, "%s: ", checkpoint);
  LigRun *self =
    device ? lig_run_resume (checkpoint, device, (const char *const *) overrides, store, error)
           : NULL;
  if (self && lig_run_get_weights_note (self))
    lig_cli_say ("%s: %s", checkpoint, lig_run_get_weights_note (self));
  if (!self && has_fixed (options) && g_error_matches (*error, LIG_ERROR, LIG_ERROR_VALUE))
    lig_cli_blame (error, NULL);
  return self;
}

/* Adds how long ranks wait for each other; null for one rank. */
static void
add_waits (JsonBuilder *builder, const LigRunProgress *progress)
{
  json_builder_set_member_name (builder, "ranks");
  if (isnan (progress->exposed)) {
    json_builder_add_null_value (builder);
    return;
  }
  json_builder_begin_object (builder);
  lig_json_add_number (builder, "exposed_ms", progress->exposed * 1e3);
  lig_json_add_number (builder, "imbalance_ms", progress->imbalance * 1e3);
  lig_json_add_integer (builder, "slowest", progress->slowest);
  json_builder_end_object (builder);
}

/* Adds the load of experts; none without a store or experts. */
static void
add_loads (JsonBuilder *builder, LigRun *self, LigStore *store)
{
  const char *run = lig_run_get_uuid (self);
  JsonNode *loads = store && run ? lig_run_loads_to_json (store, run, NULL) : NULL;
  json_builder_set_member_name (builder, "experts");
  if (loads)
    json_builder_add_value (builder, loads);
  else {
    json_builder_begin_array (builder);
    json_builder_end_array (builder);
  }
}

static void
print_result (LigRun *self, LigStore *store)
{
  LigRunProgress progress;
  lig_run_get_progress (self, &progress);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "run", lig_run_get_uuid (self));
  lig_json_add_text (builder, "device", lig_device_get_name (lig_run_get_device (self)));
  lig_json_add_integer (builder, "steps", progress.step);
  lig_json_begin_object (builder, "loss");
  lig_json_add_number (builder, "first", progress.first_loss);
  lig_json_add_number (builder, "last", progress.loss);
  json_builder_end_object (builder);
  lig_json_begin_object (builder, "eval");
  lig_json_add_number (builder, "loss", progress.eval_loss);
  lig_json_add_number (builder, "accuracy", progress.eval_accuracy);
  json_builder_end_object (builder);
  lig_json_begin_object (builder, "step_ms");
  lig_json_add_number (builder, "median", progress.step_seconds * 1e3);
  json_builder_end_object (builder);
  lig_json_add_number (builder, "samples_per_second", progress.samples_per_second);
  lig_json_add_truth (builder, "tokens", progress.tokens);
  lig_json_add_number (builder, "rows_per_second", progress.rows_per_second);
  lig_json_add_number (builder, "mfu", progress.mfu);
  add_waits (builder, &progress);
  lig_json_add_number (builder, "loss_scale", progress.loss_scale);
  lig_json_add_integer (builder, "skipped_updates", progress.skipped);
  add_loads (builder, self, store);
  lig_json_add_text (builder, "status", lig_run_status_name (progress.status));
  lig_json_add_text (builder, "checkpoint", lig_run_get_checkpoint (self));
  json_builder_end_object (builder);
  lig_cli_print_document ("train", json_builder_get_root (builder));
}

/* Returns whether the metrics are on standard output. */
static gboolean
takes_stdout (const LigTrainOptions *options)
{
  return options->control || g_strcmp0 (options->metrics, "-") == 0;
}

/* Returns whether the stream is a file. The reader of a pipe may also print to the terminal. */
static gboolean
is_regular (int descriptor)
{
  struct stat info;
  return fstat (descriptor, &info) == 0 && S_ISREG (info.st_mode);
}

static int
train (LigRun *self, LigStore *store, const LigTrainOptions *options)
{
  g_autoptr (GError) error = NULL;
  LigRunProgress progress;
  if (lig_run_get_parent (self))
    lig_cli_say ("the checkpoint continues as a new run; run %.8s, which wrote it, is not changed",
                 lig_run_get_parent (self));
  lig_cli_control_follow (self);
  lig_cli_watch_run (self);
  lig_cli_control_end ();
  lig_cli_rank_hold ();
  gboolean written = lig_cli_metrics_end ();
  if (!lig_run_wait (self, &error)) {
    const char *checkpoint = lig_run_get_checkpoint (self);
    if (checkpoint && g_file_test (checkpoint, G_FILE_TEST_EXISTS))
      lig_cli_say ("the last checkpoint is %s", checkpoint);
    return lig_cli_rank_fail (g_steal_pointer (&error));
  }
  lig_run_get_progress (self, &progress);
  if (lig_cli_rank_is_first () && lig_cli_json ())
    print_result (self, store);
  else if (lig_cli_rank_is_first ())
    lig_cli_print_outcome (self, options->store, takes_stdout (options));
  return progress.status == LIG_RUN_INTERRUPTED ? LIG_EXIT_INTERRUPTED
         : written                              ? LIG_EXIT_OK
                                                : LIG_EXIT_FAILED;
}

/* Resuming a run needs an existing store; any other run creates it. Only rank 0 has one. */
static gboolean
open_store (const LigTrainOptions *options, LigStore **store, GError **error)
{
  gboolean existing = options->resume && !g_file_test (options->resume, G_FILE_TEST_IS_REGULAR);
  if (!lig_cli_need_files (MAX_FILES, error))
    return FALSE;
  if (!lig_cli_rank_is_first () || options->no_store)
    return TRUE;
  *store = existing ? lig_store_open_existing (options->store, LIG_STORE_CHANGE, error)
                    : lig_store_open (options->store, error);
  if (*store && lig_store_get_warning (*store))
    lig_cli_say ("%s", lig_store_get_warning (*store));
  return *store != NULL;
}

/* Opens the outputs and prepares the run. */
static LigRun *
prepare (const char *text, const LigTrainOptions *options, LigStore **store, GError **error)
{
  if (options->control && lig_cli_rank_is_first () && !lig_cli_control_open (error))
    return NULL;
  if (options->metrics && lig_cli_rank_is_first () &&
      !lig_cli_metrics_open (options->metrics, options->resume != NULL, error))
    return NULL;
  if (g_strcmp0 (text, "-") == 0 && !lig_cli_rank_share_input (error))
    return NULL;
  if (!open_store (options, store, error))
    return NULL;
  lig_cli_task_begin ("preparing the run");
  LigRun *self =
    options->resume ? resume (options, *store, error) : begin (text, options, *store, error);
  lig_cli_task_end ();
  return self;
}

static int
run_here (const char *text, const LigTrainOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = NULL;
  if (!lig_cli_rank_join (&error))
    return lig_cli_rank_fail (g_steal_pointer (&error));
  g_autoptr (LigRun) self = prepare (text, options, &store, &error);
  if (!self)
    return lig_cli_rank_fail (g_steal_pointer (&error));
  lig_cli_rank_record (self, store, LIG_CLI_LOST_FAILED);
  int code = train (self, store, options);
  lig_cli_rank_record (NULL, NULL, LIG_CLI_LOST_FAILED);
  return code;
}

/* Starts ranks, or trains in this process, which may be one of them. */
static int
run_checked (const char *text, const LigTrainOptions *options, int ranks, char **words)
{
  if (!lig_cli_check_resume (options, &lig_command_train, text, "FILE|RUN"))
    return LIG_EXIT_USAGE;
  if (options->no_store && options->store)
    return lig_cli_usage ("--no-store cannot be combined with --store; give one of them");
  if (options->control && (options->metrics || g_strcmp0 (text, "-") == 0))
    return lig_cli_usage ("--control takes standard input and output; omit %s",
                          options->metrics ? "--metrics" : "-");
  if (!options->control && takes_stdout (options) && lig_cli_json ())
    return lig_cli_usage (
      "--json and --metrics - both write to standard output; give --metrics a file");
  if (!lig_cli_check_ranks (ranks, options->parallel))
    return LIG_EXIT_USAGE;
  if (lig_cli_needs_launch (ranks))
    return lig_cli_launch (ranks, words);
  if (takes_stdout (options) && !is_regular (STDOUT_FILENO))
    lig_cli_live_forbid ();
  return run_here (text, options);
}

static int
run (int argc, char **argv)
{
  g_auto (LigTrainOptions) options;
  g_auto (GStrv) words = g_strdupv (argv);
  int ranks = LIG_CLI_UNSET_RANKS;
  lig_cli_init_training (&options);
  options.has_metrics = TRUE;
  const GOptionEntry own[] = {
    LIG_CLI_GROUP (LIG_CLI_SCHEDULE),
    {"resume", 0, 0, G_OPTION_ARG_STRING, &options.resume, "Continue from a checkpoint or a run",
     "FILE|RUN"},
    LIG_CLI_GROUP (LIG_CLI_DEVICE),
    LIG_CLI_RANKS_ENTRY (&ranks),
    LIG_CLI_PARALLEL_ENTRY (&options.parallel),
    LIG_CLI_GROUP (LIG_CLI_OUTPUT),
    {"no-store", 0, 0, G_OPTION_ARG_NONE, &options.no_store,
     "Record nothing: no run, no measured times, no checkpoint", NULL},
    {"control", 0, 0, G_OPTION_ARG_NONE, &options.control,
     "Read commands from standard input, and print progress as lines of JSON", NULL},
    {NULL},
  };
  g_autofree GOptionEntry *entries = lig_cli_train_entries (&options, own);
  lig_cli_rank_begin ();
  if (!lig_cli_parse_training (&lig_command_train, entries, &argc, &argv, 0, 1))
    return lig_cli_rank_end (LIG_EXIT_USAGE);
  lig_cli_set_quiet (options.quiet);
  if (options.control)
    lig_cli_control_begin ();
  return lig_cli_rank_end (run_checked (argv[1], &options, ranks, words));
}
