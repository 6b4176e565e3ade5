/* SPDX-License-Identifier: MIT */
/* Parts of command lines that are equivalent to the window's state. Each begins with a space and is
 * quoted for a shell. */
#pragma once

#include "ui/session/session.h"
#include <ligature/sequence.h>
#include <ligature/shell.h>

G_BEGIN_DECLS

/* Appends the ops as an expression, their input, and options for everything that an expression
 * cannot contain: forbidden and forced fusions, and fences before the first ops of blocks. */
void lig_command_append_sequence (GString *to, LigSequence *sequence);

/* Appends --store if the store is neither the default nor that of the environment. */
void lig_command_append_store (GString *to, LigSession *session);

/* Appends --ranks and --parallel, unless there is only one rank. */
void lig_command_append_ranks (GString *to, const LigLayout *layout);

G_END_DECLS
