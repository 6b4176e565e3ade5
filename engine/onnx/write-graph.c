/* SPDX-License-Identifier: MIT */
/* The functions by which ops write nodes. */
#include "engine/onnx/model.h"

#include <glib/gi18n-lib.h>

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

/* --- Ports --------------------------------------------------------------------------------- */

/* Returns the port of the current op; NULL if it has none, or the port has no value. */
static const LigPlanPort *
find_port (LigOnnx *self, const char *name)
{
  for (int i = 0; i < self->op->n_ports; i++) {
    const LigPlanPort *port = &self->op->ports[i];
    if (port->value >= 0 && port->kind != LIG_PORT_KEPT && strcmp (port->name, name) == 0)
      return port;
  }
  return NULL;
}

const void *
lig_onnx_get_params (LigOnnx *self)
{
  return self->op->params;
}

gboolean
lig_onnx_has (LigOnnx *self, const char *port)
{
  return find_port (self, port) != NULL;
}

int
lig_onnx_count_axes (LigOnnx *self, const char *port)
{
  const LigPlanPort *found = find_port (self, port);
  return found ? self->values[found->value].shape.n_axes : 0;
}

static LigOnnxType
get_type (LigOnnx *self, const LigPlanPort *port)
{
  return lig_onnx_type (self->values[port->value].dtype);
}

const char *
lig_onnx_get (LigOnnx *self, const char *port)
{
  const LigPlanPort *found = find_port (self, port);
  if (!found) {
    lig_onnx_reject (self, _ ("lacks an input in this plan"));
    return "";
  }
  const char *name = lig_onnx_find (self, found->value);
  LigOnnxType type = get_type (self, found);
  if (type != LIG_ONNX_FP16 && type != LIG_ONNX_BF16)
    return name;
  const char *wide = g_hash_table_lookup (self->wide, name);
  if (!wide) {
    wide = lig_onnx_cast_number (self, name);
    g_hash_table_insert (self->wide, (gpointer) name, (gpointer) wide);
  }
  return wide;
}

const char *
lig_onnx_rows (LigOnnx *self, const char *port, const char *indices)
{
  const LigPlanPort *found = find_port (self, port);
  if (!found)
    return lig_onnx_get (self, port);
  LigOnnxType type = get_type (self, found);
  const char *rows =
    lig_onnx_node (self, "Gather", lig_onnx_find (self, found->value), indices, NULL);
  return type == LIG_ONNX_FP32 ? rows : lig_onnx_cast_number (self, rows);
}

/* Makes a value that of a port, under the port's name if a node has just computed it. */
static void
bind (LigOnnx *self, const LigPlanPort *port, const char *value)
{
  const char *name = g_string_chunk_insert_const (self->names, self->values[port->value].name);
  if (*value == '%' && lig_onnx_rename (self, value, name))
    value = name;
  g_hash_table_insert (self->known, GINT_TO_POINTER (port->value + 1), (gpointer) value);
}

void
lig_onnx_set (LigOnnx *self, const char *port, const char *value)
{
  const LigPlanPort *found = find_port (self, port);
  if (!found)
    return;
  LigOnnxType type = get_type (self, found);
  if (type == LIG_ONNX_FP16 || type == LIG_ONNX_BF16)
    value = lig_onnx_cast (self, value, type);
  bind (self, found, value);
}

void
lig_onnx_pass (LigOnnx *self, const char *from, const char *to)
{
  const LigPlanPort *in = find_port (self, from), *out = find_port (self, to);
  if (!in || !out)
    return;
  const char *value = lig_onnx_find (self, in->value);
  if (get_type (self, in) != get_type (self, out))
    value = lig_onnx_cast (self, value, get_type (self, out));
  g_hash_table_insert (self->known, GINT_TO_POINTER (out->value + 1), (gpointer) value);
}

void
lig_onnx_pass_x (LigOnnx *self)
{
  lig_onnx_pass (self, "x", "y");
}

void
lig_onnx_move (LigOnnx *self, const char *type, const char *shape)
{
  const LigPlanPort *in = find_port (self, "x"), *out = find_port (self, "y");
  if (in && out)
    bind (self, out, lig_onnx_node (self, type, lig_onnx_find (self, in->value), shape, NULL));
}

void
lig_onnx_reject (LigOnnx *self, const char *reason)
{
  if (self->error)
    return;
  g_set_error (&self->error, LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s: not exported to ONNX: it %s"),
               self->op->info->name, self->op->path, reason);
  lig_error_set_path (&self->error, self->op->path);
}
