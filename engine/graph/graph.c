/* SPDX-License-Identifier: MIT */
/* Creates and frees the tables of a graph. */
#include "engine/graph/graph.h"

#include "engine/graph/gradients.h"
#include "engine/graph/problems.h"
#include <ligature/state-arrays.h>

/* --- The request ---------------------------------------------------------------- */

void
lig_request_free (LigRequest *self)
{
  if (!self)
    return;
  g_clear_object (&self->sequence);
  g_clear_object (&self->device);
  g_free (self->optimizer);
  g_string_chunk_free (self->strings);
  g_free (self);
}

LigDtype
lig_request_array_dtype (const LigRequest *self, int array)
{
  return array == LIG_STATE_PARAMETERS  ? self->parameter_dtype
         : array == LIG_STATE_GRADIENTS ? self->gradient_dtype
                                        : LIG_FP32;
}

/* --- The layout of a state ----------------------------------------------------------------- */

static void
clear_parameter (gpointer data)
{
  g_free (((LigParameter *) data)->path);
}

static void
clear_history (gpointer data)
{
  g_free (((LigHistory *) data)->path);
}

static GArray *
array (gsize size, GDestroyNotify clear)
{
  GArray *result = g_array_new (FALSE, TRUE, (guint) size);
  if (clear)
    g_array_set_clear_func (result, clear);
  return result;
}

LigStateLayout *
lig_state_layout_new (LigDtype dtype)
{
  LigStateLayout *self = g_new0 (LigStateLayout, 1);
  self->dtype = dtype;
  self->parameters = array (sizeof (LigParameter), clear_parameter);
  self->shares = array (sizeof (LigShare), NULL);
  self->histories = array (sizeof (LigHistory), clear_history);
  return self;
}

void
lig_state_layout_free (LigStateLayout *self)
{
  if (!self)
    return;
  g_array_unref (self->parameters);
  g_array_unref (self->shares);
  g_array_unref (self->histories);
  g_free (self);
}

gint64
lig_state_layout_elements (const LigStateLayout *self, int array)
{
  return array == LIG_STATE_PARAMETERS  ? self->stored_elements
         : array == LIG_STATE_GRADIENTS ? self->elements
                                        : self->kept_elements;
}

/* --- Sums and conversions ------------------------------------------------------------------ */

static void
clear_sum (gpointer data)
{
  g_array_unref (((LigSum *) data)->contributions);
}

LigGradients *
lig_gradients_new (void)
{
  LigGradients *self = g_new0 (LigGradients, 1);
  self->sums = array (sizeof (LigSum), clear_sum);
  self->conversions = array (sizeof (LigConversion), NULL);
  self->scalings = array (sizeof (LigConversion), NULL);
  return self;
}

void
lig_gradients_free (LigGradients *self)
{
  if (!self)
    return;
  g_array_unref (self->sums);
  g_array_unref (self->conversions);
  g_array_unref (self->scalings);
  g_free (self);
}

/* --- The graph ----------------------------------------------------------------------------- */

static void
clear_part (gpointer data)
{
  LigPart *part = data;
  g_clear_object (&part->plan.op);
  g_ref_string_release (part->scope);
  g_free (part->params);
}

void
lig_graph_make_arrays (LigGraph *self)
{
  self->layout = lig_state_layout_new (self->request->parameter_dtype);
  self->gradients = lig_gradients_new ();
  self->owners = array (sizeof (LigOwner), NULL);
  self->parts = array (sizeof (LigPart), clear_part);
  self->values = array (sizeof (LigPlanValue), NULL);
  self->value_work = array (sizeof (LigValueWork), NULL);
  self->ties = array (sizeof (LigTie), NULL);
  self->memories = array (sizeof (LigMemory), NULL);
  self->recipes = g_ptr_array_new_with_free_func (g_free);
  self->quantizers = array (sizeof (LigQuantizer), NULL);
  self->calibrations = array (sizeof (LigCalibration), NULL);
  self->groups[0] = array (sizeof (LigPlanGroup), NULL);
  self->groups[1] = array (sizeof (LigPlanGroup), NULL);
  self->steps = array (sizeof (LigGraphStep), NULL);
  self->ends = (LigEnds){
    -1, -1, -1, -1, -1, FALSE, -1, -1, -1, array (sizeof (int), NULL), array (sizeof (int), NULL)};
}

void
lig_graph_free_tables (LigGraph *self)
{
  lig_request_free ((LigRequest *) self->request);
  lig_state_layout_free (self->layout);
  lig_gradients_free (self->gradients);
  g_array_unref (self->owners);
  g_array_unref (self->parts);
  g_array_unref (self->values);
  g_array_unref (self->value_work);
  g_array_unref (self->ties);
  g_array_unref (self->memories);
  g_ptr_array_unref (self->recipes);
  g_array_unref (self->quantizers);
  g_array_unref (self->calibrations);
  g_array_unref (self->groups[0]);
  g_array_unref (self->groups[1]);
  g_array_unref (self->steps);
  g_clear_pointer (&self->ends.extra_inputs, g_array_unref);
  g_clear_pointer (&self->ends.extra_outputs, g_array_unref);
  g_clear_pointer (&self->own_values, g_hash_table_unref);
  g_clear_pointer (&self->problems, lig_collection_free);
  g_clear_pointer (&self->strings, g_string_chunk_free);
  g_free (self);
}
