/* SPDX-License-Identifier: MIT */
/* The reductions of the gradients of data parallel ranks. */
#pragma once

#include "engine/compile/draft.h"

/* After the backward pass is scheduled: if the device belongs to several ranks, adds the steps that
 * average the gradients over them. */
void lig_schedule_reductions (LigDraft *draft);

/* Likewise, appends the step that gives all ranks the greatest amaxes, which differ where each rank
 * quantizes its own rows; scales and histories, which do not, stay as they are. */
void lig_reduce_amaxes (LigDraft *draft, int quantizers);
