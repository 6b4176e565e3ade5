/* SPDX-License-Identifier: MIT */
/* Random data for the inputs of a program. */
#pragma once

#include <ligature/program.h>

/* Sets all inputs, and the gradient of an output that is not a loss: the same for each program of
 * the same shapes and types. */
gboolean lig_program_fill (LigProgram *self, GError **error);

/* Does the same with numbers from a seed, and also sets the gradients of the caller's extra
 * outputs. */
gboolean lig_program_fill_by_seed (LigProgram *self, guint32 seed, GError **error);
