/* SPDX-License-Identifier: MIT */
/* Builds a computation as a graph of cuDNN operations. A failure is recorded, and later calls do
 * nothing, so that errors are checked once, at the end. */
#pragma once

#include "kernels/cuda/attention/cudnn-library.h"

enum {
  LIG_CUDNN_MAX_TENSORS = 96,
  LIG_CUDNN_MAX_STEPS = 64,
  LIG_CUDNN_MAX_DESCRIPTORS = 192,
  LIG_CUDNN_MAX_VALUES = 12
};

/* A tensor of 4 axes; strides count elements. */
typedef struct {
  LigCudnnDescriptor descriptor;
  int64_t id;
  int64_t shape[4], strides[4];
} LigCudnnTensor;

/* A constant that a graph reads from host memory. */
typedef struct {
  int64_t id;
  union {
    float number;
    int32_t integer;
  };
} LigCudnnValue;

typedef struct {
  const LigCudnn *cudnn;
  LigCudnnTensor tensors[LIG_CUDNN_MAX_TENSORS];
  int n_tensors;
  LigCudnnDescriptor nodes[LIG_CUDNN_MAX_STEPS];
  int n_nodes;
  LigCudnnDescriptor made[LIG_CUDNN_MAX_DESCRIPTORS]; /* all descriptors, in order */
  int n_made;
  LigCudnnValue values[LIG_CUDNN_MAX_VALUES];
  int n_values;
  LigCudnnDescriptor whole; /* the finalized graph */
  int status;               /* the first failure */
  char why[320];            /* its message */
} LigCudnnScheme;

/* Begins an empty graph. The caller frees it, also after failures. */
void lig_cudnn_scheme_init (LigCudnnScheme *graph, const LigCudnn *cudnn);
void lig_cudnn_scheme_clear (LigCudnnScheme *graph);

/* Creates a descriptor that the graph owns; null after a failure. */
LigCudnnDescriptor lig_cudnn_make (LigCudnnScheme *graph, LigCudnnKind kind);

/* Sets an attribute of a descriptor; finalizes a descriptor. */
void lig_cudnn_set (LigCudnnScheme *graph,
                    LigCudnnDescriptor descriptor,
                    LigCudnnAttribute attribute,
                    LigCudnnAttributeType type,
                    int64_t count,
                    const void *values);
void lig_cudnn_finish (LigCudnnScheme *graph, LigCudnnDescriptor descriptor);

/* Returns a tensor in device memory, which is identified by its id when the plan runs: a positive
 * number below 64. */
const LigCudnnTensor *lig_cudnn_tensor (LigCudnnScheme *graph,
                                        int64_t id,
                                        LigCudnnType type,
                                        const int64_t shape[4],
                                        const int64_t strides[4]);

/* Returns a virtual tensor, which exists only within the graph. */
const LigCudnnTensor *lig_cudnn_virtual (LigCudnnScheme *graph,
                                         LigCudnnType type,
                                         const int64_t shape[4],
                                         const int64_t strides[4]);

/* Return a constant that is part of the graph. */
const LigCudnnTensor *lig_cudnn_number (LigCudnnScheme *graph, float number);
const LigCudnnTensor *lig_cudnn_integer (LigCudnnScheme *graph, int32_t integer);

/* Adds the matmul c = a b of the last two axes. `rows`, `columns` and `depth` are int32 tensors
 * [batch, 1, 1, 1] that limit the sizes, or null; elements beyond them count as zeros if `pads`. */
typedef struct {
  const LigCudnnTensor *a, *b, *c;
  const LigCudnnTensor *rows, *columns, *depth;
  bool pads;
} LigCudnnMatmul;
void lig_cudnn_matmul (LigCudnnScheme *graph, const LigCudnnMatmul *matmul);

/* Adds y = mode (x, b), computed in type `compute`; b may be null. For LIG_CUDNN_SELECT y is x
 * where `truth` is true, else b. */
typedef struct {
  LigCudnnMode mode;
  LigCudnnType compute;
  const LigCudnnTensor *x, *b, *truth, *y;
  int64_t axis; /* LIG_CUDNN_INDEX: the axis whose index is y */
} LigCudnnPointwise;
void lig_cudnn_pointwise (LigCudnnScheme *graph, const LigCudnnPointwise *pointwise);

/* Adds such a node with a virtual result of x's shape, which is returned. */
const LigCudnnTensor *lig_cudnn_apply (LigCudnnScheme *graph,
                                       LigCudnnMode mode,
                                       const LigCudnnTensor *x,
                                       const LigCudnnTensor *b);

/* Adds a sum, or a maximum, over the axes of length 1 in y. */
void lig_cudnn_reduce (LigCudnnScheme *graph,
                       LigCudnnReduction reduction,
                       const LigCudnnTensor *x,
                       const LigCudnnTensor *y);

/* Adds y = x with other axes or strides. */
void lig_cudnn_reshape (LigCudnnScheme *graph, const LigCudnnTensor *x, const LigCudnnTensor *y);

/* Finalizes the graph for the handle's device, or for no device if the handle is null; false, with
 * the reason in `why`, if anything failed. */
bool lig_cudnn_scheme_finish (LigCudnnScheme *graph, LigCudnnHandle handle);
