/* SPDX-License-Identifier: MIT */
/* The tables of a graph that a finished plan keeps besides its public ones: how steps are launched,
 * where the phases begin, and the values that the caller sets and reads. */
#pragma once

#include <ligature/op.h>
#include <ligature/plan-tables.h>

/* How a step is launched. */
typedef struct {
  LigOpaqueFunc opaque;
  gpointer opaque_data;
  _Alignas(max_align_t) guint8 params[LIG_MAX_PARAMS];
  gsize params_size;
  int scratch;         /* value of its scratch memory, set when the steps are final; 0: none */
  int row_part;        /* see lig_step_row_part() */
  gboolean empty;      /* an operand has no elements, so the kernel is not launched */
  guint zeroed, added; /* bit masks of outputs: set to zero instead; accumulated */
  gboolean adds;       /* always accumulates: earlier steps wrote the same gradients */
} LigStepCode;

/* The first step of each phase; the steps before `forward` depend only on parameters. */
typedef struct {
  int forward, backward, update;
} LigPhases;

/* The extra inputs of a plan with a cache, int32, one number for each text: the number of its
 * tokens before the run and after it, and its slot in the cache. */
enum {
  LIG_CACHE_STARTS,
  LIG_CACHE_LENGTHS,
  LIG_CACHE_SLOTS,
  LIG_CACHE_SOURCES, /* lengths; only with cross attention */
  LIG_N_CACHE_INPUTS
};

/* The keys and values of a source: the value that a run computes, and the cache that keeps it. */
typedef struct {
  int value, cache;
} LigMemory;

/* The values that the caller sets and reads; -1: none. */
typedef struct {
  int input, output, input_gradient, gradient_norm;
  int output_gradient;                  /* which the caller provides */
  gboolean scales;                      /* whether the caller's gradients are scaled */
  int scaling;                          /* the state's LigScaling */
  int correct, counted;                 /* of the accuracy step */
  GArray *extra_inputs, *extra_outputs; /* of int: values */
} LigEnds;

/* Returns whether the step communicates with other ranks. */
gboolean lig_plan_step_is_collective (const LigPlanStep *step);

/* Returns the group in which the step of a kernel communicates, or LIG_N_GROUPS. */
LigRankGroup lig_code_group (const LigKernel *kernel, const LigStepCode *code);

/* Returns the value that aliases resolve to; `values` are of LigPlanValue. */
int lig_values_root (const GArray *values, int value);

/* Returns an operand for a value, without memory; null: an absent operand. */
LigOperand lig_value_operand (const LigPlanValue *value);
