/* SPDX-License-Identifier: MIT */
/* The nodes of an ONNX graph: the function `onnx` of an op's table writes those that compute the
 * op's outputs.
 *
 * Values have names, which live as long as the graph. Nodes compute in fp32: lig_onnx_get()
 * converts a port that has 16 bits, and lig_onnx_set() rounds the result to the type of its port,
 * like our kernels. The operators are those of opset 18. Lengths that the caller chooses, such as
 * the batch, must not become constants: an axis of 0 in the shape of a Reshape keeps the length of
 * the input's axis, -1 is the rest.
 *
 * Threads: a graph belongs to the thread that exports it. */
#pragma once

#include <ligature/op.h>

G_BEGIN_DECLS

/**
 * lig_onnx_get_params: (skip)
 * @self: a graph
 *
 * Returns: (transfer none): the params struct of the current op in the plan
 */
LIG_API const void *lig_onnx_get_params (LigOnnx *self);

/**
 * lig_onnx_has: (skip)
 * @self: a graph
 * @port: the name of a port of the current op
 *
 * Returns: whether the op has the port
 */
LIG_API gboolean lig_onnx_has (LigOnnx *self, const char *port);

/**
 * lig_onnx_count_axes: (skip)
 * @self: a graph
 * @port: the name of a port of the current op
 *
 * Returns: the number of axes of its value
 */
LIG_API int lig_onnx_count_axes (LigOnnx *self, const char *port);

/**
 * lig_onnx_get: (skip)
 * @self: a graph
 * @port: the name of an input or a parameter of the current op
 *
 * Returns: (transfer none): its value, a floating one in fp32
 */
LIG_API const char *lig_onnx_get (LigOnnx *self, const char *port);

/**
 * lig_onnx_rows: (skip)
 * @self: a graph
 * @port: the name of a parameter of the current op
 * @indices: whole numbers
 *
 * Returns: (transfer none): the rows of the parameter with these numbers, in fp32
 */
LIG_API const char *lig_onnx_rows (LigOnnx *self, const char *port, const char *indices);

/**
 * lig_onnx_set: (skip)
 * @self: a graph
 * @port: the name of an output of the current op
 * @value: its value in fp32
 *
 * Sets an output, rounded to the type of the port.
 */
LIG_API void lig_onnx_set (LigOnnx *self, const char *port, const char *value);

/**
 * lig_onnx_pass: (skip)
 * @self: a graph
 * @from: the name of an input of the current op
 * @to: the name of an output
 *
 * Passes a value on, whatever its type.
 */
LIG_API void lig_onnx_pass (LigOnnx *self, const char *from, const char *to);

/**
 * lig_onnx_pass_x: (skip)
 * @self: a graph
 *
 * Passes x on as y: the `onnx` of ops that do nothing in inference on one rank.
 */
LIG_API void lig_onnx_pass_x (LigOnnx *self);

/**
 * lig_onnx_move: (skip)
 * @self: a graph
 * @type: an operator that moves elements: `Reshape`
 * @shape: its second input
 *
 * Computes y from x of any type by the operator.
 */
LIG_API void lig_onnx_move (LigOnnx *self, const char *type, const char *shape);

/**
 * lig_onnx_node: (skip)
 * @self: a graph
 * @type: the name of an operator: `MatMul`
 * @...: the names of its inputs, %NULL at the end
 *
 * Adds a node with one output.
 *
 * Returns: (transfer none): the output
 */
LIG_API const char *lig_onnx_node (LigOnnx *self, const char *type, ...) G_GNUC_NULL_TERMINATED;

/**
 * lig_onnx_output: (skip)
 * @self: a graph
 *
 * Returns: (transfer none): a further output of the last node
 */
LIG_API const char *lig_onnx_output (LigOnnx *self);

/**
 * lig_onnx_attribute: (skip)
 * @self: a graph
 * @name: the name of an attribute
 * @value: a whole number
 *
 * Sets an attribute of the last node.
 */
LIG_API void lig_onnx_attribute (LigOnnx *self, const char *name, gint64 value);

/**
 * lig_onnx_attribute_number: (skip)
 * @self: a graph
 * @name: the name of an attribute
 * @value: a number
 *
 * Sets an attribute of the last node.
 */
LIG_API void lig_onnx_attribute_number (LigOnnx *self, const char *name, float value);

/**
 * lig_onnx_permutation: (skip)
 * @self: a graph
 * @value: a value
 * @n_axes: the number of its axes
 * @a: an axis
 * @b: another axis
 *
 * Returns: (transfer none): the value with both axes exchanged
 */
LIG_API const char *
lig_onnx_permutation (LigOnnx *self, const char *value, int n_axes, int a, int b);

/**
 * lig_onnx_number: (skip)
 * @self: a graph
 * @value: a number
 *
 * Returns: (transfer none): a constant scalar in fp32
 */
LIG_API const char *lig_onnx_number (LigOnnx *self, double value);

/**
 * lig_onnx_numbers: (skip)
 * @self: a graph
 * @shape: a shape
 * @values: as many numbers as it has elements
 *
 * Returns: (transfer none): a constant in fp32
 */
LIG_API const char *lig_onnx_numbers (LigOnnx *self, const LigShape *shape, const float *values);

/**
 * lig_onnx_integer: (skip)
 * @self: a graph
 * @value: a whole number
 *
 * Returns: (transfer none): a constant scalar of 64 bits
 */
LIG_API const char *lig_onnx_integer (LigOnnx *self, gint64 value);

/**
 * lig_onnx_integers: (skip)
 * @self: a graph
 * @count: a number
 * @...: as many whole numbers of type #gint64
 *
 * Returns: (transfer none): a constant vector of 64-bit whole numbers, such as a shape
 */
LIG_API const char *lig_onnx_integers (LigOnnx *self, int count, ...);

/**
 * lig_onnx_shape: (skip)
 * @self: a graph
 * @kept: the number of leading axes that keep the input's length
 * @count: a number
 * @...: as many further lengths of type #gint64
 *
 * Returns: (transfer none): a constant shape for a Reshape
 */
LIG_API const char *lig_onnx_shape (LigOnnx *self, int kept, int count, ...);

/**
 * lig_onnx_length: (skip)
 * @self: a graph
 * @value: a value
 * @axis: one of its axes
 *
 * Returns: (transfer none): the length of the axis, a scalar of 64 bits
 */
LIG_API const char *lig_onnx_length (LigOnnx *self, const char *value, int axis);

/**
 * lig_onnx_split: (skip)
 * @self: a graph
 * @value: a value
 * @axis: one of its axes
 * @lengths: (array length=count): the lengths of the pieces
 * @count: the number of pieces, at most 4
 * @pieces: (array length=count): set to the pieces
 *
 * Splits a value along an axis. A single piece is the value itself.
 */
LIG_API void lig_onnx_split (LigOnnx *self,
                             const char *value,
                             int axis,
                             const gint64 *lengths,
                             int count,
                             const char **pieces);

/**
 * lig_onnx_halve: (skip)
 * @self: a graph
 * @value: a value
 * @axis: one of its axes
 * @halves: (array fixed-size=2): set to both halves
 *
 * Splits a value into two halves.
 */
LIG_API void lig_onnx_halve (LigOnnx *self, const char *value, int axis, const char *halves[2]);

/**
 * lig_onnx_cast_integer: (skip)
 * @self: a graph
 * @value: a value
 *
 * Returns: (transfer none): the value as 64-bit whole numbers
 */
LIG_API const char *lig_onnx_cast_integer (LigOnnx *self, const char *value);

/**
 * lig_onnx_cast_number: (skip)
 * @self: a graph
 * @value: a value
 *
 * Returns: (transfer none): the value in fp32
 */
LIG_API const char *lig_onnx_cast_number (LigOnnx *self, const char *value);

/**
 * lig_onnx_reject: (skip)
 * @self: a graph
 * @reason: why the current op, with its params, has no form in ONNX, and what remains to do:
 *   translatable
 *
 * Rejects the op, so that the export fails. Nodes may still be written.
 */
LIG_API void lig_onnx_reject (LigOnnx *self, const char *reason);

G_END_DECLS
