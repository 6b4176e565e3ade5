/* SPDX-License-Identifier: MIT */
/* An ONNX graph in memory, independent of the library that encodes it. */
#pragma once

#include <ligature/onnx-graph.h>
#include <ligature/plan.h>
#include <ligature/tensor-file.h>

G_BEGIN_DECLS

#define LIG_ONNX_OPSET 18
#define LIG_ONNX_IR 8 /* the version of the format that has this opset */

/* Types of elements, with the numbers of the format. */
typedef enum {
  LIG_ONNX_FP32 = 1,
  LIG_ONNX_INT32 = 6,
  LIG_ONNX_INT64 = 7,
  LIG_ONNX_FP16 = 10,
  LIG_ONNX_BF16 = 16
} LigOnnxType;

/* Kinds of attributes, with the numbers of the format. */
typedef enum {
  LIG_ONNX_ATTRIBUTE_NUMBER = 1,
  LIG_ONNX_ATTRIBUTE_INTEGER = 2,
  LIG_ONNX_ATTRIBUTE_INTEGERS = 7
} LigOnnxAttributeKind;

typedef struct {
  const char *name;
  LigOnnxAttributeKind kind;
  float number;
  int count; /* of the integers */
  gint64 integers[LIG_MAX_AXES + 2];
} LigOnnxAttribute;

typedef struct {
  const char *type, *name;
  GPtrArray *inputs, *outputs; /* names */
  GArray *attributes;          /* of LigOnnxAttribute */
} LigOnnxCall;

/* A constant or a weight. */
typedef struct {
  const char *name;
  LigOnnxType type;
  LigShape shape;
  LigTensor *weight; /* the data of a weight; or null */
  gpointer constant; /* the data of a constant; or null */
  gsize bytes;
} LigOnnxTensor;

/* An input or output of the graph. */
typedef struct {
  const char *name;
  LigOnnxType type;
  int value; /* of the plan */
  LigShape shape;
  const char *lengths[LIG_MAX_AXES]; /* the name of the length of an axis that the caller chooses;
                                        empty: it depends on several; null: it is fixed */
} LigOnnxEnd;

struct _LigOnnx {
  LigPlan *plan;
  LigTensorFile *weights;
  const LigPlanOp *op;        /* the one that is exported */
  const LigPlanValue *values; /* of the plan */
  GStringChunk *names;        /* all texts of the graph */
  GHashTable *known;          /* from the number of a value of the plan + 1 to its name */
  GHashTable *numbers;        /* from the name of a value of the plan to its number + 1 */
  GHashTable *wide;           /* from the name of a 16-bit value to that of its fp32 conversion */
  GHashTable *constants;      /* from a text with type and values to the name of the constant */
  GPtrArray *nodes, *tensors; /* of LigOnnxCall, LigOnnxTensor */
  GArray *inputs, *outputs;   /* of LigOnnxEnd */
  guint n_values;             /* that have been named by a number */
  GError *error;              /* the first one */
};

/* Returns an empty graph (transfer full). */
LigOnnx *lig_onnx_new (LigPlan *plan, LigTensorFile *weights);
void lig_onnx_free (LigOnnx *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigOnnx, lig_onnx_free)

/* Returns the type of the format. */
LigOnnxType lig_onnx_type (LigDtype dtype);

/* Returns the name of a value of the plan, whose nodes have been written; adds a weight, or the
 * conversion of a value. On failure sets the graph's error and returns a name that has no value. */
const char *lig_onnx_find (LigOnnx *self, int value);

/* Adds a node that converts a value, whose output is returned. */
const char *lig_onnx_cast (LigOnnx *self, const char *value, LigOnnxType type);

/* Gives a result of the last node the name; FALSE if another node made it. */
gboolean lig_onnx_rename (LigOnnx *self, const char *value, const char *name);

/* Adds inputs and outputs with the lengths that the caller can choose: those of axes of the plan's
 * input with which it compiles, and has the same parameters. */
void lig_onnx_add_ends (LigOnnx *self);
void lig_onnx_find_lengths (LigOnnx *self);

/* Encodes the graph. `metadata`: keys and values, ends with NULL; `data_file`: (nullable): the name
 * of the file that has the weights. Returns NULL with an error set. */
GBytes *
lig_onnx_encode (LigOnnx *self, const char *const *metadata, const char *data_file, GError **error);

/* Returns the offset of a weight in the file of weights after one that ends at `end`: readers may
 * map it into memory. */
static inline gint64
lig_onnx_align (gint64 end)
{
  const gint64 unit = 4096;
  return (end + unit - 1) / unit * unit;
}

G_END_DECLS
