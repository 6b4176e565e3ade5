/* SPDX-License-Identifier: MIT */
/* Creates, reads and frees drafts. */
#include "engine/compile/collect.h"
#include "engine/compile/positions.h"
#include "engine/compile/quantizers.h"

#include "engine/sequence/sequence-private.h"
#include <ligature/loss-scaling.h>
#include <ligature/optimizer.h>
#include <ligature/state-arrays.h>

#include <glib/gi18n-lib.h>

static void
clear_part (gpointer data)
{
  LigPart *part = data;
  g_clear_object (&part->op);
  g_free (part->path);
  g_free (part->prefix);
  g_ref_string_release (part->scope);
  g_free (part->params);
  for (int i = 0; i < LIG_MAX_EXTRA; i++)
    g_free (part->output_channels[i]);
}

static void
clear_value (gpointer data)
{
  g_free (((LigValue *) data)->name);
}

static void
clear_parameter (gpointer data)
{
  g_free (((LigDraftParameter *) data)->path);
}

static void
clear_history (gpointer data)
{
  g_free (((LigHistory *) data)->path);
}

static void
clear_sum (gpointer data)
{
  g_array_unref (((LigSum *) data)->contributions);
}

static GArray *
array (gsize size, GDestroyNotify clear)
{
  GArray *result = g_array_new (FALSE, TRUE, (guint) size);
  if (clear)
    g_array_set_clear_func (result, clear);
  return result;
}

/* Chooses the types: compute follows the sequence, else the input's type if floating, else fp32;
 * parameters follow compute. */
static gboolean
choose_types (LigDraft *self, GError **error)
{
  int compute = self->options.compute, parameters = self->options.parameters;
  if (compute < 0)
    compute = lig_sequence_get_compute (self->sequence);
  if (compute < 0)
    compute = lig_dtype_is_floating (self->input_dtype) ? (int) self->input_dtype : LIG_FP32;
  if (parameters < 0)
    parameters = lig_sequence_get_parameters (self->sequence);
  if (parameters < 0)
    parameters = compute;
  self->compute = (LigDtype) compute;
  self->fp8_parameters = parameters == LIG_FP8_E4M3;
  if (self->fp8_parameters && lig_dtype_is_floating (self->compute)) {
    parameters = compute;
    if (lig_dtype_size (self->compute) != 2) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                   _ ("parameters in fp8 are rounded from %s, expected a compute type of 16 bits; "
                      "choose bf16:fp8 or fp16:fp8"),
                   lig_dtype_name (self->compute));
      return lig_error_set_setting (error, "dtype");
    }
  }
  self->parameter_dtype = (LigDtype) parameters;
  self->gradient_dtype = self->options.accumulate ? LIG_FP32 : self->parameter_dtype;
  for (int i = 0; i < 2; i++) {
    LigDtype dtype = i == 0 ? self->compute : self->parameter_dtype;
    if (!lig_dtype_is_floating (dtype)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE, _ ("%s type is %s, expected %s"),
                   i == 0 ? _ ("compute") : _ ("parameter"), lig_dtype_name (dtype),
                   lig_dtype_names (lig_dtypes_with (LIG_DTYPE_COMPUTES), _ (" or ")));
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
choose_input (LigDraft *self, GError **error)
{
  if (!lig_sequence_has_input (self->sequence)) {
    g_autofree char *like = lig_sequence_suggest_input (self->sequence);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the sequence has no input shape; set the input's shape, like %s"), like);
    return lig_error_set_setting (error, "input");
  }
  lig_sequence_get_input (self->sequence, &self->input, &self->input_dtype);
  if (self->options.batch > 0 && self->input.n_axes > 0)
    self->input.axes[0] = self->options.batch;
  if (!lig_positions_divide (self, error))
    return FALSE;
  return lig_shape_check (&self->input, self->input_dtype, error);
}

/* Copies the options and everything that they point to, as the caller may free it before the
 * plan. */
static void
keep_options (LigDraft *self, const LigPlanOptions *options)
{
  self->options = *options;
  if (self->options.tuning) {
    self->tuning = *self->options.tuning;
    self->options.tuning = &self->tuning;
  }
  if (self->options.optimizer) {
    self->optimizer = g_memdup2 (self->options.optimizer, sizeof (LigOptimizer));
    self->options.optimizer = self->optimizer;
  }
  if (self->options.choices)
    self->options.choices = g_string_chunk_insert (self->strings, self->options.choices);
  if (self->options.recipe)
    self->options.recipe = g_string_chunk_insert (self->strings, self->options.recipe);
  if (self->options.freeze)
    self->options.freeze = g_string_chunk_insert (self->strings, self->options.freeze);
}

static void
make_arrays (LigDraft *self)
{
  self->parts = array (sizeof (LigPart), clear_part);
  self->values = array (sizeof (LigValue), clear_value);
  self->parameters = array (sizeof (LigDraftParameter), clear_parameter);
  self->ties = array (sizeof (LigTie), NULL);
  self->shares = array (sizeof (LigShare), NULL);
  self->sums = array (sizeof (LigSum), clear_sum);
  self->recipes = g_ptr_array_new_with_free_func (g_free);
  self->quantizers = array (sizeof (LigQuantizer), NULL);
  self->calibrations = array (sizeof (LigCalibration), NULL);
  self->histories = array (sizeof (LigHistory), clear_history);
  self->conversions = array (sizeof (LigConversion), NULL);
  self->scalings = array (sizeof (LigConversion), NULL);
  self->groups[0] = array (sizeof (LigGroup), NULL);
  self->groups[1] = array (sizeof (LigGroup), NULL);
  self->verdicts = array (sizeof (LigVerdict), NULL);
  self->mends = g_ptr_array_new_with_free_func (g_free);
  self->alternatives = g_ptr_array_new_with_free_func (g_free);
  self->names = g_ptr_array_new_with_free_func (g_free);
  self->accepted = g_hash_table_new (NULL, NULL);
  self->steps = array (sizeof (LigDraftStep), NULL);
  self->callers_inputs = array (sizeof (int), NULL);
  self->callers_outputs = array (sizeof (int), NULL);
}

LigDraft *
lig_draft_new (LigSequence *sequence,
               LigDevice *device,
               const LigPlanOptions *options,
               GError **error)
{
  LigPlanOptions whole;
  if (!lig_plan_options_read (options, &whole, error) ||
      (whole.optimizer && !lig_optimizer_check (whole.optimizer, error)))
    return NULL;
  options = &whole;
  g_autoptr (LigDraft) self = g_new0 (LigDraft, 1);
  self->sequence = lig_sequence_copy (sequence);
  self->serial = lig_sequence_get_serial (sequence);
  self->version = lig_sequence_get_version (sequence);
  self->device = g_object_ref (device);
  self->strings = g_string_chunk_new (4096);
  keep_options (self, options);
  make_arrays (self);
  self->correct = self->counted = self->given = self->scaling = -1;
  self->input_value = self->output_value = self->input_gradient = self->gradient_norm = -1;
  self->policy = lig_policy_for (self->options.policy, device);
  if (!lig_recompute_resolve (self->sequence, &self->options.recompute, error) ||
      !choose_input (self, error) || !choose_types (self, error) ||
      !lig_recipe_choose (self, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
lig_draft_free (LigDraft *self)
{
  g_clear_object (&self->sequence);
  g_clear_object (&self->device);
  g_array_unref (self->parts);
  g_array_unref (self->values);
  g_array_unref (self->parameters);
  g_array_unref (self->ties);
  g_array_unref (self->shares);
  g_array_unref (self->sums);
  g_clear_object (&self->quantizing[0]);
  g_clear_object (&self->quantizing[1]);
  g_ptr_array_unref (self->recipes);
  g_array_unref (self->quantizers);
  g_array_unref (self->calibrations);
  g_array_unref (self->histories);
  g_array_unref (self->conversions);
  g_array_unref (self->scalings);
  g_array_unref (self->groups[0]);
  g_array_unref (self->groups[1]);
  g_array_unref (self->verdicts);
  g_ptr_array_unref (self->mends);
  g_ptr_array_unref (self->alternatives);
  g_ptr_array_unref (self->names);
  g_hash_table_unref (self->accepted);
  g_array_unref (self->steps);
  g_array_unref (self->callers_inputs);
  g_array_unref (self->callers_outputs);
  g_free (self->owners[0]);
  g_free (self->owners[1]);
  g_clear_pointer (&self->own_values, g_hash_table_unref);
  g_clear_pointer (&self->divided, g_hash_table_unref);
  g_clear_pointer (&self->prices, g_hash_table_unref);
  g_clear_pointer (&self->problems, lig_collection_free);
  g_string_chunk_free (self->strings);
  g_free (self->optimizer);
  g_free (self);
}

int
lig_draft_add_value (LigDraft *self,
                     LigValueRole role,
                     const LigShape *shape,
                     LigDtype dtype,
                     int part,
                     const char *format,
                     ...)
{
  va_list arguments;
  LigValue value = {
    .role = role,
    .shape = *shape,
    .dtype = dtype,
    .alias = -1,
    .gradient = -1,
    .part = part,
    .parameter = -1,
    .offset = -1,
    .first_step = G_MAXINT,
    .last_step = -1,
  };
  va_start (arguments, format);
  value.name = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  value.bytes = lig_shape_size (shape) * (gint64) lig_dtype_size (dtype);
  g_array_append_val (self->values, value);
  return (int) self->values->len - 1;
}

int
lig_draft_scaling (LigDraft *self)
{
  LigShape shape;
  lig_shape_init (&shape, 1, (gint64) LIG_SCALING_FIELDS);
  if (self->scaling < 0)
    self->scaling = lig_draft_add_value (self, LIG_VALUE_SCALING, &shape, LIG_FP32, -1, "scaling");
  return self->scaling;
}

LigDtype
lig_draft_array_dtype (const LigDraft *self, int array)
{
  return array == LIG_STATE_PARAMETERS  ? self->parameter_dtype
         : array == LIG_STATE_GRADIENTS ? self->gradient_dtype
                                        : LIG_FP32;
}

int
lig_draft_root (const LigDraft *self, int value)
{
  while (value >= 0 && lig_value (self, value)->alias >= 0)
    value = lig_value (self, value)->alias;
  return value;
}

double
lig_draft_loss_scale (const LigDraft *self)
{
  return self->scales && self->optimizer ? self->optimizer->loss_scale : 1;
}

LigOperand
lig_draft_operand (const LigDraft *self, int value)
{
  if (value < 0)
    return (LigOperand){NULL, 0, 1, LIG_FP32};
  const LigValue *of = lig_value (self, value);
  /* Rows can be counted in any operand, even if its only axis is empty. */
  return (LigOperand){NULL, lig_shape_size (&of->shape), MAX (lig_shape_columns (&of->shape), 1),
                      of->dtype};
}
