/* SPDX-License-Identifier: MIT */
#pragma once

#include <ligature/plan.h>

/* Says on stderr which products of a plan stay in the compute type although a recipe was asked for;
 * nothing if there are none. */
void lig_cli_note_recipe (LigPlan *plan);
