/* SPDX-License-Identifier: MIT */
/* lig verify: compares a plan with the unfused plan, or a checkpoint with its export. */
#include "app/cli/verify.h"

#include "app/cli/blame.h"
#include "app/cli/find-checkpoint.h"
#include "app/cli/find-run.h"
#include "app/cli/launch.h"
#include "app/cli/notes.h"
#include "app/cli/rank-device.h"
#include "app/cli/rank.h"
#include "app/cli/sequence-options.h"
#include "app/cli/shared-options.h"
#include "app/cli/task.h"
#include <ligature/store.h>
#include <ligature/tensor-file.h>
#include <ligature/tuning.h>
#include <ligature/verification.h>

#include <string.h>

static int run (int argc, char **argv);

LIG_COMMAND (verify) = {
  .name = "verify",
  .usage = "P|RUN [--data DATA] [--weights W] [--ranks N] … | RUN --against FOLDER",
  .summary = "Compares a plan or an exported checkpoint with a reference",
  .example = "lig verify 'layer-norm ! linear(64) ! gelu ! linear(16)' --input 32x16 --dtype bf16",
  .run = run,
};

typedef struct {
  LigSequenceOptions sequence;
  char *data, *batch, *weights, *against, *parallel;
  int seeds, batches, ranks;
  gboolean quiet;
} Options;

static void
clear (Options *options)
{
  lig_cli_clear_options (&options->sequence);
  g_free (options->data);
  g_free (options->batch);
  g_free (options->weights);
  g_free (options->against);
  g_free (options->parallel);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, clear)

/* The sequence, settings and parameters that are verified. */
typedef struct {
  LigSequence *sequence;
  LigRunSettings settings;
  char *weights; /* or null */
} Source;

static void
clear_source (Source *source)
{
  g_clear_object (&source->sequence);
  lig_run_settings_clear (&source->settings);
  g_free (source->weights);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Source, clear_source)

/* --- Sources -------------------------------------------------------------------------------- */

/* Returns whether the word names a run or a checkpoint. */
static gboolean
is_recorded (const char *text, const Options *options)
{
  return g_str_has_suffix (text, ".safetensors") || lig_cli_is_run (text, options->sequence.store);
}

static char *
find_file (const char *text, const Options *options, GError **error)
{
  if (g_str_has_suffix (text, ".safetensors"))
    return g_strdup (text);
  g_autoptr (LigStore) store =
    lig_store_open_existing (options->sequence.store, LIG_STORE_READ, error);
  return store ? lig_cli_find_checkpoint (text, store, "verifying", error) : NULL;
}

/* Returns the checkpoint that rank 0, which has the store, found. */
static char *
find_checkpoint (const char *text, const Options *options, GError **error)
{
  g_autofree char *path = NULL;
  if (lig_cli_rank_is_first () && !(path = find_file (text, options, error)))
    return NULL;
  return lig_ranks_broadcast_text (lig_cli_rank_get (), &path, error) ? g_steal_pointer (&path)
                                                                      : NULL;
}

/* Reads the sequence, the settings and the parameters of a checkpoint. */
static gboolean
open_recorded (const char *text, const Options *options, Source *source, GError **error)
{
  g_autofree char *path = find_checkpoint (text, options, error);
  g_autoptr (LigTensorFile) file = path ? lig_tensor_file_load (path, error) : NULL;
  const char *json = file ? lig_tensor_file_get_metadata (file, "ligature.sequence") : NULL;
  const char *settings = file ? lig_tensor_file_get_metadata (file, "ligature.settings") : NULL;
  if (!file)
    return FALSE;
  if (!json || !settings) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 "%s has no sequence; give the sequence, and --weights %s", path, path);
    return FALSE;
  }
  source->weights = g_strdup (path);
  source->sequence = lig_sequence_from_json (json, -1, NULL, error);
  const char *recipe = options->sequence.recipe;
  return source->sequence &&
         (!recipe || lig_sequence_set_recipe (source->sequence, recipe, error) ||
          lig_cli_blame (error, "recipe")) &&
         lig_run_settings_read (&source->settings, settings, NULL, error);
}

static gboolean
open_written (const char *text, const Options *options, Source *source, GError **error)
{
  source->sequence = lig_cli_open_sequence (text, &options->sequence, error);
  if (!source->sequence)
    return lig_cli_blame_name (error, text);
  const char *train = lig_sequence_get_train (source->sequence);
  return !train || lig_run_settings_read (&source->settings, train, NULL, error);
}

/* Overrides the settings of a file or a run by the options. */
static gboolean
apply_options (const Options *options, LigRunSettings *settings, GError **error)
{
  const LigSequenceOptions *given = &options->sequence;
  const struct {
    const char *name, *value;
  } values[] = {
    {"data", options->data},
    {"batch", options->batch},
    {"dtype", given->dtype},
    {"policy", given->policy},
    {"recompute", given->recompute},
    {"bucket-size", given->bucket_size},
    {"tf32", given->tf32 == LIG_CLI_UNSET ? NULL
             : given->tf32                ? "1"
                                          : "0"},
    {"nondeterministic", given->nondeterministic == LIG_CLI_UNSET ? NULL
                         : given->nondeterministic                ? "1"
                                                                  : "0"},
    {"shard-optimizer", given->shard_optimizer == LIG_CLI_UNSET ? NULL
                        : given->shard_optimizer                ? "1"
                                                                : "0"},
  };
  if (given->dtype && !lig_cli_check_dtype (given->dtype, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    if (values[i].value &&
        !lig_run_settings_set (settings, values[i].name, values[i].value, error)) {
      g_prefix_error (error, "--");
      return lig_cli_blame (error, NULL);
    }
  return TRUE;
}

/* --- Verifying ------------------------------------------------------------------------------ */

static gboolean
show_batch (guint done, guint count, G_GNUC_UNUSED gpointer data)
{
  g_autofree char *text = g_strdup_printf ("batch %u/%u", done + 1, count);
  lig_cli_task_advance ((double) done / count, text, NULL);
  return TRUE;
}

/* Verifies the plan of a training step also on batches of its data. */
static LigVerification *
verify_training (Source *source,
                 LigDevice *device,
                 const LigVerificationOptions *options,
                 LigPlan **plan,
                 GError **error)
{
  g_autoptr (LigRun) training =
    lig_run_new (source->sequence, device, &source->settings, source->weights, NULL, error);
  if (!training)
    return NULL;
  *plan = lig_plan_ref (lig_run_get_plan (training));
  return lig_run_verify (training, options, error);
}

/* Verifies a plan on random batches. */
static LigVerification *
verify_plan (Source *source,
             const Options *options,
             LigDevice *device,
             const LigVerificationOptions *verification,
             LigPlan **plan,
             GError **error)
{
  *plan =
    lig_cli_compile_step (source->sequence, device, &options->sequence, &source->settings, error);
  return *plan ? lig_plan_verify (*plan, verification, error) : NULL;
}

static LigVerification *
verify (const char *text, const Options *options, LigPlan **plan, GError **error)
{
  LigVerificationOptions verification = LIG_VERIFICATION_OPTIONS_INIT;
  g_auto (Source) source = {NULL};
  lig_run_settings_init (&source.settings);
  if (g_strcmp0 (text, "-") == 0 && !lig_cli_rank_share_input (error))
    return NULL;
  if (!(is_recorded (text, options) ? open_recorded : open_written) (text, options, &source,
                                                                     error) ||
      !apply_options (options, &source.settings, error))
    return NULL;
  if (options->weights) {
    g_free (source.weights);
    source.weights = g_strdup (options->weights);
  }
  g_autoptr (LigDevice) device =
    lig_cli_open_sharded_device (options->sequence.device, options->parallel, error);
  if (!device)
    return NULL;
  lig_cli_task_begin ("verifying");
  verification.seeds = (guint) options->seeds;
  verification.batches = source.settings.data ? (guint) options->batches : 0;
  verification.weights = source.weights;
  verification.rate = source.settings.lr;
  verification.monitor = show_batch;
  LigVerification *found = source.settings.data
                             ? verify_training (&source, device, &verification, plan, error)
                             : verify_plan (&source, options, device, &verification, plan, error);
  lig_cli_task_end ();
  return found;
}

static int
verify_here (const char *text, const Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) plan = NULL;
  if (!lig_cli_rank_join (&error))
    return lig_cli_rank_fail (g_steal_pointer (&error));
  g_autoptr (LigVerification) found = verify (text, options, &plan, &error);
  if (!found)
    return lig_cli_rank_fail (g_steal_pointer (&error));
  if (lig_cli_rank_is_first ()) {
    lig_cli_note_recipe (plan);
    lig_cli_print_verification (plan, found);
  }
  return found->outside ? LIG_EXIT_FAILED : LIG_EXIT_OK;
}

/* --- The command ---------------------------------------------------------------------------- */

static int
verify_export (const char *text, const Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = find_checkpoint (text, options, &error);
  int code = path ? lig_cli_verify_weights (path, options->against, &error) : LIG_EXIT_FAILED;
  return error ? lig_cli_fail (g_steal_pointer (&error)) : code;
}

/* Returns the first given option that a run or a checkpoint determines, or NULL. */
static const char *
find_foreign (const LigSequenceOptions *options)
{
  return options->input    ? "input"
         : options->forbid ? "forbid"
         : options->force  ? "force"
         : options->fence  ? "fence"
                           : NULL;
}

/* Checks the options, and starts ranks or verifies in this process, which may be one of them. */
static int
run_checked (const char *text, const Options *options, char **words)
{
  gboolean recorded = is_recorded (text, options);
  const char *foreign = recorded ? find_foreign (&options->sequence) : NULL;
  if (options->seeds < 0 || options->seeds > 1000)
    return lig_cli_usage ("--seeds is '%d', expected a whole number from 0 to 1000",
                          options->seeds);
  if (options->batches < 0 || options->batches > 1000)
    return lig_cli_usage ("--batches is '%d', expected a whole number from 0 to 1000",
                          options->batches);
  if (foreign)
    return lig_cli_usage ("--%s is for a sequence, and '%s' has one of its own; omit it", foreign,
                          text);
  if (options->against && !recorded)
    return lig_cli_usage ("--against compares a run or a checkpoint, and '%s' is a sequence", text);
  if (!lig_cli_check_ranks (options->ranks, options->parallel))
    return LIG_EXIT_USAGE;
  if (options->against)
    return verify_export (text, options);
  return lig_cli_needs_launch (options->ranks) ? lig_cli_launch (options->ranks, words)
                                               : verify_here (text, options);
}

static int
run (int argc, char **argv)
{
  g_auto (Options) options = {.seeds = 3, .batches = 3, .ranks = LIG_CLI_UNSET_RANKS};
  g_auto (GStrv) words = g_strdupv (argv);
  const GOptionEntry more[] = {
    {"seeds", 0, 0, G_OPTION_ARG_INT, &options.seeds, "Number of random batches [default: 3]", "N"},
    {"against", 0, 0, G_OPTION_ARG_FILENAME, &options.against,
     "Compare the checkpoint with weights that were exported from it", "FOLDER"},
    LIG_CLI_QUIET_ENTRY (&options.quiet, "result"),
    LIG_CLI_GROUP (LIG_CLI_DATA),
    lig_cli_setting_entry ("data", &options.data),
    {"batches", 0, 0, G_OPTION_ARG_INT, &options.batches,
     "Number of batches of the data, if there is any [default: 3]", "N"},
    lig_cli_setting_entry ("batch", &options.batch),
    {"weights", 0, 0, G_OPTION_ARG_FILENAME, &options.weights,
     "Parameters: a file or a folder [default: those of the run, else initialized]", "W"},
    LIG_CLI_GROUP (LIG_CLI_DEVICE),
    LIG_CLI_RANKS_ENTRY (&options.ranks),
    LIG_CLI_PARALLEL_ENTRY (&options.parallel),
    lig_cli_setting_entry ("bucket-size", &options.sequence.bucket_size),
    {NULL},
  };
  g_autofree GOptionEntry *entries = lig_cli_sequence_entries (
    &options.sequence, LIG_OPTION_PLAN | LIG_OPTION_RUNS | LIG_OPTION_SHARD, more);
  lig_cli_rank_begin ();
  if (!lig_cli_parse (&lig_command_verify, entries, &argc, &argv, 1, 1))
    return lig_cli_rank_end (LIG_EXIT_USAGE);
  lig_cli_set_quiet (options.quiet);
  return lig_cli_rank_end (run_checked (argv[1], &options, words));
}
