/* SPDX-License-Identifier: MIT */
/* Functions that the tables of ops and fusions call during compilation, to emit kernels and the
 * parts of macros.
 *
 * Threads: a #LigLowering and a #LigParts belong to the thread that compiles and are valid only
 * during the call of the table's function. */
#pragma once

#include <ligature/fusion.h>
#include <ligature/macro.h>
#include <ligature/sequence.h>
#include <ligature/sharding.h>

G_BEGIN_DECLS

/* --- Lowering: emitting the kernels of ops and fusions ---------------------------------------- */

/**
 * lig_lower_kernel: (skip)
 * @self: the lowering that the table's function was given
 * @kernel: the name of a kernel, built in or registered
 * @bindings: (nullable): the port of each operand, if their names differ, "a=dy b=dextra y=dx"; in
 *   a fusion every operand needs one, "x=0.x weight=0.weight y=2.y", in which the number is that of
 *   the pattern's element; a lone `-` binds no operand; `0.x@2/4` is the third of four equal chunks
 *   of the rows of a port
 * @params: (nullable): the kernel's params, copied; %NULL: those of the op, or none in a fusion
 * @params_size: their size in bytes, at most %LIG_MAX_PARAMS
 *
 * Emits one kernel. An absent or unused port becomes an absent operand; a kernel is not emitted if
 * none of its outputs is used.
 */
LIG_API void lig_lower_kernel (LigLowering *self,
                               const char *kernel,
                               const char *bindings,
                               const void *params,
                               gsize params_size);

/**
 * lig_lower_beside: (skip)
 * @self: the lowering that the table's function was given
 * @kernel: the name of a collective kernel
 * @bindings: (nullable): as for lig_lower_kernel()
 * @params: (nullable): as for lig_lower_kernel()
 * @params_size: their size in bytes, at most %LIG_MAX_PARAMS
 *
 * Emits one kernel, like lig_lower_kernel(), in the communication lane: it begins when the kernels
 * before it have ended, and runs concurrently with those after it. The first later kernel that
 * depends on it waits for it: one that reads its outputs, writes its inputs or communicates with
 * the same ranks. Kernels of the lane run one after another.
 */
LIG_API void lig_lower_beside (LigLowering *self,
                               const char *kernel,
                               const char *bindings,
                               const void *params,
                               gsize params_size);

/**
 * lig_lower_get_place: (skip)
 * @self: the lowering that the table's function was given
 * @index: the number of the pattern's element, an op whose kernel parameters are
 *   #LigCollectiveParams; 0 in an op
 *
 * Returns: this rank's index among those of the op's collective, from 0
 */
LIG_API int lig_lower_get_place (LigLowering *self, int index);

/**
 * lig_lower_can_divide: (skip)
 * @self: the lowering that the table's function was given
 * @port: a port, as in bindings
 * @parts: a number of chunks
 *
 * Returns: whether the rows of the port's value can be divided into that many equal chunks,
 * `PORT@0/PARTS` and so on
 */
LIG_API gboolean lig_lower_can_divide (LigLowering *self, const char *port, int parts);

/**
 * lig_lower_has_choice: (skip)
 * @self: the lowering that the function of a fusion was given
 * @element: the number of the pattern's element
 * @param: the name of one of its parameters, a choice
 * @value: one of its values
 *
 * Returns: whether the op has the parameter, with that value
 */
LIG_API gboolean lig_lower_has_choice (LigLowering *self,
                                       int element,
                                       const char *param,
                                       const char *value);

/**
 * lig_lower_get_pieces: (skip)
 * @self: the lowering that the function of a fusion with LigFusion.min_pieces was given
 *
 * Returns: the number of chunks in which each rank's rows are communicated and multiplied: the
 *   fastest one with policy `measured`, otherwise the minimum; 1 if it does not divide the rows
 */
LIG_API int lig_lower_get_pieces (LigLowering *self);

/**
 * lig_lower_custom: (skip)
 * @self: the lowering that the table's function was given
 * @kernel: a kernel, valid and unchanged until the process ends
 * @bindings: (nullable): as for lig_lower_kernel()
 * @params: (nullable): as for lig_lower_kernel()
 * @params_size: their size in bytes, at most %LIG_MAX_PARAMS
 *
 * Emits one kernel of the embedding program, like lig_lower_kernel(), but by its table instead of
 * its name.
 */
LIG_API void lig_lower_custom (LigLowering *self,
                               const LigKernel *kernel,
                               const char *bindings,
                               const void *params,
                               gsize params_size);

/**
 * lig_lower_quantize: (skip)
 * @self: the lowering that the table's function was given
 * @bindings: the ports of the kernel's operands x and dbias, as for lig_lower_kernel()
 * @to: the port y or dx of an op `quantize`
 *
 * Emits the kernel that writes the quantized copies of @to, and also its unquantized values if
 * other ops read them.
 *
 * Returns: %FALSE, with nothing emitted, if no recipe applies or an earlier op writes the copies
 */
LIG_API gboolean lig_lower_quantize (LigLowering *self, const char *bindings, const char *to);

/**
 * lig_lower_is_quantized: (skip)
 * @self: the lowering of a fusion
 * @port: the port y or dx of an op `quantize`
 * @rejection: set to the reason %LIG_REASON_RECIPE if the result is %FALSE
 *
 * Returns: whether a recipe applies to the op and no earlier op writes the copies
 */
LIG_API gboolean lig_lower_is_quantized (LigLowering *self,
                                         const char *port,
                                         LigRejection *rejection);

/**
 * lig_lower_divides_copies: (skip)
 * @self: the lowering that the function of a fusion was given
 * @element: the number of the matmul in the pattern
 * @port: (nullable): the operand whose rows the fusion divides, `x` or `dy`; %NULL: it communicates
 *   an operand before quantizing it
 * @parts: the minimum number of chunks
 * @rejection: set to the reason if the result is %FALSE
 *
 * Checks that a matmul with a recipe can read its quantized operand in chunks of rows: the scales
 * are per row or per tensor, and the recipe's blocks divide the rows of a chunk.
 *
 * Returns: whether it can; %TRUE if the matmul reads no quantized copies
 */
LIG_API gboolean lig_lower_divides_copies (
  LigLowering *self, int element, const char *port, int parts, LigRejection *rejection);

/**
 * lig_lower_norm_fits: (skip)
 * @self: the lowering of a fusion
 * @element: the number of the pattern's element
 * @rejection: set to the reason %LIG_REASON_SHAPE if the result is %FALSE
 *
 * Returns: whether the element can be quantized while it is computed: a norm must be over the last
 *   axis only
 */
LIG_API gboolean lig_lower_norm_fits (LigLowering *self, int element, LigRejection *rejection);

/**
 * lig_lower_quantized: (skip)
 * @self: the lowering of a fusion
 * @element: the number of the pattern's element that is an activation, a gated unit, or in the
 *   forward pass a layer norm or rms norm
 * @bindings: the ports of its kernel's operands x, y and, in the backward pass, dy, dx and dbias,
 *   as for lig_lower_kernel(); with extra and sum, a norm of x + extra
 * @to: the port y or dx of an op `quantize`
 *
 * Emits the kernels that compute the element, or its gradient, and write the quantized copies of
 * @to, and also its unquantized values if other ops read them.
 */
LIG_API void
lig_lower_quantized (LigLowering *self, int element, const char *bindings, const char *to);

/**
 * lig_lower_fits_epilogue: (skip)
 * @self: the lowering of a fusion
 * @element: the number of the matmul in the pattern
 * @to: the port y of an op `quantize`, to which lig_lower_is_quantized() applies
 * @rejection: set to the reason %LIG_REASON_RECIPE or %LIG_REASON_DTYPE if the result is %FALSE
 *
 * Checks that the matmul can write the quantized copy itself: it reads quantized copies, all scales
 * are per tensor, the scale of @to is known beforehand, no transposed copy is read, and the compute
 * type is not fp16, in which an overflow would be saturated.
 *
 * Returns: whether it can
 */
LIG_API gboolean lig_lower_fits_epilogue (LigLowering *self,
                                          int element,
                                          const char *to,
                                          LigRejection *rejection);

/**
 * lig_lower_quantized_matmul: (skip)
 * @self: the lowering of a fusion
 * @element: the number of the matmul in the pattern
 * @bindings: the ports of x, weight and bias, as for lig_lower_kernel()
 * @to: the port y of an op `quantize`
 *
 * Emits the kernel that computes GELU of the quantized matmul plus the bias, and writes the
 * quantized copy of @to.
 */
LIG_API void
lig_lower_quantized_matmul (LigLowering *self, int element, const char *bindings, const char *to);

/**
 * lig_lower_alias: (skip)
 * @self: the lowering that the table's function was given
 * @to: a port that the group computes
 * @from: a port with the same bytes
 *
 * Makes @to an alias of @from, without copying.
 */
LIG_API void lig_lower_alias (LigLowering *self, const char *to, const char *from);

/**
 * lig_lower_value: (skip)
 * @self: the lowering that the table's function was given
 * @name: a name that is not a port of the op; in a fusion, any name without a number
 * @shape: the shape
 * @dtype: the type
 *
 * Adds a temporary that kernels of the op or fusion pass to one another in this pass;
 * lig_lower_kernel() then accepts its name like that of a port.
 */
LIG_API void
lig_lower_value (LigLowering *self, const char *name, const LigShape *shape, LigDtype dtype);

/**
 * lig_lower_value_like: (skip)
 * @self: the lowering that the table's function was given
 * @name: as for lig_lower_value()
 * @port: the name of a port
 *
 * Adds a temporary like lig_lower_value(), with the shape and type of the port's value.
 */
LIG_API void lig_lower_value_like (LigLowering *self, const char *name, const char *port);

/**
 * lig_lower_count_parts: (skip)
 * @self: the lowering that the table's function was given
 * @port: the name of a port
 *
 * Returns: the number of ranks of a tensor group among which the port's value is sharded; 1 if it
 *   is replicated or a partial sum
 */
LIG_API int lig_lower_count_parts (LigLowering *self, const char *port);

/**
 * lig_lower_has: (skip)
 * @self: the lowering that the table's function was given
 * @port: the name of a port
 *
 * Returns: whether the port is used here: its optional element matched, its gradient exists or is
 *   requested, or its value is read
 */
LIG_API gboolean lig_lower_has (LigLowering *self, const char *port);

/**
 * lig_lower_params: (skip)
 * @self: the lowering that the table's function was given
 * @index: the number of the pattern's element; 0 in an op
 *
 * Returns: (nullable): the params struct of the op; %NULL if the optional element did not match
 */
LIG_API const void *lig_lower_params (LigLowering *self, int index);

/**
 * lig_lower_params_size: (skip)
 * @self: the lowering that the table's function was given
 * @index: the number of the pattern's element; 0 in an op
 *
 * Returns: the size in bytes of the kernel's params at the start of the op's params struct
 */
LIG_API gsize lig_lower_params_size (LigLowering *self, int index);

/**
 * lig_lower_op: (skip)
 * @self: the lowering that the table's function was given
 * @index: the number of the pattern's element
 *
 * Returns: (nullable): the name of the op that matched the element; %NULL if the optional element
 *   did not match
 */
LIG_API const char *lig_lower_op (LigLowering *self, int index);

/**
 * lig_lower_is_training: (skip)
 * @self: the lowering that the table's function was given
 *
 * Returns: %TRUE in a plan that saves values for the backward pass; in other plans dropout is the
 *   identity
 */
LIG_API gboolean lig_lower_is_training (LigLowering *self);

/**
 * lig_lower_is_measured: (skip)
 * @self: the lowering that the table's function was given
 *
 * Returns: whether candidates are chosen by times measured on the device
 */
LIG_API gboolean lig_lower_is_measured (LigLowering *self);

/**
 * lig_lower_is_forced: (skip)
 * @self: the lowering that the table's function was given
 *
 * Returns: whether the sequence forces the fusion at its first op
 */
LIG_API gboolean lig_lower_is_forced (LigLowering *self);

/**
 * lig_lower_share: (skip)
 * @self: the lowering that the table's function was given
 * @port: the name of a port
 *
 * Returns: the bytes of the port's value divided by the memory of the device; 0 if that is unknown
 */
LIG_API double lig_lower_share (LigLowering *self, const char *port);

/**
 * lig_lower_columns: (skip)
 * @self: the lowering that the table's function was given
 * @port: the name of a port
 *
 * Returns: the length of the last axis of the port's value; 0 if the port is absent
 */
LIG_API gint64 lig_lower_columns (LigLowering *self, const char *port);

/**
 * lig_lower_own_mean: (skip)
 * @self: the lowering that the table's function was given
 *
 * Adds the values `mean` and `own`, like lig_lower_value(), for a loss that is a mean over counted
 * rows: the mean over this rank's rows, and their number.
 *
 * Returns: (nullable) (transfer none): the bindings of the loss's kernel to these instead of to `y`
 *   and `count`; %NULL if no rank has other rows or nothing is trained
 */
LIG_API const char *lig_lower_own_mean (LigLowering *self);

/**
 * lig_lower_join_means: (skip)
 * @self: a lowering that lig_lower_own_mean() has given bindings
 * @y: the port of the loss
 * @count: the port of the number of rows, which the backward pass divides by
 *
 * Emits the collective of the row counts: @count becomes their mean over the ranks that have other
 * rows, @y the sum of this rank's losses divided by @count. The mean of @y over the ranks is then
 * the mean over all rows, and so are the gradients.
 */
LIG_API void lig_lower_join_means (LigLowering *self, const char *y, const char *count);

/**
 * lig_lower_has_replicas: (skip)
 * @self: the lowering that the table's function was given
 *
 * Returns: whether other ranks have other rows of the batch, in a plan that trains
 */
LIG_API gboolean lig_lower_has_replicas (LigLowering *self);

/**
 * lig_lower_average: (skip)
 * @self: the lowering that the table's function was given
 * @bindings: the ports of x and y, as for lig_lower_kernel()
 *
 * Emits the collective that sets y to the mean of x over the ranks that have other rows.
 */
LIG_API void lig_lower_average (LigLowering *self, const char *bindings);

G_END_DECLS
