/* SPDX-License-Identifier: MIT */
/* The private functions of a state for plans and programs. */
#pragma once

#include "engine/state/quantizers.h"
#include <ligature/plan.h>
#include <ligature/state.h>

/* Checks that the state has each parameter of the plan, at the same offset, on the same device. */
gboolean lig_state_check_plan (LigState *self, LigPlan *plan, GError **error);

/* Returns (transfer full) a text of everything that a plan depends on. */
char *lig_plan_key (LigSequence *sequence, const LigPlanOptions *options);

/* Returns a list of LigTrait of ops, which are LigPlanOp; and that of the state's. */
GArray *lig_ops_list_traits (const GArray *ops);
const GArray *lig_state_get_traits (LigState *self);

/* Returns (nullable) the scales and histories that the state keeps. */
LigStateQuantizers *lig_state_get_quantizers (LigState *self);

/* Returns whether the cache of the state still contains this plan. */
gboolean lig_state_keeps_plan (LigState *self, LigPlan *plan);

/* Returns a number that grows whenever the parameters change; never 0. */
guint64 lig_state_get_version (LigState *self);

/* Called when something other than lig_state_set() has changed the parameters. */
void lig_state_touch (LigState *self);

/* Returns the address of an element of an array, which the first call allocates. */
void *lig_state_address (LigState *self, LigStateArray array, gint64 element, GError **error);

/* Returns the address of an element of the masters of a state that keeps weights in fp8, which has
 * them from the beginning. */
void *lig_state_master (LigState *self, gint64 element);

/* Returns the address of its LigScaling, which the first call allocates. */
void *lig_state_scaling (LigState *self, GError **error);

/* Called before a backward pass, with whether it scales the gradients that it stores in the
 * state. */
gboolean lig_state_begin_gradients (LigState *self, gboolean scaled, GError **error);

/* Returns (transfer full) gradients of the last backward pass, divided by their loss scale, in the
 * type. */
LigTensor *lig_state_unscale (LigState *self, LigTensor *gradients, LigDtype dtype, GError **error);

/* Returns (transfer full) an array of a parameter, gathered if it is sharded; all ranks call it. */
LigTensor *
lig_state_get_whole (LigState *self, LigStateArray array, const char *path, GError **error);

/* Returns the bytes of an array, 0 if it is not allocated yet. */
gsize lig_state_array_bytes (LigState *self, LigStateArray array);

/* Returns the number of plans that lig_state_plan() has compiled so far. */
guint lig_state_get_n_compiled (LigState *self);
