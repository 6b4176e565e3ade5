/* SPDX-License-Identifier: MIT */
/* A draft: a plan under construction. Each pass of the compiler is a file of this folder with one
 * function here; it reads the results of earlier passes and adds its own. verify.c checks each. */
#pragma once

#include "engine/sequence/op-private.h"
#include "engine/sequence/ports.h"
#include <ligature/device.h>
#include <ligature/fusion.h>
#include <ligature/launch.h>
#include <ligature/plan-options.h>
#include <ligature/recipe.h>
#include <ligature/sequence.h>
#include <ligature/tuning.h>

typedef enum {
  LIG_VALUE_INPUT,              /* the caller's main input */
  LIG_VALUE_EXTRA,              /* one of the caller's extra inputs */
  LIG_VALUE_PARAMETER,          /* in the state */
  LIG_VALUE_COMPUTED,           /* computed by a step of the forward pass */
  LIG_VALUE_GIVEN,              /* a gradient that the caller provides */
  LIG_VALUE_GRADIENT,           /* computed by a step of the backward pass */
  LIG_VALUE_PARAMETER_GRADIENT, /* in the state */
  LIG_VALUE_STATE,              /* whole arenas of the state, for the update */
  LIG_VALUE_SCALING,            /* the state's LigScaling */
  LIG_VALUE_QUANTIZERS,         /* the state's scales and histories of quantizers */
} LigValueRole;

typedef struct {
  char *name;
  LigValueRole role;
  LigShape shape;
  LigDtype dtype;
  int alias;            /* value whose memory it shares, or -1 */
  gint64 alias_offset;  /* in bytes into that memory, of a value that is a part of the other */
  int gradient;         /* its gradient's value, or -1 */
  int part;             /* index of the op that computes it, or -1 */
  int reader;           /* of an extra input: index of the first op that reads it */
  int parameter;        /* number in the draft's parameters, or -1 */
  int array;            /* LigStateArray of a STATE value */
  gint64 state_offset;  /* offset in elements into that array */
  LigSharding sharding; /* the part of it that a rank of a tensor group has */
  gboolean needs_gradient;
  unsigned unsure; /* while problems are collected: what of the shape is guessed, see collect.h */
  gboolean saved;  /* read by the backward pass */
  gboolean again;  /* a copy that the backward pass computes again */
  gboolean kept_to_end; /* read by the caller after the run */
  gboolean brief; /* read only by the steps that follow the parameters, which need it no longer */
  /* Written by allocate. */
  int first_step, last_step; /* -1 and G_MAXINT for the caller's values */
  int beside;                /* the last step beside which one of another lane may use it, or -1 */
  gint64 bytes, offset;      /* offset -1: none */
} LigValue;

/* A length of a macro's part that follows from the macro's input: the integer parameter `param` is
 * multiple / divisor times the length of the input's last axis. */
typedef struct {
  const char *param; /* interned; null for none */
  gint64 multiple, divisor;
} LigPartSize;

/* An expanded op with its ports as numbers of values (-1: none). */
typedef struct {
  const LigOpInfo *info;
  const LigOpPorts *ports;
  LigOp *op;         /* owned */
  const char *title; /* of the op as written: `linear` for both parts of the macro */
  char *path;        /* of the op as written */
  char *prefix;      /* of its parameters: the path, in a macro with the part's name */
  char *scope;       /* of its channels; a GRefString */
  gpointer params;   /* a copy, adjusted by the op's place function */
  gboolean fence;
  LigOp *written; /* (unowned) the op as written, in the draft's sequence; its forced and forbidden
                     fusions apply to all its parts */
  int x, y;
  int n_inputs, n_outputs, n_parameters, n_kept;
  int extra_inputs[LIG_MAX_EXTRA], extra_outputs[LIG_MAX_EXTRA];
  LigRange x_range, extra_ranges[LIG_MAX_EXTRA];
  int input_parts[LIG_MAX_EXTRA], input_slots[LIG_MAX_EXTRA]; /* producer; -1: none */
  gboolean present[LIG_MAX_EXTRA]; /* of extra inputs: fed by a producer or by the caller */
  gboolean to_caller[LIG_MAX_EXTRA];
  char *output_channels[LIG_MAX_EXTRA]; /* as written, for verdicts */
  gboolean consumed[LIG_MAX_EXTRA];     /* consumed by a later op */
  int last_reader[LIG_MAX_EXTRA];       /* the last op that consumes it */
  gboolean read_by_macro;               /* a part of a macro consumes an output */
  int sums[LIG_MAX_EXTRA];              /* number in the draft's sums of its gradient, or -1 */
  int parameters[LIG_MAX_PARAMETERS], representations[LIG_MAX_PARAMETERS];
  unsigned tied;   /* bit mask of the parameters that belong to another op */
  gboolean frozen; /* contributes to no parameter's gradient */
  LigRecompute recompute;
  int unit; /* of LIG_RECOMPUTE_ALL: number of the block repetition or macro whose values are
               computed again from its inputs; else -1 */
  int kept[LIG_MAX_KEPT];
  int dx;                             /* its contribution to x's gradient, -1: not needed */
  int extra_gradients[LIG_MAX_EXTRA]; /* its contributions to the gradients of its extra inputs */
  gboolean needs_backward;
  int group[2]; /* forward, backward */
  LigPartSize size;
  int size_from;               /* the macro's first part, whose x is the macro's input */
  const LigRecipe *recipe;     /* of a product and the quantizing parts around it; or null */
  const char *unquantized;     /* why a product with a recipe stays in the compute type */
  gboolean calibrating;        /* a product with a recipe that only records amaxes */
  gboolean implicit;           /* a part `quantize` that expand put before or after a product */
  int quantizers[LIG_N_ROLES]; /* numbers of a product's quantizers; -1: it is not quantized */
  int quantizes[2];            /* of a part `quantize`: of its y, of its dx; or -1 */
  int histories;               /* of a product: number of its first history, or -1 */
  unsigned incomplete; /* a required parameter is missing: what of the output is then guessed */
  gboolean faulty;     /* its shapes do not fit */
} LigPart;

/* A quantized copy of a matrix, of the matrix as it is or of its transpose. */
typedef struct {
  int data, scale; /* values; -1: no product reads the copy */
} LigForm;

/* The quantization of one value. */
typedef struct {
  const LigRecipe *recipe;
  LigProductRole role;
  int of;   /* the value that is read, a parameter or a port of the part */
  int part; /* the part `quantize` that writes the copies; of a weight: its product */
  LigForm row, transposed;
  int scale, recorded; /* values in the state: its scale, and the amax of this step; or -1 */
} LigQuantizer;

/* The amax that a step records of an operand which its product reads in the compute type. */
typedef struct {
  const LigRecipe *recipe;
  LigProductRole role;
  int of, part; /* the value, and its product */
  int recorded; /* value in the state */
} LigCalibration;

/* The entry of a quantizer in the state: {scale, amax, history}, `length` numbers in all. */
typedef struct {
  char *path; /* of the product, `1.qkv` */
  LigProductRole role;
  const LigRecipe *recipe;
  gint64 length, offset;
} LigHistory;

/* A gradient with more than one contribution, summed before its producer runs backward. */
typedef struct {
  int target;            /* value */
  int part;              /* producer */
  GArray *contributions; /* of int */
} LigSum;

/* A copy of a value in another type. */
typedef struct {
  int from, to;
  int part; /* the part before which it runs; -1: at the start; or one of the two below */
} LigConversion;

#define LIG_BEFORE_FORWARD (-2) /* only if the parameters have changed */
#define LIG_AFTER_BACKWARD G_MAXINT

typedef struct {
  const LigFusion *fusion; /* null: a single op */
  LigPass pass;
  int first, count;
  int elements[LIG_MAX_ELEMENTS]; /* part of each element of the pattern, -1 where missing */
  int n_elements;
  int pieces; /* the parts of each rank's rows, of a fusion with least_pieces; 0: as few */
  int first_step, n_steps;
  double bytes, flops, predicted, measured;
} LigGroup;

typedef struct {
  const LigKernel *kernel; /* null: opaque */
  const LigPorts *ports;   /* of the kernel */
  LigOpaqueFunc opaque;
  gpointer opaque_data;
  LigPass pass;
  int group, part;
  LigLane lane;     /* the steps of another lane than the main one may overlap later steps */
  gboolean reduces; /* over the ranks: only once the last micro-batch of an update has run */
  int awaits;       /* the step of the communication lane for which it waits, or -1 */
  int n_operands, n_inputs;
  int values[LIG_MAX_OPERANDS]; /* -1: absent */
  gint64 scratch_bytes;         /* that its kernel needs beyond the workspace */
  int scratch;                  /* value of that memory, set when the steps are final; 0: none */
  _Alignas(max_align_t) guint8 params[LIG_MOST_PARAMS];
  gsize params_size;
  gboolean empty;      /* an operand has no elements, so the kernel is not launched */
  guint zeroed, added; /* bit masks of outputs: set to zero instead; accumulated */
  gboolean adds;       /* always accumulates: earlier steps wrote the same gradients */
  gboolean again;      /* computes a value of the forward pass again */
  double read, written, flops, predicted;
  double starts, lasts, waited; /* see LigPlanStep */
} LigDraftStep;

/* A parameter of the op `part`, before it is its own or that of another op. */
typedef struct {
  int part, slot;
  LigShape shape; /* that the op needs */
  LigParameterSharding sharding;
  gboolean summed; /* its gradient is the sum of those of the ranks of a tensor group */
} LigTie;

/* A parameter, in op order. */
typedef struct {
  char *path;
  int part, slot;        /* the op that it belongs to, and its number there */
  gboolean trained;      /* else it is frozen */
  gboolean shared;       /* other ops are tied to it */
  gboolean summed;       /* its gradient is the sum of those of the ranks of a tensor group */
  LigShape shape, whole; /* of this rank's part, and of all ranks' */
  LigParameterSharding sharding;
  LigInit init;
  float deviation;
  gboolean decays;
  gint64 offset; /* offset in elements into each array of the state but that of parameters */
  gint64 stored; /* offset into that of parameters; -1: only its fp32 master is kept */
  int value, gradient;
} LigDraftParameter;

/* Parameters by what their gradients need on the ranks of a tensor group, in the order in which
 * those with weight decay are placed. */
typedef enum {
  LIG_PARAMETER_EQUAL,   /* nothing: all ranks compute the same */
  LIG_PARAMETER_SUMMED,  /* the sum of those of all ranks */
  LIG_PARAMETER_DIVIDED, /* nothing: each rank has a part of the parameter */
  LIG_N_PARAMETER_KINDS
} LigParameterKind;

#define lig_parameter_kind(parameter) \
  ((parameter)->sharding.axis >= 0 ? LIG_PARAMETER_DIVIDED \
   : (parameter)->summed           ? LIG_PARAMETER_SUMMED \
                                   : LIG_PARAMETER_EQUAL)

/* Elements of the state's arrays. */
typedef struct {
  gint64 first, end;
} LigDraftRange;

/* A range of parameters that the ranks of a data group update together, and this rank's part. */
typedef struct {
  LigDraftRange all, own;
  gint64 kept; /* offset of the part in the optimizer's arrays, which have the rank's parts alone */
} LigShare;

typedef struct {
  LigSequence *sequence;           /* a copy that is not edited */
  struct _LigCollection *problems; /* collects all problems; null: the first error is the end */
  guint n_shape_problems;          /* those before `differentiate` */
  gboolean unsure_input;           /* the input's shape is a guess */
  gboolean apart;                  /* every op is alone, so that no fusion is tried */
  gboolean compared;               /* only its figures are used: its values have no memory */
  guint64 serial, version;         /* of the sequence that was given */
  LigDevice *device;
  LigPlanOptions options;
  LigTuning tuning;        /* the tuning table that the options point to */
  LigOptimizer *optimizer; /* the copy that the options point to; null: none */
  LigPolicy policy;
  LigShape input;
  LigDtype input_dtype, compute, parameter_dtype;
  LigDtype gradient_dtype; /* of parameters */
  GArray *parts;           /* of LigPart */
  GArray *values;          /* of LigValue */
  GArray *parameters;      /* of LigDraftParameter */
  GArray *ties;            /* of LigTie */
  gint64 decayed,
    elements;          /* trained elements of each state array; first those with weight decay */
  gint64 all_elements; /* with the frozen ones, which come last */
  /* The trained parameters of each kind: without weight decay, with it. */
  LigDraftRange ranges[LIG_N_PARAMETER_KINDS][2];
  gboolean fp8_parameters; /* weights of quantized products are kept in fp32 and fp8 alone */
  gint64 stored_elements;  /* of the array of parameters */
  gint64 kept_elements;    /* of the optimizer's arrays on this rank */
  GArray *shares;          /* of LigShare; empty: each rank updates all parameters */
  GArray *sums;            /* of LigSum */
  GPtrArray *recipes;      /* of LigRecipe: those of parts */
  LigRecipe recipe;        /* of the sequence */
  GHashTable *divided;     /* of LigOp: see lig_vocabulary_choose (); null: none */
  const char *whole;    /* a sentence on the last product, which is not; null: it is, or none is */
  LigOp *quantizing[2]; /* the ops of implicit parts: before products, and after them */
  GArray *quantizers;   /* of LigQuantizer */
  GArray *calibrations; /* of LigCalibration, in the order of their products */
  GArray *histories;    /* of LigHistory, all of one recipe in a row */
  gint64 history_elements; /* of all histories */
  GArray *conversions;     /* of LigConversion */
  GArray *scalings;        /* of LigConversion: incoming gradients times the loss scale */
  gboolean scales;         /* TRUE if scalings is not empty */
  GArray *groups[2];       /* of LigGroup, in op order: forward, backward */
  GArray *verdicts;        /* of LigVerdict */
  GPtrArray *mends;        /* of LigMend, by verdict; null where a verdict has none */
  GPtrArray *alternatives; /* of LigMend, likewise: another mend */
  GPtrArray *names;        /* arrays of names that verdicts refer to */
  GHashTable *accepted;    /* those that continue a pattern, by its next element */
  int *owners[2];          /* while fusing: candidate that covers each op, or -1 */
  GHashTable *own_values;  /* of joint fusions, by fusion, ops and name; or null */
  GHashTable *prices; /* measured prices by key, or null; kept for the plan of every op alone */
  GArray *steps;      /* of LigDraftStep */
  /* Steps; those before `first_forward` depend on parameters alone. */
  int first_forward, first_backward, first_update;
  int input_value, output_value, input_gradient, gradient_norm;
  int given, scaling;                       /* the output's gradient from the caller; or -1 */
  int correct, counted;                     /* values of the accuracy step, or -1 */
  GArray *callers_inputs, *callers_outputs; /* of int: values of extra inputs, extra outputs */
  gint64 arena_bytes, live_peak;
  gint64 spared;         /* bytes by which values that are computed again lower live_peak */
  int n_units;           /* of LIG_RECOMPUTE_ALL, see LigPart */
  GStringChunk *strings; /* of verdicts */
} LigDraft;

/* Whether the op does not read the output before it: the line before it ends there. */
#define lig_part_recalls(part) (((part)->info->flags & LIG_OP_RECALL) != 0)

#define lig_part(draft, i) (&g_array_index ((draft)->parts, LigPart, i))
#define lig_value(draft, i) (&g_array_index ((draft)->values, LigValue, i))
#define lig_group(draft, pass, i) (&g_array_index ((draft)->groups[pass], LigGroup, i))
#define lig_step(draft, i) (&g_array_index ((draft)->steps, LigDraftStep, i))
#define lig_quantizer(draft, i) (&g_array_index ((draft)->quantizers, LigQuantizer, i))

/* Whether the part's y, or in the backward pass its dx, exists in quantized copies alone. */
#define lig_part_hides(part, pass) \
  ((part)->implicit && (pass) < LIG_PASS_UPDATE && (part)->quantizes[pass] >= 0)

/* Reads options with the size that this library knows; missing fields, or all if they are null,
 * have their defaults. */
gboolean
lig_plan_options_read (const LigPlanOptions *options, LigPlanOptions *whole, GError **error);

/* Replaces LIG_RECOMPUTE_DEFAULT by the level that it stands for. */
gboolean lig_recompute_resolve (LigSequence *sequence, LigRecompute *level, GError **error);

/* Null options are the defaults. */
LigDraft *lig_draft_new (LigSequence *sequence,
                         LigDevice *device,
                         const LigPlanOptions *options,
                         GError **error);
void lig_draft_free (LigDraft *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigDraft, lig_draft_free)

/* Appends a value; the name is copied. */
int lig_draft_add_value (LigDraft *self,
                         LigValueRole role,
                         const LigShape *shape,
                         LigDtype dtype,
                         int part,
                         const char *format,
                         ...) G_GNUC_PRINTF (6, 7);

/* Returns the value of the state's LigScaling; the first call adds it. */
int lig_draft_scaling (LigDraft *self);

/* Returns the fixed scale of the loss, 0 if a training adapts it. */
double lig_draft_loss_scale (const LigDraft *self);

/* Returns the type of an array of the state, a LigStateArray. */
LigDtype lig_draft_array_dtype (const LigDraft *self, int array);

/* Returns the value that aliases resolve to. */
int lig_draft_root (const LigDraft *self, int value);

/* Adds a value for the scratch memory of the step, if its kernel needs some. It is counted in fp32,
 * and an absurd number of bytes stays one that cannot be allocated. */
void lig_draft_add_scratch (LigDraft *self, LigDraftStep *step);

/* Finds the steps of the communication lane that others wait for, as they read what these write, or
 * write what these read or write, or exchange with the same ranks. */
void lig_find_awaits (LigDraft *draft);

/* Likewise, in a list of steps, by their numbers in it. */
void lig_find_awaits_in (const LigDraft *draft, LigDraftStep *steps, guint count);

/* Returns the last step beside which a step may still run: its operands live until it is joined. A
 * step of the side lane is at the next one there, one of the communication lane at the next one
 * that waits for it, and both at the update, at an opaque op, or at the end. */
int lig_end_of_step (const LigDraft *draft, int index);

/* Returns whether the value lives in the arena, for some steps, and not in the state. */
gboolean lig_value_in_arena (const LigValue *value);

/* Returns the extents of the values in the arena, LigExtent, and for each value the number of its
 * extent, or -1. It writes the lifetimes of values. */
GArray *lig_find_extents (LigDraft *draft, int *numbers);

/* Returns the bytes that are alive at each step, and the most of them. */
gint64 *lig_sum_extents (const LigDraft *draft, const GArray *extents, gint64 *peak);

/* Returns an operand for the value, without memory. */
LigOperand lig_draft_operand (const LigDraft *self, int value);

/* Runs and verifies all passes; registration is blocked while they run. */
gboolean lig_draft_compile (LigDraft *self, GError **error);

/* Runs the passes up to the shapes of all values and parameters. */
gboolean lig_draft_infer (LigDraft *self, GError **error);

/* The passes, in order. Each returns FALSE with the error set. */
gboolean lig_expand (LigDraft *draft, GError **error);
gboolean lig_infer (LigDraft *draft, GError **error);
gboolean lig_differentiate (LigDraft *draft, GError **error);
gboolean lig_represent (LigDraft *draft, GError **error);
gboolean lig_fuse (LigDraft *draft, GError **error);
gboolean lig_schedule (LigDraft *draft, GError **error);
gboolean lig_recompute (LigDraft *draft, GError **error);

/* Unmarks values that ops save, but that no step of the backward pass reads. */
void lig_forget_unread (LigDraft *draft);
gboolean lig_allocate (LigDraft *draft, GError **error);

/* Check the invariants after each pass; an error is a bug of the compiler or of a custom table. */
gboolean lig_verify_parts (const LigDraft *draft, GError **error);
gboolean lig_verify_values (const LigDraft *draft, GError **error);
gboolean lig_verify_groups (const LigDraft *draft, GError **error);
gboolean lig_verify_steps (const LigDraft *draft, GError **error);
gboolean lig_verify_memory (const LigDraft *draft, GError **error);
