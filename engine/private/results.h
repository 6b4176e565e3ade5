/* SPDX-License-Identifier: MIT */
/* Losses that are read a few steps late, so that the device is never waited for. */
#pragma once

#include "engine/state.h"

G_BEGIN_DECLS

/* Results that are on their way from the device, at most. */
#define LIG_PLAN_LATE 8

typedef struct {
  float loss;
  LigScaling scaling; /* zero in a plan without an update */
} LigPlanResult;

/**
 * lig_plan_send_results, lig_plan_take_results:
 * @slot: below %LIG_PLAN_LATE
 *
 * The loss and what the update keeps, with the norm, begin their way to the host; taking them
 * waits until they are there, and tells what went wrong on the device before.
 */
gboolean lig_plan_send_results (LigPlan *self, guint slot, GError **error);
gboolean lig_plan_take_results (LigPlan *self, guint slot, LigPlanResult *result, GError **error);

G_END_DECLS
