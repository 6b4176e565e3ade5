/* SPDX-License-Identifier: MIT */
/* Lowers a group to steps by calling the lower function of its op or fusion. */
#pragma once

#include "engine/compile/draft.h"

struct _LigLowering {
  LigDraft *draft;
  const LigGroup *group;
  gboolean backward;
  GArray *steps;              /* of LigDraftStep; appended to */
  gboolean probe;             /* only find the kernels: aliases are undone */
  gboolean keeps;             /* all outputs are read within the group */
  GArray *aliases;            /* of int: aliases to undo */
  GError *error;              /* the first error in a table */
  const char *missing;        /* the first missing kernel */
  const LigPart *unquantized; /* a product whose kernel has no twin for quantized operands */
  GHashTable *own;            /* values that the kernels of an op hand to one another; or null */
};

/* The result of a probe. */
typedef struct {
  const char *missing;        /* a missing kernel, or null */
  const LigPart *unquantized; /* a product whose kernel reads no quantized operands, or null */
  int unwritten; /* a value that is read outside the group and that no kernel writes, or -1 */
} LigProbe;

/* Appends the steps of a group. With `probe`, only `steps` changes. FALSE if the table of the op or
 * fusion is faulty; without `probe` a missing kernel is an error too. */
gboolean lig_lower_group (LigDraft *draft,
                          const LigGroup *group,
                          LigPass pass,
                          GArray *steps,
                          LigProbe *probe,
                          GError **error);

/* Returns whether each rank's rows, which the group exchanges, have so many equal parts: its first
 * op or its last one is the exchange, whose rows of one rank are fewer than all. */
gboolean lig_group_can_divide (const LigDraft *draft, const LigGroup *group, int pieces);

/* Returns the number of parts that the environment variable LIGATURE_PIECES asks for, 0 if it does
 * not, or if they do not divide the rows. */
int lig_group_get_given_pieces (const LigDraft *draft, const LigGroup *group);

/* Returns the number of parts in which the group of a fusion with least_pieces exchanges rows. */
int lig_group_get_pieces (const LigDraft *draft, const LigGroup *group);

/* Returns a value that is read outside the group and that none of the group's steps, from
 * `first_step` on, writes, or -1. */
int lig_find_unwritten (const LigLowering *self, guint first_step);

/* Returns whether an extra output has a reader outside the group: the caller or a later op. */
gboolean lig_leaves_group (const LigGroup *group, const LigPart *part, int slot);

/* Returns whether all contributions to the sum come from the group, which then does not read the
 * sum. */
gboolean lig_sum_is_inside (const LigDraft *draft, const LigGroup *group, const LigSum *sum);

/* Finds a sum of gradients that cannot be computed before the group that reads it, because it has
 * contributions from inside and from outside the group. Returns the channel's part and slot, and
 * whether the caller gives the only one from outside; or null. */
const LigPart *
lig_find_split_sum (const LigDraft *draft, const LigGroup *group, int *slot, gboolean *by_caller);

/* Marks the values that a joint group saves instead of those that its ops would save, if its fusion
 * lists them. */
gboolean lig_lower_saves (LigDraft *draft, const LigGroup *group, GError **error);

/* Marks those backward steps of a group, from `first` on, that may overlap others and moves them to
 * the front, so that they begin as soon as their operands are available. */
void lig_start_beside (LigDraft *draft, GArray *steps, guint first);

/* Returns whether the step of the accuracy reads the value. */
gboolean lig_accuracy_reads (const LigDraft *draft, int value);

/* Returns the value of a port as in bindings, `0.x`; negative if it is absent or unknown. */
int lig_lower_port (LigLowering *self, const char *port);

/* Finds a value that the group computes for itself, by LigFusion.computes of its joint fusion or by
 * lig_lower_value () of its op. Returns FALSE if it computes none of that name; -1 is that of an
 * optional element that is missing. */
gboolean lig_find_own_value (LigLowering *self, const char *name, int *value);

/* Finds a value that was kept by its key, or keeps one; takes the key. */
gboolean lig_find_own (const LigDraft *draft, const char *key, int *value);
void lig_keep_own (LigDraft *draft, char *key, int value);

/* Appends a step that belongs to no group. */
void lig_lower_plain (LigDraft *draft,
                      GArray *steps,
                      LigPass pass,
                      int part,
                      const char *kernel,
                      const int *values,
                      const void *params,
                      gsize params_size);

/* Returns the value of a part of the rows of a port, `0.x@2/4`: the part number 2 of 4 equal ones;
 * negative if the port is absent or unknown. */
int lig_lower_piece (LigLowering *self, const char *port);

/* Returns the part that a port's number refers to, and advances to the name of the port; null for
 * an optional element that is missing. */
const LigPart *lig_lower_port_part (LigLowering *self, const char **port);

/* Copies the port bound to an operand: bindings such as "a=dy b=dextra" name it, else it has the
 * operand's name. */
void lig_lower_bound_port (const char *bindings, const char *operand, char *port, gsize size);

/* Appends the step of a kernel. */
void lig_lower_emit (LigLowering *self,
                     const LigKernel *kernel,
                     const char *bindings,
                     const void *params,
                     gsize params_size);
