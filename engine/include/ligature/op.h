/* SPDX-License-Identifier: MIT */
/* Ops: what to compute, with parameters. An op is data: a #LigOpInfo gives its parameter table,
 * ports, kernels and shape rule, and from that one table come the GObject properties, the files,
 * the expressions, `lig ops`, the inspector, the documentation and the tests.
 *
 * Shapes are row-major. The `weight` of `linear` and `basic-linear` is [N, K], out-features x
 * in-features, and y = x weight^T + bias for x of [.., K], bias of [N] and y of [.., N], as in
 * PyTorch; an embedding's weight is [vocabulary, features]; gains and biases of norms are as long
 * as the last axis of x.
 *
 * The formula of an op is its table's `formula`. They come from: layer norm, Ba, Kiros and Hinton
 * 2016; RMS norm, Zhang and Sennrich 2019; GELU in the tanh form, Hendrycks and Gimpel 2016;
 * squared ReLU, So and others 2021; gated units, Shazeer 2020; dropout, Srivastava and others 2014,
 * its mask by Philox, Salmon and others 2011; label smoothing, Szegedy and others 2016.
 *
 * Ports have names: `x` the main input, `y` the main output, then the extra inputs, the extra
 * outputs, the trained parameters and the values that forward computes for backward (`mean rstd`).
 * `dNAME` is the gradient of NAME; a parameter's is fp32 in a plan that accumulates, else of the
 * parameter's type. Kernels are bound to ports by the names in their signatures.
 *
 * A custom op is the same table in the embedding program, registered with lig_register_op()
 * (<ligature/lowering.h>).
 *
 * Threads: the registry, and tables, are for any thread at once. An op belongs to the thread of its
 * sequence (engine/include/ligature/sequence.h); an opaque op's callback is called on the thread
 * that runs the program, `expand`, `infer`, `place` and lowering on the one that compiles: a
 * table's functions must bear being called by several. */
#pragma once

#include <ligature/tensor.h>

G_BEGIN_DECLS

#define LIG_MAX_EXTRA 4
#define LIG_MAX_PARAMETERS 4
#define LIG_MAX_KEPT 4

typedef struct _LigOp LigOp;
typedef struct _LigSequence LigSequence;
typedef struct _LigLowering LigLowering;
typedef struct _LigParts LigParts;

/* --- The parameter table ------------------------------------------------------------------ */

typedef enum {
  LIG_PARAM_FLOAT,  /* float */
  LIG_PARAM_INT,    /* gint64 */
  LIG_PARAM_BOOL,   /* bool */
  LIG_PARAM_SHAPE,  /* LigShape; -1 stands for one inferred axis; unset: n_axes is -1 */
  LIG_PARAM_INPUT,  /* channel of extra input `offset`, a string or none */
  LIG_PARAM_OUTPUT, /* channel of extra output `offset` */
  LIG_PARAM_CALLER, /* whether extra output `offset` also goes to the caller */
} LigParamKind;

typedef enum {
  LIG_PARAM_REQUIRED = 1 << 0,   /* must be given */
  LIG_PARAM_INFERRED = 1 << 1,   /* may be left out, then follows from the input (int 0) */
  LIG_PARAM_POSITIONAL = 1 << 2, /* first value without a name in an expression */
} LigParamFlags;

typedef struct {
  LigParamKind kind;
  const char *name;  /* kebab-case: in files, expressions, properties */
  const char *label; /* for people, translatable */
  const char *help;  /* one sentence without a full stop, translatable */
  double minimum, maximum, initial;
  unsigned flags; /* LigParamFlags */
  gsize offset;   /* of the field in the op's params struct, or the number of the extra port */
} LigParam;

#define LIG_FLOAT(type, field, name, label, help, minimum, maximum, initial) \
  { \
    LIG_PARAM_FLOAT, name, label, help, minimum, maximum, initial, 0, \
      G_STRUCT_OFFSET (type, field) \
  }
#define LIG_INT(type, field, name, label, help, minimum, maximum, initial, flags) \
  { \
    LIG_PARAM_INT, name, label, help, minimum, maximum, initial, flags, \
      G_STRUCT_OFFSET (type, field) \
  }
#define LIG_BOOLEAN(type, field, name, label, help, initial) \
  { \
    LIG_PARAM_BOOL, name, label, help, 0, 1, initial, 0, G_STRUCT_OFFSET (type, field) \
  }

/* --- Trained parameters ------------------------------------------------------------------- */

typedef enum {
  LIG_INIT_ZEROS,
  LIG_INIT_ONES,
  LIG_INIT_NORMAL, /* mean 0, standard deviation from the op's `init-std` */
} LigInit;

typedef struct {
  const char *name; /* `weight`: its path is PATH.weight */
  LigInit init;
  gboolean product; /* an operand of a matrix product: wanted in the compute type */
  gboolean decays;  /* weight decay shrinks it: weights do, gains and biases do not */
} LigParameterInfo;

/* --- Shapes ------------------------------------------------------------------------------- */

/* What infer reads and fills in. Arrays are in the order of the op's tables. */
typedef struct {
  const void *params; /* the op's params struct; inferred fields may be written through it */
  const char *name;   /* of the op, for messages */
  LigDtype compute;   /* type of activations */
  LigShape x;
  LigDtype x_dtype;
  LigShape extra_inputs[LIG_MAX_EXTRA]; /* n_axes -1: from the caller, infer says the shape */
  LigDtype extra_input_dtypes[LIG_MAX_EXTRA];
  /* filled in by infer; y is preset to x, extra outputs to y */
  LigShape y;
  LigDtype y_dtype;
  LigShape extra_outputs[LIG_MAX_EXTRA];
  LigShape parameters[LIG_MAX_PARAMETERS];
  LigShape kept[LIG_MAX_KEPT];        /* preset to x without its last axis */
  LigDtype kept_dtypes[LIG_MAX_KEPT]; /* preset to fp32 */
} LigInfer;

/* --- Opaque ops --------------------------------------------------------------------------- */

/* The call as a callback is told of it. All of it is valid until the callback returns. */
typedef struct {
  const LigOperand *operands; /* `x -> y`; backward: `dy x y -> dx`; there may be no elements */
  int n_operands;
  gboolean backward;
  void *stream;       /* the device's; null on the CPU, where operands are in host memory */
  const char *op;     /* name of the op's table */
  const char *path;   /* where the op stands, `3` or `3.0.2`; in a macro with the part's name */
  const void *params; /* the op's params struct, as it was when the plan was compiled */
  gpointer data;      /* `opaque_data` of the table */
} LigOpaqueCall;

/* A callback of the embedding program, called between two segments of a plan, in the thread that
 * runs it. On a GPU it launches what it does on the stream. Returns: %FALSE, with an error if it
 * likes, where it failed: the run then fails with `NAME at PATH: ` in front. An opaque op has
 * neither extra ports nor trained parameters. */
typedef gboolean (*LigOpaqueFunc) (const LigOpaqueCall *call, GError **error);

/* --- The table of an op ------------------------------------------------------------------- */

typedef enum {
  LIG_OP_LOSS = 1 << 0,          /* ends a training sequence: a scalar from x and targets */
  LIG_OP_TRANSPARENT = 1 << 1,   /* y is x: fusions may look through it */
  LIG_OP_INTEGER_INPUT = 1 << 2, /* x holds int32, no gradient flows to it */
  LIG_OP_ACTIVATION = 1 << 3,    /* pointwise: @activation in patterns */
  LIG_OP_GATED = 1 << 4,         /* halves the last axis: @gated in patterns */
  LIG_OP_BLOCK = 1 << 5,         /* repeats a sequence of its own */
  LIG_OP_ANY_TYPE = 1 << 6,      /* moves elements without looking at them */
} LigOpFlags;

/* A table begins with the sizes of its structs as the program knows them, so that a library in
 * which fields were added since reads no further: {LIG_OP_INFO_SIZES, .name = …}. */
#define LIG_OP_INFO_SIZES \
  .size = sizeof (LigOpInfo), .param_size = sizeof (LigParam), \
  .parameter_size = sizeof (LigParameterInfo)

typedef struct _LigOpInfo {
  gsize size, param_size, parameter_size; /* LIG_OP_INFO_SIZES */

  const char *name;     /* kebab-case, at most 60 bytes */
  const char *title;    /* `Layer norm` */
  const char *category; /* of the palette: `Normalization` */
  const char *summary;  /* one sentence without a full stop */
  const char *formula;  /* in plain text */
  const char *example;  /* an expression with the op, and an input: "layer-norm @ 4x16" */
  unsigned flags;       /* LigOpFlags */

  const LigParam *params;             /* at most 64, then one with a null name; may be null */
  gsize params_size;                  /* of the op's params struct */
  gsize kernel_params_size;           /* its first bytes, at most 64, are the kernels' params */
  const char *extra_inputs;           /* port names, or null */
  const char *extra_outputs;          /* port names, or null */
  const LigParameterInfo *parameters; /* ends with a null name; may be null */
  const char *computes; /* values forward computes for backward: "mean rstd", or null */
  const char *saves;    /* ports that backward reads: "x mean rstd", or null */
  /* Port names begin with a lower-case letter; such letters, digits and `_` follow, 31 bytes at
   * most. */

  /* Shapes; null where y is like x and there is nothing else. */
  gboolean (*infer) (LigInfer *infer, GError **error);
  /* One of four: kernels by name, functions that lower, parts, callbacks. */
  const char *forward;  /* one kernel, built in or registered, its operands being ports of the op */
  const char *backward; /* kernels separated by spaces, likewise; null: none */
  void (*lower_forward) (LigLowering *lowering);
  void (*lower_backward) (LigLowering *lowering);
  /* A macro: adds its parts with lig_parts_add(). */
  void (*expand) (LigOp *self, LigParts *parts);
  /* Called when the op gets its path in a plan (a macro's part: with its name): dropout hashes it.
   */
  void (*place) (void *params, const char *path);

  LigOpaqueFunc opaque_forward, opaque_backward;
  gpointer opaque_data;
} LigOpInfo;

/* --- The registry ------------------------------------------------------------------------- */

/**
 * lig_op_info_find:
 * @name: of an op
 *
 * Returns: (nullable): the table of the op of that name
 */
LIG_API const LigOpInfo *lig_op_info_find (const char *name);

/**
 * lig_op_info_nth:
 * @n: from 0
 *
 * Returns: (nullable): built-in ops in the palette's order, then custom ones; null after the last
 */
LIG_API const LigOpInfo *lig_op_info_nth (guint n);

/* --- Instances ---------------------------------------------------------------------------- */

#define LIG_TYPE_OP (lig_op_get_type ())
LIG_API
G_DECLARE_DERIVABLE_TYPE (LigOp, lig_op, LIG, OP, GObject)

/* Properties: those of the op's table, and `fence` (whether no fusion crosses the gap before it).
 * Any change emits `changed`. */
struct _LigOpClass {
  GObjectClass parent_class;
  const LigOpInfo *info;
};

/**
 * lig_op_new:
 * @name: of a registered op
 *
 * Returns: (transfer full): an op with its defaults, or %NULL with %LIG_ERROR_OP set, naming the
 *   op that is spelt most alike
 */
LIG_API LigOp *lig_op_new (const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_op_copy:
 * @self: an op
 *
 * Returns: (transfer full): an op of its own with equal parameters; a block's ops are copied too
 */
LIG_API LigOp *lig_op_copy (LigOp *self) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_op_get_info:
 * @self: an op
 *
 * Returns: (transfer none): the op's table
 */
LIG_API const LigOpInfo *lig_op_get_info (LigOp *self);

/**
 * lig_op_get_name:
 * @self: an op
 *
 * Returns: (transfer none): the name of the op's table, `layer-norm`
 */
LIG_API const char *lig_op_get_name (LigOp *self);

/**
 * lig_op_get_params:
 * @self: an op
 *
 * Returns: (transfer none): the op's params struct, as its table describes it
 */
LIG_API const void *lig_op_get_params (LigOp *self);

/**
 * lig_op_check:
 * @self: an op
 *
 * Whether every required parameter has been given.
 *
 * Returns: %FALSE with %LIG_ERROR_OP set, naming the parameter that is missing
 */
LIG_API gboolean lig_op_check (LigOp *self, GError **error);

/**
 * lig_op_set_value:
 * @self: an op
 * @param: name of a parameter
 * @value: a number, boolean, string, or a boxed #LigShape
 *
 * Sets a parameter as a file or an expression gives it, checked against type and range.
 *
 * Returns: %FALSE with %LIG_ERROR_OP (no such parameter) or %LIG_ERROR_VALUE set
 */
LIG_API gboolean lig_op_set_value (LigOp *self,
                                   const char *param,
                                   const GValue *value,
                                   GError **error);

/**
 * lig_op_get_value:
 * @self: an op
 * @param: of the op's table
 * @value: (out): an uninitialized #GValue: gint64, double, boolean, string or boxed #LigShape
 *
 * Returns: whether the parameter differs from its default, that is, a file has to say it
 */
LIG_API gboolean lig_op_get_value (LigOp *self, const LigParam *param, GValue *value);

/**
 * lig_op_set_extra_input_channel:
 * @self: an op
 * @index: of the extra input
 * @channel: (nullable): a non-empty name, or none to give the input back to the caller
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX or %LIG_ERROR_CHANNEL set
 */
LIG_API gboolean lig_op_set_extra_input_channel (LigOp *self,
                                                 int index,
                                                 const char *channel,
                                                 GError **error);

/**
 * lig_op_get_extra_input_channel:
 * @self: an op
 * @index: of the extra input
 *
 * Returns: (transfer none) (nullable): the channel that feeds it; %NULL where the caller does
 */
LIG_API const char *lig_op_get_extra_input_channel (LigOp *self, int index);

/**
 * lig_op_set_extra_output_channel:
 * @self: an op
 * @index: of the extra output
 * @channel: (nullable): a non-empty name, or none
 * @to_caller: whether the caller gets the output too; without a channel it always does
 *

 *
 * Returns: %FALSE with %LIG_ERROR_INDEX or %LIG_ERROR_CHANNEL set
 */
LIG_API gboolean lig_op_set_extra_output_channel (
  LigOp *self, int index, const char *channel, gboolean to_caller, GError **error);

/**
 * lig_op_get_extra_output_channel:
 * @self: an op
 * @index: of the extra output
 *
 * Returns: (transfer none) (nullable): the channel that it feeds
 */
LIG_API const char *lig_op_get_extra_output_channel (LigOp *self, int index);

/**
 * lig_op_get_extra_output_to_caller:
 * @self: an op
 * @index: of the extra output
 *
 * Returns: whether the caller gets it, too
 */
LIG_API gboolean lig_op_get_extra_output_to_caller (LigOp *self, int index);

/**
 * lig_op_get_fence:
 * @self: an op
 *
 * Returns: whether no group may reach across the gap before this op
 */
LIG_API gboolean lig_op_get_fence (LigOp *self);

/**
 * lig_op_set_fence:
 * @self: an op
 * @fence: whether no group may reach across it
 *
 * Puts a fence into the gap before this op, or removes it.
 */
LIG_API void lig_op_set_fence (LigOp *self, gboolean fence);

/**
 * lig_op_get_forbidden:
 * @self: an op
 *
 * Returns: (transfer none) (array zero-terminated=1): fusions that must not start here
 */
LIG_API const char *const *lig_op_get_forbidden (LigOp *self);

/**
 * lig_op_get_forced:
 * @self: an op
 *
 * Returns: (transfer none) (array zero-terminated=1): fusions that must start here
 */
LIG_API const char *const *lig_op_get_forced (LigOp *self);

/**
 * lig_op_set_forbidden:
 * @self: an op
 * @fusions: (array zero-terminated=1) (nullable): their names, copied
 *
 * Sets the fusions that must not start here.
 */
LIG_API void lig_op_set_forbidden (LigOp *self, const char *const *fusions);

/**
 * lig_op_set_forced:
 * @self: an op
 * @fusions: (array zero-terminated=1) (nullable): their names, copied
 *
 * Sets the fusions that must start here.
 */
LIG_API void lig_op_set_forced (LigOp *self, const char *const *fusions);

/**
 * lig_op_get_body:
 * @self: an op
 *
 * Returns: (transfer none) (nullable): the ops that a `block` repeats
 */
LIG_API LigSequence *lig_op_get_body (LigOp *self);

/**
 * lig_op_get_unknown:
 * @self: an op
 *
 * Returns: (transfer none) (nullable): members of a file that this library does not know, as a
 *   JSON object's text; they are written back
 */
LIG_API const char *lig_op_get_unknown (LigOp *self);

/**
 * lig_op_set_unknown:
 * @self: an op
 * @json: (nullable): a JSON object's text
 *
 * Sets the members that this library does not know.
 */
LIG_API void lig_op_set_unknown (LigOp *self, const char *json);

G_END_DECLS
