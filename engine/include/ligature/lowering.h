/* SPDX-License-Identifier: MIT */
/* Functions that the tables of ops and fusions call during compilation, to emit kernels and the
 * parts of macros, and functions by which an embedding program registers ops and kernels.
 *
 * Threads: a #LigLowering and a #LigParts belong to the thread that compiles and are valid only
 * during the call of the table's function. */
#pragma once

#include <ligature/op.h>
#include <ligature/sequence.h>

G_BEGIN_DECLS

typedef struct _LigRefusal LigRefusal;
typedef struct LigKernel LigKernel;

/* --- Lowering: emitting the kernels of ops and fusions ---------------------------------------- */

/**
 * lig_lower_kernel: (skip)
 * @self: the lowering that the table's function was given
 * @kernel: the name of a kernel, built in or registered
 * @bindings: (nullable): the port of each operand whose name differs from its port's, "a=dy
 *   b=dextra y=dx"; in a fusion every operand needs one, "x=0.x weight=0.weight y=2.y", in which
 *   the number is that of the pattern's element; `-` alone binds no operand; `0.x@2/4` is the third
 *   of four equal parts of the rows of a port
 * @params: (nullable): the kernel's params, copied; %NULL: those of the op, or none in a fusion
 * @params_size: their size in bytes, at most %LIG_MOST_PARAMS
 *
 * Emits one kernel. A port that is absent or unused becomes an absent operand; a kernel is not
 * emitted if none of its outputs is used.
 */
LIG_API void lig_lower_kernel (LigLowering *self,
                               const char *kernel,
                               const char *bindings,
                               const void *params,
                               gsize params_size);

/**
 * lig_lower_beside: (skip)
 * @self: the lowering that the table's function was given
 * @kernel: the name of a kernel that exchanges with other processes
 * @bindings: (nullable): as for lig_lower_kernel()
 * @params: (nullable): as for lig_lower_kernel()
 * @params_size: their size in bytes, at most %LIG_MOST_PARAMS
 *
 * Emits one kernel, like lig_lower_kernel(), in the communication lane: it begins when the kernels
 * before it have ended, and runs in parallel with those after it. The first of these that needs its
 * operands waits for it: that reads what it writes, or writes what it reads, or that exchanges with
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
 * Returns: the number of this rank among those with which the op exchanges, from 0
 */
LIG_API int lig_lower_get_place (LigLowering *self, int index);

/**
 * lig_lower_can_divide: (skip)
 * @self: the lowering that the table's function was given
 * @port: a port, as in bindings
 * @parts: a number of parts
 *
 * Returns: whether the rows of the port's value have so many equal parts, `PORT@0/PARTS` and so on
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
 * @self: the lowering that the function of a fusion with LigFusion.least_pieces was given
 *
 * Returns: the number of parts in which each rank's rows are exchanged and multiplied: the one with
 *   the shortest time by policy `measured`, else the fewest; 1 if they do not divide the rows
 */
LIG_API int lig_lower_get_pieces (LigLowering *self);

/**
 * lig_lower_custom: (skip)
 * @self: the lowering that the table's function was given
 * @kernel: a kernel, valid and unchanged until the process ends
 * @bindings: (nullable): as for lig_lower_kernel()
 * @params: (nullable): as for lig_lower_kernel()
 * @params_size: their size in bytes, at most %LIG_MOST_PARAMS
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
 * Emits the kernel that writes the quantized copies of @to, and its values if others read them.
 *
 * Returns: %FALSE, with nothing emitted, if no recipe applies, or if an earlier op writes the
 *   copies
 */
LIG_API gboolean lig_lower_quantize (LigLowering *self, const char *bindings, const char *to);

/**
 * lig_lower_is_quantized: (skip)
 * @self: the lowering of a fusion
 * @port: the port y or dx of an op `quantize`
 * @refusal: set to the reason %LIG_REASON_RECIPE if the result is %FALSE
 *
 * Returns: whether a recipe applies to the op, and no earlier op writes the copies
 */
LIG_API gboolean lig_lower_is_quantized (LigLowering *self, const char *port, LigRefusal *refusal);

/**
 * lig_lower_divides_copies: (skip)
 * @self: the lowering that the function of a fusion was given
 * @element: the number of the product in the pattern
 * @port: (nullable): the operand whose rows the fusion divides, `x` or `dy`; %NULL: it exchanges an
 *   operand before that is quantized
 * @parts: the least number of parts
 * @refusal: where the reason goes
 *
 * Checks that a product with a recipe can read its quantized operand by parts of rows: each row has
 * a scale of its own or that of the tensor, and the recipe divides the rows of a part.
 *
 * Returns: whether it can; also if the product reads no quantized copies
 */
LIG_API gboolean lig_lower_divides_copies (
  LigLowering *self, int element, const char *port, int parts, LigRefusal *refusal);

/**
 * lig_lower_norm_fits: (skip)
 * @self: the lowering of a fusion
 * @element: the number of the pattern's element
 * @refusal: set to the reason %LIG_REASON_SHAPE if the result is %FALSE
 *
 * Returns: whether the element can be quantized as it is computed: a norm has to be one of the last
 *   axis alone
 */
LIG_API gboolean lig_lower_norm_fits (LigLowering *self, int element, LigRefusal *refusal);

/**
 * lig_lower_quantized: (skip)
 * @self: the lowering of a fusion
 * @element: the number of the pattern's element that is an activation, a gated unit, or in the
 *   forward pass a layer norm or rms norm
 * @bindings: the ports of its kernel's operands x, y and, in the backward pass, dy, dx and dbias,
 *   as for lig_lower_kernel(); with extra and sum a norm is that of x + extra
 * @to: the port y or dx of an op `quantize`
 *
 * Emits the kernels that compute the element, or its gradient, and write the quantized copies of
 * @to, and its values if others read them.
 */
LIG_API void
lig_lower_quantized (LigLowering *self, int element, const char *bindings, const char *to);

/**
 * lig_lower_fits_epilogue: (skip)
 * @self: the lowering of a fusion
 * @element: the number of the product in the pattern
 * @to: the port y of an op `quantize`, to which lig_lower_is_quantized() applies
 * @refusal: set to the reason %LIG_REASON_RECIPE or %LIG_REASON_DTYPE if the result is %FALSE
 *
 * Checks that the product can write the quantized copy itself: it reads quantized copies, all
 * scales are those of whole tensors, that of @to is known before, no one reads a transposed
 * copy, and the compute type is not fp16, in which an overflow would be saturated.
 *
 * Returns: whether it can
 */
LIG_API gboolean lig_lower_fits_epilogue (LigLowering *self,
                                          int element,
                                          const char *to,
                                          LigRefusal *refusal);

/**
 * lig_lower_quantized_product: (skip)
 * @self: the lowering of a fusion
 * @element: the number of the product in the pattern
 * @bindings: the ports of x, weight and bias, as for lig_lower_kernel()
 * @to: the port y of an op `quantize`
 *
 * Emits the kernel that computes gelu of the product of quantized operands plus the bias, and
 * writes the quantized copy of @to.
 */
LIG_API void
lig_lower_quantized_product (LigLowering *self, int element, const char *bindings, const char *to);

/**
 * lig_lower_alias: (skip)
 * @self: the lowering that the table's function was given
 * @to: a port that the group computes
 * @from: a port with the same bytes
 *
 * Makes @to another name of @from, without copying.
 */
LIG_API void lig_lower_alias (LigLowering *self, const char *to, const char *from);

/**
 * lig_lower_value: (skip)
 * @self: the lowering that the table's function was given
 * @name: a port name that the op does not have, or any without a number in a fusion
 * @shape: the shape
 * @dtype: the type
 *
 * Adds a value that kernels of the op or fusion hand to one another in this pass;
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
 * Adds a value like lig_lower_value(), with the shape and type of the port's value.
 */
LIG_API void lig_lower_value_like (LigLowering *self, const char *name, const char *port);

/**
 * lig_lower_count_parts: (skip)
 * @self: the lowering that the table's function was given
 * @port: the name of a port
 *
 * Returns: the number of ranks of a tensor group that have a part of the port's value each; 1 if
 *   all have the whole value, or the sum of which each has a term
 */
LIG_API int lig_lower_count_parts (LigLowering *self, const char *port);

/**
 * lig_lower_has: (skip)
 * @self: the lowering that the table's function was given
 * @port: the name of a port
 *
 * Returns: whether the port exists here: its optional element matched, its gradient arrives or is
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
 * Returns: whether candidates are chosen by times that are measured on the device
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
 * lig_lower_own_mean: (skip)
 * @self: the lowering that the table's function was given
 *
 * Adds the values `mean` and `own`, like lig_lower_value(), for a loss that is a mean over the rows
 * that it counts: that over the rows of this rank, and their number.
 *
 * Returns: (nullable) (transfer none): the bindings of the loss's kernel to them instead of to `y`
 *   and `count`; %NULL if no rank has other rows, or nothing is trained
 */
LIG_API const char *lig_lower_own_mean (LigLowering *self);

/**
 * lig_lower_join_means: (skip)
 * @self: a lowering that lig_lower_own_mean() has given bindings
 * @y: the port of the loss
 * @count: the port of the number of rows, which the backward pass divides by
 *
 * Emits the exchange of the numbers of rows: @count gets their mean over the ranks that have other
 * rows, @y the sum of this rank's losses divided by it. The mean of @y over the ranks is then the
 * mean over all rows, and so are gradients.
 */
LIG_API void lig_lower_join_means (LigLowering *self, const char *y, const char *count);

/* --- Parts of values ---------------------------------------------------------------------- */

/**
 * lig_infer_refuse_sharding: (skip)
 * @self: the input of a shape rule
 *
 * Refuses the part of x that a rank of a tensor group has: the sentence says how the op before may
 * give another one.
 *
 * Returns: %FALSE with %LIG_ERROR_SHAPE set
 */
LIG_API gboolean lig_infer_refuse_sharding (const LigInfer *self, GError **error);

/* --- Macros ------------------------------------------------------------------------------- */

/**
 * lig_parts_add: (skip)
 * @self: the parts that `expand` was given
 * @name: (nullable): lower-case letters, digits, `-` or `_` after a letter
 * @op: (transfer full) (nullable): a new op: a basic one, a block or another macro; %NULL if it
 *   could not be made, which is reported as an error of compiling the sequence
 *
 * Adds the next part of a macro, called from its `expand`. The parameters of a named part have
 * paths like `3.qkv.weight`, those of an unnamed part like `3.weight`; if two parts share a
 * parameter's path, compiling fails with an error that names both. Channels among the parts are
 * local to the macro; `../NAME` is the channel NAME of the list that contains the macro.
 */
LIG_API void lig_parts_add (LigParts *self, const char *name, LigOp *op);

/**
 * lig_parts_add_scaled: (skip)
 * @self: the parts that `expand` was given
 * @name: (nullable): as for lig_parts_add()
 * @op: (transfer full) (nullable): a new basic op, %NULL as for lig_parts_add()
 * @param: the name of a whole number among the op's parameters, "out-features"
 * @multiple: a factor from 1
 * @divisor: a divisor from 1
 *
 * Adds the next part of a macro like lig_parts_add(), with a length that follows from the features
 * of the macro's input, which are not yet known when `expand` is called: once they are, @param is
 * set to @multiple / @divisor times the length of the input's last axis. Features that @divisor
 * does not divide evenly are an error of compiling the sequence.
 */
LIG_API void lig_parts_add_scaled (
  LigParts *self, const char *name, LigOp *op, const char *param, gint64 multiple, gint64 divisor);

/**
 * lig_parts_refuse: (skip)
 * @self: the parts that `expand` was given
 * @format: a format of printf(), of a sentence without a full stop that names the parameter and
 *   gives both values
 * @...: its arguments
 *
 * Refuses the parameters of a macro that do not go together: compiling the sequence fails with this
 * sentence after `NAME at PATH: `. The first of several calls counts.
 */
LIG_API void lig_parts_refuse (LigParts *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/**
 * lig_parts_check_divides: (skip)
 * @self: the parts that `expand` was given
 * @name: the name of a parameter
 * @count: its value
 *
 * Refuses the parameter, like lig_parts_refuse(), if the ranks of a tensor group cannot divide its
 * value evenly. Parts that are written into a sequence have no ranks yet, and are not refused.
 */
LIG_API void lig_parts_check_divides (LigParts *self, const char *name, gint64 count);

/**
 * lig_parts_get_n_ranks: (skip)
 * @self: the parts that `expand` was given
 * @group: a group of ranks
 *
 * Returns: the number of ranks in the group, for macros that have other parts if they are several;
 *   2 for parts that are written into a sequence when the macro is taken apart
 */
LIG_API int lig_parts_get_n_ranks (const LigParts *self, LigRankGroup group);

/**
 * lig_parts_divides_vocabulary: (skip)
 * @self: the parts that `expand` was given
 *
 * Returns: whether the ranks of a tensor group divide the out-features of a macro that leaves its
 *   division open: it is the product before a cross-entropy, and all of the ops that share its
 *   weight can divide the vocabulary
 */
LIG_API gboolean lig_parts_divides_vocabulary (const LigParts *self);

/**
 * lig_op_count_parts:
 * @self: an op
 *
 * Returns: the number of parts that a macro expands into, where a part that is a macro counts once;
 *   1 for other ops
 */
LIG_API guint lig_op_count_parts (LigOp *self);

/**
 * lig_op_count_ops:
 * @self: an op
 *
 * Returns: the number of ops that a plan has for a macro, whose parts may be macros, too; a block
 *   among them counts once; 1 for other ops
 */
LIG_API guint lig_op_count_ops (LigOp *self);

/**
 * lig_sequence_take_apart:
 * @self: a sequence, or the body of a block
 * @index: the place of a macro; negative numbers count from the end
 * @features: the length of the last axis of the macro's input, as its first op has it in a plan; 0
 *   if it is not known, which is an error where a part depends on it
 *
 * Replaces a macro by its parts, in their order, so that the sequence computes the same and each
 * part can be edited. Parts that are macros stay whole, and a product and its bias become a
 * `linear`. A channel of the macro gets another name where its name is taken. The parameters keep
 * their order, and get the paths of their new ops. The fence is the first part's; fusions that are
 * forbidden or forced at the macro are so at its parts, which are frozen if it is. Ties to a macro
 * or to a part of it name the new ops. The parts of a macro that sets `recompute` itself are in a
 * block that is repeated once and sets the same.
 *
 * Returns: %FALSE with an error set, and the sequence unchanged
 */
LIG_API gboolean lig_sequence_take_apart (LigSequence *self,
                                          int index,
                                          gint64 features,
                                          GError **error);

/* --- Registering -------------------------------------------------------------------------- */

/**
 * lig_register_kernel: (skip)
 * @kernel: a kernel, valid and unchanged until the process ends
 *
 * Registers a kernel of the embedding program under its name, so that the tables of ops may use it
 * as `forward` and `backward`, and lig_lower_kernel() accepts it. It must be registered before the
 * ops that name it. May be called from any thread, like lig_register_op().
 *
 * Returns: %FALSE with %LIG_ERROR_OP set, a sentence that names the kernel and the fault: a name
 *   that is taken, a signature that cannot be read, no function for any backend
 */
LIG_API gboolean lig_register_kernel (const LigKernel *kernel, GError **error);

/**
 * lig_register_op:
 * @info: a table; its strings and functions must stay valid until the process ends, the structs are
 *   copied
 *
 * Registers an op, so that sequences, files and expressions may use it. It must be registered
 * before its name is used, and cannot be removed. The whole table is checked: names, ranges, ports,
 * saved values and the operands of the kernels. Its example is compiled for `null`, with and
 * without a backward pass, which calls the table's functions.
 *
 * Any thread may register at any time: the call waits for the compilations in progress, and new
 * ones wait for the call. Calling it during a compilation on the same thread, from a function of a
 * table, is an error.
 *
 * Returns: %FALSE with %LIG_ERROR_OP set, a sentence that names the op and the fault: a name that
 *   is taken, or an incomplete or inconsistent table
 */
LIG_API gboolean lig_register_op (const LigOpInfo *info, GError **error);

G_END_DECLS
