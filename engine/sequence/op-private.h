/* SPDX-License-Identifier: MIT */
/* Functions that op.c, registry.c and sequence.c share. */
#pragma once

#include <ligature/op.h>

/* Makes the GObject class of a table. */
GType lig_op_register_type (const LigOpInfo *info);

/* Returns the sequence that contains the op, unowned; null for none. */
LigSequence *lig_op_get_owner (LigOp *self);
void lig_op_set_owner (LigOp *self, LigSequence *owner);

/* Announces an edit of the op, or of an op of the sequence, from the inside out: to the sequence
 * that contains the op, to the block whose body this is, and so on. */
void lig_op_touch (LigOp *self);
void lig_sequence_touch (LigSequence *self);

/* Sets the block whose body the sequence is; null once that block is freed. */
void lig_sequence_set_block (LigSequence *self, LigOp *block);

/* Returns whether a name has at most `longest` bytes: a lower-case letter, then such letters,
 * digits and the characters of `more`. */
gboolean lig_name_check (const char *name, const char *more, gsize longest);
