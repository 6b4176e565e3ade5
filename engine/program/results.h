/* SPDX-License-Identifier: MIT */
/* Private functions for callers that run one program many times. Results are read a few steps late,
 * so that the host does not wait for the device; waits for other ranks are timed; and work that
 * every run would repeat is done once. */
#pragma once

#include <ligature/loss-scaling.h>
#include <ligature/program.h>

G_BEGIN_DECLS

/* The number of slots for results that are being copied to the host. */
#define LIG_PROGRAM_RESULT_SLOTS 8

typedef struct {
  float loss;
  LigScaling scaling;   /* zero in a plan without an update */
  double waited;        /* in seconds, like that of lig_program_read_waiting() */
  const float *watched; /* the numbers of lig_program_watch(), valid until the slot is used again */
} LigProgramResult;

/**
 * lig_program_send_results, lig_program_take_results:
 * @slot: below %LIG_PROGRAM_RESULT_SLOTS
 *
 * Sending starts the copy of the loss, and of the scaling and the norm of the update, to the host;
 * taking waits for the copy and reports earlier errors of the device.
 */
gboolean lig_program_send_results (LigProgram *self, guint slot, GError **error);
gboolean
lig_program_take_results (LigProgram *self, guint slot, LigProgramResult *result, GError **error);

/* From now on results contain the numbers, which are fp32, of a watched value of all ops that have
 * it, one after the other in the order of ops. Sets `count` to how many there are. */
gboolean lig_program_watch (LigProgram *self, const char *name, gsize *count, GError **error);

/* Returns the address on the device of rows of the forward pass's output, valid until the next run;
 * NULL with an error as for lig_program_read_output_rows(). */
const void *
lig_program_find_output_rows (LigProgram *self, gint64 first, gint64 count, GError **error);

/* Reads the seconds that steps of the main lane have spent waiting for other ranks since the
 * program was made: for the communication lane, and for collectives in the main lane. 0 without
 * ranks. Returns FALSE on an error of the device. */
gboolean lig_program_read_waiting (LigProgram *self, double *seconds, GError **error);

/* From now on measures the waits for each collective separately; lig_program_read_waiting() then
 * stays unchanged. Call it before the first pass. Returns FALSE on an error of the device. */
gboolean lig_program_separate_waits (LigProgram *self, GError **error);

/* Reads the seconds that steps of the main lane have spent waiting for each collective since
 * lig_program_separate_waits(). `seconds` has an element for each step of the plan, 0 for steps
 * that are not collectives. A wait for several collectives counts for the last one. Returns FALSE
 * on an error of the device. */
gboolean lig_program_read_waits (LigProgram *self, double *seconds, GError **error);

/* Keeps the output gradients that the caller has set for all later backward passes, because setting
 * them again takes time. */
void lig_program_keep_gradients (LigProgram *self);

/* Like lig_program_time_steps(), but does not restore the state; for states that are then
 * discarded. */
gboolean lig_program_time_steps_freely (LigProgram *self, double *seconds, GError **error);

G_END_DECLS
