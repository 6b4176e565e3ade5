/* SPDX-License-Identifier: MIT */
/* The private parts of a plan, which do not change after lig_plan_compile() returns. */
#pragma once

#include "engine/graph/layout.h"
#include "engine/graph/request.h"
#include "engine/graph/tables.h"
#include <ligature/plan.h>

struct _LigPlan {
  int count;   /* of references, atomic */
  LigPlan *of; /* the plan whose tables, except groups, it shares; or null */
  LigRequest *request;
  LigStateLayout *layout;                   /* that it needs of a state */
  GArray *ops, *groups[2], *steps, *values; /* the public tables */
  GArray *ports, *operands;                 /* of all ops, of all steps */
  int *edges;                               /* the writers and readers of all values */
  int *grouped;                             /* the steps of all groups */
  GArray *codes;                            /* of LigStepCode, by step */
  LigPhases phases;
  LigEnds ends;
  GArray *memories;            /* of LigMemory, those that a run computes */
  GArray *verdicts;            /* of LigVerdict */
  GPtrArray *fixes[2], *names; /* that the verdicts refer to */
  GHashTable *prices;          /* measured times by key, for the unfused plan; or null */
  const char *idle_recipe;     /* the name of a recipe that no op can use; or null */
  const char *unsharded;       /* a sentence on a matmul that is not sharded; or null */
  gint64 arena_bytes, live_peak, spared, cache_bytes, cache_ring; /* see LigGraph */
  guint segments;
  GStringChunk *strings;
};

#define lig_plan_op(plan, i) (&g_array_index ((plan)->ops, LigPlanOp, i))
#define lig_plan_value(plan, i) (&g_array_index ((plan)->values, LigPlanValue, i))
#define lig_plan_step(plan, i) (&g_array_index ((plan)->steps, LigPlanStep, i))
#define lig_plan_code(plan, i) (&g_array_index ((plan)->codes, LigStepCode, i))
#define lig_plan_parameter(plan, i) (&g_array_index ((plan)->layout->parameters, LigParameter, i))
#define lig_plan_group(plan, pass, i) (&g_array_index ((plan)->groups[pass], LigPlanGroup, i))

/* Returns the value that aliases resolve to. */
#define lig_plan_root(plan, value) lig_values_root ((plan)->values, value)

/* Returns whether a port is an input that reads the value, to which aliases resolve. */
gboolean lig_plan_port_reads (const LigPlan *self, const LigPlanPort *port, int root);

/* Returns the gradient that an op's output gets, before it is quantized; -1 for none. */
int lig_plan_op_gradient (const LigPlan *self, int index);
