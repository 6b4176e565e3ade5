/* SPDX-License-Identifier: MIT */
/* The dependencies between steps of different lanes, and how long operands are in use. */
#pragma once

#include "engine/graph/graph.h"

/* Finds the steps of the communication lane that others wait for, because they read the values that
 * these write, write values that these read or write, or communicate with the same ranks. */
void lig_find_awaits (LigGraph *graph);

/* Does the same in a list of steps, with indexes into it. */
void lig_find_awaits_in (const LigGraph *graph, LigGraphStep *steps, guint count);

/* Returns the last step that a step may overlap: its operands live until it is joined. A step of
 * the side lane is joined at the next step of that lane, one of the communication lane at the next
 * step that waits for it, and both at the update, at an opaque op, or at the end. */
int lig_end_of_step (const LigGraph *graph, int index);
