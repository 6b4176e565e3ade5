/* SPDX-License-Identifier: MIT */
/* Notes and judges the conditions of a measurement. */
#pragma once

#include <ligature/conditions.h>

G_BEGIN_DECLS

/* Notes the load of the machine and of the device, which is idle, before a measurement. */
void lig_conditions_begin (LigConditions *self, LigDevice *device);

/* Notes the use of the CPUs by other programs, with the spread of a whole step and the state
 * of the device after the measurement, and judges the conditions. May be called again with another
 * spread. Waits until a fifth of a second has passed since the beginning, as the system counts
 * coarsely. */
void lig_conditions_end (LigConditions *self, const LigSpread *step, const LigDeviceHealth *health);

G_END_DECLS
