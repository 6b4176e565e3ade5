/* SPDX-License-Identifier: MIT */
/* What op.c and registry.c share, and reading lists of port names. */
#pragma once

#include <ligature/op.h>

/* Makes the GObject class of a table. */
GType lig_op_register_type (const LigOpInfo *info);

/* The sequence that holds the op, which it does not own; null for none. */
LigSequence *lig_op_get_owner (LigOp *self);
void lig_op_set_owner (LigOp *self, LigSequence *owner);

/* Tells of an edit: of the op, or of an op of the sequence. The news go outwards, to the sequence
 * that holds the op, to the block whose body that is, and so on. */
void lig_op_touch (LigOp *self);
void lig_sequence_touch (LigSequence *self);

/* The block whose body the sequence is; null once there is none. */
void lig_sequence_set_block (LigSequence *self, LigOp *block);

/* Whether a name has at most `longest` bytes: a lower-case letter, then such letters, digits and
 * the characters of `more`. */
gboolean lig_name_check (const char *name, const char *more, gsize longest);
