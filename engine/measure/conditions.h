/* SPDX-License-Identifier: MIT */
/* Records and judges the conditions of a measurement. */
#pragma once

#include <ligature/conditions.h>

G_BEGIN_DECLS

/* Records the load of the machine and of the device, which is idle, before a measurement. */
void lig_conditions_begin (LigConditions *self, LigDevice *device);

/* Records the CPU use of other programs, the spread of a whole step and the state of the device
 * after the measurement, and judges the conditions. May be called again with another spread. Waits
 * until a fifth of a second has passed since the beginning, because the system counts coarsely. */
void lig_conditions_end (LigConditions *self, const LigSpread *step, const LigDeviceHealth *health);

G_END_DECLS
