/* SPDX-License-Identifier: MIT */
/* Random data for the inputs of a program. */
#pragma once

#include <ligature/program.h>

/* Sets all inputs, and the gradient of an output that is no loss: the same for each program of the
 * same shapes and types. */
gboolean lig_program_fill (LigProgram *self, GError **error);
