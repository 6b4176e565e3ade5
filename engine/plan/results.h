/* SPDX-License-Identifier: MIT */
/* The calls for those who run one program again and again, beyond its public face: losses that are
 * read a few steps late, so that the device is never waited for, and less that is done twice. */
#pragma once

#include <ligature/program.h>

G_BEGIN_DECLS

/* Results that are on their way from the device, at most. */
#define LIG_PROGRAM_LATE 8

typedef struct {
  float loss;
  LigScaling scaling; /* zero in a plan without an update */
} LigProgramResult;

/**
 * lig_program_send_results, lig_program_take_results:
 * @slot: below %LIG_PROGRAM_LATE
 *
 * The loss and what the update keeps, with the norm, begin their way to the host; taking them
 * waits until they are there, and tells what went wrong on the device before.
 */
gboolean lig_program_send_results (LigProgram *self, guint slot, GError **error);
gboolean
lig_program_take_results (LigProgram *self, guint slot, LigProgramResult *result, GError **error);

/* Gradients that were set stay for all later backward passes: setting them anew takes time. */
void lig_program_keep_gradients (LigProgram *self);

/* As lig_program_time_steps(), but the state is not put back: for one that nobody looks at. */
gboolean lig_program_time_steps_freely (LigProgram *self, double *seconds, GError **error);

G_END_DECLS
