/* SPDX-License-Identifier: MIT */
/* Lowers a group to steps by calling the lower function of its op or fusion. */
#pragma once

#include "engine/graph/gradients.h"
#include "engine/lower/ports.h"

/* The result of a probe. */
typedef struct {
  const char *missing;        /* a missing kernel, or null */
  const LigPart *unquantized; /* a matmul whose kernel reads no quantized operands, or null */
  int unwritten; /* a value that is read outside the group and that no kernel writes, or -1 */
} LigProbe;

/* Appends the steps of a group. With `probe`, only `steps` changes, except for values that a table
 * adds and that a later call for the same group finds again. FALSE if the table of the op or fusion
 * is invalid; without `probe` a missing kernel is an error too. */
gboolean lig_lower_group (LigGraph *graph,
                          const LigPlanGroup *group,
                          LigPass pass,
                          GArray *steps,
                          LigProbe *probe,
                          GError **error);

/* Returns whether each rank's rows, which the group communicates, can be split into so many equal
 * parts: its first or last op is the collective, on the side where a rank has only its own rows. */
gboolean lig_group_can_split (const LigGraph *graph, const LigPlanGroup *group, int pieces);

/* Returns the number of parts in the environment variable LIGATURE_PIECES; 0 if it is not set, or
 * does not divide the rows. */
int lig_group_get_given_pieces (const LigGraph *graph, const LigPlanGroup *group);

/* Returns the number of parts in which the group of a fusion with min_pieces communicates rows. */
int lig_group_get_pieces (const LigGraph *graph, const LigPlanGroup *group);

/* Returns a value that is read outside the group and that none of the group's steps, from
 * `first_step` on, writes, or -1. */
int lig_find_unwritten (const LigLowering *self, guint first_step);

/* Returns whether all contributions to the sum come from the group, which then does not read the
 * sum. */
gboolean lig_sum_is_inside (const LigGraph *graph, const LigPlanGroup *group, const LigSum *sum);

/* Finds a sum of gradients that cannot be computed before the group that reads it, because it has
 * contributions from inside and from outside the group. Returns the channel's part and slot, and
 * whether the caller gives the only one from outside; or null. */
const LigPart *lig_find_split_sum (const LigGraph *graph,
                                   const LigPlanGroup *group,
                                   int *slot,
                                   gboolean *by_caller);

/* Marks the values that a joint group saves instead of those that its ops would save, if its fusion
 * lists them. */
gboolean lig_lower_saves (LigGraph *graph, const LigPlanGroup *group, GError **error);
