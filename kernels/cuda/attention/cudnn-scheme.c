/* SPDX-License-Identifier: MIT */
/* Builds graphs of cuDNN operations from descriptors. */
#include "kernels/cuda/attention/cudnn-scheme.h"

#include <stdio.h>
#include <string.h>

/* The first id of the tensors that the graph names itself. */
enum { FIRST_OWN_ID = 64 };

void
lig_cudnn_scheme_init (LigCudnnScheme *graph, const LigCudnn *cudnn)
{
  memset (graph, 0, sizeof *graph);
  graph->cudnn = cudnn;
}

void
lig_cudnn_scheme_clear (LigCudnnScheme *graph)
{
  for (int i = graph->n_made - 1; i >= 0; i--)
    graph->cudnn->destroy (graph->made[i]);
  graph->n_made = 0;
  graph->whole = NULL;
}

/* Records the first failure with the library's message. */
static bool
check (LigCudnnScheme *graph, int status, const char *what, int number)
{
  if (status == LIG_CUDNN_SUCCESS)
    return true;
  char message[256] = "";
  graph->cudnn->last_message (message, sizeof message);
  graph->status = status;
  snprintf (graph->why, sizeof graph->why, "%s %d: %.40s%s%.200s", what, number,
            graph->cudnn->describe (status), message[0] ? ": " : "", message);
  return false;
}

/* Records that a table of the graph is full. */
static void
fail_full (LigCudnnScheme *graph)
{
  graph->status = -1;
  snprintf (graph->why, sizeof graph->why, "the graph is too large");
}

LigCudnnDescriptor
lig_cudnn_make (LigCudnnScheme *graph, LigCudnnKind kind)
{
  LigCudnnDescriptor descriptor = NULL;
  if (graph->status)
    return NULL;
  if (graph->n_made == LIG_CUDNN_MAX_DESCRIPTORS) {
    fail_full (graph);
    return NULL;
  }
  if (!check (graph, graph->cudnn->create ((int) kind, &descriptor), "descriptor", (int) kind))
    return NULL;
  graph->made[graph->n_made++] = descriptor;
  return descriptor;
}

void
lig_cudnn_set (LigCudnnScheme *graph,
               LigCudnnDescriptor descriptor,
               LigCudnnAttribute attribute,
               LigCudnnAttributeType type,
               int64_t count,
               const void *values)
{
  if (!graph->status)
    check (graph, graph->cudnn->set (descriptor, (int) attribute, (int) type, count, values),
           "attribute", (int) attribute);
}

void
lig_cudnn_finish (LigCudnnScheme *graph, LigCudnnDescriptor descriptor)
{
  if (!graph->status)
    check (graph, graph->cudnn->finalize (descriptor), "finishing descriptor", graph->n_made);
}

/* Sets an attribute that is a tensor, unless it is null. */
static void
set_tensor (LigCudnnScheme *graph,
            LigCudnnDescriptor node,
            LigCudnnAttribute attribute,
            const LigCudnnTensor *tensor)
{
  if (tensor)
    lig_cudnn_set (graph, node, attribute, LIG_CUDNN_TYPE_DESCRIPTOR, 1, &tensor->descriptor);
}

static void
set_type (LigCudnnScheme *graph,
          LigCudnnDescriptor descriptor,
          LigCudnnAttribute attribute,
          LigCudnnType type)
{
  int32_t number = (int32_t) type;
  lig_cudnn_set (graph, descriptor, attribute, LIG_CUDNN_TYPE_DATA_TYPE, 1, &number);
}

/* Creates a tensor of any kind; never null, so that callers need no checks. */
static LigCudnnTensor *
describe (LigCudnnScheme *graph,
          int64_t id,
          LigCudnnType type,
          const int64_t shape[4],
          const int64_t strides[4],
          LigCudnnAttribute kind)
{
  const bool yes = true;
  const int64_t alignment = 16;
  if (graph->n_tensors == LIG_CUDNN_MAX_TENSORS) {
    fail_full (graph);
    return &graph->tensors[0];
  }
  LigCudnnTensor *tensor = &graph->tensors[graph->n_tensors++];
  memcpy (tensor->shape, shape, sizeof tensor->shape);
  memcpy (tensor->strides, strides, sizeof tensor->strides);
  tensor->id = id ? id : FIRST_OWN_ID + graph->n_tensors;
  tensor->descriptor = lig_cudnn_make (graph, LIG_CUDNN_TENSOR_DESCRIPTOR);
  LigCudnnDescriptor descriptor = tensor->descriptor;
  set_type (graph, descriptor, LIG_CUDNN_TENSOR_TYPE, type);
  lig_cudnn_set (graph, descriptor, LIG_CUDNN_TENSOR_SHAPE, LIG_CUDNN_TYPE_INT64, 4, shape);
  lig_cudnn_set (graph, descriptor, LIG_CUDNN_TENSOR_STRIDES, LIG_CUDNN_TYPE_INT64, 4, strides);
  lig_cudnn_set (graph, descriptor, LIG_CUDNN_TENSOR_ID, LIG_CUDNN_TYPE_INT64, 1, &tensor->id);
  lig_cudnn_set (graph, descriptor, LIG_CUDNN_TENSOR_ALIGNMENT, LIG_CUDNN_TYPE_INT64, 1,
                 &alignment);
  if (kind != LIG_CUDNN_TENSOR_TYPE)
    lig_cudnn_set (graph, descriptor, kind, LIG_CUDNN_TYPE_BOOLEAN, 1, &yes);
  lig_cudnn_finish (graph, descriptor);
  return tensor;
}

const LigCudnnTensor *
lig_cudnn_tensor (LigCudnnScheme *graph,
                  int64_t id,
                  LigCudnnType type,
                  const int64_t shape[4],
                  const int64_t strides[4])
{
  return describe (graph, id, type, shape, strides, LIG_CUDNN_TENSOR_TYPE);
}

const LigCudnnTensor *
lig_cudnn_virtual (LigCudnnScheme *graph,
                   LigCudnnType type,
                   const int64_t shape[4],
                   const int64_t strides[4])
{
  return describe (graph, 0, type, shape, strides, LIG_CUDNN_TENSOR_IS_VIRTUAL);
}

/* Creates a constant, and returns the location of its value. */
static LigCudnnValue *
describe_value (LigCudnnScheme *graph, LigCudnnType type, const LigCudnnTensor **tensor)
{
  const int64_t ones[4] = {1, 1, 1, 1};
  *tensor = describe (graph, 0, type, ones, ones, LIG_CUDNN_TENSOR_IS_VALUE);
  if (graph->n_values == LIG_CUDNN_MAX_VALUES) {
    fail_full (graph);
    return &graph->values[0];
  }
  LigCudnnValue *value = &graph->values[graph->n_values++];
  value->id = (*tensor)->id;
  return value;
}

const LigCudnnTensor *
lig_cudnn_number (LigCudnnScheme *graph, float number)
{
  const LigCudnnTensor *tensor;
  describe_value (graph, LIG_CUDNN_FP32, &tensor)->number = number;
  return tensor;
}

const LigCudnnTensor *
lig_cudnn_integer (LigCudnnScheme *graph, int32_t integer)
{
  const LigCudnnTensor *tensor;
  describe_value (graph, LIG_CUDNN_INT32, &tensor)->integer = integer;
  return tensor;
}

/* Finalizes a node and adds it to the graph. */
static void
add_node (LigCudnnScheme *graph, LigCudnnDescriptor node)
{
  lig_cudnn_finish (graph, node);
  if (graph->n_nodes == LIG_CUDNN_MAX_STEPS)
    fail_full (graph);
  else
    graph->nodes[graph->n_nodes++] = node;
}

void
lig_cudnn_matmul (LigCudnnScheme *graph, const LigCudnnMatmul *matmul)
{
  const double padding = 0;
  LigCudnnDescriptor operation = lig_cudnn_make (graph, LIG_CUDNN_MATMUL_DESCRIPTOR);
  set_type (graph, operation, LIG_CUDNN_MATMUL_COMPUTE_TYPE, LIG_CUDNN_FP32);
  if (matmul->pads)
    lig_cudnn_set (graph, operation, LIG_CUDNN_MATMUL_PADDING, LIG_CUDNN_TYPE_DOUBLE, 1, &padding);
  lig_cudnn_finish (graph, operation);
  LigCudnnDescriptor node = lig_cudnn_make (graph, LIG_CUDNN_MATMUL_STEP);
  lig_cudnn_set (graph, node, LIG_CUDNN_MATMUL_STEP_OPERATION, LIG_CUDNN_TYPE_DESCRIPTOR, 1,
                 &operation);
  set_tensor (graph, node, LIG_CUDNN_MATMUL_STEP_A, matmul->a);
  set_tensor (graph, node, LIG_CUDNN_MATMUL_STEP_B, matmul->b);
  set_tensor (graph, node, LIG_CUDNN_MATMUL_STEP_C, matmul->c);
  set_tensor (graph, node, LIG_CUDNN_MATMUL_STEP_M, matmul->rows);
  set_tensor (graph, node, LIG_CUDNN_MATMUL_STEP_N, matmul->columns);
  set_tensor (graph, node, LIG_CUDNN_MATMUL_STEP_K, matmul->depth);
  add_node (graph, node);
}

void
lig_cudnn_pointwise (LigCudnnScheme *graph, const LigCudnnPointwise *pointwise)
{
  const int32_t mode = (int32_t) pointwise->mode;
  LigCudnnDescriptor operation = lig_cudnn_make (graph, LIG_CUDNN_POINTWISE_DESCRIPTOR);
  lig_cudnn_set (graph, operation, LIG_CUDNN_POINTWISE_MODE, LIG_CUDNN_TYPE_POINTWISE_MODE, 1,
                 &mode);
  set_type (graph, operation, LIG_CUDNN_POINTWISE_COMPUTE_TYPE, pointwise->compute);
  if (pointwise->mode == LIG_CUDNN_INDEX)
    lig_cudnn_set (graph, operation, LIG_CUDNN_POINTWISE_AXIS, LIG_CUDNN_TYPE_INT64, 1,
                   &pointwise->axis);
  lig_cudnn_finish (graph, operation);
  LigCudnnDescriptor node = lig_cudnn_make (graph, LIG_CUDNN_POINTWISE_STEP);
  lig_cudnn_set (graph, node, LIG_CUDNN_POINTWISE_STEP_OPERATION, LIG_CUDNN_TYPE_DESCRIPTOR, 1,
                 &operation);
  set_tensor (graph, node, LIG_CUDNN_POINTWISE_STEP_X, pointwise->x);
  set_tensor (graph, node, LIG_CUDNN_POINTWISE_STEP_B, pointwise->b);
  set_tensor (graph, node, LIG_CUDNN_POINTWISE_STEP_T, pointwise->truth);
  set_tensor (graph, node, LIG_CUDNN_POINTWISE_STEP_Y, pointwise->y);
  add_node (graph, node);
}

const LigCudnnTensor *
lig_cudnn_apply (LigCudnnScheme *graph,
                 LigCudnnMode mode,
                 const LigCudnnTensor *x,
                 const LigCudnnTensor *b)
{
  const LigCudnnTensor *y = lig_cudnn_virtual (graph, LIG_CUDNN_FP32, x->shape, x->strides);
  const LigCudnnPointwise pointwise = {
    .mode = mode, .compute = LIG_CUDNN_FP32, .x = x, .b = b, .y = y};
  lig_cudnn_pointwise (graph, &pointwise);
  return y;
}

void
lig_cudnn_reduce (LigCudnnScheme *graph,
                  LigCudnnReduction reduction,
                  const LigCudnnTensor *x,
                  const LigCudnnTensor *y)
{
  const int32_t number = (int32_t) reduction;
  LigCudnnDescriptor operation = lig_cudnn_make (graph, LIG_CUDNN_REDUCTION_DESCRIPTOR);
  lig_cudnn_set (graph, operation, LIG_CUDNN_REDUCTION_OPERATOR, LIG_CUDNN_TYPE_REDUCTION, 1,
                 &number);
  set_type (graph, operation, LIG_CUDNN_REDUCTION_COMPUTE_TYPE, LIG_CUDNN_FP32);
  lig_cudnn_finish (graph, operation);
  LigCudnnDescriptor node = lig_cudnn_make (graph, LIG_CUDNN_REDUCTION_STEP);
  lig_cudnn_set (graph, node, LIG_CUDNN_REDUCTION_STEP_OPERATION, LIG_CUDNN_TYPE_DESCRIPTOR, 1,
                 &operation);
  set_tensor (graph, node, LIG_CUDNN_REDUCTION_STEP_X, x);
  set_tensor (graph, node, LIG_CUDNN_REDUCTION_STEP_Y, y);
  add_node (graph, node);
}

void
lig_cudnn_reshape (LigCudnnScheme *graph, const LigCudnnTensor *x, const LigCudnnTensor *y)
{
  LigCudnnDescriptor node = lig_cudnn_make (graph, LIG_CUDNN_RESHAPE_STEP);
  set_tensor (graph, node, LIG_CUDNN_RESHAPE_STEP_X, x);
  set_tensor (graph, node, LIG_CUDNN_RESHAPE_STEP_Y, y);
  add_node (graph, node);
}

bool
lig_cudnn_scheme_finish (LigCudnnScheme *graph, LigCudnnHandle handle)
{
  LigCudnnDescriptor whole = lig_cudnn_make (graph, LIG_CUDNN_SCHEME_DESCRIPTOR);
  if (handle)
    lig_cudnn_set (graph, whole, LIG_CUDNN_SCHEME_HANDLE, LIG_CUDNN_TYPE_HANDLE, 1, &handle);
  lig_cudnn_set (graph, whole, LIG_CUDNN_SCHEME_STEPS, LIG_CUDNN_TYPE_DESCRIPTOR, graph->n_nodes,
                 graph->nodes);
  lig_cudnn_finish (graph, whole);
  graph->whole = graph->status ? NULL : whole;
  return graph->whole != NULL;
}
