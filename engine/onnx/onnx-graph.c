/* SPDX-License-Identifier: MIT */
/* Builds the graph of a plan: weights, nodes, inputs and outputs. */
#include "engine/onnx/model.h"
#include "engine/plan/plan-private.h"
#include <ligature/onnx.h>

#include <glib/gi18n-lib.h>

#include <string.h>

static void
free_node (gpointer data)
{
  LigOnnxCall *node = data;
  g_ptr_array_unref (node->inputs);
  g_ptr_array_unref (node->outputs);
  g_array_unref (node->attributes);
  g_free (node);
}

static void
free_tensor (gpointer data)
{
  LigOnnxTensor *tensor = data;
  g_clear_pointer (&tensor->weight, lig_tensor_unref);
  g_free (tensor->constant);
  g_free (tensor);
}

LigOnnx *
lig_onnx_new (LigPlan *plan, LigTensorFile *weights)
{
  guint count;
  LigOnnx *self = g_new0 (LigOnnx, 1);
  self->plan = lig_plan_ref (plan);
  self->weights = weights;
  self->values = lig_plan_get_values (plan, &count);
  self->names = g_string_chunk_new (4096);
  self->known = g_hash_table_new (NULL, NULL);
  self->numbers = g_hash_table_new (g_str_hash, g_str_equal);
  self->wide = g_hash_table_new (g_str_hash, g_str_equal);
  self->constants = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->nodes = g_ptr_array_new_with_free_func (free_node);
  self->tensors = g_ptr_array_new_with_free_func (free_tensor);
  self->inputs = g_array_new (FALSE, TRUE, sizeof (LigOnnxEnd));
  self->outputs = g_array_new (FALSE, TRUE, sizeof (LigOnnxEnd));
  for (guint i = 0; i < count; i++)
    g_hash_table_insert (self->numbers, (gpointer) self->values[i].name, GUINT_TO_POINTER (i + 1));
  return self;
}

void
lig_onnx_free (LigOnnx *self)
{
  lig_plan_unref (self->plan);
  g_string_chunk_free (self->names);
  g_hash_table_unref (self->known);
  g_hash_table_unref (self->numbers);
  g_hash_table_unref (self->wide);
  g_hash_table_unref (self->constants);
  g_ptr_array_unref (self->nodes);
  g_ptr_array_unref (self->tensors);
  g_array_unref (self->inputs);
  g_array_unref (self->outputs);
  g_clear_error (&self->error);
  g_free (self);
}

LigOnnxType
lig_onnx_type (LigDtype dtype)
{
  switch (dtype) {
  case LIG_FP16:
    return LIG_ONNX_FP16;
  case LIG_BF16:
    return LIG_ONNX_BF16;
  case LIG_INT32:
    return LIG_ONNX_INT32;
  default:
    return LIG_ONNX_FP32;
  }
}

/* --- Values -------------------------------------------------------------------------------- */

/* Adds a parameter in a type, under its path. */
static const char *
add_weight (LigOnnx *self, const char *path, LigDtype dtype)
{
  g_autoptr (LigTensor) own =
    self->error ? NULL : lig_tensor_file_get (self->weights, path, &self->error);
  g_autoptr (LigTensor) converted = own ? lig_tensor_convert (own, dtype, &self->error) : NULL;
  if (!converted)
    return "";
  LigOnnxTensor *tensor = g_new0 (LigOnnxTensor, 1);
  tensor->name = g_string_chunk_insert_const (self->names, path);
  tensor->type = lig_onnx_type (dtype);
  tensor->shape = converted->shape;
  tensor->bytes = lig_tensor_bytes (converted);
  tensor->weight = g_steal_pointer (&converted);
  g_ptr_array_add (self->tensors, tensor);
  return tensor->name;
}

/* Returns the value that this one is a conversion of, `3.weight` of `3.weight:bf16`; -1: none. */
static int
find_source (LigOnnx *self, const LigPlanValue *value)
{
  const char *colon = strrchr (value->name, ':');
  g_autofree char *name = colon ? g_strndup (value->name, (gsize) (colon - value->name)) : NULL;
  return name ? GPOINTER_TO_INT (g_hash_table_lookup (self->numbers, name)) - 1 : -1;
}

/* Makes a value that no node has computed. */
static const char *
make_value (LigOnnx *self, const LigPlanValue *value)
{
  int source = find_source (self, value);
  const LigPlanValue *from = source >= 0 ? &self->values[source] : value;
  /* A converted weight is kept in that type only, unless it was read in its own before. */
  if (from->role == LIG_VALUE_PARAMETER &&
      (source < 0 || !g_hash_table_contains (self->known, GINT_TO_POINTER (source + 1))))
    return add_weight (self, from->name, value->dtype);
  if (source >= 0)
    return lig_onnx_cast (self, lig_onnx_find (self, source), lig_onnx_type (value->dtype));
  if (value->alias >= 0 && value->alias_offset == 0)
    return lig_onnx_find (self, value->alias);
  if (!self->error)
    g_set_error (&self->error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s: not exported to ONNX: no op computes it in this plan"), value->name);
  return "";
}

const char *
lig_onnx_find (LigOnnx *self, int value)
{
  gpointer key = GINT_TO_POINTER (value + 1);
  const char *name = g_hash_table_lookup (self->known, key);
  if (name)
    return name;
  name = make_value (self, &self->values[value]);
  g_hash_table_insert (self->known, key, (gpointer) name);
  return name;
}

/* --- Inputs and outputs -------------------------------------------------------------------- */

static void
add_end (LigOnnx *self, GArray *to, const char *name, int value)
{
  LigOnnxEnd end = {.name = g_string_chunk_insert (self->names, name),
                    .type = lig_onnx_type (self->values[value].dtype),
                    .value = value,
                    .shape = self->values[value].shape};
  g_array_append_val (to, end);
}

void
lig_onnx_add_ends (LigOnnx *self)
{
  const LigEnds *ends = &self->plan->ends;
  add_end (self, self->inputs, "input", ends->input);
  for (guint i = 0; i < ends->extra_inputs->len; i++) {
    g_autofree char *name = g_strdup_printf ("extra.%u", i);
    add_end (self, self->inputs, name, g_array_index (ends->extra_inputs, int, i));
  }
  add_end (self, self->outputs, "output", ends->output);
  for (guint i = 0; i < ends->extra_outputs->len; i++) {
    g_autofree char *name = g_strdup_printf ("output.extra.%u", i);
    add_end (self, self->outputs, name, g_array_index (ends->extra_outputs, int, i));
  }
  for (guint i = 0; i < self->inputs->len; i++) {
    const LigOnnxEnd *end = &g_array_index (self->inputs, LigOnnxEnd, i);
    g_hash_table_insert (self->known, GINT_TO_POINTER (end->value + 1), (gpointer) end->name);
  }
}
