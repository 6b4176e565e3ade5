/* SPDX-License-Identifier: MIT */
/* cuDNN's graph API, opened at run time. The types and constants are those of NVIDIA's header
 * cudnn_graph_v9.h of cuDNN 9.19, so that building needs neither the header nor the library: the C
 * API is stable within version 9, which is part of the library's file name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* cudnnBackendDescriptor_t and cudnnHandle_t. */
typedef void *LigCudnnDescriptor;
typedef void *LigCudnnHandle;

/* cudnnStatus_t; all other values are failures. */
enum { LIG_CUDNN_SUCCESS = 0 };

/* cudnnDataType_t. */
typedef enum {
  LIG_CUDNN_FP32 = 0,
  LIG_CUDNN_FP16 = 2,
  LIG_CUDNN_INT32 = 4,
  LIG_CUDNN_BF16 = 9,
  LIG_CUDNN_BOOL = 11
} LigCudnnType;

/* cudnnPointwiseMode_t. */
typedef enum {
  LIG_CUDNN_ADD = 0,
  LIG_CUDNN_MULTIPLY = 1,
  LIG_CUDNN_DIVIDE = 6,
  LIG_CUDNN_SUBTRACT = 9,
  LIG_CUDNN_EXP = 13,
  LIG_CUDNN_LOG = 15,
  LIG_CUDNN_IDENTITY = 21,
  LIG_CUDNN_GREATER = 302,
  LIG_CUDNN_GREATER_OR_EQUAL = 303,
  LIG_CUDNN_LESS = 304,
  LIG_CUDNN_AND = 400,
  LIG_CUDNN_INDEX = 501,
  LIG_CUDNN_SELECT = 601
} LigCudnnMode;

/* cudnnReduceTensorOp_t. */
typedef enum { LIG_CUDNN_SUM = 0, LIG_CUDNN_MAXIMUM = 3 } LigCudnnReduction;

/* cudnnBackendHeurMode_t. */
typedef enum { LIG_CUDNN_HEURISTIC_FALLBACK = 2, LIG_CUDNN_HEURISTIC_A = 3 } LigCudnnHeuristic;

/* cudnnBackendDescriptorType_t. */
typedef enum {
  LIG_CUDNN_POINTWISE_DESCRIPTOR = 0,
  LIG_CUDNN_ENGINE_DESCRIPTOR = 2,
  LIG_CUDNN_CONFIG_DESCRIPTOR = 3,
  LIG_CUDNN_HEURISTIC_DESCRIPTOR = 4,
  LIG_CUDNN_PLAN_DESCRIPTOR = 5,
  LIG_CUDNN_POINTWISE_STEP = 13,
  LIG_CUDNN_SCHEME_DESCRIPTOR = 15,
  LIG_CUDNN_PACK_DESCRIPTOR = 16,
  LIG_CUDNN_TENSOR_DESCRIPTOR = 17,
  LIG_CUDNN_MATMUL_DESCRIPTOR = 18,
  LIG_CUDNN_MATMUL_STEP = 19,
  LIG_CUDNN_REDUCTION_DESCRIPTOR = 21,
  LIG_CUDNN_REDUCTION_STEP = 22,
  LIG_CUDNN_RESHAPE_STEP = 31,
  LIG_CUDNN_DEVICE_DESCRIPTOR = 38
} LigCudnnKind;

/* cudnnBackendAttributeType_t. */
typedef enum {
  LIG_CUDNN_TYPE_HANDLE = 0,
  LIG_CUDNN_TYPE_DATA_TYPE = 1,
  LIG_CUDNN_TYPE_BOOLEAN = 2,
  LIG_CUDNN_TYPE_INT64 = 3,
  LIG_CUDNN_TYPE_DOUBLE = 5,
  LIG_CUDNN_TYPE_POINTER = 6,
  LIG_CUDNN_TYPE_HEURISTIC = 8,
  LIG_CUDNN_TYPE_NUMERICAL_NOTE = 11,
  LIG_CUDNN_TYPE_POINTWISE_MODE = 14,
  LIG_CUDNN_TYPE_DESCRIPTOR = 15,
  LIG_CUDNN_TYPE_REDUCTION = 18,
  LIG_CUDNN_TYPE_CHAR = 24
} LigCudnnAttributeType;

/* cudnnBackendAttributeName_t. */
typedef enum {
  LIG_CUDNN_POINTWISE_MODE = 0,
  LIG_CUDNN_POINTWISE_COMPUTE_TYPE = 1,
  LIG_CUDNN_POINTWISE_AXIS = 9,
  LIG_CUDNN_HEURISTIC_MODE = 200,
  LIG_CUDNN_HEURISTIC_SCHEME = 201,
  LIG_CUDNN_HEURISTIC_RESULTS = 202,
  LIG_CUDNN_HEURISTIC_DEVICE = 204,
  LIG_CUDNN_CONFIG_ENGINE = 300,
  LIG_CUDNN_PLAN_HANDLE = 400,
  LIG_CUDNN_PLAN_CONFIG = 401,
  LIG_CUDNN_PLAN_WORKSPACE = 402,
  LIG_CUDNN_PLAN_DEVICE = 407,
  LIG_CUDNN_POINTWISE_STEP_OPERATION = 750,
  LIG_CUDNN_POINTWISE_STEP_X = 751,
  LIG_CUDNN_POINTWISE_STEP_B = 752,
  LIG_CUDNN_POINTWISE_STEP_Y = 753,
  LIG_CUDNN_POINTWISE_STEP_T = 758,
  LIG_CUDNN_SCHEME_HANDLE = 800,
  LIG_CUDNN_SCHEME_STEPS = 801,
  LIG_CUDNN_TENSOR_ALIGNMENT = 900,
  LIG_CUDNN_TENSOR_TYPE = 901,
  LIG_CUDNN_TENSOR_SHAPE = 902,
  LIG_CUDNN_TENSOR_STRIDES = 903,
  LIG_CUDNN_TENSOR_ID = 906,
  LIG_CUDNN_TENSOR_IS_VIRTUAL = 907,
  LIG_CUDNN_TENSOR_IS_VALUE = 908,
  LIG_CUDNN_PACK_IDS = 1000,
  LIG_CUDNN_PACK_POINTERS = 1001,
  LIG_CUDNN_PACK_WORKSPACE = 1003,
  LIG_CUDNN_ENGINE_INDEX = 1301,
  LIG_CUDNN_ENGINE_NUMERICAL_NOTES = 1303,
  LIG_CUDNN_MATMUL_COMPUTE_TYPE = 1500,
  LIG_CUDNN_MATMUL_PADDING = 1503,
  LIG_CUDNN_MATMUL_STEP_A = 1520,
  LIG_CUDNN_MATMUL_STEP_B = 1521,
  LIG_CUDNN_MATMUL_STEP_C = 1522,
  LIG_CUDNN_MATMUL_STEP_OPERATION = 1523,
  LIG_CUDNN_MATMUL_STEP_M = 1525,
  LIG_CUDNN_MATMUL_STEP_N = 1526,
  LIG_CUDNN_MATMUL_STEP_K = 1527,
  LIG_CUDNN_REDUCTION_OPERATOR = 1600,
  LIG_CUDNN_REDUCTION_COMPUTE_TYPE = 1601,
  LIG_CUDNN_REDUCTION_STEP_X = 1610,
  LIG_CUDNN_REDUCTION_STEP_Y = 1611,
  LIG_CUDNN_REDUCTION_STEP_OPERATION = 1612,
  LIG_CUDNN_RESHAPE_STEP_X = 2200,
  LIG_CUDNN_RESHAPE_STEP_Y = 2201,
  LIG_CUDNN_DEVICE_JSON = 2702
} LigCudnnAttribute;

/* cudnnBackendNumericalNote_t. */
enum { LIG_CUDNN_NOTE_NONDETERMINISTIC = 4 };

/* The oldest version that attention was tested with; versions 9.10 to 9.14 had wrong results for
 * some masks. */
#define LIG_CUDNN_OLDEST 91900

/* The opened library: its functions, all of them present if `version` is not 0. */
typedef struct {
  size_t version;  /* 91900 for 9.19.0; 0 if the library is missing or too old */
  char why[256];   /* the reason if version is 0 */
  char path[1024]; /* its file; empty if it is missing */
  int (*create_handle) (LigCudnnHandle *handle);
  int (*destroy_handle) (LigCudnnHandle handle);
  int (*set_stream) (LigCudnnHandle handle, void *stream);
  int (*create) (int kind, LigCudnnDescriptor *descriptor);
  int (*destroy) (LigCudnnDescriptor descriptor);
  int (*finalize) (LigCudnnDescriptor descriptor);
  int (*set) (
    LigCudnnDescriptor descriptor, int attribute, int type, int64_t count, const void *values);
  int (*get) (LigCudnnDescriptor descriptor,
              int attribute,
              int type,
              int64_t max,
              int64_t *count,
              void *values);
  int (*execute) (LigCudnnHandle handle, LigCudnnDescriptor plan, LigCudnnDescriptor pack);
  const char *(*describe) (int status);
  void (*last_message) (char *message, size_t size);
} LigCudnn;

/* Returns the library, which the first call opens and which stays open; the search is that of
 * lig_library_open(). LIGATURE_CUDNN names a file to open instead; `none` disables cuDNN. */
const LigCudnn *lig_cudnn (const void *beside);
