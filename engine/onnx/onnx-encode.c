/* SPDX-License-Identifier: MIT */
/* Encodes a graph in protocol buffers, if the build has protobuf-c. */
#include "engine/onnx/model.h"
#include <ligature/onnx.h>

#include <glib/gi18n-lib.h>

#include <inttypes.h>
#include <string.h>

#ifdef LIG_PROTOBUF
#include "engine/onnx.pb-c.h"
#endif

gboolean
lig_onnx_is_built (void)
{
#ifdef LIG_PROTOBUF
  return TRUE;
#else
  return FALSE;
#endif
}

#ifdef LIG_PROTOBUF

/* All messages, which refer to the graph's memory and are freed together. */
typedef struct {
  GPtrArray *memory;
} Messages;

/* Returns zeroed memory that lives as long as the messages. */
static gpointer
allocate (Messages *all, gsize size)
{
  gpointer memory = g_malloc0 (MAX (size, 1));
  g_ptr_array_add (all->memory, memory);
  return memory;
}

/* Returns a message as its function initializes it. */
#define MESSAGE(all, Type, INIT) \
  ((Type *) initialize (allocate (all, sizeof (Type)), &(const Type) INIT, sizeof (Type)))

static gpointer
initialize (gpointer message, gconstpointer initial, gsize size)
{
  return memcpy (message, initial, size);
}

static char *
keep (Messages *all, char *text)
{
  g_ptr_array_add (all->memory, text);
  return text;
}

static LigOnnx__Entry *
make_entry (Messages *all, const char *key, const char *value)
{
  LigOnnx__Entry *entry = MESSAGE (all, LigOnnx__Entry, LIG_ONNX__ENTRY__INIT);
  entry->key = (char *) key;
  entry->value = (char *) value;
  return entry;
}

static LigOnnx__Attribute *
make_attribute (Messages *all, const LigOnnxAttribute *from)
{
  LigOnnx__Attribute *attribute = MESSAGE (all, LigOnnx__Attribute, LIG_ONNX__ATTRIBUTE__INIT);
  attribute->name = (char *) from->name;
  attribute->has_type = TRUE;
  attribute->type = from->kind;
  attribute->has_f = from->kind == LIG_ONNX_ATTRIBUTE_NUMBER;
  attribute->f = from->number;
  attribute->has_i = from->kind == LIG_ONNX_ATTRIBUTE_INTEGER;
  attribute->i = from->integers[0];
  if (from->kind == LIG_ONNX_ATTRIBUTE_INTEGERS) {
    attribute->n_ints = (gsize) from->count;
    attribute->ints = (int64_t *) from->integers;
  }
  return attribute;
}

static LigOnnx__Call *
make_node (Messages *all, const LigOnnxCall *from)
{
  LigOnnx__Call *node = MESSAGE (all, LigOnnx__Call, LIG_ONNX__CALL__INIT);
  node->op_type = (char *) from->type;
  node->name = (char *) from->name;
  node->n_input = from->inputs->len;
  node->input = (char **) from->inputs->pdata;
  node->n_output = from->outputs->len;
  node->output = (char **) from->outputs->pdata;
  node->n_attribute = from->attributes->len;
  node->attribute = allocate (all, from->attributes->len * sizeof (gpointer));
  for (guint i = 0; i < from->attributes->len; i++)
    node->attribute[i] =
      make_attribute (all, &g_array_index (from->attributes, LigOnnxAttribute, i));
  return node;
}

/* `end`: the end of the weights in the file `data_file` so far, which is moved; null: the data are
 * in the message. */
static LigOnnx__Tensor *
make_tensor (Messages *all, const LigOnnxTensor *from, const char *data_file, gint64 *end)
{
  LigOnnx__Tensor *tensor = MESSAGE (all, LigOnnx__Tensor, LIG_ONNX__TENSOR__INIT);
  tensor->name = (char *) from->name;
  tensor->has_data_type = TRUE;
  tensor->data_type = from->type;
  tensor->n_dims = (gsize) from->shape.n_axes;
  tensor->dims = (int64_t *) from->shape.axes;
  if (!data_file || !from->weight) {
    tensor->has_raw_data = TRUE;
    tensor->raw_data.len = from->bytes;
    tensor->raw_data.data = from->weight ? from->weight->data : from->constant;
    return tensor;
  }
  gint64 start = lig_onnx_align (*end);
  *end = start + (gint64) from->bytes;
  tensor->has_data_location = TRUE;
  tensor->data_location = 1;
  tensor->n_external_data = 3;
  tensor->external_data = allocate (all, 3 * sizeof (gpointer));
  tensor->external_data[0] = make_entry (all, "location", data_file);
  tensor->external_data[1] =
    make_entry (all, "offset", keep (all, g_strdup_printf ("%" PRId64, start)));
  tensor->external_data[2] =
    make_entry (all, "length", keep (all, g_strdup_printf ("%" G_GSIZE_FORMAT, from->bytes)));
  return tensor;
}

static LigOnnx__Dimension *
make_dimension (Messages *all, const LigOnnxEnd *from, int axis)
{
  LigOnnx__Dimension *dimension = MESSAGE (all, LigOnnx__Dimension, LIG_ONNX__DIMENSION__INIT);
  const char *name = from->lengths[axis];
  dimension->has_dim_value = !name;
  dimension->dim_value = from->shape.axes[axis];
  if (name && *name)
    dimension->dim_param = (char *) name;
  return dimension;
}

static LigOnnx__Value *
make_value (Messages *all, const LigOnnxEnd *from)
{
  LigOnnx__Value *value = MESSAGE (all, LigOnnx__Value, LIG_ONNX__VALUE__INIT);
  LigOnnx__TensorType *type = MESSAGE (all, LigOnnx__TensorType, LIG_ONNX__TENSOR_TYPE__INIT);
  value->name = (char *) from->name;
  value->type = MESSAGE (all, LigOnnx__Type, LIG_ONNX__TYPE__INIT);
  value->type->tensor_type = type;
  type->has_elem_type = TRUE;
  type->elem_type = from->type;
  type->shape = MESSAGE (all, LigOnnx__Shape, LIG_ONNX__SHAPE__INIT);
  type->shape->n_dim = (gsize) from->shape.n_axes;
  type->shape->dim = allocate (all, type->shape->n_dim * sizeof (gpointer));
  for (int i = 0; i < from->shape.n_axes; i++)
    type->shape->dim[i] = make_dimension (all, from, i);
  return value;
}

static LigOnnx__Value **
make_values (Messages *all, GArray *from, gsize *count)
{
  LigOnnx__Value **values = allocate (all, from->len * sizeof *values);
  for (guint i = 0; i < from->len; i++)
    values[i] = make_value (all, &g_array_index (from, LigOnnxEnd, i));
  *count = from->len;
  return values;
}

static LigOnnx__Graph *
make_graph (Messages *all, LigOnnx *self, const char *data_file)
{
  gint64 end = 0;
  LigOnnx__Graph *graph = MESSAGE (all, LigOnnx__Graph, LIG_ONNX__GRAPH__INIT);
  graph->name = "ligature";
  graph->n_node = self->nodes->len;
  graph->node = allocate (all, self->nodes->len * sizeof (gpointer));
  for (guint i = 0; i < self->nodes->len; i++)
    graph->node[i] = make_node (all, g_ptr_array_index (self->nodes, i));
  graph->n_initializer = self->tensors->len;
  graph->initializer = allocate (all, self->tensors->len * sizeof (gpointer));
  for (guint i = 0; i < self->tensors->len; i++)
    graph->initializer[i] =
      make_tensor (all, g_ptr_array_index (self->tensors, i), data_file, &end);
  graph->input = make_values (all, self->inputs, &graph->n_input);
  graph->output = make_values (all, self->outputs, &graph->n_output);
  return graph;
}

#endif

GBytes *
lig_onnx_encode (LigOnnx *self, const char *const *metadata, const char *data_file, GError **error)
{
#ifdef LIG_PROTOBUF
  g_autoptr (GPtrArray) memory = g_ptr_array_new_with_free_func (g_free);
  Messages all = {memory};
  LigOnnx__Model *model = MESSAGE (&all, LigOnnx__Model, LIG_ONNX__MODEL__INIT);
  LigOnnx__Opset *opset = MESSAGE (&all, LigOnnx__Opset, LIG_ONNX__OPSET__INIT);
  opset->domain = "";
  opset->has_version = TRUE;
  opset->version = LIG_ONNX_OPSET;
  model->has_ir_version = TRUE;
  model->ir_version = LIG_ONNX_IR;
  model->producer_name = "Ligature";
  model->producer_version = LIG_VERSION;
  model->n_opset_import = 1;
  model->opset_import = &opset;
  model->n_metadata_props = g_strv_length ((GStrv) metadata) / 2;
  model->metadata_props = allocate (&all, model->n_metadata_props * sizeof (gpointer));
  for (gsize i = 0; i < model->n_metadata_props; i++)
    model->metadata_props[i] = make_entry (&all, metadata[2 * i], metadata[2 * i + 1]);
  model->graph = make_graph (&all, self, data_file);
  gsize size = lig_onnx__model__get_packed_size (model);
  guint8 *bytes = g_malloc (size);
  lig_onnx__model__pack (model, bytes);
  return g_bytes_new_take (bytes, size);
#else
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE,
               _ ("ONNX: this build cannot write it, because protobuf-c was missing; install "
                  "protobuf-c-compiler and libprotobuf-c-dev, and build again"));
  return NULL;
#endif
}
