/* SPDX-License-Identifier: MIT */
/* lig predict: predicts the rows of a file with a trained model, which scales them as its training
 * did; compares with the targets if the file has them. */
#include "app/cli/predict-lines.h"
#include "app/cli/predict-rows.h"

#include "app/cli/document.h"
#include "app/cli/model.h"
#include "app/cli/output-file.h"
#include "app/cli/task.h"
#include <ligature/dataset.h>

#include <math.h>

static char *weights, *input, *output, *data;
static gboolean lines;
static gint64 batch;

static int run (int argc, char **argv);

LIG_COMMAND (predict) = {
  .name = "predict",
  .usage = "RUN|P --input ROWS.csv|--lines [-o OUT.csv] [--weights W] …",
  .summary = "Predicts the rows of a file with a trained model",
  .example = "printf 'a,b,y\\n0,0,0\\n0,1,1\\n1,0,1\\n1,1,2\\n' > sum.csv && lig train "
             "'linear(1) ! mean-squared-error' --data csv:sum.csv --steps 20 --name sum && lig "
             "predict sum --input sum.csv",
  .run = run,
};

static const GOptionEntry own_entries[] = {
  {"input", 0, 0, G_OPTION_ARG_FILENAME, &input,
   "The rows: csv, with the columns of the training data in any order; MNIST's idx; or "
   "safetensors with a tensor `input`",
   "FILE"},
  {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
   "The file to write, .csv or .safetensors; -: csv on standard output [default: -]", "FILE"},
  {"weights", 0, 0, G_OPTION_ARG_FILENAME, &weights,
   "Parameters: a file, a folder or a run [default: those of the run]", "W|RUN"},
  {"data", 0, 0, G_OPTION_ARG_STRING, &data,
   "Training data, for weights that do not record how their columns were read", "KIND:PATH"},
  {"lines", 0, 0, G_OPTION_ARG_NONE, &lines,
   "Read requests as lines of JSON from standard input, write predictions as lines of JSON", NULL},
  {NULL},
};

/* Reads the columns of the training data itself. */
static char *
describe_data (const char *spec, GError **error)
{
  g_autoptr (LigDataset) dataset = lig_dataset_open (spec, NULL, LIG_FP32, 1, 0, error);
  char *table = dataset ? lig_dataset_describe_table (dataset) : NULL;
  if (dataset && !table)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "--data: %s has no rows; give csv:FILE or idx:FILE", spec);
  return table;
}

/* Returns the preprocessing of the training. */
static LigTransform *
find_transform (const LigCliModel *model, GError **error)
{
  g_autofree char *table = data ? describe_data (data, error) : g_strdup (model->table);
  if (table)
    return lig_transform_parse (table, error);
  if (!data)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "the weights do not record the columns of their training data; give that data "
                 "with --data csv:FILE");
  return NULL;
}

/* Gives the sequence an input of `batch` rows. */
static gboolean
adopt_rows (LigSequence *sequence, const LigShape *rows, LigDtype dtype, GError **error)
{
  LigShape shape = *rows;
  if (lig_sequence_has_input (sequence))
    lig_sequence_get_input (sequence, &shape, &dtype);
  if (shape.n_axes == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, "%s: input has no axes, expected rows", input);
    return FALSE;
  }
  shape.axes[0] = MAX (MIN (batch, rows->axes[0]), 1);
  lig_sequence_set_input (sequence, &shape, dtype);
  return TRUE;
}

static gboolean
show_progress (double share, gpointer unused)
{
  lig_cli_task_advance (share, "rows", NULL);
  return TRUE;
}

/* Reads the rows: a table, images or tensors. */
static gboolean
read_rows (const LigCliModel *model, LigPredictRows *rows, GError **error)
{
  rows->path = input;
  if (lig_cli_begins_like_tensors (input))
    return lig_predict_read_tensors (rows, error);
  rows->transform = find_transform (model, error);
  rows->rows = rows->transform ? lig_transform_read (rows->transform, input, error) : NULL;
  if (rows->rows && rows->rows->ignored > 0)
    lig_cli_say ("%s: ignoring %u column%s that the training did not read", input,
                 rows->rows->ignored, LIG_ENDING (rows->rows->ignored));
  return rows->rows != NULL;
}

static gboolean
compute (const LigCliModel *model,
         const LigSequenceOptions *options,
         LigPredictRows *rows,
         LigPredictResults *results,
         GError **error)
{
  g_autoptr (LigPlanOptions) plan = lig_cli_new_plan_options ();
  if (!lig_cli_model_options (model, options, plan, error) ||
      !adopt_rows (model->sequence, &rows->rows->input->shape, rows->rows->input->dtype, error))
    return FALSE;
  lig_cli_task_begin ("predicting");
  lig_cli_task_detail ("planning", NULL);
  g_autoptr (LigDevice) device = lig_cli_open_device (options, error);
  g_autoptr (LigState) state = device ? lig_cli_load_model (model, device, plan, 0, error) : NULL;
  g_autoptr (LigPredictor) predictor =
    state ? lig_predictor_new (model->sequence, state, plan, error) : NULL;
  if (!predictor)
    return FALSE;
  lig_predictor_set_progress (predictor, show_progress, NULL);
  results->device = g_strdup (lig_device_get_name (device));
  results->classes = lig_predictor_get_classes (predictor);
  results->figures = (LigPredictorFigures){rows->rows->count, 0, NAN, NAN};
  results->output = lig_predictor_run (predictor, rows->rows->input, error);
  gboolean fine =
    results->output && (!rows->rows->targets ||
                        lig_predictor_evaluate (predictor, rows->rows->input, rows->rows->targets,
                                                &results->figures, error));
  lig_cli_task_end ();
  return fine;
}

/* Answers requests until standard input ends. */
static gboolean
serve (const LigCliModel *model, const LigSequenceOptions *options, GError **error)
{
  LigShape shape;
  g_autoptr (LigPlanOptions) plan = lig_cli_new_plan_options ();
  g_auto (LigCliValidation) validation = {0};
  g_autoptr (LigTransform) transform = find_transform (model, error);
  if (!transform || !lig_cli_model_options (model, options, plan, error))
    return FALSE;
  lig_shape_init (&shape, 2, batch, (gint64) lig_transform_get_n_features (transform));
  if (!adopt_rows (model->sequence, &shape, LIG_FP32, error))
    return FALSE;
  g_autoptr (LigDevice) device = lig_cli_open_device (options, error);
  g_autoptr (LigState) state = device ? lig_cli_load_model (model, device, plan, 0, error) : NULL;
  g_autoptr (LigPredictor) predictor =
    state ? lig_predictor_new (model->sequence, state, plan, error) : NULL;
  if (!predictor)
    return FALSE;
  lig_cli_validation_read (&validation, model, data, predictor);
  return lig_predict_lines (model, transform, device, predictor, &validation, error);
}

static void
print_json (const LigCliModel *model, const LigPredictResults *results)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  if (model->run)
    lig_json_add_text (builder, "run", model->run);
  lig_json_add_integer (builder, "rows", results->figures.rows);
  lig_json_add_text (builder, "task", results->classes > 0 ? "class" : "value");
  lig_json_add_number (builder, "loss", results->figures.loss);
  lig_json_add_number (builder, "accuracy", results->figures.accuracy);
  lig_json_add_text (builder, "device", results->device);
  if (*output)
    lig_json_add_text (builder, "file", output);
  json_builder_end_object (builder);
  lig_cli_print_document ("predict", json_builder_get_root (builder));
}

/* Says how the predictions compare with the targets, on stderr where stdout has the rows. */
static void
say_figures (const LigPredictResults *results)
{
  const LigPredictorFigures *figures = &results->figures;
  if (isnan (figures->loss))
    return;
  g_autofree char *accuracy = isnan (figures->accuracy)
                                ? g_strdup ("")
                                : g_strdup_printf (" (accuracy %.1f %%)", figures->accuracy * 100);
  lig_cli_say ("loss %.4g%s over %.0f target%s", figures->loss, accuracy, figures->counted,
               figures->counted == 1 ? "" : "s");
}

static gboolean
predict (const char *text, const LigSequenceOptions *options, GError **error)
{
  g_auto (LigCliModel) model = {0};
  g_auto (LigPredictRows) rows = {0};
  g_auto (LigPredictResults) results = {0};
  lig_run_settings_init (&model.settings);
  if (!lig_cli_open_model (text, weights, options, &model, error))
    return FALSE;
  if (!model.weights) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "'%s' has no trained weights; give a run, such as last, or --weights", text);
    return FALSE;
  }
  if (lines)
    return serve (&model, options, error);
  if (!read_rows (&model, &rows, error) || !compute (&model, options, &rows, &results, error) ||
      !lig_predict_write (&rows, &results, output, error))
    return FALSE;
  if (lig_cli_json ())
    print_json (&model, &results);
  else
    say_figures (&results);
  return TRUE;
}

static gboolean
read_batch (const char *text, GError **error)
{
  batch = 1024;
  if (!text || g_ascii_string_to_signed (text, 10, 1, G_MAXINT32, &batch, NULL))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--batch '%s': expected a whole number from 1 to %d", text, G_MAXINT32);
  return FALSE;
}

static int
run (int argc, char **argv)
{
  g_auto (LigSequenceOptions) options = {0};
  g_autofree char *batch_text = NULL;
  g_autoptr (GArray) own = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  const GOptionEntry batch_entry = {"batch",     0,
                                    0,           G_OPTION_ARG_STRING,
                                    &batch_text, "Rows that are predicted at once [default: 1024]",
                                    "N"};
  g_array_append_vals (own, own_entries, G_N_ELEMENTS (own_entries) - 1);
  g_array_append_val (own, batch_entry);
  g_autofree GOptionEntry *entries = lig_cli_sequence_entries (
    &options,
    LIG_OPTION_DEVICE | LIG_OPTION_RUNS | LIG_OPTION_DTYPE | LIG_OPTION_TF32 | LIG_OPTION_POLICY,
    (const GOptionEntry *) (gpointer) own->data);
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (&lig_command_predict, entries, &argc, &argv, 1, 1))
    return LIG_EXIT_USAGE;
  if (!input && !lines)
    return lig_cli_usage ("predict needs --input FILE or --lines; see lig predict --help");
  if (!output)
    output = g_strdup (lig_cli_json () ? "" : "-");
  if ((*output && !lig_predict_check_output (output, &error)) || !read_batch (batch_text, &error))
    return lig_cli_fail (g_steal_pointer (&error));
  return predict (argv[1], &options, &error) ? LIG_EXIT_OK
                                             : lig_cli_fail (g_steal_pointer (&error));
}
