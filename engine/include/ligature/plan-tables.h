/* SPDX-License-Identifier: MIT */
/* The tables of a plan: ops, groups, steps and values, which refer to each other by number. They
 * belong to the plan and never change. Shapes, elements and bytes are those of this rank; times are
 * in seconds. */
#pragma once

#include <ligature/launch.h>
#include <ligature/op.h>
#include <ligature/verdict.h>

G_BEGIN_DECLS

typedef struct LigKernel LigKernel;

/* A port of an op, which is an edge of the graph: its value, and where that comes from. */
typedef struct {
  const char *name;
  LigPortKind kind;
  int value;      /* -1: absent */
  int gradient;   /* the gradient's value: for an input, this op's contribution to it; for an
                     output, the whole gradient; -1: none is needed */
  int from, slot; /* for an input: the op that computes it, -1 for the caller, and the number of
                     that op's extra output, -1 for y */
  const char *channel; /* the channel of an extra input or output; or null */
  LigRange range;      /* for an integer input: the values that the op accepts */
} LigPlanPort;

/* An operand of a step. */
typedef struct {
  int value;        /* -1: the optional operand is absent */
  const char *name; /* its name in the kernel's signature; null for an opaque op */
  const char *port; /* the port that a table binds it to: `x` for an unfused op, `0.x`, `1.y:row`
                       for a fusion; null: no table emitted the step */
} LigPlanOperand;

/* An op after expansion, which repeats blocks and replaces macros by their parts. */
typedef struct _LigPlanOp {
  int index;
  const char *path;
  const char *prefix; /* the prefix of its parameters' paths: the path, followed by the name for a
                         part of a macro */
  LigOp *op;          /* the plan's copy of the op, or of a macro's part; read-only */
  const void *params; /* a copy of its params, adjusted to its place in the plan */
  const char *title;  /* the name of the op as written: `linear` for both parts of the macro */
  const LigOpInfo *info;
  LigOp *written; /* the op as written, whose forced and forbidden fusions apply to all of its
                     parts */
  LigShape x, y;  /* a load-branch op has its y, the loaded value, as x */
  LigDtype y_dtype;
  gint64 parameters;  /* the number of elements of its own parameters, trained or not */
  gint64 frozen;      /* the number of these that are frozen */
  gint64 own_updated; /* the number of these that the op changes itself */
  gint64 saved_bytes; /* bytes saved for the backward pass that no earlier op counts */
  gboolean needs_backward;
  /* For each parameter of its table that is tied: the path of the other op's parameter. */
  const char *tied[LIG_MAX_PARAMETERS];
  gboolean fence;     /* no group may cross the gap before it */
  gboolean implicit;  /* inserted by the compiler: quantizes for the matmul before or after it */
  gboolean hides[2];  /* for an implicit op, by pass: y, or the gradient of x, exists only as
                         quantized copies */
  const char *recipe; /* for a matmul: the recipe that quantizes its operands; null: they are not
                         quantized */
  int n_ports;
  const LigPlanPort *ports; /* x, y, extra inputs and outputs, parameters, saved values */
  const char *unquantized;  /* for a matmul with a recipe: why its operands are not quantized: `50
                              output features, fp8-rows needs a multiple of 16`; or null */
} LigPlanOp;

/**
 * lig_plan_op_get_part: (skip)
 * @op: an op of a plan
 *
 * Returns: (transfer none) (nullable): its name within its macro, `qkv`, which the paths of its
 *   parameters contain; %NULL if it has none
 */
LIG_API const char *lig_plan_op_get_part (const LigPlanOp *op);

/**
 * lig_plan_op_get_port: (skip)
 * @self: an op of a plan
 * @kind: a kind of ports
 * @slot: a number among the ports of the kind, from 0
 *
 * Returns: (nullable): the port; %NULL if the op has fewer ports of the kind
 */
LIG_API const LigPlanPort *lig_plan_op_get_port (const LigPlanOp *self, LigPortKind kind, int slot);

/**
 * lig_plan_op_get_watched: (skip)
 * @self: an op of a plan
 * @name: the name of a computed value, such as `load`
 *
 * Returns: (nullable): the port of the value; %NULL if the op's table does not watch it, or the op
 *   does not compute it
 */
LIG_API const LigPlanPort *lig_plan_op_get_watched (const LigPlanOp *self, const char *name);

/* The ops that one fusion covers in a pass, or one unfused op. */
typedef struct {
  const LigFusion *fusion; /* null: one unfused op */
  LigPass pass;
  int first, count;    /* expanded indexes */
  int n_steps;         /* 0: no kernel is launched */
  const int *steps;    /* their numbers in execution order; gradient collectives, which belong to no
                          group, may run between them */
  double bytes, flops; /* bytes that its steps read and write; operations that they compute */
  double predicted;    /* seconds predicted from the device's peak rates and costs; 0 if these are
                          unknown */
  double floor;        /* the lower bound in seconds by the peak rates; 0 if unknown */
  double measured;     /* seconds; 0 if nothing was measured */
  const char *title;   /* the ops, translated: `Linear + bias + GELU` */
  int pieces;          /* chunks in which each rank's rows are communicated; 0: the fusion does not
                          chunk */
  int n_elements, elements[LIG_MAX_ELEMENTS]; /* the op of each element of the fusion's pattern, or
                                                 -1; for an unfused op, use `first` */
  int bits;        /* bits per element of the quantized copies that its steps use; 0: none */
  gboolean forced; /* whether the op as written at its first op forces it */
} LigPlanGroup;

/* One kernel launch. */
typedef struct {
  const LigKernel *kernel; /* null: an opaque op's callback */
  LigPass pass;
  int group;    /* index of a group of its pass, or -1 */
  int part;     /* expanded index of the first op it computes; -1: none, as for the update or a
                   gradient collective */
  LigLane lane; /* other than main: runs concurrently with later steps, until the update at most,
                   and in the side lane until that lane's next step */
  const LigPlanOperand *operands; /* the inputs first */
  double read, written;           /* bytes */
  double flops;
  double predicted; /* seconds; 0 if the device's peak rates are unknown */
  double floor;     /* the lower bound in seconds by the peak rates; 0 if unknown */
  gboolean once;    /* depends only on parameters: runs once per update, after they have changed */
  gboolean again;   /* in the backward pass: recomputes a value of the forward pass */
  double starts;    /* predicted start in seconds from the beginning of the forward pass */
  double lasts;     /* predicted duration in seconds; in the communication lane `predicted` is
                       shorter: the seconds that the step adds to its pass */
  double waited;    /* for a collective: the predicted seconds for which the main lane waits */
  int n_inputs, n_operands; /* the first operands are the inputs */
  int awaits;               /* the step of the communication lane that it waits for, or -1 */
  gboolean reduces; /* reduces over ranks: runs only after the last micro-batch of an update */
} LigPlanStep;

/**
 * lig_plan_group_get_predicted:
 * @self: a group of a plan
 *
 * Returns: its predicted seconds: 0 for a group without a kernel, NaN if the device's peak rates
 * are unknown, so that sums with unknown terms are NaN, too
 */
LIG_API double lig_plan_group_get_predicted (const LigPlanGroup *self);

/**
 * lig_plan_step_get_predicted:
 * @self: a step of a plan
 *
 * Returns: its predicted seconds; NaN if the device's peak rates are unknown
 */
LIG_API double lig_plan_step_get_predicted (const LigPlanStep *self);

/**
 * LigPlace:
 * @LIG_PLACE_UNUSED: it has no memory
 * @LIG_PLACE_ARENA: the arena, whose memory is shared by values with disjoint lifetimes
 * @LIG_PLACE_ALIAS: the memory of another value
 * @LIG_PLACE_STATE: the state
 * @LIG_PLACE_HOST: the host's memory
 * @LIG_PLACE_CACHE: a cache of keys and values
 *
 * The memory of a value.
 */
typedef enum {
  LIG_PLACE_UNUSED,
  LIG_PLACE_ARENA,
  LIG_PLACE_ALIAS,
  LIG_PLACE_STATE,
  LIG_PLACE_HOST,
  LIG_PLACE_CACHE
} LigPlace;

/**
 * lig_place_name:
 * @place: a place
 *
 * Returns: (transfer none): `unused`, `arena`, `alias`, `state`, `host` or `cache`
 */
LIG_API const char *lig_place_name (LigPlace place);

typedef enum {
  LIG_VALUE_INPUT,              /* the caller's main input */
  LIG_VALUE_EXTRA,              /* one of the caller's extra inputs */
  LIG_VALUE_PARAMETER,          /* in the state */
  LIG_VALUE_COMPUTED,           /* computed by a step; not a gradient, but also scratch memory of
                                   any pass */
  LIG_VALUE_GIVEN,              /* a gradient that the caller provides */
  LIG_VALUE_GRADIENT,           /* computed by a step of the backward pass */
  LIG_VALUE_PARAMETER_GRADIENT, /* in the state */
  LIG_VALUE_STATE,      /* a range of an array of the state, for collectives and the update */
  LIG_VALUE_SCALING,    /* the state's LigScaling */
  LIG_VALUE_QUANTIZERS, /* the state's scales and histories of quantizers */
  LIG_VALUE_CACHE,      /* an op's keys and values of texts in progress, in a LigCache */
} LigValueRole;

/* A tensor of the plan and its memory. The name of a parameter is its path, `3.weight`; the name of
 * a value that an op computes has the op's index, `#5.y`; the name of a gradient has the prefix
 * `d`. Ids are indexes, -1 is none. */
typedef struct {
  const char *name;
  LigValueRole role;
  LigShape shape;
  LigDtype dtype;
  LigSharding sharding; /* the shard of it that a rank of a tensor group has */
  int op;               /* the op that computes it */
  int gradient;         /* the value that is its gradient */
  int parameter;        /* its index among the parameters of the state */
  int alias;            /* the value whose memory it shares */
  gint64 alias_offset;  /* offset in bytes into the value at the end of the chain of aliases */
  int array;            /* for a parameter or a range of the state: a LigStateArray */
  gint64 state_offset;  /* offset in elements into the array, or into the state's quantizers; in
                           bytes into a cache */
  gboolean saved;       /* read by the backward pass */
  gboolean again;       /* a copy that the backward pass recomputes */
  gboolean kept_to_end; /* read by the caller after the run */
  LigPlace place;
  gint64 offset, bytes; /* offset in the arena; -1: it has no memory there */
  int first, last;      /* the first and last steps that use its memory: -1 and G_MAXINT if the
                           caller does; first > last if none does */
  int n_writers, n_readers;
  const int *writers, *readers; /* the steps that write and read it, in order */
} LigPlanValue;

G_END_DECLS
