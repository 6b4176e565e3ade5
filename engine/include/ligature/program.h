/* SPDX-License-Identifier: MIT */
/* Programs: a plan with memory. A program holds references to its plan and to the state that it
 * trains, owns the memory that its steps work in, and is all that runs.
 *
 * Threads: a state and the programs of it are used by one thread at a time, together with their
 * device. They may go from one thread to another, as a training's do to the thread that it begins.
 *
 * Order: inputs are set, then a forward pass, then at most one backward pass of it, then an update;
 * the passes may be asked for together. A call that comes too early, or asks for a pass that the
 * plan does not have, is %LIG_ERROR_ORDER and changes nothing. */
#pragma once

#include <ligature/plan.h>
#include <ligature/state.h>

G_BEGIN_DECLS

typedef struct _LigProgram LigProgram;

#define LIG_TYPE_PROGRAM (lig_program_get_type ())
LIG_API GType lig_program_get_type (void);

/**
 * lig_program_new:
 * @plan: compiled for the device that the state is on, or for another of the same name
 *
 * Allocates the plan's activations on the device. Any number of programs may work on one state, of
 * one plan or of several; each sees the parameters that the last update left.
 *
 * Returns: (transfer full): a program, or %NULL with %LIG_ERROR_SHAPE (the state has other
 *   parameters), %LIG_ERROR_DEVICE (it is elsewhere, or the device is not there)
 *   %LIG_ERROR_MEMORY or %LIG_ERROR_VALUE (@plan or @state is null) set
 */
LIG_API LigProgram *
lig_program_new (LigPlan *plan, LigState *state, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Counting is atomic; the last reference waits for what the device still works on. */
LIG_API LigProgram *lig_program_ref (LigProgram *self);
LIG_API void lig_program_unref (LigProgram *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigProgram, lig_program_unref)

/**
 * lig_program_get_plan:
 *
 * Returns: (transfer none): the plan that it runs
 */
LIG_API LigPlan *lig_program_get_plan (LigProgram *self);

/**
 * lig_program_get_state:
 *
 * Returns: (transfer none): the state that it trains
 */
LIG_API LigState *lig_program_get_state (LigProgram *self);

/* --- Inputs -------------------------------------------------------------------------------- */

/* Copies into the input or an extra input, where it stays until it is set again. Types are
 * converted but for integers; another shape is %LIG_ERROR_SHAPE, an extra input that is not there
 * %LIG_ERROR_INDEX. The tensor may be changed as soon as the call returns. */
LIG_API gboolean lig_program_set_input (LigProgram *self, LigTensor *tensor, GError **error);
LIG_API gboolean lig_program_set_extra_input (LigProgram *self,
                                              guint n,
                                              LigTensor *tensor,
                                              GError **error);

/* Copies into the gradient that arrives at the output, or at an extra output, in the next backward
 * pass. That pass uses it up: in the one after it the gradient is zero again, that of a loss 1, as
 * in passes before which none was set. */
LIG_API gboolean lig_program_set_gradient (LigProgram *self, LigTensor *tensor, GError **error);
LIG_API gboolean lig_program_set_extra_gradient (LigProgram *self,
                                                 guint n,
                                                 LigTensor *tensor,
                                                 GError **error);

/* Learning rate and clipping norm (0: none) of all updates from now on. There is no default: an
 * update before the first call is an error. */
LIG_API void lig_program_set_rate (LigProgram *self, double learning_rate, double clip_norm);

/* --- Running ------------------------------------------------------------------------------- */

typedef enum {
  LIG_RUN_FORWARD = 1 << 0,
  LIG_RUN_BACKWARD = 1 << 1,
  LIG_RUN_UPDATE = 1 << 2,
  LIG_RUN_ACCUMULATE = 1 << 3, /* backward adds to the parameters' gradients, which are fp32 */
} LigRunFlags;

/**
 * lig_program_run:
 * @flags: #LigRunFlags, at least one pass
 *
 * Runs the passes in order. A forward pass in training counts a micro-step of the state, an update
 * a step. An update whose gradients are not finite writes nothing but the count of such updates. On
 * a GPU the passes have been launched when this returns; reading a result waits.
 *
 * Returns: %FALSE with %LIG_ERROR_ORDER set; with %LIG_ERROR_DTYPE where gradients of 16 bits would
 *   be added up, in a plan without the option `accumulate`; or with %LIG_ERROR_DEVICE or
 *   %LIG_ERROR_MEMORY naming kernel and step
 */
LIG_API gboolean lig_program_run (LigProgram *self, unsigned flags, GError **error);

/* --- Results ------------------------------------------------------------------------------- */

/* Copies of results in host memory; (transfer full). %NULL with %LIG_ERROR_INDEX set where the plan
 * has no such result, %LIG_ERROR_ORDER before the pass that computes it: outputs stay until the
 * next forward pass begins, gradients likewise. */
LIG_API LigTensor *lig_program_read_output (LigProgram *self, GError **error);
LIG_API LigTensor *lig_program_read_extra_output (LigProgram *self, guint n, GError **error);
LIG_API LigTensor *lig_program_read_input_gradient (LigProgram *self, GError **error);
LIG_API LigTensor *lig_program_read_extra_gradient (LigProgram *self, guint n, GError **error);

/* The output as a number without an allocation; %LIG_ERROR_SHAPE where it is more than one. */
LIG_API gboolean lig_program_read_loss (LigProgram *self, float *loss, GError **error);

/* Rows that were right and rows counted, in a plan with accuracy; %LIG_ERROR_INDEX in others. */
LIG_API gboolean lig_program_read_accuracy (LigProgram *self,
                                            double *correct,
                                            double *counted,
                                            GError **error);

/* The global norm of the gradients at the last update; %LIG_ERROR_INDEX without an optimizer. */
LIG_API gboolean lig_program_read_gradient_norm (LigProgram *self, float *norm, GError **error);

/**
 * lig_program_time_steps:
 * @seconds: a place for each step of the plan
 *
 * Runs every step of the plan once more, one by one. The state is afterwards what it was before,
 * for which the device needs room for a copy of it.
 */
LIG_API gboolean lig_program_time_steps (LigProgram *self, double *seconds, GError **error);

/* --- Several programs of one state --------------------------------------------------------- */

/* The programs of a state, each made when first asked for, so that going back and forth between
 * training and evaluation compiles nothing and allocates nothing anew. */
typedef struct _LigProgramCache LigProgramCache;

#define LIG_TYPE_PROGRAM_CACHE (lig_program_cache_get_type ())
LIG_API GType lig_program_cache_get_type (void);

LIG_API LigProgramCache *lig_program_cache_new (LigState *state);
LIG_API void lig_program_cache_free (LigProgramCache *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigProgramCache, lig_program_cache_free)

/**
 * lig_program_cache_get:
 * @options: (nullable): as for lig_state_plan()
 *
 * Programs of the sequence before its last edit are let go of.
 *
 * Returns: (transfer full): the program of lig_state_plan()'s plan, or %NULL with an error
 */
LIG_API LigProgram *lig_program_cache_get (LigProgramCache *self,
                                           LigSequence *sequence,
                                           const LigPlanOptions *options,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
