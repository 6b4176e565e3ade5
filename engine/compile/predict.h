/* SPDX-License-Identifier: MIT */
/* Predicts the times of steps from what is known of a device. */
#pragma once

#include "engine/compile/draft.h"

/* Sets the least seconds for moving the bytes, and for the operations if they are a product's; both
 * 0 where the device's ceilings are unknown. */
void lig_predict_floors (const LigDeviceFacts *facts,
                         gboolean product,
                         double bytes,
                         double flops,
                         LigDtype dtype,
                         double floors[2]);

/* Returns the least seconds that a step takes by the roofline: max(bytes / copy bandwidth, flops /
 * product rate) plus a launch; 0 where the device's ceilings are unknown. */
double lig_predict_floor (const LigDraft *draft, const LigDraftStep *step);

/* Returns the seconds that a step takes by the measured costs of its device; where these are not
 * known, the floor; 0 where the ceilings are unknown too. */
double lig_predict_step (const LigDraft *draft, const LigDraftStep *step);
