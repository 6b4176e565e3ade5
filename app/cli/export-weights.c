/* SPDX-License-Identifier: MIT */
/* lig export-weights: writes the parameters of a sequence, a run or a checkpoint to a safetensors
 * file, named by their paths or with the names and layouts of other programs. */
#include "app/cli/command.h"
#include "app/cli/document.h"
#include "app/cli/find-checkpoint.h"
#include "app/cli/find-run.h"
#include "app/cli/model.h"
#include "app/cli/output-file.h"
#include "app/cli/sequence-options.h"
#include "app/cli/shared-options.h"
#include "app/cli/values.h"
#include <ligature/report.h>
#include <ligature/state.h>
#include <ligature/store.h>
#include <ligature/suggest.h>
#include <ligature/weights.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int run (int argc, char **argv);

LIG_COMMAND (export_weights) = {
  .name = "export-weights",
  .usage = "P|RUN|CHECKPOINT -o FILE|FOLDER [--names NAMES] …",
  .summary = "Writes parameters to a file, also for other programs",
  .example = "lig export-weights 'linear(3) ! gelu ! linear(2)' --input 4x8 -o w.safetensors",
  .run = run,
};

typedef struct {
  char *output, *names, *type, *vocabulary, *weights, *seed, *store;
} Options;

static void
clear_options (Options *options)
{
  g_free (options->output);
  g_free (options->names);
  g_free (options->type);
  g_free (options->vocabulary);
  g_free (options->weights);
  g_free (options->seed);
  g_free (options->store);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, clear_options)

/* The parsed options. */
typedef struct {
  int dtype; /* -1: unchanged */
  gint64 vocabulary, seed;
} Values;

#define WHOLE "model.safetensors"
#define CONFIG "config.json"

static gboolean
names_folder (const char *output)
{
  return g_str_has_suffix (output, "/") || g_file_test (output, G_FILE_TEST_IS_DIR);
}

/* Checks --names, without which only a file can be written. */
static gboolean
check_names (const char *names, const char *output)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  const char *name;
  for (guint n = 0; (name = lig_weights_names_nth (n)); n++)
    g_ptr_array_add (all, (gpointer) name);
  g_ptr_array_add (all, NULL);
  const char *const *known = (const char *const *) all->pdata;
  if (names ? g_strv_contains (known, names) : !names_folder (output))
    return TRUE;
  g_autofree char *list = lig_cli_values_join (known);
  g_autofree char *file = g_build_filename (output, WHOLE, NULL);
  if (!names)
    return !lig_cli_usage ("-o %s is a folder, which needs --names, %s; a file like %s gets the "
                           "parameters by their paths",
                           output, list, file);
  g_autofree char *like = lig_suggest_ending (names, known);
  lig_cli_usage ("--names is '%s', expected %s%s", names, list, like);
  return FALSE;
}

/* Reads the values of the options. If the command line is wrong, prints the error and returns
 * FALSE. */
static gboolean
read_options (const Options *options, Values *values)
{
  g_autoptr (GError) error = NULL;
  LigDtype dtype;
  *values = (Values){.dtype = -1};
  if (!options->output)
    return !lig_cli_usage ("export-weights needs -o FILE; see lig export-weights --help");
  if (!check_names (options->names, options->output))
    return FALSE;
  if (options->type) {
    if (!lig_dtype_from_name (options->type, &dtype) || !lig_dtype_is_floating (dtype) ||
        lig_dtype_size (dtype) < 2)
      return !lig_cli_usage ("--type is '%s', expected fp32, fp16 or bf16", options->type);
    values->dtype = (int) dtype;
  }
  if (options->vocabulary &&
      !g_ascii_string_to_signed (options->vocabulary, 10, 1, G_MAXINT32, &values->vocabulary, NULL))
    return !lig_cli_usage ("--vocabulary is '%s', expected a whole number from 1 to %d",
                           options->vocabulary, G_MAXINT32);
  if (options->vocabulary && !options->names)
    return !lig_cli_usage ("--vocabulary needs --names, which identify the embedding");
  if (!lig_cli_check_output (options->output, "safetensors", &error) ||
      !lig_cli_read_count ("seed", options->seed, &values->seed, &error))
    return !lig_cli_usage ("%s", error->message);
  return TRUE;
}

/* Returns whether the output is a folder for another program, which is created if it ends in a
 * slash. */
static gboolean
is_folder (const Options *options)
{
  return options->names && names_folder (options->output);
}

/* Returns whether the text names a file or folder of weights. */
static gboolean
is_weights (const char *text, const Options *options)
{
  if (g_file_test (text, G_FILE_TEST_IS_DIR))
    return lig_cli_is_path (text) || !lig_cli_is_run (text, options->store);
  return g_str_has_suffix (text, ".safetensors") || g_str_has_suffix (text, ".index.json") ||
         lig_cli_begins_like_tensors (text);
}

/* Notes how the table was preprocessed on which the weights were trained. */
static void
keep_table (LigTensorFile *file, const char *weights)
{
  g_autoptr (LigTensorFile) from = weights ? lig_weights_open (weights, NULL) : NULL;
  const char *table = from ? lig_tensor_file_get_metadata (from, LIG_WEIGHTS_TABLE) : NULL;
  if (table)
    lig_tensor_file_set_metadata (file, LIG_WEIGHTS_TABLE, table);
}

/* Returns the parameters of a sequence, initialized or read from --weights. */
static LigTensorFile *
make_parameters (const char *text,
                 const LigSequenceOptions *plan,
                 const Options *options,
                 const Values *values,
                 LigSequence **of,
                 GError **error)
{
  g_autofree char *note = NULL, *weights = NULL;
  if (!lig_cli_find_weights (options->weights, options->store, &weights, error))
    return NULL;
  LigSequence *sequence = *of = lig_cli_open_sequence (text, plan, error);
  g_autoptr (LigDevice) device = sequence ? lig_device_open ("cpu", error) : NULL;
  g_autoptr (LigState) state =
    device ? lig_state_new (sequence, device, NULL, (guint64) values->seed, error) : NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  if (!state)
    return NULL;
  if (weights && !lig_state_load_weights (state, weights, &note, error))
    return NULL;
  lig_state_leave_out_padding (state, sequence, &note);
  if (note)
    lig_cli_say ("%s: %s", weights, note);
  keep_table (file, weights);
  return lig_state_store (state, file, FALSE, error) ? g_steal_pointer (&file) : NULL;
}

/* Returns the parameters of the run, the file or the sequence. `of`: (out) (nullable) (transfer
 * full): the sequence, which only checkpoints contain. */
static LigTensorFile *
open_parameters (const char *text,
                 const LigSequenceOptions *plan,
                 const Options *options,
                 const Values *values,
                 LigSequence **of,
                 GError **error)
{
  g_autoptr (LigTensorFile) file = NULL;
  if (is_weights (text, options)) {
    file = lig_weights_open (text, error);
  } else if (lig_cli_is_run (text, options->store)) {
    g_autoptr (LigStore) store = lig_store_open_existing (options->store, LIG_STORE_READ, error);
    g_autofree char *path =
      store ? lig_cli_find_checkpoint (text, store, "weights of", error) : NULL;
    file = path ? lig_tensor_file_load (path, error) : NULL;
  } else {
    return make_parameters (text, plan, options, values, of, error);
  }
  const char *json = file ? lig_tensor_file_get_metadata (file, "ligature.sequence") : NULL;
  if (json && !(*of = lig_sequence_from_json (json, -1, NULL, error)))
    return NULL;
  return g_steal_pointer (&file);
}

/* Returns how many rows of the vocabulary are written, by default as many as the loss has classes;
 * 0: all. */
static gint64
count_rows (const Values *values, LigSequence *sequence)
{
  return values->vocabulary > 0 ? values->vocabulary
         : sequence             ? lig_sequence_get_classes (sequence)
                                : 0;
}

/* Checks that the sequence is a model of that kind; in a folder, also writes its config.json.
 * Weights without a sequence do not contain enough information for it. */
static gboolean
describe (const Options *options,
          const Values *values,
          LigSequence *sequence,
          LigTensorFile *own,
          GError **error)
{
  gboolean writes = is_folder (options);
  if (!sequence && writes)
    lig_cli_say ("%s: no " CONFIG ", because %s", options->output,
                 "the weights have no sequence; give the sequence, and --weights");
  if (!sequence)
    return TRUE;
  g_autofree char *text = lig_state_describe_weights (sequence, own, options->names,
                                                      count_rows (values, sequence), error);
  if (!text || !writes)
    return text != NULL;
  g_autofree char *path = g_build_filename (options->output, CONFIG, NULL);
  g_autofree char *lines = g_strconcat (text, "\n", NULL);
  g_autoptr (GBytes) bytes = g_bytes_new (lines, strlen (lines));
  return lig_report_save (bytes, path, error);
}

/* Copies the tokenizer that the run was trained with into the folder, where other programs look for
 * it. That of llm.c has no merges, so that others cannot use it. */
static gboolean
copy_tokenizer (const Options *options, LigTensorFile *from, GError **error)
{
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  const char *json = from ? lig_tensor_file_get_metadata (from, "ligature.settings") : NULL;
  if (!is_folder (options) || !json || !lig_run_settings_read (&settings, json, NULL, NULL))
    return TRUE;
  g_autofree char *path = lig_cli_find_vocabulary (&settings);
  if (!path || !g_str_has_suffix (path, ".json"))
    return TRUE;
  g_autofree char *text = NULL;
  gsize length;
  if (!g_file_get_contents (path, &text, &length, error)) {
    g_prefix_error (error, "the tokenizer of the run: ");
    return FALSE;
  }
  g_autofree char *to = g_build_filename (options->output, "tokenizer.json", NULL);
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_steal_pointer (&text), length);
  return lig_report_save (bytes, to, error);
}

/* Saves to the file, or in the folder under the name that other programs look for. */
static gboolean
save (LigTensorFile *file, const Options *options, GError **error)
{
  if (!is_folder (options))
    return lig_tensor_file_save (file, options->output, error);
  g_autofree char *path = g_build_filename (options->output, WHOLE, NULL);
  return lig_tensor_file_save (file, path, error);
}

static gint64
count_elements (LigTensorFile *file)
{
  gint64 sum = 0;
  for (const char *const *name = lig_tensor_file_get_names (file); *name; name++) {
    LigShape shape;
    if (lig_tensor_file_get_shape (file, *name, &shape, NULL))
      sum += lig_shape_size (&shape);
  }
  return sum;
}

static void
print_json (LigTensorFile *file, const Options *options)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "file", options->output);
  lig_json_add_text (builder, "names", options->names);
  lig_json_add_integer (builder, "elements", count_elements (file));
  json_builder_set_member_name (builder, "tensors");
  json_builder_begin_object (builder);
  for (const char *const *name = lig_tensor_file_get_names (file); *name; name++) {
    LigShape shape;
    LigDtype dtype;
    if (lig_tensor_file_get_shape (file, *name, &shape, &dtype))
      lig_cli_add_tensor (builder, *name, &shape, dtype);
  }
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  lig_cli_print_document ("export-weights", json_builder_get_root (builder));
}

static gboolean
write_weights (const char *text,
               const LigSequenceOptions *plan,
               const Options *options,
               const Values *values,
               GError **error)
{
  g_autoptr (LigSequence) sequence = NULL;
  g_autoptr (LigTensorFile) own = open_parameters (text, plan, options, values, &sequence, error);
  gint64 rows = count_rows (values, sequence);
  g_autoptr (LigTensorFile) file =
    own ? lig_weights_export (own, options->names, rows, values->dtype, error) : NULL;
  if (!file)
    return FALSE;
  gboolean standard = lig_cli_is_standard (options->output);
  if (options->names && !describe (options, values, sequence, own, error))
    return FALSE;
  if ((standard ? !lig_tensor_file_write (file, STDOUT_FILENO, error)
                : !save (file, options, error)) ||
      !copy_tokenizer (options, own, error))
    return FALSE;
  guint count = g_strv_length ((GStrv) lig_tensor_file_get_names (file));
  gint64 elements = count_elements (file);
  if (lig_cli_json ())
    print_json (file, options);
  else if (!standard)
    lig_cli_print ("%u tensor%s with %" PRId64 " element%s written to %s", count,
                   LIG_ENDING (count), elements, LIG_ENDING (elements), options->output);
  return TRUE;
}

/* Returns the first given option that only applies to a sequence, or NULL. */
static const char *
find_foreign (const Options *options, const LigSequenceOptions *plan)
{
  return options->weights ? "weights" : options->seed ? "seed" : plan->input ? "input" : NULL;
}

/* Weights and runs have fixed parameters, so these options would be ignored. */
static int
check_source (const char *text, const Options *options, const LigSequenceOptions *plan)
{
  const char *foreign = find_foreign (options, plan);
  if (!foreign || (!is_weights (text, options) && !lig_cli_is_run (text, options->store)))
    return LIG_EXIT_OK;
  return lig_cli_usage ("--%s is for a sequence, and '%s' has parameters of its own; omit it",
                        foreign, text);
}

/* Checks the output path before anything is computed; creates the folder. */
static gboolean
check_place (const Options *options, GError **error)
{
  if (!is_folder (options))
    return lig_cli_check_tensors (options->output, error);
  g_autofree char *inside = g_build_filename (options->output, WHOLE, NULL);
  if (g_mkdir_with_parents (options->output, 0777) == 0)
    return lig_cli_check_tensors (inside, error);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "%s: cannot be created: %s", options->output,
               g_strerror (errno));
  return FALSE;
}

static int
run (int argc, char **argv)
{
  g_auto (Options) options = {0};
  g_auto (LigSequenceOptions) plan = {0};
  GError *error = NULL;
  Values values;
  const GOptionEntry more[] = {
    LIG_CLI_OUTPUT_ENTRY (&options.output),
    {"names", 0, 0, G_OPTION_ARG_STRING, &options.names,
     "The names and layouts of the tensors [default: paths]",
     "gpt-oss|gpt2|llama|mixtral|qwen3-moe"},
    {"type", 0, 0, G_OPTION_ARG_STRING, &options.type,
     "The type of all tensors [default: unchanged]", "fp32|fp16|bf16"},
    {"vocabulary", 0, 0, G_OPTION_ARG_STRING, &options.vocabulary,
     "Rows of the embedding and the LM head to write [default: the classes of the loss]", "N"},
    {"weights", 0, 0, G_OPTION_ARG_FILENAME, &options.weights,
     "Parameters: a file, a folder or a run [default: initialized from --seed]", "W|RUN"},
    lig_cli_setting_entry ("seed", &options.seed),
    LIG_CLI_STORE_ENTRY (&options.store),
    {NULL},
  };
  g_autofree GOptionEntry *entries = lig_cli_sequence_entries (&plan, LIG_OPTION_INPUT, more);
  if (!lig_cli_parse (&lig_command_export_weights, entries, &argc, &argv, 1, 1) ||
      !read_options (&options, &values) || check_source (argv[1], &options, &plan) != LIG_EXIT_OK)
    return LIG_EXIT_USAGE;
  if (!check_place (&options, &error) ||
      !write_weights (argv[1], &plan, &options, &values, &error)) {
    lig_cli_blame_name (&error, argv[1]);
    return lig_cli_fail (error);
  }
  return LIG_EXIT_OK;
}
