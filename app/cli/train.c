/* SPDX-License-Identifier: MIT */
/* lig train: trains a sequence on data, or continues a training that was interrupted. */
#include "app/cli/find-run.h"
#include "app/cli/output.h"
#include "app/cli/sequence-options.h"
#include "app/cli/train-progress.h"

#include <ligature/dataset.h>
#include <ligature/tensor-file.h>
#include <ligature/tuning.h>

#include <string.h>

/* The number of files that a training has open at a time, with some to spare: two connections to
 * the store, data, checkpoints, the event loop. */
#define MOST_FILES 24

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

typedef struct {
  LigSequenceOptions sequence; /* --input and the fusion constraints */
  char *device, *init, *resume, *store;
  char **values; /* one for each setting, null where not given */
  char **helps;  /* likewise */
} Options;

static guint
count_settings (void)
{
  guint n = 0;
  while (lig_run_setting_nth (n))
    n++;
  return n;
}

static void
append_optimizers (GString *to)
{
  const LigOptimizerInfo *info;
  g_string_append (to, "Optimizers:\n");
  for (guint n = 0; (info = lig_optimizer_info_nth (n)); n++)
    g_string_append_printf (to, "  %-28s %s. %s\n", info->name, info->title, info->help);
}

static void
append_default (GString *to, const LigDatasetOption *option)
{
  if (option->type == LIG_DATASET_COUNT || option->type == LIG_DATASET_FRACTION)
    g_string_append_printf (to, " (%.15g)", option->initial);
  else if (option->type == LIG_DATASET_BOOLEAN)
    g_string_append_printf (to, " (%s)", option->initial != 0 ? "true" : "false");
  g_string_append_c (to, '\n');
}

static void
append_options (GString *to, const char *indent, const LigDatasetOption *option)
{
  static const char *const arguments[] = {"TEXT", "PATH", NULL, "true|false", "N", "FRACTION"};
  for (; option && option->name; option++) {
    g_autoptr (GString) key = g_string_new (indent);
    g_string_append_printf (key, "%s=%s", option->name,
                            option->choices ? "" : arguments[option->type]);
    for (const LigDatasetChoice *at = option->choices; at && at->name; at++)
      g_string_append_printf (key, "%s%s", at > option->choices ? "|" : "", at->name);
    g_string_append_printf (to, "%-30s %s", key->str, option->help);
    append_default (to, option);
  }
}

static void
append_data (GString *to)
{
  const LigDatasetInfo *info;
  g_string_append (to, "Data:\n");
  for (guint n = 0; (info = lig_dataset_info_nth (n)); n++) {
    g_autofree char *name =
      g_strconcat (info->name, info->path == LIG_DATASET_NO_PATH ? "" : ":PATH", NULL);
    g_string_append_printf (to, "  %-28s %s. %s\n", name, info->title, info->help);
    append_options (to, "    ?", info->options);
  }
  append_options (to, "  all: ?", lig_dataset_shared_options ());
}

static void
append_notes (GString *to)
{
  append_optimizers (to);
  g_string_append_c (to, '\n');
  append_data (to);
  g_string_append_c (to, '\n');
}

/* Returns the setting's help; for an optimizer's parameter with the optimizer and the default. */
static char *
make_help (const LigSetting *setting)
{
  if (!setting->of)
    return g_strdup (setting->help);
  return g_strdup_printf ("%s; of %s (%g)", setting->help, setting->of, setting->initial);
}

static GOptionEntry *
make_entries (Options *options)
{
  const GOptionEntry own[] = {
    {"resume", 0, 0, G_OPTION_ARG_STRING, &options->resume, "Continue from a checkpoint or a run",
     "FILE|RUN"},
    {"init", 0, 0, G_OPTION_ARG_FILENAME, &options->init, "Begin with these weights",
     "W.safetensors"},
    {"device", 0, 0, G_OPTION_ARG_STRING, &options->device, lig_device_forms (LIG_DEVICE_DESCRIBED),
     "DEVICE"},
    {"store", 0, 0, G_OPTION_ARG_FILENAME, &options->store, "The database of runs", "FILE"},
  };
  guint count = count_settings ();
  g_autofree GOptionEntry *more = g_new0 (GOptionEntry, G_N_ELEMENTS (own) + count + 1);
  memcpy (more, own, sizeof own);
  for (guint i = 0; i < count; i++) {
    const LigSetting *setting = lig_run_setting_nth (i);
    options->helps[i] = make_help (setting);
    more[G_N_ELEMENTS (own) + i] = (GOptionEntry){
      setting->name,    0, 0, G_OPTION_ARG_STRING, &options->values[i], options->helps[i],
      setting->argument};
  }
  return lig_cli_sequence_entries (&options->sequence, LIG_OPTION_INPUT | LIG_OPTION_WISHES, more);
}

static const char *
find_value (const Options *options, const char *name)
{
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (strcmp (setting->name, name) == 0)
      return options->values[i];
  return NULL;
}

/* Confines a checkpoint path from a .lig file to the file's folder. A path on the command line is
 * the user's choice. */
static gboolean
confine (const char *text, const Options *options, LigRunSettings *settings, GError **error)
{
  g_autofree char *folder =
    g_file_test (text, G_FILE_TEST_EXISTS) ? g_path_get_dirname (text) : g_get_current_dir ();
  return find_value (options, "checkpoint") || lig_run_settings_confine (settings, folder, error);
}

/* Reads the file's `train` object first, then the command line, which overrides it. */
static gboolean
read_settings (const char *text,
               LigSequence *sequence,
               const Options *options,
               LigRunSettings *settings,
               GError **error)
{
  g_auto (GStrv) warnings = NULL;
  const char *train = lig_sequence_get_train (sequence);
  if (train && (!lig_run_settings_read (settings, train, &warnings, error) ||
                !confine (text, options, settings, error)))
    return FALSE;
  for (char **warning = warnings; warning && *warning; warning++)
    lig_cli_say ("%s", *warning);
  for (guint i = 0; lig_run_setting_nth (i); i++)
    if (options->values[i] && !lig_run_settings_set (settings, lig_run_setting_nth (i)->name,
                                                     options->values[i], error)) {
      g_prefix_error (error, "--");
      return FALSE;
    }
  return TRUE;
}

static LigDevice *
open_device (const char *name, GError **error)
{
  g_autoptr (LigDevice) device = lig_device_open (name, error);
  if (device && lig_device_has (device, LIG_DEVICE_DESCRIBED)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, "%s is only described; train on cpu or cuda:0",
                 name);
    return NULL;
  }
  if (device && lig_device_get_remark (device))
    lig_cli_say ("%s", lig_device_get_remark (device));
  return g_steal_pointer (&device);
}

static LigRun *
begin (const char *text, const Options *options, LigStore *store, GError **error)
{
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  g_autoptr (LigSequence) sequence = lig_cli_open_sequence (text, &options->sequence, error);
  if (!sequence || !read_settings (text, sequence, options, &settings, error))
    return NULL;
  g_autoptr (LigDevice) device = open_device (options->device, error);
  return device ? lig_run_new (sequence, device, &settings, options->init, store, error) : NULL;
}

/* The file may now belong to another run that resumed from a copy and overwrote it. */
static gboolean
is_checkpoint_of (const char *path, const char *run)
{
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, NULL);
  if (!file)
    return g_file_test (path, G_FILE_TEST_EXISTS);
  return g_strcmp0 (lig_tensor_file_get_metadata (file, "ligature.run"), run) == 0;
}

/* Finds a checkpoint by its file or by the run that wrote it. */
static char *
find_checkpoint (const char *selector, LigStore *store, GError **error)
{
  if (g_file_test (selector, G_FILE_TEST_IS_REGULAR))
    return g_strdup (selector);
  g_autoptr (LigRunRow) row = lig_cli_find_run (store, selector, "train", error);
  g_autoptr (GPtrArray) artifacts = row ? lig_store_get_artifacts (store, row->uuid, error) : NULL;
  /* The newest first, as a run that resumed from a copy writes to the new file. */
  for (guint i = artifacts ? artifacts->len : 0; i > 0; i--) {
    const LigArtifactRow *artifact = artifacts->pdata[i - 1];
    if (g_str_equal (artifact->kind, "checkpoint") && is_checkpoint_of (artifact->path, row->uuid))
      return g_strdup (artifact->path);
  }
  if (artifacts)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE,
                 "run %s has no checkpoint: it ended before the first, or the file is gone",
                 row->uuid);
  return NULL;
}

/* Returns the first given option whose value the checkpoint fixes, or NULL. */
static const char *
find_contradiction (const Options *options, const char *device)
{
  return options->init                                              ? "init"
         : options->sequence.input                                  ? "input"
         : options->sequence.forbid                                 ? "forbid"
         : options->sequence.force                                  ? "force"
         : options->sequence.fence                                  ? "fence"
         : options->device && strcmp (options->device, device) != 0 ? "device"
                                                                    : NULL;
}

static LigRun *
resume (const Options *options, LigStore *store, GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autofree char *checkpoint = find_checkpoint (options->resume, store, error);
  g_autofree char *name = checkpoint ? lig_run_checkpoint_device (checkpoint, error) : NULL;
  if (!name)
    return NULL;
  const char *foreign = find_contradiction (options, name);
  if (foreign) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "--%s contradicts --resume: the checkpoint fixes it (device %s); omit it", foreign,
                 name);
    return NULL;
  }
  for (guint i = 0; lig_run_setting_nth (i); i++) {
    g_autofree char *text =
      g_strconcat (lig_run_setting_nth (i)->name, "=", options->values[i], NULL);
    if (options->values[i])
      g_strv_builder_add (builder, text);
  }
  g_auto (GStrv) overrides = g_strv_builder_end (builder);
  g_autoptr (LigDevice) device = open_device (name, error);
  return device ? lig_run_resume (checkpoint, device, (const char *const *) overrides, store, error)
                : NULL;
}

static void
print_result (LigRun *self)
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
  lig_json_add_number (builder, "loss_scale", progress.loss_scale);
  lig_json_add_integer (builder, "skipped_updates", progress.skipped);
  lig_json_add_text (builder, "status", lig_run_status_name (progress.status));
  lig_json_add_text (builder, "checkpoint", lig_run_get_checkpoint (self));
  json_builder_end_object (builder);
  lig_cli_print_json (json_builder_get_root (builder));
}

static int
train (LigRun *self)
{
  g_autoptr (GError) error = NULL;
  LigRunProgress progress;
  if (lig_run_get_parent (self))
    lig_cli_say ("the checkpoint continues as a new run; run %.8s, which wrote it, is not changed",
                 lig_run_get_parent (self));
  lig_cli_watch_run (self);
  if (!lig_run_wait (self, &error)) {
    const char *checkpoint = lig_run_get_checkpoint (self);
    if (checkpoint && g_file_test (checkpoint, G_FILE_TEST_EXISTS))
      lig_cli_say ("the last checkpoint is %s", checkpoint);
    return lig_cli_fail (g_steal_pointer (&error));
  }
  lig_run_get_progress (self, &progress);
  if (lig_cli_json ())
    print_result (self);
  else
    lig_cli_print_outcome (self);
  return progress.status == LIG_RUN_INTERRUPTED ? LIG_EXIT_INTERRUPTED : LIG_EXIT_OK;
}

static void
clear (Options *options)
{
  lig_cli_clear_options (&options->sequence);
  g_free (options->device);
  g_free (options->init);
  g_free (options->resume);
  g_free (options->store);
  for (guint i = 0; lig_run_setting_nth (i); i++)
    g_free (options->values[i]);
  g_free (options->values);
  g_strfreev (options->helps);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, clear)

static int
run (int argc, char **argv)
{
  g_auto (Options) options = {.values = g_new0 (char *, count_settings () + 1),
                              .helps = g_new0 (char *, count_settings () + 1)};
  g_autofree GOptionEntry *entries = make_entries (&options);
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (&lig_command_train, entries, &argc, &argv, 0, 1))
    return LIG_EXIT_USAGE;
  if ((argc == 2) == (options.resume != NULL))
    return lig_cli_usage (
      "lig train needs either a sequence or --resume with a checkpoint or a run");
  /* Resuming a run needs an existing store; any other training creates it. */
  gboolean existing = options.resume && !g_file_test (options.resume, G_FILE_TEST_IS_REGULAR);
  g_autoptr (LigStore) store = NULL;
  if (lig_cli_need_files (MOST_FILES, &error))
    store = existing ? lig_store_open_existing (options.store, LIG_STORE_CHANGE, &error)
                     : lig_store_open (options.store, &error);
  if (!store)
    return lig_cli_fail (g_steal_pointer (&error));
  if (lig_store_get_warning (store))
    lig_cli_say ("%s", lig_store_get_warning (store));
  g_autoptr (LigRun) self =
    options.resume ? resume (&options, store, &error) : begin (argv[1], &options, store, &error);
  if (!self)
    return lig_cli_fail (g_steal_pointer (&error));
  return train (self);
}
