/* SPDX-License-Identifier: MIT */
/* Declarations for the files of engine/ops: the op's table and the shape checks. Messages need not
 * name the op: shape inference prefixes them with `linear at 3: `. */
#pragma once

#include "kernels/functions.h"
#include <ligature/lowering.h>
#include <ligature/onnx-graph.h>

#include <glib/gi18n-lib.h>

/* Defines the table of an op: LIG_DEFINE_OP (layer_norm) = { … }; the name is that of the file,
 * with `_` for `-`. */
#define LIG_DEFINE_OP(name) \
  extern const LigOpInfo lig_op_##name; \
  const LigOpInfo lig_op_##name

/* Returns whether x has at least one axis. */
gboolean lig_check_has_axis (const LigInfer *infer, GError **error);

/* Returns whether the last axis of x has length `features`; 0 accepts any length. */
gboolean lig_check_features (const LigInfer *infer, gint64 features, GError **error);

/* Returns whether the last axes of x are `wanted`. */
gboolean lig_check_trailing (const LigInfer *infer, const LigShape *wanted, GError **error);

/* Returns whether extra input `index`, called `name`, has this shape; sets the shape of one that
 * the caller provides. A missing one is accepted. */
gboolean lig_check_extra (LigInfer *infer,
                          int index,
                          const char *name,
                          const LigShape *wanted,
                          LigDtype dtype,
                          GError **error);

/* Returns whether the rows of x are in the order of the batch, so that they have positions and are
 * of known samples: after permute they are not. */
gboolean lig_check_batch (const LigInfer *infer, GError **error);

/* Returns whether the rows of x and of extra input `index`, called `name`, have the same order. */
gboolean lig_check_order (const LigInfer *infer, int index, const char *name, GError **error);

/* Returns whether the rows of x are those of the batch: after dispatch they are those of the
 * experts, and random numbers by row would depend on the routing. */
gboolean lig_check_own_rows (const LigInfer *infer, GError **error);

/* Returns the hash of an op's path, which gives each random op its own RNG stream. */
guint64 lig_hash_path (const char *path);

/* Returns the number of positions T of x, [.., T, features]; 1 if it has one axis. */
gint64 lig_count_positions (const LigInfer *infer);

/* The heads that are packed in a row, as kernels count them. */
typedef struct {
  int32_t heads, kv_heads; /* of queries; of keys and of values */
  int32_t features;        /* of one head */
  int32_t length;          /* positions */
} LigHeads;

/* Splits the rows of x into heads of queries and, unless x has only queries, of keys and values;
 * `kv_heads` 0: as many as `heads`. */
gboolean lig_infer_heads (const LigInfer *infer,
                          gint64 heads,
                          gint64 kv_heads,
                          gboolean queries_alone,
                          LigHeads *packed,
                          GError **error);

#define LIG_MAX_POSITIONS (1 << 30)
#define LIG_HEADS(type, field) \
  LIG_INT (type, field, "heads", N_ ("Heads"), N_ ("Number of query heads"), 1, 65535, 0, \
           LIG_PARAM_REQUIRED | LIG_PARAM_POSITIONAL)
#define LIG_KV_HEADS(type, field) \
  LIG_INT (type, field, "kv-heads", N_ ("Key heads"), \
           N_ ("Number of key and value heads; omitted or 0: as many as query heads"), 1, 65535, \
           0, LIG_PARAM_INFERRED)

/* Parameters of attention shared by its op and the macros. */
typedef struct {
  gint64 window;
  int32_t mask;
  float scale, softcap;
  bool alibi, sinks;
} LigScores;

#define LIG_SINKS_PARAM(type, field) \
  LIG_BOOLEAN (type, field, "sinks", N_ ("Sinks"), \
               N_ ("Adds the exponential of a learned number per head to the sum by which the " \
                   "softmax divides"), \
               FALSE)

#define LIG_SCORE_PARAMS(type, field) \
  LIG_CHOICE (type, field.mask, "mask", N_ ("Mask"), \
              N_ ("Keys that a query attends to; causal: none after its own position"), \
              "causal|none|causal-bottom-right", 0), \
    LIG_INT (type, field.window, "window", N_ ("Window"), \
             N_ ("Sliding window W: a query attends to at most W keys, with mask=none to " \
                 "2 W - 1 around its own; 0: all"), \
             0, G_MAXINT32, 0, 0), \
    LIG_FLOAT (type, field.scale, "scale", N_ ("Scale"), \
               N_ ("Scale of the scores; 0: 1 / sqrt(head dim)"), 0, 1e6, 0), \
    LIG_FLOAT (type, field.softcap, "softcap", N_ ("Soft cap"), \
               N_ ("Soft cap of the scores, by tanh; 0: none"), 0, 1e6, 0), \
    LIG_BOOLEAN (type, field.alibi, "alibi", N_ ("ALiBi"), \
                 N_ ("Adds a bias to each score that decreases linearly with the distance"), \
                 FALSE), \
    LIG_SINKS_PARAM (type, field.sinks)

/* Parameters of the rotary position embedding; macros give them a prefix. */
typedef struct {
  gint64 original;
  int32_t scaling;
  float base, fraction, factor, low, high, magnitude;
  bool interleaved, truncate;
} LigRotation;

#define LIG_ROTATION_PARAMS(type, field, prefix) \
  LIG_FLOAT (type, field.base, prefix "base", N_ ("Rotary base"), \
             N_ ("Base of the rotary frequencies"), 1, 1e9, 10000), \
    LIG_FLOAT (type, field.fraction, prefix "fraction", N_ ("Rotary fraction"), \
               N_ ("Fraction of the head dim that is rotated"), 0, 1, 1), \
    LIG_BOOLEAN (type, field.interleaved, prefix "interleaved", N_ ("Rotary interleaved"), \
                 N_ ("Rotates adjacent features as pairs instead of the two halves"), FALSE), \
    LIG_CHOICE (type, field.scaling, prefix "scaling", N_ ("Rotary scaling"), \
                N_ ("How the frequencies are scaled for longer contexts"), \
                "none|linear|llama3|yarn", 0), \
    LIG_FLOAT (type, field.factor, prefix "factor", N_ ("Rotary factor"), N_ ("Scaling factor"), \
               1e-3, 1e6, 8), \
    LIG_FLOAT (type, field.low, prefix "low", N_ ("Rotary low"), \
               N_ ("llama3, yarn: wavelengths above original / low are scaled"), 1e-3, 1e6, 1), \
    LIG_FLOAT ( \
      type, field.high, prefix "high", N_ ("Rotary high"), \
      N_ ("llama3, yarn: wavelengths below original / high are not scaled; yarn: mostly 32"), \
      1e-3, 1e6, 4), \
    LIG_INT (type, field.original, prefix "original", N_ ("Rotary original"), \
             N_ ("llama3, yarn: original context length of the model"), 1, G_MAXINT32, 8192, 0), \
    LIG_FLOAT (type, field.magnitude, prefix "magnitude", N_ ("Rotary magnitude"), \
               N_ ("yarn: factor of queries and keys; 0: 0.1 ln (factor) + 1, at least 1"), 0, \
               1e6, 0), \
    LIG_BOOLEAN (type, field.truncate, prefix "truncate", N_ ("Rotary truncate"), \
                 N_ ("yarn: extends the range of features between low and high to whole numbers"), \
                 TRUE)

/* Returns the shape without its last `axes` axes. */
LigShape lig_shape_without (const LigShape *shape, int axes);

/* Checks that a rank with a part of the rows has whole samples: the samples have a separate
 * axis. */
gboolean lig_check_samples (const LigInfer *infer, GError **error);

/* Checks that x has an even sequence length, on a separate axis. */
gboolean lig_check_halves (const LigInfer *infer, GError **error);

/* Checks that the length, called `name`, is a multiple of the tensor-parallel size. */
gboolean
lig_check_sharding (const LigInfer *infer, const char *name, gint64 length, GError **error);

/* The trained parameter of ops with LIG_SINKS_PARAM. */
#define LIG_SINKS_PARAMETERS \
  { \
    {.name = "sinks", .init = LIG_INIT_ZEROS}, \
    { \
      .name = NULL \
    } \
  }

/* Sets the shape of the sinks, of which the op has `heads` on all ranks; without `sinks` the op has
 * no parameters. */
void lig_infer_sinks (LigInfer *infer, gboolean sinks, gint64 heads, const LigHeads *packed);

/* Emit the kernel that adds the sinks to the values `all` and `all_lse` of the op, which
 * lig_lower_before_sinks() makes, and the kernel of their gradient. Any attention kernel computes y
 * and lse without sinks, and its backward pass is right for the corrected values. */
void lig_lower_before_sinks (LigLowering *lowering);
void lig_lower_sinks (LigLowering *lowering, const LigHeads *packed);
void lig_lower_sinks_backward (LigLowering *lowering, const LigHeads *packed);

/* Adds the parts of attention over a sharded sequence: see LigOpInfo.expand_positions. */
void lig_attention_expand_positions (LigOp *attention, LigParts *parts, gint64 length);

/* How tensor parallelism shards a matmul's weight. */
typedef enum {
  LIG_PARALLEL_NONE,
  LIG_PARALLEL_COLUMN,
  LIG_PARALLEL_ROW,
  LIG_PARALLEL_AUTO, /* only for linear: its out-features before a cross-entropy, else none */
} LigParallel;

/* Returns the name as in files. */
const char *lig_parallel_name (LigParallel parallel);

/* Add the collective before a column-parallel matmul, or after a row-parallel one, with tensor
 * parallelism. By default the activations outside are whole on each rank; `by_rows`: each rank has
 * a part of their rows. */
void lig_parts_add_before (LigParts *parts, LigParallel parallel, gboolean by_rows);
void lig_parts_add_after (LigParts *parts, LigParallel parallel, gboolean by_rows);

/* The params of linear and basic-linear. */
typedef struct {
  gint64 out_features, in_features;
  LigShape sections;
  float init_std;
  bool bias, sequence_parallel;
  int32_t recipe, parallel;
} LigLinearOpParams;

/* The parameter `tied` of ops whose first trained parameter is a weight. */
#define LIG_TIED \
  { \
    .kind = LIG_PARAM_PATH, .name = "tied", .label = N_ ("Tied"), \
    .help = N_ ("Path of the op whose weight this op shares") \
  }

/* The parameter of blocks and macros that selects the activations to recompute, see
 * LigRecompute. */
#define LIG_RECOMPUTE_PARAM(type, field) \
  LIG_CHOICE (type, field, "recompute", N_ ("Recompute"), \
              N_ ("Activations that the backward pass recomputes instead of saving them: cheap " \
                  "excludes matmuls and attention; inherit: as in the enclosing block"), \
              "inherit|none|cheap|all", 0)

/* The parameter of blocks and matmuls that selects the quantization recipe: the names of all
 * recipes (engine/recipes). */
#define LIG_RECIPE_PARAM(type, field) \
  LIG_CHOICE (type, field, "recipe", N_ ("Recipe"), \
              N_ ("How the operands of matmuls are quantized; inherit: as in the " \
                  "enclosing block"), \
              "inherit|none|fp8-delayed|fp8-current|fp8-rows|fp8-block|mxfp8|nvfp4", 0)

#define LIG_MAX_FEATURES 1e9
#define LIG_LINEAR_PARAMS(shardings, sharding, sharding_help) \
  LIG_INT (LigLinearOpParams, out_features, "out-features", N_ ("Out features"), \
           N_ ("Length of the output's last axis"), 1, LIG_MAX_FEATURES, 0, \
           LIG_PARAM_REQUIRED | LIG_PARAM_POSITIONAL), \
    LIG_INT (LigLinearOpParams, in_features, "in-features", N_ ("In features"), \
             N_ ("Length of the input's last axis; default: that of the actual input"), 1, \
             LIG_MAX_FEATURES, 0, LIG_PARAM_INFERRED), \
    LIG_FLOAT (LigLinearOpParams, init_std, "init-std", N_ ("Initial std"), \
               N_ ("Standard deviation of the initial weights"), 0, 1000, 0.023), \
    LIG_RECIPE_PARAM (LigLinearOpParams, recipe), \
    LIG_CHOICE (LigLinearOpParams, parallel, "parallel", N_ ("Parallel"), sharding_help, \
                shardings, sharding), \
    {.kind = LIG_PARAM_SHAPE, \
     .name = "sections", \
     .label = N_ ("Sections"), \
     .help = \
       N_ ("Relative sizes of the parts of the out-features that are each sharded: [1, 1] for a " \
           "gated unit, or the heads of queries, keys and values; default: one part"), \
     .minimum = 1, \
     .maximum = G_MAXINT32, \
     .flags = LIG_PARAM_INFERRED, \
     .offset = G_STRUCT_OFFSET (LigLinearOpParams, sections)}, \
    LIG_TIED

/* The parameter `group` of collectives. Their params structs begin with LigCollectiveParams; in a
 * group of one rank they pass their input on. */
#define LIG_RANK_GROUP(type, field) \
  LIG_CHOICE ( \
    type, field, "group", N_ ("Group"), \
    N_ ("Parallel group: ranks with different rows of the batch (data), different parts of " \
        "the sequence (context), or different parts of the parameters (tensor)"), \
    "data|context|tensor", LIG_GROUP_TENSOR)

/* Sets the kernel's params. In a tensor-parallel group, x must have the sharding `from`, and y gets
 * the sharding `to`. */
gboolean lig_infer_collective (
  LigInfer *infer, int group, LigShardingKind from, LigShardingKind to, GError **error);

/* Shards the first axis of y over the ranks of the group, or gathers it. */
gboolean lig_infer_scattered (LigInfer *infer, int group, GError **error);
gboolean lig_infer_gathered (LigInfer *infer, int group, GError **error);

/* Emits the kernel that computes y from x; null: x is passed on. */
static inline void
lig_lower_or_pass (LigLowering *lowering, const char *kernel)
{
  if (kernel)
    lig_lower_kernel (lowering, kernel, NULL, NULL, 0);
  else
    lig_lower_alias (lowering, "y", "x");
}

/* The same for dx from dy. */
static inline void
lig_lower_backward_or_pass (LigLowering *lowering, const char *kernel)
{
  if (kernel)
    lig_lower_kernel (lowering, kernel, "x=dy y=dx", NULL, 0);
  else
    lig_lower_alias (lowering, "dx", "dy");
}

/* Emit a kernel for y and one for dx; if it is null, or the group has one rank, the value is passed
 * on. */
void lig_lower_collective (LigLowering *lowering, const char *kernel);
void lig_lower_collective_backward (LigLowering *lowering, const char *kernel);

/* Write the ONNX nodes of activations of a value (onnx-parts.c). */
typedef const char *LigOnnxActivation (LigOnnx *onnx, const char *x);
LigOnnxActivation lig_onnx_gelu, lig_onnx_gelu_erf, lig_onnx_qgelu, lig_onnx_relu, lig_onnx_sigmoid,
  lig_onnx_silu, lig_onnx_srelu;

/* Writes those of an op that is an activation of x. */
void lig_onnx_activate (LigOnnx *onnx, LigOnnxActivation *activation);

/* Returns x with its last axis split into heads, [.., heads, features]. */
const char *lig_onnx_split_heads (LigOnnx *onnx, const char *x, int n_axes, gint64 features);
