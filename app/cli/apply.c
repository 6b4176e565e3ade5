/* SPDX-License-Identifier: MIT */
/* lig apply: runs a sequence once on tensors from a file and writes its outputs; with --grad also
 * the gradients. */
#include "app/cli/apply.h"

#include "app/cli/document.h"
#include "app/cli/model.h"
#include "app/cli/notes.h"
#include "app/cli/output-file.h"
#include "app/cli/shared-options.h"
#include "app/cli/task.h"
#include "kernels/times.h"
#include <ligature/plan-options.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *weights, *input, *output, *gradient;
static gint64 seed;

static int run (int argc, char **argv);

LIG_COMMAND (apply) = {
  .name = "apply",
  .usage = "P|RUN [--weights W] --input X.safetensors -o Y.safetensors [--grad G.safetensors] …",
  .summary = "Runs a model on tensors from a file; with --grad also backward",
  .example = "printf '@\\0\\0\\0\\0\\0\\0\\0%s    \\0\\0\\200?\\0\\0\\0@' "
             "'{\"input\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]}}' > "
             "x.safetensors && lig apply 'layer-norm' --input x.safetensors -o y.safetensors",
  .run = run,
};

static const GOptionEntry own_entries[] = {
  {"weights", 0, 0, G_OPTION_ARG_FILENAME, &weights,
   "Parameters: a file, a folder or a run [default: those of RUN, else initialized from --seed]",
   "W|RUN"},
  {"input", 0, 0, G_OPTION_ARG_FILENAME, &input, "Tensors `input` and `extra.N`", "X.safetensors"},
  LIG_CLI_OUTPUT_ENTRY (&output),
  {"grad", 0, 0, G_OPTION_ARG_FILENAME, &gradient,
   "Gradients `output` and `extra.N`; also run backward and write the gradients", "G.safetensors"},
  {NULL},
};

/* Reports that `input` is missing, and each name that no sequence has. Without the input's shape
 * the other tensors cannot be checked. */
static gboolean
reject_input (LigTensorFile *file, GError **error)
{
  g_autoptr (GString) text = g_string_new ("input is missing");
  for (const char *const *name = lig_tensor_file_get_names (file); *name; name++)
    if (!g_str_has_prefix (*name, "extra."))
      g_string_append_printf (text, "; %s is surplus", *name);
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, "%s does not fit the sequence: %s", input,
               text->str);
  return FALSE;
}

/* Gives the sequence the shape and type of the file's `input`. */
static gboolean
adopt_input (LigSequence *sequence, LigTensorFile *file, GError **error)
{
  LigShape shape;
  LigDtype dtype;
  if (lig_tensor_file_get_shape (file, "input", &shape, &dtype))
    lig_sequence_set_input (sequence, &shape, dtype);
  else if (!lig_sequence_has_input (sequence))
    return reject_input (file, error);
  return TRUE;
}

/* Reads and checks every file before anything runs. */
static gboolean
feed (LigProgram *program, LigTensorFile *inputs, GError **error)
{
  LigPlan *plan = lig_program_get_plan (program);
  g_autoptr (GArray) slots = lig_apply_input_slots (plan);
  if (!lig_apply_check (inputs, input, slots, error))
    return FALSE;
  if (gradient) {
    g_autoptr (GArray) gradient_slots = lig_apply_gradient_slots (plan);
    g_autoptr (LigTensorFile) gradients = lig_tensor_file_load (gradient, error);
    if (!gradients || !lig_apply_check (gradients, gradient, gradient_slots, error) ||
        !lig_apply_set_gradients (program, gradients, error))
      return FALSE;
  }
  return lig_apply_set_inputs (program, inputs, error);
}

static gboolean
save (LigTensorFile *results, GError **error)
{
  return lig_cli_is_standard (output) ? lig_tensor_file_write (results, STDOUT_FILENO, error)
                                      : lig_tensor_file_save (results, output, error);
}

/* Runs the program and returns its outputs and gradients. */
static LigTensorFile *
compute (LigProgram *program, GError **error)
{
  g_autoptr (LigTensorFile) results = lig_tensor_file_new ();
  if (!lig_program_run (program, gradient ? LIG_RUN_FORWARD | LIG_RUN_BACKWARD : LIG_RUN_FORWARD,
                        error))
    return NULL;
  lig_times_mark ("first run");
  if (!lig_apply_read_outputs (program, results, error) ||
      (gradient && !lig_apply_read_gradients (program, results, error)) || !save (results, error))
    return NULL;
  return g_steal_pointer (&results);
}

static void
print_json (LigPlan *plan, LigTensorFile *results)
{
  LigShape shape;
  LigDtype dtype;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_plan_get_output (plan, &shape, &dtype);
  lig_cli_add_tensor (builder, "output", &shape, dtype);
  lig_json_add_text (builder, "file", output);
  lig_json_add_text (builder, "device", lig_device_get_name (lig_plan_get_device (plan)));
  lig_json_add_text (builder, "policy", lig_policy_name (lig_plan_get_policy (plan)));
  lig_json_add_truth (builder, "tf32", lig_plan_get_tf32 (plan));
  lig_json_add_truth (builder, "nondeterministic", lig_plan_get_nondeterministic (plan));
  lig_json_begin_array (builder, "tensors");
  for (const char *const *name = lig_tensor_file_get_names (results); *name; name++)
    json_builder_add_string_value (builder, *name);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  lig_cli_print_document ("apply", json_builder_get_root (builder));
}

static void
print_results (LigTensorFile *results)
{
  for (const char *const *name = lig_tensor_file_get_names (results); *name; name++) {
    g_autoptr (LigTensor) tensor = lig_tensor_file_get (results, *name, NULL);
    g_autofree char *text = lig_cli_format_tensor (&tensor->shape, tensor->dtype);
    if (tensor->size == 1)
      lig_cli_print ("%s %s = %.7g", *name, text, (double) lig_tensor_get (tensor, 0));
    else
      lig_cli_print ("%s %s", *name, text);
  }
  lig_cli_print ("written to %s", output);
}

static gboolean
apply (const char *text, const LigSequenceOptions *options, GError **error)
{
  LigPlanOptions requested = LIG_PLAN_OPTIONS_INIT;
  g_auto (LigCliModel) model = {0};
  lig_run_settings_init (&model.settings);
  if (!lig_cli_open_model (text, weights, options, &model, error) ||
      !lig_cli_model_options (&model, options, &requested, error))
    return FALSE;
  LigSequence *sequence = model.sequence;
  requested.training = requested.input_gradient = gradient != NULL;
  g_autoptr (LigTensorFile) inputs = lig_tensor_file_load (input, error);
  if (!inputs || !adopt_input (sequence, inputs, error))
    return FALSE;
  lig_times_mark ("sequence and input");
  lig_cli_task_begin ("applying");
  lig_cli_task_detail ("planning", NULL);
  g_autoptr (LigDevice) device = lig_cli_open_device (options, error);
  g_autoptr (LigState) state =
    device ? lig_cli_load_model (&model, device, &requested, (guint64) seed, error) : NULL;
  if (state && model.weights)
    lig_cli_note_table (model.weights);
  g_autoptr (LigPlan) plan = state ? lig_state_plan (state, sequence, &requested, error) : NULL;
  g_autoptr (LigProgram) program = plan ? lig_program_new (plan, state, error) : NULL;
  lig_times_mark ("state and plan");
  if (!program || !feed (program, inputs, error))
    return FALSE;
  lig_cli_note_recipe (plan);
  lig_cli_task_detail (gradient ? "forward and backward" : "forward", NULL);
  g_autoptr (LigTensorFile) results = compute (program, error);
  if (!results)
    return FALSE;
  lig_times_mark ("results");
  lig_cli_task_end ();
  if (lig_cli_json ())
    print_json (plan, results);
  else if (!lig_cli_is_standard (output))
    print_results (results);
  return TRUE;
}

static int
run (int argc, char **argv)
{
  g_auto (LigSequenceOptions) options = {0};
  g_autofree char *seed_text = NULL;
  g_autoptr (GArray) own = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  const GOptionEntry seed_entry = lig_cli_setting_entry ("seed", &seed_text);
  g_array_append_vals (own, own_entries, G_N_ELEMENTS (own_entries) - 1);
  g_array_append_val (own, seed_entry);
  g_autofree GOptionEntry *entries =
    lig_cli_sequence_entries (&options,
                              LIG_OPTION_DEVICE | LIG_OPTION_RUNS | LIG_OPTION_DTYPE |
                                LIG_OPTION_TF32 | LIG_OPTION_POLICY | LIG_OPTION_OVERRIDES,
                              (const GOptionEntry *) (gpointer) own->data);
  for (GOptionEntry *entry = entries; entry->long_name; entry++)
    if (strcmp (entry->long_name, "policy") == 0)
      entry->description = "How fusions are chosen [default: all]";
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (&lig_command_apply, entries, &argc, &argv, 1, 1))
    return LIG_EXIT_USAGE;
  if (!input || !output)
    return lig_cli_usage ("apply needs %s; see lig apply --help",
                          input ? "-o Y.safetensors" : "--input X.safetensors");
  if (!lig_cli_check_output (output, "safetensors", &error) ||
      !lig_cli_check_tensors (output, &error) ||
      !lig_cli_read_count ("seed", seed_text, &seed, &error))
    return lig_cli_fail (g_steal_pointer (&error));
  return apply (argv[1], &options, &error) ? LIG_EXIT_OK : lig_cli_fail (g_steal_pointer (&error));
}
