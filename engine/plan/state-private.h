/* SPDX-License-Identifier: MIT */
/* The calls of plans and programs to a state, beyond its public face. */
#pragma once

#include <ligature/state.h>

/* Whether each parameter of the plan is here, in the same place, on the same device. */
gboolean lig_state_check_plan (LigState *self, LigPlan *plan, GError **error);

/* Whether the state would still give this plan to somebody who asks for one. */
gboolean lig_state_keeps_plan (LigState *self, LigPlan *plan);

/* The address of an element of an array, allocated when first asked for. */
void *lig_state_address (LigState *self, LigStateArray array, gint64 element, GError **error);

/* The address of its LigScaling, allocated when first asked for. */
void *lig_state_scaling (LigState *self, GError **error);

/* Before a backward pass: whether it scales the gradients that it leaves in the state. */
gboolean lig_state_begin_gradients (LigState *self, gboolean scaled, GError **error);

/* (transfer full): gradients of the last backward pass, divided by what they carry, in the type. */
LigTensor *lig_state_unscale (LigState *self, LigTensor *gradients, LigDtype dtype, GError **error);

/* Bytes of an array, 0 where it was not asked for yet. */
gsize lig_state_array_bytes (LigState *self, LigStateArray array);
