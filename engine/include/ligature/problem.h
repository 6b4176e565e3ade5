/* SPDX-License-Identifier: MIT */
/* Problems of a sequence: all reasons why it does not compile, each with the edits that fix it.
 *
 * Threads: lig_plan_check() reads the sequence, so it must be called on the thread that edits it,
 * or with a lig_sequence_copy(). Any thread may read the result. */
#pragma once

#include <ligature/device.h>
#include <ligature/problem-fix.h>

G_BEGIN_DECLS

typedef struct _LigPlanOptions LigPlanOptions;

/**
 * LigPlanProblem:
 * @error: the message, its code, path and setting
 * @fixes: (element-type LigProblemFix): the edits that fix it, best first; may be empty
 *
 * One reason why a sequence does not compile.
 */
typedef struct {
  GError *error;
  GPtrArray *fixes;
} LigPlanProblem;

/**
 * lig_plan_check:
 * @sequence: a sequence; it is read, not changed
 * @device: the device to compile for; nothing is measured on it
 * @options: (nullable): the options
 *
 * Finds every problem of a sequence. An error that may only be a consequence of an earlier one is
 * omitted, and the repetitions of a block report a problem once. The first problem is the error of
 * lig_plan_compile().
 *
 * Returns: (transfer full) (element-type LigPlanProblem): the problems in the order of the
 *   compiler's passes; empty if the sequence can be compiled
 */
LIG_API GPtrArray *lig_plan_check (LigSequence *sequence,
                                   LigDevice *device,
                                   const LigPlanOptions *options) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_problem_free:
 * @self: a problem
 *
 * Frees a problem and its fixes.
 */
LIG_API void lig_plan_problem_free (LigPlanProblem *self);

G_END_DECLS
