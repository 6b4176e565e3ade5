/* SPDX-License-Identifier: MIT */
/* The optimizer's steps at the end of a plan. */
#pragma once

#include "engine/compile/draft.h"

void lig_schedule_update (LigDraft *draft);
