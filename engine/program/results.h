/* SPDX-License-Identifier: MIT */
/* Private calls for callers that run one program many times: losses that are read a few steps late,
 * so that the host does not wait for the device, and less repeated work. */
#pragma once

#include <ligature/loss-scaling.h>
#include <ligature/program.h>

G_BEGIN_DECLS

/* The maximum number of results in flight from the device. */
#define LIG_PROGRAM_LATE 8

typedef struct {
  float loss;
  LigScaling scaling; /* zero in a plan without an update */
  double waited;      /* as of lig_program_read_waiting() */
} LigProgramResult;

/**
 * lig_program_send_results, lig_program_take_results:
 * @slot: below %LIG_PROGRAM_LATE
 *
 * Sending starts the copy of the loss, and of the scaling and the norm of the update, to the host;
 * taking waits for the copy and reports earlier errors of the device.
 */
gboolean lig_program_send_results (LigProgram *self, guint slot, GError **error);
gboolean
lig_program_take_results (LigProgram *self, guint slot, LigProgramResult *result, GError **error);

/* Returns the seconds for which steps of the main lane have waited for other ranks since the
 * program was made: for the communication lane, and for collectives in the main lane. 0 without
 * ranks. */
gboolean lig_program_read_waiting (LigProgram *self, double *seconds, GError **error);

/* Measures the waits for each collective separately from now on; called before any pass runs. */
gboolean lig_program_divide_waiting (LigProgram *self, GError **error);

/* Returns the seconds for which steps of the main lane have waited for each collective since then;
 * `seconds` has a number for each step of the plan. A wait for several counts for the last of
 * them. */
gboolean lig_program_read_waits (LigProgram *self, double *seconds, GError **error);

/* Keeps the set gradients for all later backward passes: setting them again takes time. */
void lig_program_keep_gradients (LigProgram *self);

/* Like lig_program_time_steps(), but does not restore the state; for states that are then
 * discarded. */
gboolean lig_program_time_steps_freely (LigProgram *self, double *seconds, GError **error);

G_END_DECLS
