/* SPDX-License-Identifier: MIT */
/* Programs: plans with memory. A program references its plan and the state that it trains, owns the
 * memory of its steps, and runs them.
 *
 * Threads: one thread at a time may use a state, its programs and their device. They may be passed
 * to another thread, as a run passes them to its worker thread.
 *
 * Order: the caller sets the inputs, then runs a forward pass, then at most one backward pass, then
 * an update; one call may run several passes. A call that is too early, or requests a pass that the
 * plan does not have, fails with %LIG_ERROR_ORDER and changes nothing. */
#pragma once

#include <ligature/plan.h>
#include <ligature/state.h>

G_BEGIN_DECLS

typedef struct _LigProgram LigProgram;

#define LIG_TYPE_PROGRAM (lig_program_get_type ())
LIG_API GType lig_program_get_type (void);

/**
 * lig_program_new:
 * @plan: a plan for the state's device, or for another device of the same name
 * @state: a state whose parameters have the plan's paths and shapes
 *
 * Allocates the plan's activations on the device. Any number of programs, of one plan or of
 * several, may share one state; each uses the parameters that the last update wrote.
 *
 * Returns: (transfer full): a program, or %NULL with %LIG_ERROR_SHAPE (the state has other
 *   parameters), %LIG_ERROR_DEVICE (the state is on another device, or the device is missing or
 *   only described), %LIG_ERROR_MEMORY or %LIG_ERROR_VALUE (@plan or @state is null) set
 */
LIG_API LigProgram *
lig_program_new (LigPlan *plan, LigState *state, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_program_ref:
 * @self: a program
 *
 * Returns: (transfer full): the program, with one more reference; counting is atomic
 */
LIG_API LigProgram *lig_program_ref (LigProgram *self);

/**
 * lig_program_unref:
 * @self: a program
 *
 * Releases a reference; the last one waits for the device to finish the program's work and frees
 * its memory.
 */
LIG_API void lig_program_unref (LigProgram *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigProgram, lig_program_unref)

/**
 * lig_program_get_plan:
 * @self: a program
 *
 * Returns: (transfer none): the plan that it runs
 */
LIG_API LigPlan *lig_program_get_plan (LigProgram *self);

/**
 * lig_program_get_state:
 * @self: a program
 *
 * Returns: (transfer none): the state that it trains
 */
LIG_API LigState *lig_program_get_state (LigProgram *self);

/* --- Inputs -------------------------------------------------------------------------------- */

/**
 * lig_program_set_input:
 * @self: a program
 * @tensor: a tensor of the plan's input shape; the caller may change it as soon as the call returns
 *
 * Copies the tensor into the input, which keeps it until it is set again. Floating types are
 * converted; integer types must match.
 *
 * Returns: %FALSE with %LIG_ERROR_SHAPE or %LIG_ERROR_DTYPE set
 */
LIG_API gboolean lig_program_set_input (LigProgram *self, LigTensor *tensor, GError **error);

/**
 * lig_program_set_extra_input:
 * @self: a program
 * @n: the index of the extra input or output, from 0
 * @tensor: a tensor of the extra input's shape
 *
 * Copies the tensor into an extra input, as lig_program_set_input() does for the main one.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX (no extra input has that number), %LIG_ERROR_SHAPE or
 *   %LIG_ERROR_DTYPE set
 */
LIG_API gboolean lig_program_set_extra_input (LigProgram *self,
                                              guint n,
                                              LigTensor *tensor,
                                              GError **error);

/**
 * lig_program_set_gradient:
 * @self: a program
 * @tensor: a tensor of the output's shape
 *
 * Copies the tensor into the gradient of the output, for the next backward pass only. If no
 * gradient is set, the gradient of the output is zero, or 1 if the output is a loss.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX (the plan has no such gradient), %LIG_ERROR_SHAPE or
 *   %LIG_ERROR_DTYPE set
 */
LIG_API gboolean lig_program_set_gradient (LigProgram *self, LigTensor *tensor, GError **error);

/**
 * lig_program_set_extra_gradient:
 * @self: a program
 * @n: the index of the extra input or output, from 0
 * @tensor: a tensor of the output's shape
 *
 * Copies the tensor into the gradient of an extra output, as lig_program_set_gradient() does for
 * the main one.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX, %LIG_ERROR_SHAPE or %LIG_ERROR_DTYPE set
 */
LIG_API gboolean lig_program_set_extra_gradient (LigProgram *self,
                                                 guint n,
                                                 LigTensor *tensor,
                                                 GError **error);

/**
 * LigProgramInterrupt:
 * @data: the data given to lig_program_set_interrupt()
 *
 * Called before each step on the thread that runs the program, so it should be fast. It may block,
 * which pauses the program.
 *
 * Returns: %TRUE to end the run
 */
typedef gboolean (*LigProgramInterrupt) (gpointer data);

/**
 * lig_program_set_interrupt:
 * @self: a program
 * @interrupt: (nullable) (scope forever) (closure data): called before each step of the forward and
 *   the backward pass; %NULL: none
 * @data: the data of @interrupt
 *
 * Allows these passes, which may take minutes on a slow device, to be ended between two steps.
 * lig_program_run() then fails with %LIG_ERROR_CANCELLED; the next run has to begin with the
 * forward pass, as if this one had not begun: parameters are unchanged, but the micro-steps of
 * earlier runs have been counted. An update is never interrupted, nor is a graph of steps that a
 * device replays.
 *
 * With several ranks, the program then runs only the collectives of these passes, because the other
 * ranks wait for them, and fails at the end of the passes with undefined values. @interrupt must
 * keep returning %TRUE until the ranks have agreed to abandon the step, and an update must be a
 * separate run after that.
 */
LIG_API void
lig_program_set_interrupt (LigProgram *self, LigProgramInterrupt interrupt, gpointer data);

/**
 * lig_program_set_rate:
 * @self: a program
 * @learning_rate: the learning rate of each update
 * @clip_norm: the maximum global norm of the gradients; 0 disables clipping
 *
 * Sets the learning rate and clipping of all further updates. Neither has a default: an update
 * before the first call is an error.
 */
LIG_API void lig_program_set_rate (LigProgram *self, double learning_rate, double clip_norm);

/* --- Running ------------------------------------------------------------------------------- */

typedef enum {
  LIG_RUN_FORWARD = 1 << 0,
  LIG_RUN_BACKWARD = 1 << 1,
  LIG_RUN_UPDATE = 1 << 2,
  LIG_RUN_ACCUMULATE = 1 << 3, /* the backward pass adds to the parameters' gradients, which are
                                  fp32 */
  LIG_RUN_PARTIAL = 1 << 4,    /* more backward passes follow before the update, so gradients are
                                  not yet reduced over the ranks */
} LigRunFlags;

/**
 * lig_program_run:
 * @self: a program
 * @flags: #LigRunFlags, at least one pass
 *
 * Runs the passes in order. Each forward pass in training increments the state's micro-steps, each
 * update its steps. An update whose gradients are not finite changes nothing except the count of
 * such updates. On a GPU the call returns when the passes are launched; reading a result waits for
 * them.
 *
 * Returns: %FALSE with %LIG_ERROR_ORDER set; with %LIG_ERROR_DTYPE if %LIG_RUN_ACCUMULATE would add
 *   to 16-bit gradients, in a plan without the option `accumulate`; or with %LIG_ERROR_DEVICE or
 *   %LIG_ERROR_MEMORY naming kernel and step
 */
LIG_API gboolean lig_program_run (LigProgram *self, unsigned flags, GError **error);

/* --- Results ------------------------------------------------------------------------------- */

/**
 * lig_program_read_output:
 * @self: a program
 *
 * Returns: (transfer full): a copy of the output in host memory; %NULL with %LIG_ERROR_ORDER set
 *   before a forward pass
 */
LIG_API LigTensor *lig_program_read_output (LigProgram *self, GError **error);

/**
 * lig_program_read_output_rows:
 * @self: a program
 * @first: the first row, from 0; a row is the last axis
 * @count: the number of rows
 *
 * Returns: (transfer full): a copy `count x columns` of some rows of the output, such as the logits
 *   of one token; %NULL with %LIG_ERROR_INDEX set, or %LIG_ERROR_ORDER before a forward pass
 */
LIG_API LigTensor *
lig_program_read_output_rows (LigProgram *self, gint64 first, gint64 count, GError **error);

/**
 * lig_program_read_extra_output:
 * @self: a program
 * @n: the index of the extra input or output, from 0
 *
 * Returns: (transfer full): a copy of an extra output; %NULL with %LIG_ERROR_INDEX or
 *   %LIG_ERROR_ORDER set
 */
LIG_API LigTensor *lig_program_read_extra_output (LigProgram *self, guint n, GError **error);

/**
 * lig_program_read_watched:
 * @self: a program of a plan that trains
 * @op: the index of an op among those of the plan
 * @name: one of the computed values that the op's table watches, such as `load`
 *
 * Waits for the device and reads the value of the last forward pass.
 *
 * Returns: (transfer full): the value; %NULL with %LIG_ERROR_INDEX (no such value) or
 *   %LIG_ERROR_ORDER (no forward pass) set
 */
LIG_API LigTensor *
lig_program_read_watched (LigProgram *self, int op, const char *name, GError **error);

/**
 * lig_program_read_input_gradient:
 * @self: a program
 *
 * Returns: (transfer full): a copy of the input's gradient, of the input's shape; %NULL with
 *   %LIG_ERROR_INDEX (the plan computes none) or %LIG_ERROR_ORDER (before a backward pass) set
 */
LIG_API LigTensor *lig_program_read_input_gradient (LigProgram *self, GError **error);

/**
 * lig_program_read_extra_gradient:
 * @self: a program
 * @n: the index of the extra input, from 0
 *
 * Returns: (transfer full): a copy of its gradient; %NULL with %LIG_ERROR_INDEX or
 *   %LIG_ERROR_ORDER set
 */
LIG_API LigTensor *lig_program_read_extra_gradient (LigProgram *self, guint n, GError **error);

/**
 * lig_program_read_loss:
 * @self: a program
 * @loss: (out): the value of the output
 *
 * Reads a single-element output without allocating.
 *
 * Returns: %FALSE with %LIG_ERROR_SHAPE (the output has more than one element) or %LIG_ERROR_ORDER
 *   set
 */
LIG_API gboolean lig_program_read_loss (LigProgram *self, float *loss, GError **error);

/**
 * lig_program_read_accuracy:
 * @self: a program
 * @correct: (out): the number of rows whose largest logit is that of their target
 * @counted: (out): the number of rows whose target is not ignored
 *
 * Reads the number of correctly predicted rows, in a plan with the option `accuracy`.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX set in other plans, or %LIG_ERROR_ORDER
 */
LIG_API gboolean lig_program_read_accuracy (LigProgram *self,
                                            double *correct,
                                            double *counted,
                                            GError **error);

/**
 * lig_program_read_gradient_norm:
 * @self: a program
 * @norm: (out): the norm, before clipping
 *
 * Reads the global norm of the gradients at the last update.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX set without an optimizer, or %LIG_ERROR_ORDER
 */
LIG_API gboolean lig_program_read_gradient_norm (LigProgram *self, float *norm, GError **error);

/**
 * lig_program_time_steps: (skip)
 * @self: a program
 * @seconds: an array with one element for each step of the plan, filled with times in seconds
 *
 * Times every step of the plan by running the steps once more, one by one. The state is restored
 * afterwards, so the device needs memory for a copy of it.
 *
 * Returns: %FALSE with an error set: no pass has run yet, there is no memory for the copy, or a
 *   step failed
 */
LIG_API gboolean lig_program_time_steps (LigProgram *self, double *seconds, GError **error);

/* --- Several programs of one state --------------------------------------------------------- */

/* The programs of a state, each created on first use, so that alternating between training and
 * evaluation neither recompiles nor reallocates. */
typedef struct _LigProgramCache LigProgramCache;

#define LIG_TYPE_PROGRAM_CACHE (lig_program_cache_get_type ())
LIG_API GType lig_program_cache_get_type (void);

/**
 * lig_program_cache_new:
 * @state: the state that they share
 *
 * Returns: (transfer full): an empty cache
 */
LIG_API LigProgramCache *lig_program_cache_new (LigState *state);

/**
 * lig_program_cache_free:
 * @self: a cache of programs
 *
 * Releases the caller's reference; the last one releases the programs.
 */
LIG_API void lig_program_cache_free (LigProgramCache *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigProgramCache, lig_program_cache_free)

/**
 * lig_program_cache_get:
 * @self: a cache of programs
 * @sequence: a sequence of the state's parameters
 * @options: (nullable): as for lig_state_plan()
 *
 * Returns the program for the options, creating it if necessary. The cache releases programs that
 * were made before the last edit of the sequence.
 *
 * Returns: (transfer full): the program of lig_state_plan()'s plan, or %NULL with an error set
 */
LIG_API LigProgram *lig_program_cache_get (LigProgramCache *self,
                                           LigSequence *sequence,
                                           const LigPlanOptions *options,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
