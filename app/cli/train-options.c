/* SPDX-License-Identifier: MIT */
/* The options of commands that train. */
#include "app/cli/train-options.h"

#include "app/cli/blame.h"
#include "app/cli/rank.h"
#include "app/cli/shared-options.h"
#include <ligature/dataset.h>
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>

#include <string.h>

static guint
count_settings (void)
{
  guint n = 0;
  while (lig_run_setting_nth (n))
    n++;
  return n;
}

void
lig_cli_init_training (LigTrainOptions *options)
{
  *options = (LigTrainOptions){.values = g_new0 (char *, count_settings () + 1),
                               .helps = g_new0 (char *, count_settings () + 1)};
}

void
lig_cli_clear_training (LigTrainOptions *options)
{
  lig_cli_clear_options (&options->sequence);
  g_free (options->device);
  g_free (options->init);
  g_free (options->resume);
  g_free (options->store);
  g_free (options->parallel);
  g_free (options->metrics);
  g_strfreev (options->freeze);
  for (guint i = 0; lig_run_setting_nth (i); i++) {
    g_free (options->values[i]);
    /* Settings that are switches have none. */
    g_free (options->helps[i]);
  }
  g_free (options->values);
  g_free (options->helps);
}

/* --- Help ---------------------------------------------------------------------------------- */

static void
append_optimizers (GString *to)
{
  const LigOptimizerInfo *info;
  g_string_append (to, "Optimizers:\n");
  for (guint n = 0; (info = lig_optimizer_info_nth (n)); n++)
    g_string_append_printf (to, "  %-28s %s\n", info->name, info->help);
}

static void
append_default (GString *to, const LigDatasetOption *option)
{
  if (option->type == LIG_DATASET_COUNT || option->type == LIG_DATASET_FRACTION ||
      option->type == LIG_DATASET_FRACTION_OR_FILE)
    g_string_append_printf (to, " [default: %.15g]", option->initial);
  else if (option->type == LIG_DATASET_BOOLEAN)
    g_string_append_printf (to, " [default: %s]", option->initial != 0 ? "true" : "false");
  g_string_append_c (to, '\n');
}

static void
append_options (GString *to, const char *indent, const LigDatasetOption *option)
{
  static const char *const arguments[] = {"TEXT", "PATH",     NULL,           "true|false",
                                          "N",    "FRACTION", "FRACTION|PATH"};
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
  g_string_append (to, "Kinds of data:\n");
  for (guint n = 0; (info = lig_dataset_info_nth (n)); n++) {
    g_autofree char *name =
      g_strconcat (info->name, info->path == LIG_DATASET_NO_PATH ? "" : ":PATH", NULL);
    g_string_append_printf (to, "  %-28s %s. %s\n", name, info->title, info->help);
    append_options (to, "    ?", info->options);
  }
  append_options (to, "  all: ?", lig_dataset_shared_options ());
}

void
lig_cli_train_notes (GString *to)
{
  append_optimizers (to);
  g_string_append_c (to, '\n');
  append_data (to);
  g_string_append_c (to, '\n');
}

static const char *
find_value (const LigTrainOptions *options, const char *name)
{
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (strcmp (setting->name, name) == 0)
      return options->values[i];
  return NULL;
}

/* The options whose entries were made last; a program parses one command line. */
static LigTrainOptions *parsed;

/* Settings whose switches every compiling command has. */
static const struct {
  const char *name;
  gsize given; /* an int: 1, 0 or LIG_CLI_UNSET */
} switches[] = {
  {"tf32", G_STRUCT_OFFSET (LigTrainOptions, sequence.tf32)},
  {"nondeterministic", G_STRUCT_OFFSET (LigTrainOptions, sequence.nondeterministic)},
  {"shard-optimizer", G_STRUCT_OFFSET (LigTrainOptions, sequence.shard_optimizer)},
};

/* Returns the value of the setting's switch; null if it has none. */
static const int *
find_switch (const LigSetting *setting)
{
  for (guint i = 0; i < G_N_ELEMENTS (switches); i++)
    if (strcmp (setting->name, switches[i].name) == 0)
      return G_STRUCT_MEMBER_P (parsed, switches[i].given);
  return NULL;
}

/* Returns whether the option may be given several times. */
static gboolean
is_list (const LigSetting *setting)
{
  return strcmp (setting->name, "freeze") == 0;
}

gboolean
lig_cli_check_resume (const LigTrainOptions *options,
                      const LigCommand *command,
                      const char *text,
                      const char *what)
{
  if (text && options->resume)
    lig_cli_usage (
      "'%s' cannot be combined with --resume, which has its own sequence; omit one of them", text);
  else if (!text && !options->resume)
    lig_cli_usage ("%s needs a sequence P or --resume %s; see lig %s --help", command->name, what,
                   command->name);
  return !text != !options->resume;
}

/* --- Entries ------------------------------------------------------------------------------- */

/* Appends the options of all settings, each after its group. */
static void
append_settings (GArray *entries, LigTrainOptions *options)
{
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++) {
    if (find_switch (setting))
      continue;
    options->helps[i] = lig_cli_setting_help (setting);
    const GOptionEntry group = LIG_CLI_GROUP (setting->group);
    GOptionEntry entry = {
      setting->name,    0, 0, G_OPTION_ARG_STRING, &options->values[i], options->helps[i],
      setting->argument};
    if (is_list (setting)) {
      entry.arg = G_OPTION_ARG_STRING_ARRAY;
      entry.arg_data = &options->freeze;
    }
    g_array_append_val (entries, group);
    g_array_append_val (entries, entry);
  }
}

GOptionEntry *
lig_cli_train_entries (LigTrainOptions *options, const GOptionEntry *own)
{
  /* The first lines determine the order of the groups. */
  const GOptionEntry order[] = {
    LIG_CLI_GROUP (LIG_CLI_OPTIONS),  LIG_CLI_GROUP (LIG_CLI_DATA),
    LIG_CLI_GROUP (LIG_CLI_SEQUENCE), LIG_CLI_GROUP (LIG_CLI_OPTIMIZER),
    LIG_CLI_GROUP (LIG_CLI_SCHEDULE), LIG_CLI_GROUP (LIG_CLI_DEVICE),
    LIG_CLI_GROUP (LIG_CLI_FUSIONS),  LIG_CLI_GROUP (LIG_CLI_OUTPUT),
    LIG_CLI_GROUP (LIG_CLI_OPTIONS),
  };
  const GOptionEntry shared[] = {
    LIG_CLI_GROUP (LIG_CLI_DEVICE),
    lig_cli_device_entry (TRUE, &options->device),
    LIG_CLI_GROUP (LIG_CLI_OUTPUT),
    LIG_CLI_STORE_ENTRY (&options->store),
    LIG_CLI_QUIET_ENTRY (&options->quiet, "uuid of the run or sweep"),
    LIG_CLI_GROUP (LIG_CLI_DATA),
    {"init", 0, 0, G_OPTION_ARG_FILENAME, &options->init,
     "Start from these weights: a file, a folder or a run [default: initialized from --seed]",
     "W|RUN"},
  };
  const GOptionEntry metrics[] = {
    LIG_CLI_GROUP (LIG_CLI_OUTPUT),
    {"metrics", 0, 0, G_OPTION_ARG_FILENAME, &options->metrics,
     "Write each step as a line of JSON; -: standard output [default: none]", "FILE|-"},
  };
  g_autoptr (GArray) entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  g_array_append_vals (entries, order, G_N_ELEMENTS (order));
  for (; own->long_name; own++)
    g_array_append_val (entries, *own);
  g_array_append_vals (entries, shared, G_N_ELEMENTS (shared));
  if (options->has_metrics)
    g_array_append_vals (entries, metrics, G_N_ELEMENTS (metrics));
  parsed = options;
  append_settings (entries, options);
  return lig_cli_sequence_entries (&options->sequence,
                                   LIG_OPTION_INPUT | LIG_OPTION_TF32 | LIG_OPTION_OVERRIDES |
                                     LIG_OPTION_SHARD,
                                   (const GOptionEntry *) (gpointer) entries->data);
}

gboolean
lig_cli_parse_training (
  const LigCommand *command, const GOptionEntry *entries, int *argc, char ***argv, int min, int max)
{
  const LigSetting *setting;
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (command, entries, argc, argv, min, max))
    return FALSE;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++) {
    const int *given = find_switch (setting);
    if (is_list (setting) && parsed->freeze)
      parsed->values[i] = g_strjoinv (",", parsed->freeze);
    else if (given && *given != LIG_CLI_UNSET)
      parsed->values[i] = g_strdup (*given ? "1" : "0");
  }
  if (g_strcmp0 (find_value (parsed, "checkpoint"), "-") == 0) {
    lig_cli_usage ("--checkpoint needs a file, because it is replaced during the run; standard "
                   "output is not one");
    return FALSE;
  }
  /* Types give the same errors as in `lig plan`. */
  LigPlanOptions plan = LIG_PLAN_OPTIONS_INIT;
  const LigSequenceOptions types = {.dtype = (char *) find_value (parsed, "dtype")};
  if (lig_cli_plan_options (&types, &plan, &error))
    return TRUE;
  lig_cli_fail (g_steal_pointer (&error));
  return FALSE;
}

/* --- Values -------------------------------------------------------------------------------- */

/* Confines a checkpoint path from a .lig file to the file's folder. A path on the command line is
 * the user's choice. */
static gboolean
confine (const char *text, const LigTrainOptions *options, LigRunSettings *settings, GError **error)
{
  g_autofree char *folder =
    g_file_test (text, G_FILE_TEST_EXISTS) ? g_path_get_dirname (text) : g_get_current_dir ();
  return find_value (options, "checkpoint") || lig_run_settings_confine (settings, folder, error);
}

gboolean
lig_cli_check_uses (const LigTrainOptions *options, const LigRunSettings *settings, GError **error)
{
  const LigSetting *setting;
  const char *optimizer = settings->optimizer ? settings->optimizer : LIG_OPTIMIZER_DEFAULT;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++) {
    g_auto (GStrv) readers = g_strsplit (setting->of ? setting->of : optimizer, ", ", -1);
    if (!options->values[i] || g_strv_contains ((const char *const *) readers, optimizer))
      continue;
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--%s belongs to the optimizer %s, not %s; omit it, or give --optimizer %s",
                 setting->name, setting->of, optimizer, readers[0]);
    return FALSE;
  }
  if (find_value (options, "min-lr") && g_strcmp0 (settings->schedule, "cosine") != 0) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--min-lr is the final learning rate of a cosine schedule; omit it, or give "
                 "--schedule cosine");
    return FALSE;
  }
  return TRUE;
}

/* Checks the options that the engine only checks later, in combination with others. */
static gboolean
check_options (LigSequence *sequence,
               const LigTrainOptions *options,
               const LigRunSettings *settings,
               GError **error)
{
  const char *data = find_value (options, "data"), *dtype = find_value (options, "dtype");
  if (!settings->data) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "training needs data; give --data, such as --data %s",
                 lig_run_suggest_data (sequence));
    return FALSE;
  }
  if (g_strcmp0 (find_value (options, "name"), "last") == 0) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--name is 'last', which selects the newest run of any name; give another name");
    return FALSE;
  }
  if (data && !lig_dataset_check (data, error))
    return lig_cli_blame (error, "data");
  if (dtype && !lig_cli_check_dtype (dtype, error))
    return FALSE;
  return lig_run_settings_check (settings, error) || lig_cli_blame (error, NULL);
}

/* Scales the file's settings that count steps down in proportion if the command line asks for too
 * few steps for them. */
static void
fit_steps (const LigTrainOptions *options, gint64 before, LigRunSettings *settings)
{
  const struct {
    const char *name;
    gint64 *value, max;
  } counts[] = {{"warmup", &settings->warmup, settings->steps},
                {"calibrate", &settings->calibrate, settings->steps - 1}};
  gboolean planned = settings->schedule_steps > 0;
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    gint64 given = *counts[i].value;
    if (given <= counts[i].max || find_value (options, counts[i].name) ||
        !find_value (options, "steps") || (planned && counts[i].value == &settings->warmup))
      continue;
    double share = (double) given / (double) MAX (before, given);
    *counts[i].value = MIN ((gint64) (share * (double) settings->steps + 0.5), counts[i].max);
    lig_cli_say ("%s is %" G_GINT64_FORMAT " in the file, too many for %" G_GINT64_FORMAT
                 " step%s: reduced to %" G_GINT64_FORMAT "; change it with --%s",
                 counts[i].name, given, settings->steps, LIG_ENDING (settings->steps),
                 *counts[i].value, counts[i].name);
  }
}

gboolean
lig_cli_train_settings (const char *text,
                        LigSequence *sequence,
                        const LigTrainOptions *options,
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
  gint64 steps = settings->steps;
  for (guint i = 0; lig_run_setting_nth (i); i++)
    if (options->values[i] && !lig_run_settings_set (settings, lig_run_setting_nth (i)->name,
                                                     options->values[i], error)) {
      g_prefix_error (error, "--");
      return lig_cli_blame (error, NULL);
    }
  fit_steps (options, steps, settings);
  return check_options (sequence, options, settings, error);
}

/* Warns if there are more threads than CPUs, because the threads then wait for each other. */
static void
note_threads (LigDevice *device)
{
  const char *text = g_getenv ("OMP_NUM_THREADS");
  guint64 threads;
  guint cpus = g_get_num_processors ();
  if (text && lig_cli_rank_is_first () && !lig_device_has (device, LIG_DEVICE_ACCELERATOR) &&
      g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT, &threads, NULL) && threads > cpus)
    lig_cli_say ("OMP_NUM_THREADS is %s, this process has %u CPU%s: the threads wait for each "
                 "other; set at most %u",
                 text, cpus, LIG_ENDING (cpus), cpus);
}

LigDevice *
lig_cli_open_training_device (const char *name, GError **error)
{
  g_autoptr (LigDevice) device = lig_cli_open_real (name, error);
  if (device)
    note_threads (device);
  if (device && lig_device_get_remark (device))
    lig_cli_say ("%s", lig_device_get_remark (device));
  return g_steal_pointer (&device);
}
