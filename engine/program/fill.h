/* SPDX-License-Identifier: MIT */
/* Random data for the inputs of a program. */
#pragma once

#include <ligature/program.h>

/* Sets all inputs, and the gradient of an output that is not a loss: the same for each program of
 * the same shapes and types. */
gboolean lig_program_fill (LigProgram *self, GError **error);

/* The load of experts with which a program is timed. */
typedef struct {
  double exponent;  /* of a Zipf distribution; 0: even */
  GPtrArray *loads; /* (nullable): of LigLoadSeries, of the plan's routers, whose last step replaces
                       the distribution */
} LigFillLoad;

/* Does the same, and replaces the experts that each router selects by others, with the given load:
 * random parameters would select experts by chance. The numbers that the program computes are of no
 * use. Called before the program runs. */
gboolean lig_program_fill_loaded (LigProgram *self, const LigFillLoad *load, GError **error);

/* Does the same as lig_program_fill() with numbers from a seed, and also sets the gradients of the
 * caller's extra outputs. */
gboolean lig_program_fill_by_seed (LigProgram *self, guint32 seed, GError **error);
