/* SPDX-License-Identifier: MIT */
/* The influence of each input of a row on an output: gradient times input. The gradients come from
 * plans with a backward pass, of the sequence without its dropout, which these plans would apply.
 */
#include "engine/inference/predictor-private.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* Returns whether a parameter is a probability with which values are dropped in training. */
static gboolean
drops (const LigParam *param)
{
  return param->kind == LIG_PARAM_FLOAT && param->minimum == 0 && param->maximum == 1 &&
         (g_str_equal (param->name, "p") || strstr (param->name, "drop"));
}

static void
silence (LigSequence *sequence)
{
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    const LigParam *params = lig_op_get_info (op)->params;
    for (const LigParam *param = params; param && param->name; param++)
      if (drops (param))
        g_object_set (op, param->name, 0.0, NULL);
    if (lig_op_get_body (op))
      silence (lig_op_get_body (op));
  }
}

static LigProgram *
get_program (LigPredictor *self, gint64 rows, GError **error)
{
  LigPlanOptions options = self->options;
  if (!self->quiet) {
    self->quiet = lig_sequence_copy (self->sequence);
    silence (self->quiet);
  }
  options.batch = rows;
  options.before_loss = options.training = options.input_gradient = TRUE;
  options.accuracy = FALSE;
  return lig_program_cache_get (self->gradients, self->quiet, &options, error);
}

/* Returns the program for a single row, or for a batch if the sequence does not accept one row. */
static LigProgram *
get_fitting (LigPredictor *self, GError **error)
{
  g_autoptr (GError) failure = NULL;
  LigProgram *program = get_program (self, 1, &failure);
  if (program || !g_error_matches (failure, LIG_ERROR, LIG_ERROR_SHAPE)) {
    if (!program)
      g_propagate_error (error, g_steal_pointer (&failure));
    return program;
  }
  return get_program (self, self->batch, error);
}

/* Returns the gradient of an output's element: one there, zero elsewhere. */
static LigTensor *
make_gradient (LigPlan *plan, gint64 column, GError **error)
{
  LigShape input, output;
  LigDtype dtype;
  lig_plan_get_input (plan, &input, &dtype);
  lig_plan_get_output (plan, &output, &dtype);
  gint64 columns = lig_shape_size (&output) / input.axes[0];
  if (column < 0 || column >= columns) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
                 _ ("a row has no output %" PRId64 ", only %" PRId64), column, columns);
    return NULL;
  }
  LigTensor *gradient = lig_tensor_new (LIG_FP32, &output, error);
  if (!gradient)
    return NULL;
  memset (gradient->data, 0, lig_tensor_bytes (gradient));
  ((float *) gradient->data)[column] = 1;
  return gradient;
}

/* Multiplies the gradient of the first row by its numbers. */
static LigTensor *
multiply (const LigTensor *gradient, const LigTensor *row, GError **error)
{
  LigShape shape;
  lig_shape_init (&shape, 1, row->size);
  LigTensor *influence = lig_tensor_new (LIG_FP32, &shape, error);
  g_autofree float *numbers = influence ? g_try_new (float, (gsize) row->size) : NULL;
  if (!numbers) {
    g_clear_pointer (&influence, lig_tensor_unref);
    return NULL;
  }
  lig_widen (gradient->dtype, gradient->data, influence->data, (gsize) row->size);
  lig_widen (row->dtype, row->data, numbers, (gsize) row->size);
  for (gint64 i = 0; i < row->size; i++)
    ((float *) influence->data)[i] *= numbers[i];
  return influence;
}

LigTensor *
lig_predictor_get_influence (LigPredictor *self,
                             const LigTensor *row,
                             gint64 column,
                             GError **error)
{
  LigShape shape;
  LigDtype dtype;
  if (!lig_predictor_check_rows (self, row, error))
    return NULL;
  if (row->shape.axes[0] != 1 || row->dtype == LIG_INT32) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the number of rows is %" PRId64 " and their type %s, expected 1 and a type of "
                    "numbers"),
                 row->shape.axes[0], lig_dtype_name (row->dtype));
    return NULL;
  }
  g_autoptr (LigProgram) program = get_fitting (self, error);
  if (!program)
    return NULL;
  LigPlan *plan = lig_program_get_plan (program);
  lig_plan_get_input (plan, &shape, &dtype);
  g_autoptr (LigTensor) input = lig_predictor_take_rows (row, &shape, 0, 1, error);
  g_autoptr (LigTensor) gradient = input ? make_gradient (plan, column, error) : NULL;
  if (!gradient || !lig_program_set_input (program, input, error) ||
      !lig_program_set_gradient (program, gradient, error) ||
      !lig_program_run (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD, error))
    return NULL;
  g_autoptr (LigTensor) found = lig_program_read_input_gradient (program, error);
  return found ? multiply (found, row, error) : NULL;
}
