/* SPDX-License-Identifier: MIT */
/* Parts of command lines that do what a window does: each begins with a space, and a shell takes
 * what it is given as one word. */
#pragma once

#include "ui/session/session.h"
#include <ligature/sequence.h>
#include <ligature/shell.h>

G_BEGIN_DECLS

/* The ops as an expression, their input, and what an expression cannot say: fusions that are
 * forbidden or forced, and fences before first ops. */
void lig_command_append_sequence (GString *to, LigSequence *sequence);

/* Where the store is neither the usual one nor that of the environment. */
void lig_command_append_store (GString *to, LigSession *session);

G_END_DECLS
