/* SPDX-License-Identifier: MIT */
/* Predictions of rows: programs that end before the loss and, where targets are known, programs
 * with it, for full batches and for the last one. */
#include "engine/inference/predictor-private.h"

#include "engine/graph/options.h"
#include <ligature/program.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

G_DEFINE_BOXED_TYPE (LigPredictor, lig_predictor, g_atomic_rc_box_acquire, lig_predictor_free)

static void
clear (gpointer box)
{
  LigPredictor *self = box;
  g_clear_pointer (&self->programs, lig_program_cache_free);
  g_clear_pointer (&self->gradients, lig_program_cache_free);
  g_clear_object (&self->quiet);
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_clear_object (&self->sequence);
}

void
lig_predictor_free (LigPredictor *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear);
}

/* Returns the program for a number of rows, with the loss or before it (transfer full). */
static LigProgram *
get_program (LigPredictor *self, gint64 rows, gboolean loss, GError **error)
{
  LigPlanOptions options = self->options;
  options.batch = rows;
  options.before_loss = !loss;
  options.accuracy = loss && self->classes > 0;
  return lig_program_cache_get (self->programs, self->sequence, &options, error);
}

/* Reads the loss at the end: its classes, and the target that it ignores. */
static void
read_loss (LigPredictor *self, LigPlan *plan)
{
  guint count, length = lig_sequence_get_length (self->sequence);
  lig_plan_get_ops (plan, &count);
  LigOp *last = length > 0 ? lig_sequence_get (self->sequence, (int) length - 1, NULL) : NULL;
  const LigOpInfo *info = last ? lig_op_get_info (last) : NULL;
  self->has_loss = info && info->flags & LIG_OP_LOSS;
  if (!self->has_loss || !(info->flags & LIG_OP_CLASSES))
    return;
  LigShape output;
  LigDtype dtype;
  lig_plan_get_output (plan, &output, &dtype);
  self->classes = lig_sequence_get_classes (self->sequence);
  if (self->classes == 0)
    self->classes = lig_shape_columns (&output);
  self->ignored = -100;
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (last), "ignored"))
    g_object_get (last, "ignored", &self->ignored, NULL);
}

LigPredictor *
lig_predictor_new (LigSequence *sequence,
                   LigState *state,
                   const LigPlanOptions *options,
                   GError **error)
{
  LigShape input;
  LigDtype dtype;
  if (!lig_sequence_has_input (sequence)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the sequence has no input; set its shape, whose first axis is the batch"));
    return NULL;
  }
  g_autoptr (LigPredictor) self = g_atomic_rc_box_new0 (LigPredictor);
  lig_sequence_get_input (sequence, &input, &dtype);
  self->sequence = g_object_ref (sequence);
  if (!lig_plan_options_read (options, &self->options, error))
    return NULL;
  self->options.training = self->options.input_gradient = FALSE;
  self->batch = self->options.batch > 0 ? self->options.batch : input.axes[0];
  self->programs = lig_program_cache_new (state);
  self->gradients = lig_program_cache_new (state);
  g_autoptr (LigProgram) program = get_program (self, self->batch, FALSE, error);
  if (!program)
    return NULL;
  self->plan = lig_plan_ref (lig_program_get_plan (program));
  guint extra = lig_plan_get_n_extra_inputs (self->plan);
  if (extra > 0) {
    g_autofree char *name = lig_plan_describe_extra_input (self->plan, 0);
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("the sequence also takes %s from the caller, so that its rows cannot be "
                    "predicted from one input; run a program of its plan"),
                 name);
    lig_error_set_path (error, lig_plan_find_extra_input_reader (self->plan, 0)->path);
    return NULL;
  }
  read_loss (self, self->plan);
  return g_steal_pointer (&self);
}

void
lig_predictor_set_progress (LigPredictor *self, LigPredictorProgress progress, gpointer data)
{
  self->progress = progress;
  self->data = data;
}

LigPlan *
lig_predictor_get_plan (LigPredictor *self)
{
  return self->plan;
}

gint64
lig_predictor_get_classes (LigPredictor *self)
{
  return self->classes;
}

/* --- Batches ------------------------------------------------------------------------------- */

/* Returns a tensor of `size` rows of a plan's shape that begins with rows `first` to `first` +
 * `count` - 1 of all; the others are copies of the first. */
LigTensor *
lig_predictor_take_rows (
  const LigTensor *all, const LigShape *like, gint64 first, gint64 count, GError **error)
{
  LigTensor *some = lig_tensor_new (all->dtype, like, error);
  gint64 size = like->axes[0];
  gsize bytes = some ? lig_tensor_bytes (some) / (gsize) size : 0;
  const char *from = (const char *) all->data + (gsize) first * bytes;
  for (gint64 i = 0; some && i < size; i++)
    memcpy ((char *) some->data + (gsize) i * bytes, from + (gsize) (i < count ? i : 0) * bytes,
            bytes);
  return some;
}

/* Checks that the rows have as many elements as those of the plan, and the same kind of type. */
gboolean
lig_predictor_check_rows (LigPredictor *self, const LigTensor *rows, GError **error)
{
  LigShape input;
  LigDtype dtype;
  lig_plan_get_input (self->plan, &input, &dtype);
  gint64 wanted = lig_shape_size (&input) / input.axes[0];
  gint64 given = rows->shape.n_axes > 0 && rows->shape.axes[0] > 0
                   ? lig_shape_size (&rows->shape) / rows->shape.axes[0]
                   : 0;
  if (given == wanted && (rows->dtype == LIG_INT32) == (dtype == LIG_INT32))
    return TRUE;
  if (given == 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the number of rows is 0, expected at least 1"));
  else if (given != wanted)
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      g_dngettext (GETTEXT_PACKAGE, "a row has %" PRId64 " number, the model takes %" PRId64,
                   "a row has %" PRId64 " numbers, the model takes %" PRId64, (gulong) given),
      given, wanted);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE, _ ("the rows are %s, the model takes %s"),
                 lig_dtype_name (rows->dtype), lig_dtype_name (dtype));
  return FALSE;
}

/* Returns the program for the next `count` rows, and its number of rows; a sequence that does not
 * accept the rest pads it to a full batch. */
static LigProgram *
get_fitting (LigPredictor *self, gint64 count, gboolean loss, gint64 *size, GError **error)
{
  g_autoptr (GError) failure = NULL;
  *size = count;
  LigProgram *program = get_program (self, count, loss, &failure);
  if (program || count == self->batch || !g_error_matches (failure, LIG_ERROR, LIG_ERROR_SHAPE)) {
    if (!program)
      g_propagate_error (error, g_steal_pointer (&failure));
    return program;
  }
  *size = self->batch;
  return get_program (self, self->batch, loss, error);
}

static gboolean
set_input (LigProgram *program, const LigTensor *rows, gint64 first, gint64 count, GError **error)
{
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (lig_program_get_plan (program), &shape, &dtype);
  g_autoptr (LigTensor) batch = lig_predictor_take_rows (rows, &shape, first, count, error);
  return batch && lig_program_set_input (program, batch, error);
}

static gboolean
advance (LigPredictor *self, gint64 done, gint64 rows, GError **error)
{
  if (!self->progress || self->progress ((double) done / (double) rows, self->data))
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, _ ("the prediction was cancelled"));
  return FALSE;
}

/* Computes the outputs of the next rows. Their sum over positions in a row follows the output's
 * shape: axis 0 counts rows, or rows times positions. */
static gboolean
predict_rows (LigPredictor *self,
              const LigTensor *input,
              gint64 first,
              gint64 count,
              LigTensor *to,
              GError **error)
{
  gint64 size, rows = input->shape.axes[0];
  g_autoptr (LigProgram) program = get_fitting (self, count, FALSE, &size, error);
  if (!program || !set_input (program, input, first, count, error) ||
      !lig_program_run (program, LIG_RUN_FORWARD, error))
    return FALSE;
  g_autoptr (LigTensor) output = lig_program_read_output (program, error);
  if (!output)
    return FALSE;
  gsize per_row = (gsize) (to->size / rows);
  lig_widen (output->dtype, output->data, (float *) to->data + (gsize) first * per_row,
             (gsize) count * per_row);
  return TRUE;
}

LigTensor *
lig_predictor_run (LigPredictor *self, const LigTensor *input, GError **error)
{
  LigShape shape;
  LigDtype dtype;
  if (!lig_predictor_check_rows (self, input, error))
    return NULL;
  gint64 rows = input->shape.axes[0];
  lig_plan_get_output (self->plan, &shape, &dtype);
  if (shape.n_axes == 0 || shape.axes[0] % self->batch != 0) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      _ ("the output has no axis of rows, so that they cannot be separated; run a program of "
         "the plan"));
    return NULL;
  }
  if (__builtin_mul_overflow (shape.axes[0] / self->batch, rows, &shape.axes[0])) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("too many rows: %" PRId64), rows);
    return NULL;
  }
  g_autoptr (LigTensor) to = lig_tensor_new (LIG_FP32, &shape, error);
  for (gint64 first = 0; to && first < rows; first += self->batch) {
    gint64 count = MIN (self->batch, rows - first);
    if (!predict_rows (self, input, first, count, to, error) ||
        !advance (self, first + count, rows, error))
      return NULL;
  }
  return g_steal_pointer (&to);
}

/* --- Loss ---------------------------------------------------------------------------------- */

typedef struct {
  double loss, weight, correct;
} Sums;

/* Returns the rows of both tensors without a missing target. */
static gboolean
drop_missing (const LigTensor *input,
              const LigTensor *targets,
              LigTensor **kept,
              LigTensor **kept_targets,
              GError **error)
{
  gint64 rows = input->shape.axes[0], count = 0;
  gsize n_targets = (gsize) (targets->size / rows);
  const float *target = targets->data;
  g_autofree gint64 *valid = g_try_new (gint64, (gsize) rows);
  for (gint64 row = 0; valid && row < rows; row++) {
    gboolean missing = FALSE;
    for (gsize i = 0; i < n_targets; i++)
      missing |= isnan (target[(gsize) row * n_targets + i]);
    if (!missing)
      valid[count++] = row;
  }
  LigShape shape = input->shape, target_shape;
  shape.axes[0] = count;
  lig_shape_init (&target_shape, 2, count, (gint64) n_targets);
  *kept = *kept_targets = NULL;
  if (count == 0)
    return TRUE;
  g_autoptr (LigTensor) some = lig_tensor_new (input->dtype, &shape, error);
  g_autoptr (LigTensor) labels = some ? lig_tensor_new (LIG_FP32, &target_shape, error) : NULL;
  if (!labels)
    return FALSE;
  gsize bytes = lig_tensor_bytes (some) / (gsize) count;
  for (gint64 i = 0; i < count; i++) {
    memcpy ((char *) some->data + (gsize) i * bytes,
            (const char *) input->data + (gsize) valid[i] * bytes, bytes);
    memcpy ((float *) labels->data + (gsize) i * n_targets, target + (gsize) valid[i] * n_targets,
            n_targets * sizeof (float));
  }
  *kept = g_steal_pointer (&some);
  *kept_targets = g_steal_pointer (&labels);
  return TRUE;
}

/* Returns the targets of a batch in the loss's type; rows from `count` on are ignored. */
static LigTensor *
make_targets (LigPredictor *self,
              LigPlan *plan,
              const LigTensor *all,
              gint64 first,
              gint64 count,
              GError **error)
{
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_extra_input (plan, 0, &shape, &dtype);
  gint64 size = lig_shape_size (&shape), per_row = all->size / all->shape.axes[0];
  if (self->classes == 0)
    dtype = LIG_FP32;
  g_autoptr (LigTensor) to = lig_tensor_new (dtype, &shape, error);
  const float *from = (const float *) all->data + first * per_row;
  for (gint64 i = 0; to && i < size; i++) {
    float value = i < count * per_row ? from[i] : self->classes > 0 ? -1 : 0;
    if (self->classes == 0) {
      ((float *) to->data)[i] = value;
      continue;
    }
    gboolean ignored = value == -1 || value == -100;
    if (!ignored && !(value >= 0 && value < (float) self->classes && value == floorf (value))) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("row %" PRId64 ": the target is %g, expected a class from 0 to %" PRId64),
                   first + i / per_row + 1, (double) value, self->classes - 1);
      return NULL;
    }
    ((gint32 *) to->data)[i] = ignored ? (gint32) self->ignored : (gint32) value;
  }
  return g_steal_pointer (&to);
}

static gboolean
add_loss (LigPredictor *self,
          const LigTensor *input,
          const LigTensor *targets,
          gint64 first,
          gint64 count,
          Sums *sums,
          GError **error)
{
  float loss;
  gint64 size;
  double correct = 0, weight = (double) count;
  g_autoptr (LigProgram) program = get_fitting (self, count, TRUE, &size, error);
  LigPlan *plan = program ? lig_program_get_plan (program) : NULL;
  g_autoptr (LigTensor) labels =
    plan ? make_targets (self, plan, targets, first, count, error) : NULL;
  if (!labels)
    return FALSE;
  if (size > count && self->classes == 0)
    return TRUE; /* numbers cannot be ignored, so that padding would count */
  if (!set_input (program, input, first, count, error) ||
      !lig_program_set_extra_input (program, 0, labels, error) ||
      !lig_program_run (program, LIG_RUN_FORWARD, error) ||
      !lig_program_read_loss (program, &loss, error) ||
      (self->classes > 0 && !lig_program_read_accuracy (program, &correct, &weight, error)))
    return FALSE;
  sums->loss += weight > 0 ? weight * (double) loss : 0;
  sums->weight += weight;
  sums->correct += correct;
  return TRUE;
}

gboolean
lig_predictor_evaluate (LigPredictor *self,
                        const LigTensor *input,
                        const LigTensor *targets,
                        LigPredictorFigures *figures,
                        GError **error)
{
  Sums sums = {0};
  g_autoptr (LigTensor) kept = NULL, labels = NULL;
  *figures = (LigPredictorFigures){0, 0, NAN, NAN};
  if (!lig_predictor_check_rows (self, input, error))
    return FALSE;
  figures->rows = input->shape.axes[0];
  if (!self->has_loss || targets->dtype != LIG_FP32 || targets->size % figures->rows != 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 self->has_loss ? _ ("the targets do not fit the rows; give fp32 numbers, as many "
                                     "for each row as the loss takes")
                                : _ ("the sequence has no loss, so that targets are of no use"));
    return FALSE;
  }
  if (!drop_missing (input, targets, &kept, &labels, error))
    return FALSE;
  gint64 rows = kept ? kept->shape.axes[0] : 0;
  for (gint64 first = 0; first < rows; first += self->batch) {
    gint64 count = MIN (self->batch, rows - first);
    if (!add_loss (self, kept, labels, first, count, &sums, error) ||
        !advance (self, first + count, rows, error))
      return FALSE;
  }
  figures->counted = sums.weight;
  if (sums.weight > 0)
    figures->loss = sums.loss / sums.weight;
  if (sums.weight > 0 && self->classes > 0)
    figures->accuracy = sums.correct / sums.weight;
  return TRUE;
}
