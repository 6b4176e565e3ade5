/* SPDX-License-Identifier: MIT */
/* A graph: the ops, values and steps of a plan under construction. Each pass of the compiler
 * (engine/compile/passes.c) reads the results of earlier passes and adds its own; finish.c makes a
 * plan from the final tables. */
#pragma once

#include "engine/graph/layout.h"
#include "engine/graph/request.h"
#include "engine/graph/tables.h"
#include "engine/sequence/op-private.h"
#include "engine/sequence/parts.h"
#include "engine/sequence/ports.h"
#include <ligature/device.h>
#include <ligature/plan-options.h>
#include <ligature/recipe.h>
#include <ligature/sequence.h>
#include <ligature/tuning.h>
#include <ligature/verdict.h>

/* The data of a value that only passes need. */
typedef struct {
  int reader; /* of an extra input: index of the first op that reads it */
  gboolean needs_gradient;
  int order;          /* of its rows, see LigInfer */
  unsigned uncertain; /* while problems are collected: its guessed aspects, see problems.h */
  gboolean
    brief;    /* read only by the steps that depend on parameters alone; not needed after them */
  int beside; /* the last step that overlaps a step of another lane that uses it, or -1 */
} LigValueWork;

/* An expanded op with its ports as numbers of values (-1: none). */
typedef struct {
  LigPlanOp plan;
  const LigOpPorts *ports;
  char *scope;     /* of its channels; a GRefString */
  gpointer params; /* a copy, adjusted by the op's place function */
  int x, y;
  int cache;       /* its keys and values in a plan with a cache, or -1 */
  gboolean source; /* in such a plan: only the memory of cross attention depends on it */
  int n_inputs, n_outputs, n_parameters, n_kept;
  int extra_inputs[LIG_MAX_EXTRA], extra_outputs[LIG_MAX_EXTRA];
  LigRange x_range, extra_ranges[LIG_MAX_EXTRA], output_ranges[LIG_MAX_EXTRA];
  int input_parts[LIG_MAX_EXTRA], input_slots[LIG_MAX_EXTRA]; /* producer; -1: none */
  gboolean present[LIG_MAX_EXTRA]; /* of extra inputs: fed by a producer or by the caller */
  gboolean to_caller[LIG_MAX_EXTRA];
  const char *output_channels[LIG_MAX_EXTRA]; /* as written */
  gboolean consumed[LIG_MAX_EXTRA];           /* consumed by a later op */
  int last_reader[LIG_MAX_EXTRA];             /* the last op that consumes it */
  gboolean read_by_macro;                     /* a part of a macro consumes an output */
  int sums[LIG_MAX_EXTRA]; /* number in the graph's sums of its gradient, or -1 */
  int parameters[LIG_MAX_PARAMETERS], representations[LIG_MAX_PARAMETERS];
  unsigned tied;   /* bit mask of the parameters that belong to another op */
  gboolean frozen; /* contributes to no parameter's gradient */
  LigRecompute recompute;
  int unit; /* of LIG_RECOMPUTE_ALL: number of the block repetition or macro whose values are
               recomputed from its inputs; else -1 */
  int kept[LIG_MAX_KEPT];
  int dx;                             /* its contribution to x's gradient, -1: not needed */
  int extra_gradients[LIG_MAX_EXTRA]; /* its contributions to the gradients of its extra inputs */
  int group[2];                       /* forward, backward */
  LigPartSize size;
  int size_from;               /* the macro's first part, whose x is the macro's input */
  const LigRecipe *recipe;     /* of a matmul and the quantizing parts around it; or null */
  gboolean calibrating;        /* a matmul with a recipe that only records amaxes */
  int quantizers[LIG_N_ROLES]; /* numbers of a matmul's quantizers; -1: it is not quantized */
  int quantizes[2];            /* of a part `quantize`: of its y, of its dx; or -1 */
  int histories;               /* of a matmul: number of its first history, or -1 */
  unsigned incomplete; /* a required parameter is missing: the guessed aspects of the output */
  gboolean faulty;     /* its shapes do not fit */
} LigPart;

/* A quantized copy of a matrix or of its transpose. */
typedef struct {
  int data, scale; /* values; -1: no matmul reads the copy */
} LigForm;

/* The quantization of one value. */
typedef struct {
  const LigRecipe *recipe;
  LigMatmulRole role;
  int of;   /* the value that is read, a parameter or a port of the part */
  int part; /* the part `quantize` that writes the copies; of a weight: its matmul */
  LigForm row, transposed;
  int scale, recorded; /* values in the state: its scale, and the amax of this step; or -1 */
  gboolean keeps;      /* its matmul also reads the values themselves */
} LigQuantizer;

/* The amax of an operand that its matmul reads in the compute type, recorded by a step. */
typedef struct {
  const LigRecipe *recipe;
  LigMatmulRole role;
  int of, part; /* the value, and its matmul */
  int recorded; /* value in the state */
} LigCalibration;

/* A step while a plan is compiled: in the graph, in a probe or in a list that is timed. */
typedef struct {
  LigPlanStep plan;
  LigStepCode code;
  const LigPorts *ports;               /* of the kernel */
  int values[LIG_MAX_OPERANDS];        /* -1: absent */
  const char *bound[LIG_MAX_OPERANDS]; /* the ports to which a table binds the operands; or null */
  gint64 scratch_bytes;                /* bytes that its kernel needs beyond the workspace */
} LigGraphStep;

/* The op that a parameter belongs to, its number there, and its value. */
typedef struct {
  int part, slot, value;
} LigOwner;

/* A parameter of the op `part`, before ties are resolved. */
typedef struct {
  int part, slot;
  LigShape shape; /* that the op needs */
  LigParameterSharding sharding;
  gboolean summed; /* its gradient is summed over the tensor-parallel group */
} LigTie;

typedef struct _LigGradients LigGradients;
typedef struct _LigVocabulary LigVocabulary;
typedef struct _LigChoice LigChoice;
typedef struct _LigCollection LigCollection;

/* The tables of a compilation, and the opaque data that other rooms keep for it. */
typedef struct _LigGraph {
  const LigRequest *request;
  LigStateLayout *layout;    /* written by infer */
  LigGradients *gradients;   /* of `differentiate` and `represent` */
  LigVocabulary *vocabulary; /* written by expand; null: not sharded */
  LigChoice *choice;         /* written by fuse */
  LigCollection *problems;   /* collects all problems; null: stops at the first error */
  guint n_shape_problems;    /* those before `differentiate` */
  GArray *owners;            /* of LigOwner, by number of the layout's parameters */
  GArray *parts;             /* of LigPart */
  GArray *values;            /* of LigPlanValue */
  GArray *value_work;        /* of LigValueWork, likewise */
  GArray *ties;              /* of LigTie */
  GPtrArray *recipes;        /* of LigRecipe: those of parts */
  GArray *quantizers;        /* of LigQuantizer */
  GArray *calibrations;      /* of LigCalibration, in the order of their matmuls */
  GArray *groups[2];         /* of LigPlanGroup, in op order: forward, backward */
  GHashTable *own_values;    /* of joint fusions, by fusion, ops and name; or null */
  GArray *steps;             /* of LigGraphStep */
  LigPhases phases;
  LigEnds ends;
  gint64 arena_bytes, live_peak, cache_bytes;
  gint64 cache_ring; /* the fewest positions that an op keeps of a text; 0: all */
  int text_start;    /* with cross attention: the part that loads the text */
  GArray *memories;  /* of LigMemory */
  int cache_inputs[LIG_N_CACHE_INPUTS]; /* values that the caller sets in a plan with a cache */
  gint64 spared;                        /* bytes by which recomputation lowers live_peak */
  GStringChunk *strings;                /* of verdicts */
} LigGraph;

/* Whether the op does not read the preceding output: the line before it ends there. */
#define lig_part_loads_branch(part) (((part)->plan.info->flags & LIG_OP_LOADS_BRANCH) != 0)

#define lig_part(graph, i) (&g_array_index ((graph)->parts, LigPart, i))
#define lig_value(graph, i) (&g_array_index ((graph)->values, LigPlanValue, i))
#define lig_value_work(graph, i) (&g_array_index ((graph)->value_work, LigValueWork, i))
#define lig_group(graph, pass, i) (&g_array_index ((graph)->groups[pass], LigPlanGroup, i))
#define lig_step(graph, i) (&g_array_index ((graph)->steps, LigGraphStep, i))
#define lig_parameter(graph, i) (&g_array_index ((graph)->layout->parameters, LigParameter, i))
#define lig_owner(graph, i) (&g_array_index ((graph)->owners, LigOwner, i))
#define lig_quantizer(graph, i) (&g_array_index ((graph)->quantizers, LigQuantizer, i))

/* Whether the part's y, or in the backward pass its dx, exists only as quantized copies. */
#define lig_part_hides(part, pass) \
  ((part)->plan.implicit && (pass) < LIG_PASS_UPDATE && (part)->quantizes[pass] >= 0)

/* Creates the empty tables. */
void lig_graph_make_arrays (LigGraph *self);

/* Frees only the tables; other callers use lig_compilation_free(), which also frees the data that
 * other rooms keep for the graph. */
void lig_graph_free_tables (LigGraph *self);
