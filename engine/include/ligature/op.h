/* SPDX-License-Identifier: MIT */
/* Ops: an op is one operation of a sequence with its parameters. It is described by a table: a
 * #LigOpInfo defines the parameters, ports, kernels and shape rule. The GObject properties, file
 * format, expressions, `lig ops`, the inspector, the documentation and the tests are all derived
 * from this table.
 *
 * Shapes are row-major. The `weight` of `linear` and `basic-linear` is [N, K], out-features x
 * in-features, and y = x weight^T + bias for x of [.., K], bias of [N] and y of [.., N], as in
 * PyTorch; an embedding's weight is [vocabulary, features]; the weights and biases of norms have
 * the length of the last axis of x.
 *
 * The formula of an op is `formula` in its table. The sources are: layer norm, Ba, Kiros and Hinton
 * 2016; RMS norm, Zhang and Sennrich 2019; GELU in the tanh form, Hendrycks and Gimpel 2016;
 * squared ReLU, So and others 2021; gated units, Shazeer 2020; dropout, Srivastava and others 2014,
 * its mask by Philox, Salmon and others 2011; label smoothing, Szegedy and others 2016.
 *
 * Ports have names: `x` is the main input, `y` is the main output; the others are the extra inputs,
 * the extra outputs, the trained parameters and the values that the forward pass saves for the
 * backward pass (`mean rstd`). `dNAME` is the gradient of NAME; the gradient of a parameter is fp32
 * in a plan that accumulates gradients, otherwise it has the parameter's type. Kernels are bound to
 * ports by the names in their signatures.
 *
 * A custom op is a table in the embedding program, registered with lig_register_op()
 * (<ligature/register.h>).
 *
 * Threads: any thread may use the registry and the tables, even concurrently. An op belongs to the
 * thread of its sequence (engine/include/ligature/sequence.h). An opaque op's callback is called on
 * the thread that runs the program; `expand`, `infer`, `place` and the lowering functions are
 * called on the thread that compiles. The functions of a table must be safe to call from several
 * threads. */
#pragma once

#include <ligature/layout.h>
#include <ligature/tensor.h>

G_BEGIN_DECLS

#define LIG_MAX_EXTRA 4
#define LIG_MAX_PARAMETERS 4
#define LIG_MAX_KEPT 4

typedef struct _LigOp LigOp;
typedef struct _LigSequence LigSequence;
typedef struct _LigLowering LigLowering;
typedef struct _LigParts LigParts;
typedef struct LigOperand LigOperand;
typedef struct _LigOnnx LigOnnx;

/* --- The parameter table ------------------------------------------------------------------ */

typedef enum {
  LIG_PARAM_FLOAT,  /* float */
  LIG_PARAM_INT,    /* gint64 */
  LIG_PARAM_BOOL,   /* bool */
  LIG_PARAM_SHAPE,  /* LigShape; an axis of -1 is inferred; unset: n_axes is -1 */
  LIG_PARAM_INPUT,  /* the channel of extra input `offset`, a string or none */
  LIG_PARAM_OUTPUT, /* the channel of extra output `offset` */
  LIG_PARAM_CALLER, /* whether the caller also gets extra output `offset` */
  LIG_PARAM_CHOICE, /* int32_t, the index of a name in `choices`; everywhere else the name */
  /* A tied parameter: the path of the op whose parameter replaces the op's own, which is number
   * `offset` of its table or of its parts' (`0`, for a part of a macro with its name: `3.qkv`;
   * `../N` is relative to the list that contains the op, each further `../` to the enclosing list),
   * a string or none. */
  LIG_PARAM_PATH,
} LigParamKind;

typedef enum {
  LIG_PARAM_REQUIRED = 1 << 0,   /* has no default; must be set */
  LIG_PARAM_INFERRED = 1 << 1,   /* may be omitted (int 0) and is then inferred from the input */
  LIG_PARAM_POSITIONAL = 1 << 2, /* the first unnamed value in an expression */
} LigParamFlags;

typedef struct {
  LigParamKind kind;
  const char *name;  /* kebab-case, as in files, expressions and properties */
  const char *label; /* the displayed name, translatable */
  const char *help;  /* one sentence without a full stop, translatable */
  double minimum, maximum, initial;
  unsigned flags;      /* LigParamFlags */
  gsize offset;        /* of the field in the op's params struct, or the index of the extra port */
  const char *choices; /* of a %LIG_PARAM_CHOICE: its names, "causal|none"; `initial` is an index */
} LigParam;

#define LIG_FLOAT(type, field, name, label, help, minimum, maximum, initial) \
  { \
    LIG_PARAM_FLOAT, name, label, help, minimum, maximum, initial, 0, \
      G_STRUCT_OFFSET (type, field), NULL \
  }
#define LIG_INT(type, field, name, label, help, minimum, maximum, initial, flags) \
  { \
    LIG_PARAM_INT, name, label, help, minimum, maximum, initial, flags, \
      G_STRUCT_OFFSET (type, field), NULL \
  }
#define LIG_BOOLEAN(type, field, name, label, help, initial) \
  { \
    LIG_PARAM_BOOL, name, label, help, 0, 1, initial, 0, G_STRUCT_OFFSET (type, field), NULL \
  }
/* `choices` are names in kebab-case, "causal|none", `initial` is the index of the default. */
#define LIG_CHOICE(type, field, name, label, help, choices, initial) \
  { \
    LIG_PARAM_CHOICE, name, label, help, 0, 0, initial, 0, G_STRUCT_OFFSET (type, field), choices \
  }

/**
 * lig_param_get_choice:
 * @param: a parameter of kind %LIG_PARAM_CHOICE
 * @index: an index from 0, as in the op's params struct
 *
 * Returns: (transfer none) (nullable): the name of the choice; %NULL if there is none
 */
LIG_API const char *lig_param_get_choice (const LigParam *param, int index);

/**
 * lig_param_find_choice:
 * @param: a parameter of kind %LIG_PARAM_CHOICE
 * @name: a name
 *
 * Returns: the index of the choice with this name, or -1
 */
LIG_API int lig_param_find_choice (const LigParam *param, const char *name);

/* A heading that groups some of an op's parameters in the interface; files are not affected. */
typedef struct {
  const char *title;  /* one or two words, translatable: `Masks` */
  const char *params; /* names of parameters, separated by spaces, in the order of display */
} LigParamGroup;

/* --- Trained parameters ------------------------------------------------------------------- */

typedef enum {
  LIG_INIT_ZEROS,
  LIG_INIT_ONES,
  LIG_INIT_NORMAL, /* mean 0, standard deviation `init-std` of the op */
} LigInit;

typedef struct {
  const char *name; /* `weight`; the path of the parameter is PATH.weight */
  LigInit init;
  gboolean matmul;     /* an operand of a matmul, converted to the compute type */
  gboolean decays;     /* whether weight decay applies: not to biases and the weights of norms */
  gboolean own_update; /* LigOpInfo.lower_update changes it instead of the optimizer: it is fp32,
                          and has no gradient, optimizer state or weight decay */
} LigParameterInfo;

/* --- Parts of values ---------------------------------------------------------------------- */

/* The shardings of the input that an op accepts, computing the same shard of its output without
 * communication (which a loss or a norm over sharded rows would need). Activations and gated units
 * accept rows and columns, transparent ops any sharding. Ops that accept rows also accept a
 * sequence axis that is sharded over a context group. */
typedef enum {
  LIG_COMPUTES_ROWS = 1 << LIG_SHARDING_ROWS,
  LIG_COMPUTES_COLUMNS = 1 << LIG_SHARDING_COLUMNS,
  LIG_COMPUTES_POSITIONS = 1 << 29, /* not rows, but some tokens of all rows of the batch */
  LIG_COMPUTES_ANY = 1 << 30,       /* infer checks the sharding and sets that of the output */
} LigOpShardings;

/* --- Shapes ------------------------------------------------------------------------------- */

/* The valid values of an integer input. */
typedef struct {
  gint32 min, max;
  gint32 also; /* a further valid value, such as the target that a loss ignores; otherwise `min` */
} LigRange;

/* The input and output of a shape rule. Arrays are in the order of the op's tables. */
typedef struct {
  const void *params; /* the op's params struct; infer may write its inferred fields */
  const char *name;   /* the name of the op, for messages */
  LigDtype compute;   /* the type of activations */
  LigShape x;
  LigDtype x_dtype;
  LigShape extra_inputs[LIG_MAX_EXTRA]; /* n_axes -1: provided by the caller, infer sets the shape;
                                           or absent, see `present` */
  LigDtype extra_input_dtypes[LIG_MAX_EXTRA];
  /* Set by infer; y is preset to x, extra outputs to y with n_axes -1. */
  LigShape y;
  LigDtype y_dtype;
  LigShape extra_outputs[LIG_MAX_EXTRA];
  LigShape parameters[LIG_MAX_PARAMETERS];
  LigShape kept[LIG_MAX_KEPT];        /* preset to x without its last axis */
  LigDtype kept_dtypes[LIG_MAX_KEPT]; /* preset to fp32 */
  /* The main input of the whole sequence. */
  LigShape input;
  LigDtype input_dtype;
  /* Whether each extra input is present; false for an optional one that is not connected. */
  gboolean present[LIG_MAX_EXTRA];
  /* Set by infer; preset to -1, the type of y. */
  int extra_output_dtypes[LIG_MAX_EXTRA];
  /* Preset to the numbers in the table; infer may lower them, so that the op has only the first
   * ones. */
  int n_parameters, n_kept;
  /* Set by infer; preset to all integers. The caller's integers are checked against these
   * ranges. */
  LigRange x_range, extra_ranges[LIG_MAX_EXTRA];
  /* The number of ranks in each group, and this rank's index in its tensor group. */
  int n_ranks[LIG_SHARDING_GROUPS], rank;
  LigSharding x_sharding, extra_shardings[LIG_MAX_EXTRA];
  /* Set by infer; y is preset to the sharding of x, parameters are preset to unsharded. */
  LigSharding y_sharding;
  LigParameterSharding parameter_shardings[LIG_MAX_PARAMETERS];
  /* This rank's index in each group. */
  int places[LIG_SHARDING_GROUPS];
  /* Whether ranks shard the vocabulary of an op that does not choose this itself. */
  gboolean shards_vocabulary;
  /* May be set by infer; by default, extra outputs are sharded like y. */
  LigSharding extra_output_shardings[LIG_MAX_EXTRA];
  /* In a plan with a cache: the number of positions that a text can have, and those of
   * LigCacheShape.chunk and .memory; otherwise 0. */
  gint64 cache_length, cache_chunk, cache_memory;
  /* Out, in such a plan: the number of columns of a position that the op keeps in the cache, in the
   * compute type, for its lowering as the port `$cache`; and of how many positions, preset to
   * `cache_length`. */
  gint64 cached, cached_positions;
  /* May be set by infer, for integers: the valid values of extra outputs; preset to all integers.
   * The values that the producers of channels give for the extra inputs. */
  LigRange extra_output_ranges[LIG_MAX_EXTRA], channel_ranges[LIG_MAX_EXTRA];
  /* The number of ranks that share the experts. */
  int expert_ranks;
  /* For a part of a macro: the names of its parameters in the macro, see lig_op_name_params(); or
   * null. */
  const char *param_names;
  /* The order of the rows of each value: LIG_ORDER_BATCH, or that of the op which sorted them; an
   * extra input from the caller has the order of x. y is preset to the order of x, and extra
   * outputs to that of y; infer may set LIG_ORDER_OWN. */
  int x_order, extra_orders[LIG_MAX_EXTRA], y_order, extra_output_orders[LIG_MAX_EXTRA];
} LigInfer;

enum { LIG_ORDER_BATCH = 0, LIG_ORDER_OWN = -1, LIG_ORDER_OF_Y = -2 };

/**
 * lig_infer_param_name: (skip)
 * @self: the input of a shape rule
 * @param: the name of a parameter of the op
 *
 * Returns: the name of the parameter that the user can change, for messages: of a part of a macro,
 *   the macro's; valid as long as the program
 */
LIG_API const char *lig_infer_param_name (const LigInfer *self, const char *param);

/**
 * lig_infer_suggest: (skip)
 * @self: the input of a shape rule
 * @param: the name of an integer parameter of the op
 * @value: a value
 * @error: (nullable): the error that the shape rule has set
 *
 * Suggests a value of the parameter that would remove the error; it is offered to the user if it
 * does.
 *
 * Returns: %FALSE
 */
LIG_API gboolean lig_infer_suggest (const LigInfer *self,
                                    const char *param,
                                    gint64 value,
                                    GError **error);

/* --- Opaque ops --------------------------------------------------------------------------- */

/* The description of a call, passed to the callback and valid until the callback returns. */
typedef struct {
  const LigOperand *operands; /* `x -> y`; backward: `dy x y -> dx`; may have no elements */
  int n_operands;
  gboolean backward;
  void *stream;       /* the device's stream; null on the CPU, where operands are in host memory */
  const char *op;     /* the name of the op's table */
  const char *path;   /* the op's path, `3` or `3.0.2`; for a part of a macro with its name */
  const void *params; /* the op's params struct as compiled into the plan */
  gpointer data;      /* `opaque_data` of the table */
} LigOpaqueCall;

/* A callback of the embedding program, called between two segments of a plan on the thread that
 * runs the plan. On a GPU it launches its work on the stream. Returns: %FALSE, optionally with an
 * error, on failure; the run then fails with this error, prefixed by `NAME at PATH: `. An opaque op
 * has neither extra ports nor trained parameters. */
typedef gboolean (*LigOpaqueFunc) (const LigOpaqueCall *call, GError **error);

/* --- The table of an op ------------------------------------------------------------------- */

typedef enum {
  LIG_OP_LOSS = 1 << 0,          /* ends a training sequence: a scalar from x and targets */
  LIG_OP_TRANSPARENT = 1 << 1,   /* y is x, so that fusions may extend across it */
  LIG_OP_INTEGER_INPUT = 1 << 2, /* x is int32 and has no gradient */
  LIG_OP_ACTIVATION = 1 << 3,    /* pointwise; matches @activation in patterns */
  LIG_OP_GATED = 1 << 4,         /* halves the last axis; matches @gated in patterns */
  LIG_OP_BLOCK = 1 << 5,         /* repeats a sequence of its own */
  LIG_OP_ANY_TYPE = 1 << 6,      /* moves elements without reading their values */
  LIG_OP_LOADS_BRANCH = 1 << 7,  /* reads extra inputs instead of x, so that the chain before it
                                    ends */
  LIG_OP_QUANTIZES = 1 << 8,     /* rounds to a format of the recipe, which also inserts this op */
  LIG_OP_MATMUL = 1 << 9,        /* multiplies rows of x by the parameter `weight`: recipes apply */
  LIG_OP_CLASSES = 1 << 10, /* a loss over the classes on the last axis of x: its first extra input
                               has the class indices, its params begin with LigCrossEntropyParams */
  LIG_OP_COLLECTIVE = 1 << 11,      /* communicates with the ranks of its parameter `group` */
  LIG_OP_GATHERS_ROWS = 1 << 12,    /* y has the rows of all ranks of the group */
  LIG_OP_SHARDS_ROWS = 1 << 13,     /* y has a shard of the rows of x */
  LIG_OP_PASSES_GRADIENT = 1 << 14, /* dx is dy */
  LIG_OP_NORM = 1 << 15, /* normalizes rows by `rstd`, which it computes, and `mean` if centered */
  LIG_OP_GROUPED = 1 << 16, /* multiplies groups of rows by a matrix of `weight` each; recipes
                               without an amax history apply, but not to the weights' gradient */
  LIG_OP_MOVES_ROWS = LIG_OP_GATHERS_ROWS | LIG_OP_SHARDS_ROWS,
} LigOpFlags;

/* A table begins with the sizes of the structs that the program was compiled with, so that a newer
 * library with more fields does not read beyond them: {LIG_OP_INFO_SIZES, .name = …}. */
#define LIG_OP_INFO_SIZES \
  .size = sizeof (LigOpInfo), .param_size = sizeof (LigParam), \
  .parameter_size = sizeof (LigParameterInfo)

/**
 * LigPositions:
 * @LIG_POSITIONS_EACH: a position of y depends on the same position of x
 * @LIG_POSITIONS_EARLIER: also on earlier ones
 * @LIG_POSITIONS_ALL: also on later ones, or on another axis
 *
 * The positions of x `[batch, T, ..]` that a position of y depends on, which determines how text
 * can be generated.
 */
typedef enum { LIG_POSITIONS_EACH, LIG_POSITIONS_EARLIER, LIG_POSITIONS_ALL } LigPositions;

typedef struct _LigOpInfo {
  gsize size, param_size, parameter_size; /* LIG_OP_INFO_SIZES */

  const char *name;     /* kebab-case, at most 60 bytes */
  const char *title;    /* `Layer norm` */
  const char *category; /* a category of the palette: `Normalization` */
  const char *summary;  /* one sentence without a full stop */
  const char *formula;  /* plain text */
  const char *example;  /* an expression with the op and an input: "layer-norm @ 4x16" */
  unsigned flags;       /* LigOpFlags */

  const LigParam *params;             /* at most 128, ends with a null name; may be null */
  gsize params_size;                  /* the size of the op's params struct */
  gsize kernel_params_size;           /* the size of the kernels' params at its beginning */
  const char *extra_inputs;           /* port names, or null; `lengths?` is optional: absent
                                         unless a channel, or `caller`, is given */
  const char *extra_outputs;          /* port names, or null; in a macro, `norm_output?` is optional
                                         in the same way */
  const LigParameterInfo *parameters; /* ends with a null name; may be null */
  const char *computes;               /* values computed for backward: "mean rstd", or null */
  const char *saves;                  /* ports that backward reads: "x mean rstd", or null */
  /* Port names have at most 31 bytes: a lower-case letter, followed by lower-case letters, digits
   * and `_`. */

  /* The shape rule; null if y is like x and the op has no other ports. */
  gboolean (*infer) (LigInfer *infer, GError **error);
  /* One of four implementations: kernels by name, lowering functions, parts, callbacks. */
  const char *forward;  /* the name of a kernel whose operands are ports of the op */
  const char *backward; /* the names of such kernels, separated by spaces; null: none */
  void (*lower_forward) (LigLowering *lowering);
  void (*lower_backward) (LigLowering *lowering);
  /* A macro: adds its parts with lig_parts_add(). */
  void (*expand) (LigOp *self, LigParts *parts);
  /* Called when the op gets its path in a plan, which has the name for a macro's part. Dropout
   * hashes the path for its mask. */
  void (*place) (void *params, const char *path);

  LigOpaqueFunc opaque_forward, opaque_backward;
  gpointer opaque_data;
  const char *form; /* the variant that it computes, in two words: `tanh form`; or null */
  /* Ends with a null title; may be null. A parameter is in one group at most. */
  const LigParamGroup *groups;
  unsigned shardings;      /* LigOpShardings */
  const char *short_title; /* the short title for names of groups; or null */
  const char *noun;        /* the noun for sentences: `a bias`; or null */
  int function; /* for an activation or a gated unit: 1 + its number in the kernels that compute all
                   of them; 0: none */
  /* For an op whose weight has a row for each token of the vocabulary or each class: the parameter
   * with that number, which a tensor group may shard, and the choice of its parameter `parallel`
   * that shards it; both may be null. */
  const char *vocabulary, *vocabulary_choice;
  /* Returns whether the op has no effect with these params; null: it always has one. */
  gboolean (*idle) (const void *params);
  /* Adds the parts that compute the op if a context group shards the sequence axis of its input, of
   * which each rank has `length` tokens; null: the op works on each rank's tokens separately. */
  void (*expand_positions) (LigOp *self, LigParts *parts, gint64 length);
  /* For a macro: replaces the parts from index `at` that make up this macro by one part. Returns
   * the index of that part; `at` if they do not make it up. Null: the parts stay separate. */
  guint (*collect) (LigParts *parts, guint at);
  /* The name of a previously registered op with the same ports, kernel params and arithmetic: this
   * op matches where a fusion's pattern names that one; or null. */
  const char *fuses_as;
  /* Returns the positions that y depends on; for %LIG_POSITIONS_ALL it sets the reason, without the
   * op's name. Null: each, if the op has one of the shardings or is pointwise, else all. */
  LigPositions (*positions) (const void *params,
                             const LigShape *x,
                             const LigShape *y,
                             const char **reason);
  /* The extra input that does not depend on the text, so that a cache keeps it, such as the memory
   * of cross attention; or null. */
  const char *cached_input;
  const char *watches; /* computed values that can be read after a forward pass of a plan that
                          trains, such as the load of experts, or null */
  /* Emits the kernels that change the parameters with own_update, after those of the optimizer.
   * They read values that the op watches, after accumulation those of the last micro-batch, and the
   * norm of the gradients, `$gradient_norm`: if it is not finite, the update is skipped. Null
   * without such parameters. */
  void (*lower_update) (LigLowering *lowering);
  /* Writes the nodes of an ONNX graph that compute the outputs in inference
   * (<ligature/onnx-graph.h>). Null for a macro, whose parts are exported. */
  void (*onnx) (LigOnnx *onnx);
  /* Without `onnx`, for an op that is not a macro: why it has no form in ONNX, a clause that
   * continues `it`: `is a loss`; or null: the table has none. */
  const char *no_onnx;
} LigOpInfo;

/**
 * LigPortKind:
 * @LIG_PORT_X: the main input
 * @LIG_PORT_Y: the main output
 * @LIG_PORT_EXTRA_INPUT: an extra input
 * @LIG_PORT_EXTRA_OUTPUT: an extra output
 * @LIG_PORT_KEPT: a value computed for the backward pass
 * @LIG_PORT_PARAMETER: a trained parameter
 *
 * The kind of a port of an op.
 */
typedef enum {
  LIG_PORT_X,
  LIG_PORT_Y,
  LIG_PORT_EXTRA_INPUT,
  LIG_PORT_EXTRA_OUTPUT,
  LIG_PORT_KEPT,
  LIG_PORT_PARAMETER
} LigPortKind;

/* --- The registry ------------------------------------------------------------------------- */

/**
 * lig_op_info_find:
 * @name: the name of an op
 *
 * Returns: (nullable): the table of the op, %NULL if the name is unknown
 */
LIG_API const LigOpInfo *lig_op_info_find (const char *name);

/**
 * lig_op_info_nth:
 * @n: an index from 0
 *
 * Returns: (nullable): a table: first the built-in ops in the palette's order, then custom ops;
 *   %NULL after the last
 */
LIG_API const LigOpInfo *lig_op_info_nth (guint n);

/**
 * lig_op_info_with:
 * @flags: some of #LigOpFlags
 *
 * Returns: (nullable): the first table that has all of the flags, %NULL if there is none; built-in
 *   ops with %LIG_OP_BLOCK and %LIG_OP_QUANTIZES always exist
 */
LIG_API const LigOpInfo *lig_op_info_with (unsigned flags);

/**
 * lig_op_info_is_optional:
 * @info: the table of an op
 * @index: the index of an extra input
 *
 * Returns: whether the extra input is absent unless a channel is named; the channel `caller` means
 *   that the caller provides it
 */
LIG_API gboolean lig_op_info_is_optional (const LigOpInfo *info, int index);

/**
 * lig_op_info_is_optional_output:
 * @info: the table of an op
 * @index: the index of an extra output
 *
 * Returns: whether the extra output is absent unless a channel is named; the channel `caller` means
 *   that the caller gets it
 */
LIG_API gboolean lig_op_info_is_optional_output (const LigOpInfo *info, int index);

/**
 * lig_op_info_nth_shown:
 * @info: the table of an op
 * @n: an index from 0
 * @group: (out) (optional) (nullable) (transfer none): the title of the parameter's group, not yet
 *   translated; %NULL if it is in none
 *
 * Enumerates the parameters in display order: first those without a group in table order, then
 * group by group.
 *
 * Returns: (transfer none) (nullable): the parameter; %NULL after the last
 */
LIG_API const LigParam *lig_op_info_nth_shown (const LigOpInfo *info, guint n, const char **group);

/* --- Instances ---------------------------------------------------------------------------- */

#define LIG_TYPE_OP (lig_op_get_type ())
LIG_API
G_DECLARE_DERIVABLE_TYPE (LigOp, lig_op, LIG, OP, GObject)

/* The properties are the parameters in the op's table, `fence` (whether no fusion may cross the gap
 * before the op) and `trained` (whether its parameters are trained). A choice is a string property;
 * an unknown name changes nothing, %NULL means the default. Any change emits `changed`. */
struct _LigOpClass {
  GObjectClass parent_class;
  const LigOpInfo *info;
};

/**
 * lig_op_new:
 * @name: the name of a registered op
 *
 * Returns: (transfer full): an op with default parameters, or %NULL with %LIG_ERROR_OP set and the
 *   most similar name in the message
 */
LIG_API LigOp *lig_op_new (const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_op_copy:
 * @self: an op
 *
 * Returns: (transfer full): an independent op with equal parameters; a block's ops are copied, too
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
 * Returns: (transfer none): the op's params struct, described by its table
 */
LIG_API const void *lig_op_get_params (LigOp *self);

/**
 * lig_op_check:
 * @self: an op
 *
 * Checks that every required parameter is set.
 *
 * Returns: %FALSE with %LIG_ERROR_OP set, naming the missing parameter
 */
LIG_API gboolean lig_op_check (LigOp *self, GError **error);

/**
 * lig_op_set_value:
 * @self: an op
 * @param: the name of a parameter
 * @value: a number, boolean, string (a channel or the name of a choice), or a boxed #LigShape
 *
 * Sets a parameter to a value from a file or an expression, after checking its type and range.
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
 * @param: a parameter of the op's table
 * @value: (out): an uninitialized #GValue; set to a gint64, double, boolean, string or boxed
 *   #LigShape; for a choice to its name
 *
 * Returns: whether the parameter differs from its default and must be written to files
 */
LIG_API gboolean lig_op_get_value (LigOp *self, const LigParam *param, GValue *value);

/**
 * lig_op_set_extra_input_channel:
 * @self: an op
 * @index: the index of the extra input
 * @channel: (nullable): a non-empty name; `caller` for the caller, unless a channel has that name;
 *   %NULL: the caller provides the input, or an optional input is absent
 *
 * Sets the channel that feeds an extra input.
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
 * @index: the index of the extra input
 *
 * Returns: (transfer none) (nullable): the channel that feeds the input; %NULL if the
 *   caller does, or if an optional input is absent
 */
LIG_API const char *lig_op_get_extra_input_channel (LigOp *self, int index);

/**
 * lig_op_set_extra_output_channel:
 * @self: an op
 * @index: the index of the extra output
 * @channel: (nullable): a non-empty name, or %NULL for no channel
 * @to_caller: whether the caller also gets the output; without a channel it always does, unless
 *   the output is optional
 *
 * Sets the channel that an extra output feeds.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX or %LIG_ERROR_CHANNEL set
 */
LIG_API gboolean lig_op_set_extra_output_channel (
  LigOp *self, int index, const char *channel, gboolean to_caller, GError **error);

/**
 * lig_op_get_extra_output_channel:
 * @self: an op
 * @index: the index of the extra output
 *
 * Returns: (transfer none) (nullable): the channel that the output feeds
 */
LIG_API const char *lig_op_get_extra_output_channel (LigOp *self, int index);

/**
 * lig_op_get_extra_output_to_caller:
 * @self: an op
 * @index: the index of the extra output
 *
 * Returns: whether the caller gets the output
 */
LIG_API gboolean lig_op_get_extra_output_to_caller (LigOp *self, int index);

/**
 * lig_op_get_fence:
 * @self: an op
 *
 * Returns: whether no group may cross the gap before this op
 */
LIG_API gboolean lig_op_get_fence (LigOp *self);

/**
 * lig_op_set_fence:
 * @self: an op
 * @fence: whether no group may cross the gap
 *
 * Adds a fence to the gap before this op, or removes it.
 */
LIG_API void lig_op_set_fence (LigOp *self, gboolean fence);

/**
 * lig_op_get_trained:
 * @self: an op
 *
 * Returns: whether the parameters of the op, or of a block's ops, are trained, which is the
 *   default; otherwise they are frozen: they have no gradients and no optimizer state, and nothing
 *   is computed for them
 */
LIG_API gboolean lig_op_get_trained (LigOp *self);

/**
 * lig_op_set_trained:
 * @self: an op
 * @trained: whether its parameters are trained
 *
 * Freezes the op's parameters or trains them again. An op in a block is trained only if the block
 * is.
 */
LIG_API void lig_op_set_trained (LigOp *self, gboolean trained);

/**
 * lig_op_get_forbidden:
 * @self: an op
 *
 * Returns: (transfer none) (array zero-terminated=1): the fusions that must not start at this op
 */
LIG_API const char *const *lig_op_get_forbidden (LigOp *self);

/**
 * lig_op_get_forced:
 * @self: an op
 *
 * Returns: (transfer none) (array zero-terminated=1): the fusions that must start at this op
 */
LIG_API const char *const *lig_op_get_forced (LigOp *self);

/**
 * lig_op_set_forbidden:
 * @self: an op
 * @fusions: (array zero-terminated=1) (nullable): the names of fusions, copied
 *
 * Sets the fusions that must not start at this op.
 */
LIG_API void lig_op_set_forbidden (LigOp *self, const char *const *fusions);

/**
 * lig_op_set_forced:
 * @self: an op
 * @fusions: (array zero-terminated=1) (nullable): the names of fusions, copied
 *
 * Sets the fusions that must start at this op.
 */
LIG_API void lig_op_set_forced (LigOp *self, const char *const *fusions);

/**
 * lig_op_get_body:
 * @self: an op
 *
 * Returns: (transfer none) (nullable): the ops that a `block` repeats; %NULL for other ops
 */
LIG_API LigSequence *lig_op_get_body (LigOp *self);

/**
 * lig_op_get_unknown:
 * @self: an op
 *
 * Returns: (transfer none) (nullable): the unknown members of the op in its file, as the text of a
 *   JSON object; saving writes them back
 */
LIG_API const char *lig_op_get_unknown (LigOp *self);

/**
 * lig_op_set_unknown:
 * @self: an op
 * @json: (nullable): the text of a JSON object
 *
 * Sets the unknown members.
 */
LIG_API void lig_op_set_unknown (LigOp *self, const char *json);

G_END_DECLS
