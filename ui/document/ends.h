/* SPDX-License-Identifier: MIT */
/* The ends of channels at an op: which are connected, and the consequence for one that is not. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

typedef enum {
  LIG_END_FINE,    /* connected, or there is none */
  LIG_END_CALLER,  /* legal: the caller of the sequence provides or receives the tensor */
  LIG_END_UNREAD,  /* legal, but useless: a branch that nothing reads */
  LIG_END_OPEN,    /* no branch, in a sequence that ends in a loss: it cannot be trained on data */
  LIG_END_MISSING, /* an error: a reader without an op that starts the channel */
} LigEnd;

/* Returns the worst state of an op's ends. @text: (out) (optional) (transfer full) (nullable): a
 * description of it, translated */
LigEnd lig_ends_find (LigDocument *doc, LigOp *op, char **text);

/* Returns whether the last op, also of a block, is a loss. */
gboolean lig_ends_in_loss (LigSequence *sequence);

/* Returns the first op of the rows whose end is open in the sense of %LIG_END_OPEN. Returns:
 * (nullable) (transfer none) */
LigOp *lig_ends_find_open (LigDocument *doc);

/* Returns whether an extra input of the op can read a channel; a loss's cannot. */
gboolean lig_ends_can_read (LigOp *op);

/* Returns whether a channel that the user draws at the op starts there: the op starts a branch, or
 * cannot read one. */
gboolean lig_ends_can_start (LigOp *op);

/* Returns whether an op of the sequence, or of a nested block, reads an output's channel. */
gboolean lig_ends_is_read (LigDocument *doc, LigOp *op, int output);

/* Returns the op that starts the channel that an extra input reads. Returns: (nullable) */
LigOp *lig_ends_find_producer (LigDocument *doc, LigOp *op, int input);

/* Returns the name without `../`. */
const char *lig_ends_local_name (const char *channel);

G_END_DECLS
