/* SPDX-License-Identifier: MIT */
/* The tuning table as the kernels of a backend see it. */
#pragma once

#include "engine/plan.h"
#include "kernels/backend.h"

G_BEGIN_DECLS

/* Without a tuning, choices are kept for this process. They point to the tuning. */
void lig_tuning_to_choices (const LigTuning *self, LigChoices *choices);

G_END_DECLS
