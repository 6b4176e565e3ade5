/* SPDX-License-Identifier: MIT */
/* Which steps wait for which, and how long operands are used. */
#pragma once

#include "engine/graph/graph.h"

/* Finds the steps of the communication lane that others wait for, as they read what these write, or
 * write what these read or write, or exchange with the same ranks. */
void lig_find_awaits (LigGraph *graph);

/* Likewise, in a list of steps, by their numbers in it. */
void lig_find_awaits_in (const LigGraph *graph, LigGraphStep *steps, guint count);

/* Returns the last step beside which a step may still run: its operands live until it is joined. A
 * step of the side lane is at the next one there, one of the communication lane at the next one
 * that waits for it, and both at the update, at an opaque op, or at the end. */
int lig_end_of_step (const LigGraph *graph, int index);
