/* SPDX-License-Identifier: MIT */
/* `lig fuse --savings`: the changes that would save most. */
#pragma once

#include "app/cli/sequence-options.h"

/* Prints the changes that would save time or memory, best first. Measured times of the store
 * replace predictions. */
void lig_fuse_savings (LigPlan *plan, const LigSequenceOptions *options);
