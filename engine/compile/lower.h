/* SPDX-License-Identifier: MIT */
/* Lowering: turning a group into steps by asking its op or fusion. */
#pragma once

#include "engine/compile/draft.h"

struct _LigLowering {
  LigDraft *draft;
  const LigGroup *group;
  gboolean backward;
  GArray *steps;       /* of LigDraftStep; appended to */
  gboolean probe;      /* only find out which kernels there would be: aliases are undone */
  GArray *aliases;     /* of int: what to undo */
  GError *error;       /* the first fault of a table */
  const char *missing; /* the first kernel that does not exist */
};

/* What a probe found out. */
typedef struct {
  const char *missing; /* a kernel that does not exist, or null */
  int unwritten;       /* a value that somebody else reads and that no kernel writes, or -1 */
} LigProbe;

/* Appends the steps of a group. With `probe`, nothing but `steps` changes. FALSE where the op's or
 * fusion's table is faulty; without `probe` a missing kernel is a fault too. */
gboolean lig_lower_group (LigDraft *draft,
                          const LigGroup *group,
                          LigPass pass,
                          GArray *steps,
                          LigProbe *probe,
                          GError **error);

/* Of a lowered group's steps from `first_step` on: a value that somebody else reads and that none
 * of them writes, or -1. */
int lig_find_unwritten (const LigLowering *self, guint first_step);

/* Whether an extra output has a reader beyond the group: the caller or a later op. */
gboolean lig_leaves_group (const LigGroup *group, const LigPart *part, int slot);

/* Whether all contributions to the sum come from the group, which then reads no sum of them. */
gboolean lig_sum_is_inside (const LigDraft *draft, const LigGroup *group, const LigSum *sum);

/* A sum of gradients that cannot be computed before the group that reads it: it has contributions
 * from inside and from outside the group. Returns the channel's part and slot. */
const LigPart *lig_find_split_sum (const LigDraft *draft, const LigGroup *group, int *slot);

/* Marks what a joint group that was taken saves, where it says so, instead of what its ops would.
 */
gboolean lig_lower_saves (LigDraft *draft, const LigGroup *group, GError **error);

/* Of the backward steps from `first` on, a group's, those that may run beside others are marked and
 * go first, to begin as soon as their operands are there. */
void lig_start_beside (LigDraft *draft, GArray *steps, guint first);

/* Appends a step that belongs to no group. */
void lig_lower_plain (LigDraft *draft,
                      GArray *steps,
                      LigPass pass,
                      int part,
                      const char *kernel,
                      const int *values,
                      const void *params,
                      gsize params_size);
