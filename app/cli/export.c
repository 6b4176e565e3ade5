/* SPDX-License-Identifier: MIT */
/* lig export: writes a model as an ONNX file, which other programs run. */
#include "app/cli/command.h"
#include "app/cli/document.h"
#include "app/cli/find-run.h"
#include "app/cli/model.h"
#include "app/cli/output-file.h"
#include "app/cli/shared-options.h"
#include "app/cli/task.h"
#include <ligature/compile.h>
#include <ligature/onnx.h>
#include <ligature/plan-options.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int run (int argc, char **argv);

LIG_COMMAND (export) = {
  .name = "export",
  .usage = "P|RUN [--weights W] -o FILE.onnx …",
  .summary = "Writes a model as an ONNX file, for other programs",
  .example = "lig export 'linear(3) ! gelu ! linear(2)' --input 4x8 -o model.onnx",
  .run = run,
};

typedef struct {
  char *output, *weights, *seed;
  gboolean external;
} Options;

static void
clear_options (Options *options)
{
  g_free (options->output);
  g_free (options->weights);
  g_free (options->seed);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, clear_options)

/* Checks the command line. If it is wrong, prints the error and returns FALSE. */
static gboolean
check_options (const Options *options, const LigSequenceOptions *plan)
{
  g_autoptr (GError) error = NULL;
  if (!options->output)
    return !lig_cli_usage ("export needs -o FILE.onnx; see lig export --help");
  if (lig_cli_is_standard (options->output) && options->external)
    return !lig_cli_usage ("--external needs the name of a file; -o - writes a single one");
  if (!lig_cli_is_standard (options->output) && !g_str_has_suffix (options->output, ".onnx"))
    return !lig_cli_usage ("-o is '%s', expected a file name that ends in .onnx", options->output);
  if (plan->recipe && strcmp (plan->recipe, "none") != 0)
    return !lig_cli_usage ("--recipe is '%s', expected none: quantized matmuls are not exported",
                           plan->recipe);
  if (!lig_cli_check_output (options->output, "onnx", &error))
    return !lig_cli_usage ("%s", error->message);
  return TRUE;
}

/* Checks what the build and the file system allow, before anything is computed. */
static gboolean
check_place (const Options *options, GError **error)
{
  g_autofree char *data = g_strconcat (options->output, ".data", NULL);
  if (!lig_onnx_is_built ()) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE,
                 "ONNX: this build cannot write it, because protobuf-c was missing; install "
                 "protobuf-c-compiler and libprotobuf-c-dev, and build again");
    return FALSE;
  }
  return (lig_cli_is_standard (options->output) || lig_cli_check_file (options->output, error)) &&
         (!options->external || lig_cli_check_file (data, error));
}

static gboolean
ends_with_loss (LigSequence *sequence)
{
  guint length = lig_sequence_get_length (sequence);
  LigOp *last = length > 0 ? lig_sequence_get (sequence, (int) length - 1, NULL) : NULL;
  return last && lig_op_get_info (last)->flags & LIG_OP_LOSS;
}

static void
print_json (const Options *options, const LigOnnxCounts *counts, gboolean before_loss)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "file", options->output);
  lig_json_add_integer (builder, "nodes", counts->nodes);
  lig_json_add_integer (builder, "weights", counts->weights);
  lig_json_add_integer (builder, "weight_bytes", counts->weight_bytes);
  lig_json_add_truth (builder, "external", counts->external);
  lig_json_add_truth (builder, "before_loss", before_loss);
  json_builder_end_object (builder);
  lig_cli_print_document ("export", json_builder_get_root (builder));
}

static void
print_counts (const Options *options, const LigOnnxCounts *counts, gboolean before_loss)
{
  if (before_loss)
    lig_cli_say ("the graph ends before the sequence's loss");
  if (lig_cli_json ()) {
    print_json (options, counts, before_loss);
    return;
  }
  if (lig_cli_is_standard (options->output))
    return;
  lig_cli_print ("%u node%s and %u weight%s written to %s", counts->nodes,
                 LIG_ENDING (counts->nodes), counts->weights, LIG_ENDING (counts->weights),
                 options->output);
  if (counts->external)
    lig_cli_print ("the weights are in %s.data", options->output);
}

/* Makes the plan whose graph is exported: unfused, on the CPU. */
static LigPlan *
make_plan (LigCliModel *model,
           const LigSequenceOptions *options,
           gboolean before_loss,
           gint64 seed,
           LigTensorFile *weights,
           GError **error)
{
  LigPlanOptions requested = LIG_PLAN_OPTIONS_INIT;
  if (!lig_cli_model_options (model, options, &requested, error))
    return NULL;
  requested.policy = LIG_POLICY_NONE;
  requested.before_loss = before_loss;
  requested.recipe = options->recipe;
  g_autoptr (LigDevice) device = lig_device_open ("cpu", error);
  /* A state of many experts takes long to make in vain. */
  g_autoptr (LigPlan) first =
    device ? lig_plan_compile (model->sequence, device, &requested, error) : NULL;
  if (!first || !lig_onnx_check (first, error))
    return NULL;
  g_autoptr (LigState) state =
    lig_cli_load_model (model, device, &requested, (guint64) seed, error);
  if (!state || !lig_state_store (state, weights, FALSE, error))
    return NULL;
  return lig_state_plan (state, model->sequence, &requested, error);
}

static gboolean export(const char *text,
                       const LigSequenceOptions *plan_options,
                       const Options *options,
                       gint64 seed,
                       GError **error)
{
  g_auto (LigCliModel) model = {0};
  LigOnnxCounts counts;
  lig_run_settings_init (&model.settings);
  if (!lig_cli_open_model (text, options->weights, plan_options, &model, error))
    return FALSE;
  gboolean before_loss = ends_with_loss (model.sequence);
  g_autoptr (LigTensorFile) weights = lig_tensor_file_new ();
  lig_cli_task_begin ("exporting");
  g_autoptr (LigPlan) plan = make_plan (&model, plan_options, before_loss, seed, weights, error);
  if (!plan)
    return FALSE;
  g_autofree char *json = lig_sequence_to_json (model.sequence);
  const LigOnnxOptions how = {lig_cli_is_standard (options->output) ? NULL : options->output,
                              options->external, json, model.run};
  g_autoptr (GBytes) bytes = lig_onnx_export (plan, weights, &how, &counts, error);
  if (!bytes || !lig_cli_write_output (bytes, options->output, error))
    return FALSE;
  lig_cli_task_end ();
  print_counts (options, &counts, before_loss);
  return TRUE;
}

static int
run (int argc, char **argv)
{
  g_auto (Options) options = {0};
  g_auto (LigSequenceOptions) plan = {0};
  GError *error = NULL;
  gint64 seed;
  const GOptionEntry more[] = {
    LIG_CLI_OUTPUT_ENTRY (&options.output),
    {"weights", 0, 0, G_OPTION_ARG_FILENAME, &options.weights,
     "Parameters: a file, a folder or a run [default: those of RUN, else initialized from --seed]",
     "W|RUN"},
    {"recipe", 0, 0, G_OPTION_ARG_STRING, &plan.recipe,
     "Export the matmuls of a quantized model unquantized", "none"},
    {"external", 0, 0, G_OPTION_ARG_NONE, &options.external,
     "Write the weights to FILE.onnx.data [default: only above 1.9 GB]", NULL},
    lig_cli_setting_entry ("seed", &options.seed),
    LIG_CLI_STORE_ENTRY (&plan.store),
    {NULL},
  };
  g_autofree GOptionEntry *entries =
    lig_cli_sequence_entries (&plan, LIG_OPTION_INPUT | LIG_OPTION_DTYPE, more);
  if (!lig_cli_parse (&lig_command_export, entries, &argc, &argv, 1, 1) ||
      !check_options (&options, &plan))
    return LIG_EXIT_USAGE;
  if (!lig_cli_read_count ("seed", options.seed, &seed, &error) ||
      !check_place (&options, &error) || !export(argv[1], &plan, &options, seed, &error)) {
    lig_cli_blame_name (&error, argv[1]);
    return lig_cli_fail (error);
  }
  return LIG_EXIT_OK;
}
