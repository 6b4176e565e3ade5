/* SPDX-License-Identifier: MIT */
/* Shapes, and tensors in host memory: the inputs and outputs of programs.
 *
 * Threads: references are counted atomically; one thread at a time may write the elements of a
 * tensor. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

#define LIG_MAX_AXES 8

/**
 * LigShape:
 * @n_axes: the number of axes, 0 for a scalar, at most %LIG_MAX_AXES
 * @axes: the lengths of the axes, row-major (the last varies fastest); a length of 0 means no
 *   elements
 *
 * The shape of a tensor.
 */
typedef struct {
  int n_axes;
  int64_t axes[LIG_MAX_AXES];
} LigShape;

#define LIG_TYPE_SHAPE (lig_shape_get_type ())
LIG_API GType lig_shape_get_type (void);

/**
 * lig_shape_init:
 * @shape: (out): filled in
 * @n_axes: the number of lengths that follow, each a gint64
 *
 * Fills in a shape.
 */
LIG_API void lig_shape_init (LigShape *shape, int n_axes, ...);

/**
 * lig_shape_size:
 * @shape: a shape
 *
 * Returns: the number of elements, 1 for a scalar; the shape must have passed lig_shape_check().
 */
LIG_API int64_t lig_shape_size (const LigShape *shape);

/**
 * lig_shape_columns:
 * @shape: a shape
 *
 * Returns: the length of the last axis, 1 for a scalar.
 */
LIG_API int64_t lig_shape_columns (const LigShape *shape);

/**
 * lig_dtype_names:
 * @types: a set of types, see %LIG_TYPES
 * @last: the text between the last two names, ` or `
 *
 * Joins the names of types for a message: `fp32, fp16 or bf16`.
 *
 * Returns: (transfer none): a text that stays valid, empty for the empty set. May be called from
 *   any thread
 */
LIG_API const char *lig_dtype_names (unsigned types, const char *last);

/**
 * lig_shape_check:
 * @shape: a shape
 * @dtype: the type of the elements
 *
 * Checks that the shape has at most eight axes, none of negative length, and that its size in
 * bytes, with empty axes counted as 1, fits into 63 bits.
 *
 * Returns: %FALSE with %LIG_ERROR_SHAPE or %LIG_ERROR_MEMORY set
 */
LIG_API gboolean lig_shape_check (const LigShape *shape, LigDtype dtype, GError **error);

/**
 * lig_shape_equal:
 * @a: a shape
 * @b: another one
 *
 * Returns: whether both have the same axes
 */
LIG_API gboolean lig_shape_equal (const LigShape *a, const LigShape *b);

/**
 * lig_shape_to_string:
 * @shape: a shape
 *
 * Returns: (transfer full): the shape as text: `16384x4096`, or `scalar` without axes
 */
LIG_API char *lig_shape_to_string (const LigShape *shape);

/**
 * lig_shape_parse:
 * @text: `D{xD}[:dtype]` in decimal numbers, `16384x4096:bf16`
 * @shape: (out caller-allocates): filled in
 * @dtype: (inout): set if the text names a type, otherwise unchanged
 *
 * Parses a shape.
 *
 * Returns: %FALSE with %LIG_ERROR_FORMAT, %LIG_ERROR_SHAPE or %LIG_ERROR_DTYPE set
 */
LIG_API gboolean lig_shape_parse (const char *text,
                                  LigShape *shape,
                                  LigDtype *dtype,
                                  GError **error);

/**
 * LigTensor:
 *
 * A reference-counted array in host memory. Its fields are read-only, its elements are not.
 */
typedef struct {
  LigDtype dtype;
  LigShape shape;
  int64_t size; /* elements */
  void *data;   /* row-major, 64-byte aligned */
} LigTensor;

#define LIG_TYPE_TENSOR (lig_tensor_get_type ())
LIG_API GType lig_tensor_get_type (void);

/**
 * lig_tensor_new:
 * @dtype: the type of the elements
 * @shape: the shape, copied
 *
 * Returns: (transfer full): a tensor of zeros, or %NULL with %LIG_ERROR_SHAPE or
 *   %LIG_ERROR_MEMORY set
 */
LIG_API LigTensor *
lig_tensor_new (LigDtype dtype, const LigShape *shape, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_tensor_ref:
 * @self: a tensor
 *
 * Returns: (transfer full): the tensor, with one more reference; counting is atomic
 */
LIG_API LigTensor *lig_tensor_ref (LigTensor *self);

/**
 * lig_tensor_unref:
 * @self: a tensor
 *
 * Releases a reference; the last one frees the elements.
 */
LIG_API void lig_tensor_unref (LigTensor *self);

/**
 * lig_tensor_bytes:
 * @self: a tensor
 *
 * Returns: the size of all elements in bytes
 */
LIG_API gsize lig_tensor_bytes (const LigTensor *self);

/**
 * lig_tensor_convert:
 * @self: a tensor
 * @dtype: the type of the result
 *
 * Returns: (transfer full): a reference to the tensor itself if it has the type, otherwise a
 *   converted copy; %NULL with an error set
 */
LIG_API LigTensor *
lig_tensor_convert (LigTensor *self, LigDtype dtype, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_tensor_get:
 * @self: a tensor
 * @element: the row-major index of the element, from 0 to LigTensor.size - 1
 *
 * Reads one element, widened to fp32; slow, for tests and small tensors.
 *
 * Returns: the element's value
 */
LIG_API float lig_tensor_get (const LigTensor *self, int64_t element);

/**
 * lig_tensor_set:
 * @self: a tensor
 * @element: the row-major index of the element, from 0 to LigTensor.size - 1
 * @value: the new value, rounded to the nearest value of the tensor's type
 *
 * Writes one element; slow, for tests and small tensors.
 */
LIG_API void lig_tensor_set (LigTensor *self, int64_t element, float value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigTensor, lig_tensor_unref)

G_END_DECLS
