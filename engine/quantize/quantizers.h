/* SPDX-License-Identifier: MIT */
/* The quantized operands of matmuls: which matmuls have them, the values that hold them, and the
 * kernels that write and read them. */
#pragma once

#include "engine/graph/graph.h"

typedef struct LigFp8Params LigFp8Params;
typedef struct LigQuantizeParams LigQuantizeParams;

/* Sets the recipe of the request: that of the options, else that of the sequence; FALSE if the
 * device does not compute with it. */
gboolean lig_recipe_choose (LigRequest *request, GError **error);

/* Returns the recipe that an op or a block names by its parameter `recipe`, by default `around`;
 * the graph owns it. Null: nothing is quantized, or the error is set. */
const LigRecipe *
lig_recipe_of_op (LigGraph *graph, LigOp *op, const LigRecipe *around, GError **error);

/* Places the histories of all matmuls, including those that this plan leaves in the compute type,
 * so that all plans of a sequence agree. */
gboolean lig_place_histories (LigGraph *graph, GError **error);

/* Decides for each matmul whether it follows its recipe: by the dimensions of its matrices, and by
 * lig_find_joint(). */
void lig_decide_quantized (LigGraph *graph);

/* Returns a sentence if the matmul stays in the compute type for a joint fusion that is forced
 * there or avoids a large output; else null. */
const char *lig_find_joint (LigGraph *graph, int index);

/* Adds the values of the quantized operands of all matmuls. */
void lig_quantize_matmuls (LigGraph *graph);

/* Adds the value of a field of a history in the state: 0, the scale; 1, the recorded amax. */
int lig_add_history_value (LigGraph *graph, int history, int field);

/* Returns the value that has these elements originally: identities, branches and implicit parts
 * pass them on. */
int lig_find_source (const LigGraph *graph, int value);

/* Returns the quantizer of a matmul's operand, x, weight or dy, or of the y or dx that a part
 * `quantize` writes; null if there is none. */
const LigQuantizer *
lig_port_quantizer (const LigGraph *graph, const LigPart *part, const char *port);

/* Returns a value of a quantizer: `row`, `row-scale`, `transposed`, `transposed-scale`,
 * `scale` or `recorded`; -1 for none. */
int lig_form_value (const LigQuantizer *quantizer, const char *form);

/* Returns the params of the kernel that writes the copies of a quantizer. */
LigQuantizeParams lig_quantize_params (const LigQuantizer *quantizer);

/* Returns whether the quantized values are read twice, because a scale depends on more values than
 * a tile has. */
gboolean lig_reads_again (const LigQuantizer *quantizer);

/* A matmul kernel, and the ports that its counterpart with quantized operands reads. */
typedef struct {
  const char *name, *quantized;
  const char *left, *right; /* operands with the required form, `x:row` */
  const char *bias, *extra, *y;
} LigQuantizedTwin;

/* Returns the twin of a kernel; null if it has none. */
const LigQuantizedTwin *lig_quantized_twin (const char *kernel);

/* Returns the params of a twin, for groups a part of them. */
LigFp8Params
lig_quantized_params (const LigPart *matmul, const LigQuantizedTwin *twin, float factor);

/* Add the steps that quantize the weights, which depend only on parameters, and those that shift
 * the histories at the end of an update. */
void lig_schedule_weights (LigGraph *graph);
void lig_schedule_histories (LigGraph *graph);
