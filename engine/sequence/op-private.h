/* SPDX-License-Identifier: MIT */
/* Functions shared by op.c, registry.c and sequence.c. */
#pragma once

#include <ligature/op.h>

/* Makes the GObject class of a table. */
GType lig_op_register_type (const LigOpInfo *info);

/* Returns (transfer floating) the property of a parameter. */
GParamSpec *lig_param_spec (const LigParam *param);

/* Returns the sequence that contains the op, unowned; null for none. */
LigSequence *lig_op_get_owner (LigOp *self);
void lig_op_set_owner (LigOp *self, LigSequence *owner);

/* Returns whether the op was ever removed from a sequence. */
gboolean lig_op_was_moved (LigOp *self);

/* Announces an edit of the op, or of an op of the sequence, from the inside out: to the sequence
 * that contains the op, to the block whose body this is, and so on. */
void lig_op_touch (LigOp *self);
void lig_sequence_touch (LigSequence *self);

/* Pairs `rotary-base=base` of a macro's and a part's name of a parameter, separated by spaces, of
 * those whose names differ; null for none. Names are copied. */
const char *lig_op_get_param_names (LigOp *self);
void lig_op_set_param_names (LigOp *self, const char *names);

/* Returns the name in the macro of a part's parameter: `rotary-base` for `base`. `names`:
 * (nullable). */
const char *lig_param_names_find (const char *names, const char *param);

/* Returns the path in a parameter of kind LIG_PARAM_PATH, or null. Sets `target` (optional) to the
 * op that was found at this path, or to null. */
const char *lig_op_get_tie (LigOp *self, int slot, LigOp **target);

/* Sets the path and the op that it names, each possibly null, without announcing it. */
void lig_op_set_tie (LigOp *self, int slot, const char *path, LigOp *target);

/* Return the number of such paths in an op and its body, and in a sequence and its blocks. */
int lig_op_get_n_ties (LigOp *self);
int lig_sequence_get_n_ties (LigSequence *self);

/* Adds to the number of paths of the sequence and of the enclosing ones. */
void lig_sequence_count_ties (LigSequence *self, int change);

/* Returns the block whose body the sequence is, or null. */
LigOp *lig_sequence_get_block (LigSequence *self);

/* Sets the block whose body the sequence is; null once that block is freed. */
void lig_sequence_set_block (LigSequence *self, LigOp *block);

/* Returns whether a name has at most `longest` bytes: a lower-case letter, then such letters,
 * digits and the characters of `more`. */
gboolean lig_name_check (const char *name, const char *more, gsize longest);
