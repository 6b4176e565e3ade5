/* SPDX-License-Identifier: MIT */
/* Adds nodes and constants to a graph. */
#include "engine/onnx/model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* --- Nodes --------------------------------------------------------------------------------- */

static LigOnnxCall *
last_node (LigOnnx *self)
{
  return g_ptr_array_index (self->nodes, self->nodes->len - 1);
}

static const char *
name_value (LigOnnx *self)
{
  g_autofree char *name = g_strdup_printf ("%%%u", self->n_values++);
  return g_string_chunk_insert (self->names, name);
}

static LigOnnxCall *
add_node (LigOnnx *self, const char *type)
{
  LigOnnxCall *node = g_new0 (LigOnnxCall, 1);
  g_autofree char *name =
    g_strdup_printf ("%s/%s.%u", self->op ? self->op->prefix : "graph", type, self->nodes->len);
  node->type = g_string_chunk_insert_const (self->names, type);
  node->name = g_string_chunk_insert (self->names, name);
  node->inputs = g_ptr_array_new ();
  node->outputs = g_ptr_array_new ();
  node->attributes = g_array_new (FALSE, TRUE, sizeof (LigOnnxAttribute));
  g_ptr_array_add (self->nodes, node);
  return node;
}

const char *
lig_onnx_output (LigOnnx *self)
{
  const char *name = name_value (self);
  g_ptr_array_add (last_node (self)->outputs, (gpointer) name);
  return name;
}

const char *
lig_onnx_node (LigOnnx *self, const char *type, ...)
{
  va_list arguments;
  const char *input;
  LigOnnxCall *node = add_node (self, type);
  va_start (arguments, type);
  while ((input = va_arg (arguments, const char *)))
    g_ptr_array_add (node->inputs, (gpointer) input);
  va_end (arguments);
  return lig_onnx_output (self);
}

gboolean
lig_onnx_rename (LigOnnx *self, const char *value, const char *name)
{
  guint index;
  if (self->nodes->len == 0 || !g_ptr_array_find (last_node (self)->outputs, value, &index))
    return FALSE;
  last_node (self)->outputs->pdata[index] = (gpointer) name;
  return TRUE;
}

static LigOnnxAttribute *
add_attribute (LigOnnx *self, const char *name, LigOnnxAttributeKind kind)
{
  GArray *all = last_node (self)->attributes;
  const LigOnnxAttribute attribute = {.name = g_string_chunk_insert_const (self->names, name),
                                      .kind = kind};
  g_array_append_val (all, attribute);
  return &g_array_index (all, LigOnnxAttribute, all->len - 1);
}

void
lig_onnx_attribute (LigOnnx *self, const char *name, gint64 value)
{
  LigOnnxAttribute *attribute = add_attribute (self, name, LIG_ONNX_ATTRIBUTE_INTEGER);
  attribute->count = 1;
  attribute->integers[0] = value;
}

void
lig_onnx_attribute_number (LigOnnx *self, const char *name, float value)
{
  add_attribute (self, name, LIG_ONNX_ATTRIBUTE_NUMBER)->number = value;
}

const char *
lig_onnx_permutation (LigOnnx *self, const char *value, int n_axes, int a, int b)
{
  const char *result = lig_onnx_node (self, "Transpose", value, NULL);
  LigOnnxAttribute *attribute = add_attribute (self, "perm", LIG_ONNX_ATTRIBUTE_INTEGERS);
  attribute->count = n_axes;
  for (int i = 0; i < n_axes; i++)
    attribute->integers[i] = i == a ? b : i == b ? a : i;
  return result;
}

const char *
lig_onnx_cast (LigOnnx *self, const char *value, LigOnnxType type)
{
  const char *result = lig_onnx_node (self, "Cast", value, NULL);
  lig_onnx_attribute (self, "to", type);
  return result;
}

const char *
lig_onnx_cast_integer (LigOnnx *self, const char *value)
{
  return lig_onnx_cast (self, value, LIG_ONNX_INT64);
}

const char *
lig_onnx_cast_number (LigOnnx *self, const char *value)
{
  return lig_onnx_cast (self, value, LIG_ONNX_FP32);
}

/* --- Constants ----------------------------------------------------------------------------- */

/* Adds a constant, or returns an equal one. */
static const char *
add_constant (
  LigOnnx *self, LigOnnxType type, const LigShape *shape, gconstpointer data, gsize bytes)
{
  g_autofree char *digest = g_compute_checksum_for_data (G_CHECKSUM_SHA256, data, bytes);
  g_autofree char *lengths = lig_shape_to_string (shape);
  g_autofree char *key = g_strdup_printf ("%d %s %s", (int) type, lengths, digest);
  const char *name = g_hash_table_lookup (self->constants, key);
  if (name)
    return name;
  LigOnnxTensor *tensor = g_new0 (LigOnnxTensor, 1);
  g_autofree char *own = g_strdup_printf ("constant.%u", g_hash_table_size (self->constants));
  tensor->name = g_string_chunk_insert (self->names, own);
  tensor->type = type;
  tensor->shape = *shape;
  tensor->constant = g_memdup2 (data, bytes);
  tensor->bytes = bytes;
  g_ptr_array_add (self->tensors, tensor);
  g_hash_table_insert (self->constants, g_steal_pointer (&key), (gpointer) tensor->name);
  return tensor->name;
}

const char *
lig_onnx_numbers (LigOnnx *self, const LigShape *shape, const float *values)
{
  return add_constant (self, LIG_ONNX_FP32, shape, values,
                       (gsize) lig_shape_size (shape) * sizeof *values);
}

const char *
lig_onnx_number (LigOnnx *self, double value)
{
  const LigShape scalar = {.n_axes = 0};
  float number = (float) value;
  return lig_onnx_numbers (self, &scalar, &number);
}

const char *
lig_onnx_integer (LigOnnx *self, gint64 value)
{
  const LigShape scalar = {.n_axes = 0};
  return add_constant (self, LIG_ONNX_INT64, &scalar, &value, sizeof value);
}

static const char *
add_integers (LigOnnx *self, const gint64 *values, int count)
{
  const LigShape shape = {.n_axes = 1, .axes = {count}};
  return add_constant (self, LIG_ONNX_INT64, &shape, values, (gsize) count * sizeof *values);
}

const char *
lig_onnx_integers (LigOnnx *self, int count, ...)
{
  gint64 values[2 * LIG_MAX_AXES] = {0};
  va_list arguments;
  va_start (arguments, count);
  for (int i = 0; i < count; i++)
    values[i] = va_arg (arguments, gint64);
  va_end (arguments);
  return add_integers (self, values, count);
}

const char *
lig_onnx_shape (LigOnnx *self, int kept, int count, ...)
{
  gint64 values[2 * LIG_MAX_AXES] = {0};
  va_list arguments;
  va_start (arguments, count);
  for (int i = 0; i < count; i++)
    values[kept + i] = va_arg (arguments, gint64);
  va_end (arguments);
  return add_integers (self, values, kept + count);
}

const char *
lig_onnx_length (LigOnnx *self, const char *value, int axis)
{
  const char *shape = lig_onnx_node (self, "Shape", value, NULL);
  lig_onnx_attribute (self, "start", axis);
  lig_onnx_attribute (self, "end", axis + 1);
  return lig_onnx_node (self, "Squeeze", shape, NULL);
}

void
lig_onnx_split (
  LigOnnx *self, const char *value, int axis, const gint64 *lengths, int count, const char **pieces)
{
  pieces[0] = value;
  if (count < 2)
    return;
  pieces[0] = lig_onnx_node (self, "Split", value, add_integers (self, lengths, count), NULL);
  lig_onnx_attribute (self, "axis", axis);
  for (int i = 1; i < count; i++)
    pieces[i] = lig_onnx_output (self);
}

void
lig_onnx_halve (LigOnnx *self, const char *value, int axis, const char *halves[2])
{
  halves[0] = lig_onnx_node (self, "Split", value, NULL);
  lig_onnx_attribute (self, "axis", axis);
  lig_onnx_attribute (self, "num_outputs", 2);
  halves[1] = lig_onnx_output (self);
}
