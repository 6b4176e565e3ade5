/* SPDX-License-Identifier: MIT */
/* Computes the logits of the next token from the last tokens of a text. A causal model has plans
 * for windows of a few lengths: the tokens that fill one up come after the text, where they change
 * nothing. A model whose positions depend on later ones gets a plan for each length, and one that
 * has a row of logits for a whole window gets whole windows, which are filled up before the text.
 */
#include "engine/inference/recomputed.h"
#include "engine/graph/options.h"
#include "engine/graph/positions.h"
#include <ligature/compile.h>
#include <ligature/program.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* The lengths of the windows of a causal model grow by this factor. */
enum { SHORTEST = 16, GROWTH = 4 };

/* The model at one length. */
typedef struct {
  gint64 length;
  LigProgram *program;
  LigTensor *input;
} Size;

struct _LigRecomputed {
  LigSequence *sequence;
  LigState *state;
  LigPlanOptions options;
  GArray *sizes; /* Size */
  gint64 length, vocabulary, readable;
  gint32 fill;
  gboolean whole;  /* one row of logits for a window */
  gboolean causal; /* later tokens do not change the logits of earlier ones */
  char *rejection; /* (nullable) */
};

static void
clear_size (gpointer data)
{
  Size *size = data;
  g_clear_pointer (&size->program, lig_program_unref);
  g_clear_pointer (&size->input, lig_tensor_unref);
}

void
lig_recomputed_free (LigRecomputed *self)
{
  if (!self)
    return;
  g_array_unref (self->sizes);
  g_clear_object (&self->sequence);
  g_clear_object (&self->state);
  g_free (self->rejection);
  g_free (self);
}

const LigPlanOptions *
lig_recomputed_get_options (const LigRecomputed *self)
{
  return &self->options;
}

gint64
lig_recomputed_get_length (const LigRecomputed *self)
{
  return self->length;
}

gint64
lig_recomputed_get_vocabulary (const LigRecomputed *self)
{
  return self->vocabulary;
}

gint64
lig_recomputed_get_readable (const LigRecomputed *self)
{
  return self->readable;
}

const char *
lig_recomputed_get_rejection (const LigRecomputed *self)
{
  return self->rejection;
}

/* --- Programs ------------------------------------------------------------------------------ */

/* Returns the model at that length, which stays valid until the next call. */
static Size *
get_size (LigRecomputed *self, gint64 length, GError **error)
{
  for (guint i = 0; i < self->sizes->len; i++)
    if (g_array_index (self->sizes, Size, i).length == length)
      return &g_array_index (self->sizes, Size, i);
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 1, length);
  g_autoptr (LigSequence) sequence = lig_sequence_copy (self->sequence);
  lig_sequence_set_input (sequence, &shape, LIG_INT32);
  g_autoptr (LigPlan) plan =
    lig_plan_compile (sequence, lig_state_get_device (self->state), &self->options, error);
  g_autoptr (LigProgram) program = plan ? lig_program_new (plan, self->state, error) : NULL;
  g_autoptr (LigTensor) input = program ? lig_tensor_new (LIG_INT32, &shape, error) : NULL;
  if (!input)
    return NULL;
  Size size = {length, g_steal_pointer (&program), g_steal_pointer (&input)};
  g_array_append_val (self->sizes, size);
  return &g_array_index (self->sizes, Size, self->sizes->len - 1);
}

/* Returns the length of the window for `n` tokens, at most the whole one. */
static gint64
choose_length (const LigRecomputed *self, gint64 n)
{
  gint64 length = SHORTEST;
  if (self->whole)
    return self->length;
  if (!self->causal)
    return n;
  while (length < n)
    length *= GROWTH;
  return MIN (length, self->length);
}

/* --- Facts --------------------------------------------------------------------------------- */

/* Finds the first op whose positions depend on later ones. */
static void
find_rejection (LigRecomputed *self, LigPlan *plan)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  const char *reason = NULL;
  for (guint i = 0; i < count; i++)
    if (lig_plan_op_positions (&ops[i], &reason) == LIG_POSITIONS_ALL) {
      self->rejection =
        g_strdup_printf (_ ("%s at %s: %s"), ops[i].info->name, ops[i].path, _ (reason));
      self->causal = FALSE;
      return;
    }
}

/* Finds how many tokens the model reads: the rows of the first op's table. */
static void
find_vocabulary (LigRecomputed *self, LigPlan *plan)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  const LigPlanPort *weight = lig_plan_op_get_port (&ops[0], LIG_PORT_PARAMETER, 0);
  guint n_values;
  const LigPlanValue *values = lig_plan_get_values (plan, &n_values);
  if (!(ops[0].info->flags & LIG_OP_INTEGER_INPUT) || !weight || weight->value < 0)
    return;
  const LigShape *shape = &values[weight->value].shape;
  self->readable = shape->n_axes == 2 ? shape->axes[0] : 0;
}

/* Checks that the output has a row of logits for each token or for each window. */
static gboolean
read_output (LigRecomputed *self, LigPlan *plan, GError **error)
{
  LigShape output;
  LigDtype dtype;
  lig_plan_get_output (plan, &output, &dtype);
  gint64 columns = lig_shape_columns (&output), rows = lig_shape_size (&output) / columns;
  gint64 classes = lig_sequence_get_classes (self->sequence);
  self->vocabulary = classes > 0 ? MIN (classes, columns) : columns;
  self->whole = rows == 1 && self->length > 1;
  if (rows == self->length || rows == 1)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               _ ("the number of rows of logits is %" PRId64 " for a window of length %" PRId64
                  ", expected one for each token, or one for all"),
               rows, self->length);
  return FALSE;
}

static gboolean
check_input (LigRecomputed *self, GError **error)
{
  LigShape input = {0};
  LigDtype dtype = LIG_FP32;
  if (lig_sequence_has_input (self->sequence))
    lig_sequence_get_input (self->sequence, &input, &dtype);
  if (dtype != LIG_INT32 || input.n_axes != 2) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the sequence's input is not tokens; set it to int32 of batch x tokens, such "
                    "as 1x256:int32"));
    return FALSE;
  }
  if (self->length == 0)
    self->length = input.axes[1];
  return TRUE;
}

static gboolean
check_plan (LigRecomputed *self, LigPlan *plan, GError **error)
{
  if (lig_plan_get_n_extra_inputs (plan) > 0) {
    g_autofree char *name = lig_plan_describe_extra_input (plan, 0);
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("the sequence also takes %s from the caller, so that tokens are not enough "
                    "to generate text"),
                 name);
    lig_error_set_path (error, lig_plan_find_extra_input_reader (plan, 0)->path);
    return FALSE;
  }
  return read_output (self, plan, error);
}

LigRecomputed *
lig_recomputed_new (LigSequence *sequence,
                    LigState *state,
                    const LigPlanOptions *options,
                    gint64 length,
                    gint32 fill,
                    GError **error)
{
  LigRecomputed *self = g_new0 (LigRecomputed, 1);
  self->sequence = lig_sequence_copy (sequence);
  self->state = g_object_ref (state);
  self->sizes = g_array_new (FALSE, FALSE, sizeof (Size));
  g_array_set_clear_func (self->sizes, clear_size);
  self->length = length;
  self->fill = fill;
  self->causal = TRUE;
  const Size *size = NULL;
  if (lig_plan_options_read (options, &self->options, error) && check_input (self, error)) {
    self->options.training = self->options.input_gradient = self->options.accuracy = FALSE;
    self->options.before_loss = TRUE;
    self->options.batch = 0;
    size = get_size (self, self->length, error);
  }
  LigPlan *plan = size ? lig_program_get_plan (size->program) : NULL;
  if (!plan || !check_plan (self, plan, error)) {
    lig_recomputed_free (self);
    return NULL;
  }
  find_rejection (self, plan);
  find_vocabulary (self, plan);
  return self;
}

/* --- Logits -------------------------------------------------------------------------------- */

/* Writes the window: its tokens, and the fill before or after them. */
static void
fill_window (const LigRecomputed *self, const gint32 *tokens, gint64 n, const Size *size)
{
  gint32 *to = size->input->data;
  gint64 before = self->whole ? size->length - n : 0;
  for (gint64 i = 0; i < size->length; i++)
    to[i] = self->fill;
  memcpy (to + before, tokens, (gsize) n * sizeof *tokens);
}

LigTensor *
lig_recomputed_compute (LigRecomputed *self, const gint32 *tokens, gsize n, GError **error)
{
  gint64 count = (gint64) MIN (n, (gsize) self->length);
  const Size *size = get_size (self, choose_length (self, count), error);
  if (!size)
    return NULL;
  fill_window (self, tokens + n - count, count, size);
  if (!lig_program_set_input (size->program, size->input, error) ||
      !lig_program_run (size->program, LIG_RUN_FORWARD, error))
    return NULL;
  g_autoptr (LigTensor) row =
    lig_program_read_output_rows (size->program, self->whole ? 0 : count - 1, 1, error);
  if (!row || row->dtype == LIG_FP32)
    return g_steal_pointer (&row);
  LigTensor *wide = lig_tensor_new (LIG_FP32, &row->shape, error);
  if (wide)
    lig_widen (row->dtype, row->data, wide->data, (gsize) row->size);
  return wide;
}
