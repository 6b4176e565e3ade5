/* SPDX-License-Identifier: MIT */
/* The tables of a plan: ops, groups, steps and values by number. They belong to the plan and never
 * change. Shapes, elements and bytes are those of this rank; times are in seconds. */
#pragma once

#include <ligature/launch.h>
#include <ligature/op.h>
#include <ligature/verdict.h>

G_BEGIN_DECLS

typedef struct LigKernel LigKernel;

/* A port of an op, which is an edge of the graph: the value there, and where it comes from. */
typedef struct {
  const char *name;
  LigPortKind kind;
  int value;      /* -1: absent */
  int gradient;   /* the value that is the gradient there: what the op contributes to that of an
                     input, the whole one of an output; -1: none is needed */
  int from, slot; /* of an input: the op that computes it, -1 for the caller, and the number of
                     the extra output, -1 for y */
  const char *channel; /* that feeds the extra input, or that the extra output feeds; or null */
  LigRange range;      /* of an input of integers: those that the op accepts */
} LigPlanPort;

/* An operand of a step. */
typedef struct {
  int value;        /* -1: the kernel does without it */
  const char *name; /* of the kernel's operand, by its signature; null: of an opaque op */
  const char *port; /* the port to which a table binds it: `x` of an op alone, `0.x`, `1.y:row` of a
                       fusion; null: no table emitted the step */
} LigPlanOperand;

/* An op after expansion: blocks are repeated, macros replaced by their parts. */
typedef struct {
  int index;
  const char *path;
  const char *prefix; /* the beginning of its parameters' paths: the path, and in a macro the part's
                         name */
  LigOp *op;          /* the plan's copy of the op, or of a macro's part; read-only */
  const void *params; /* a copy of its params, adjusted to its place among the ops */
  const char *title;  /* the name of the op as written: `linear` for both parts of the macro */
  const LigOpInfo *info;
  LigOp *written; /* the op as written, whose forced and forbidden fusions apply to all its parts */
  LigShape x, y;  /* x of an op that recalls another value is that value, its y */
  LigDtype y_dtype;
  gint64 parameters;  /* the number of elements of its own parameters, trained and frozen */
  gint64 frozen;      /* of these, the frozen ones */
  gint64 saved_bytes; /* bytes saved for the backward pass and not counted at an earlier op */
  gboolean needs_backward;
  /* For each parameter of its table that is tied: the path of the other op's parameter. */
  const char *tied[LIG_MAX_PARAMETERS];
  gboolean fence;    /* no group crosses the gap before it */
  gboolean implicit; /* quantizes for the matmul before or after it; not written by a person */
  gboolean hides[2]; /* of an implicit op, by pass: its y, or its gradient of x, exists in quantized
                        copies alone */
  const char *recipe; /* of a matmul: the recipe that quantizes its operands; null: they are not
                         quantized */
  int n_ports;
  const LigPlanPort *ports; /* x, y, extra inputs and outputs, parameters, kept values */
  const char *unquantized;  /* of a matmul with a recipe: why its operands are not quantized: `50
                              output features, fp8-rows needs a multiple of 16`; or null */
} LigPlanOp;

/**
 * lig_plan_op_get_port: (skip)
 * @self: an op of a plan
 * @kind: a kind of ports
 * @slot: a number among the ports of the kind, from 0
 *
 * Returns: (nullable): the port; %NULL if the op has not so many
 */
LIG_API const LigPlanPort *lig_plan_op_get_port (const LigPlanOp *self, LigPortKind kind, int slot);

/* The ops that one fusion covers in a pass, or one op alone. */
typedef struct {
  const LigFusion *fusion; /* null: one op alone */
  LigPass pass;
  int first, count;    /* expanded indexes */
  int n_steps;         /* 0: no kernel is launched */
  const int *steps;    /* their numbers, in the order in which they run; between them may be an
                          exchange of gradients, which belongs to no group */
  double bytes, flops; /* that its steps read and write, and compute */
  double predicted;    /* seconds, from the device's peak rates and costs; 0 if these are unknown */
  double floor;        /* seconds that the peak rates alone allow; 0 if unknown */
  double measured;     /* seconds; 0 if nothing was measured */
  const char *title;   /* the ops in translated words: `Linear + bias + GELU` */
  int pieces;          /* parts in which each rank's rows are exchanged; 0: the fusion has none */
  int n_elements, elements[LIG_MAX_ELEMENTS]; /* the op of each element of the fusion's pattern, or
                                                 -1; of an op alone, read `first` */
  int bits;        /* of the elements of the quantized copies that its steps use; 0: of none */
  gboolean forced; /* by the op as written at its first op */
} LigPlanGroup;

/* One kernel launch. */
typedef struct {
  const LigKernel *kernel; /* null: an opaque op's callback */
  LigPass pass;
  int group;    /* index of a group of its pass, or -1 */
  int part;     /* expanded index of the first op it serves; -1: it serves no op, as the update or
                   a collective of gradients does */
  LigLane lane; /* not the main one: runs in parallel with the steps after it, in the side
                   lane up to the next such step, in both up to the update */
  const LigPlanOperand *operands; /* the inputs first */
  double read, written;           /* bytes */
  double flops;
  double predicted; /* seconds; 0 if the device's peak rates are unknown */
  double floor;     /* seconds that the peak rates alone allow; 0 if unknown */
  gboolean
    once; /* depends on parameters alone: runs only after they have changed, once per update */
  gboolean again; /* of the backward pass: computes a value of the forward pass again */
  double starts;  /* predicted seconds from the beginning of the forward pass */
  double lasts;   /* predicted seconds; in the communication lane `predicted` is less, the seconds
                     that the step adds to its pass */
  double waited;  /* of a collective: the predicted seconds for which the main lane waits */
  int n_inputs, n_operands; /* the inputs are the first of the operands */
  int awaits;               /* the step of the communication lane for which it waits, or -1 */
  gboolean reduces; /* over the ranks: only once the last micro-batch of an update has run */
} LigPlanStep;

/**
 * lig_plan_group_get_predicted:
 * @self: a group of a plan
 *
 * Returns: its predicted seconds: 0 of a group without a kernel, NaN where the device's peak rates
 * are unknown, so that a sum of which a part is unknown is, too
 */
LIG_API double lig_plan_group_get_predicted (const LigPlanGroup *self);

/**
 * lig_plan_step_get_predicted:
 * @self: a step of a plan
 *
 * Returns: its predicted seconds; NaN where the device's peak rates are unknown
 */
LIG_API double lig_plan_step_get_predicted (const LigPlanStep *self);

/**
 * LigPlace:
 * @LIG_PLACE_UNUSED: it has no memory
 * @LIG_PLACE_ARENA: the arena, memory that values share whose lifetimes do not overlap
 * @LIG_PLACE_ALIAS: the memory of another value
 * @LIG_PLACE_STATE: the state
 * @LIG_PLACE_HOST: the host's memory
 *
 * The memory of a value.
 */
typedef enum {
  LIG_PLACE_UNUSED,
  LIG_PLACE_ARENA,
  LIG_PLACE_ALIAS,
  LIG_PLACE_STATE,
  LIG_PLACE_HOST
} LigPlace;

/**
 * lig_place_name:
 * @place: a place
 *
 * Returns: (transfer none): `unused`, `arena`, `alias`, `state` or `host`
 */
LIG_API const char *lig_place_name (LigPlace place);

typedef enum {
  LIG_VALUE_INPUT,              /* the caller's main input */
  LIG_VALUE_EXTRA,              /* one of the caller's extra inputs */
  LIG_VALUE_PARAMETER,          /* in the state */
  LIG_VALUE_COMPUTED,           /* computed by a step: no gradient, or scratch memory of any pass */
  LIG_VALUE_GIVEN,              /* a gradient that the caller provides */
  LIG_VALUE_GRADIENT,           /* computed by a step of the backward pass */
  LIG_VALUE_PARAMETER_GRADIENT, /* in the state */
  LIG_VALUE_STATE,      /* a range of an array of the state, for collectives and the update */
  LIG_VALUE_SCALING,    /* the state's LigScaling */
  LIG_VALUE_QUANTIZERS, /* the state's scales and histories of quantizers */
} LigValueRole;

/* A tensor of the plan and its memory. The name of a parameter is its path, `3.weight`; the name of
 * a value that an op computes has the op's index, `#5.y`; the name of a gradient has a `d` in
 * front. Ids are indexes, -1 is none. */
typedef struct {
  const char *name;
  LigValueRole role;
  LigShape shape;
  LigDtype dtype;
  LigSharding sharding; /* the part of it that a rank of a tensor group has */
  int op;               /* that computes it */
  int gradient;         /* the value that is its gradient */
  int parameter;        /* its number among the parameters of the state */
  int alias;            /* the value whose memory it shares */
  gint64 alias_offset;  /* in bytes into the memory to which aliases lead in the end */
  int array;            /* of a parameter or a range of the state: a LigStateArray */
  gint64 state_offset;  /* in elements into the array, or into the state's quantizers */
  gboolean saved;       /* read by the backward pass */
  gboolean again;       /* a copy that the backward pass computes again */
  gboolean kept_to_end; /* read by the caller after the run */
  LigPlace place;
  gint64 offset, bytes; /* offset in the arena; -1: it has no memory there */
  int first, last;      /* the steps that use its memory: first is -1 and last G_MAXINT where the
                           caller does; first > last: none does */
  int n_writers, n_readers;
  const int *writers, *readers; /* the steps that write it and read it, in their order */
} LigPlanValue;

G_END_DECLS
