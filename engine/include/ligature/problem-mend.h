/* SPDX-License-Identifier: MIT */
/* Mends of problems: edits of a sequence that remove a reason why it has no plan.
 *
 * Threads: any thread may read a mend; lig_problem_mend_apply() edits the sequence, so it must be
 * called on the thread that owns the sequence. */
#pragma once

#include <ligature/sequence.h>

G_BEGIN_DECLS

/**
 * LigProblemMendKind:
 * @LIG_PROBLEM_MEND_SET: set the parameter that the name gives to the value, or leave it out
 * @LIG_PROBLEM_MEND_SET_INPUT: set the sequence's input to the value
 * @LIG_PROBLEM_MEND_SET_DTYPE: compute in the type that the value names
 * @LIG_PROBLEM_MEND_REMOVE_FENCE: remove the fence before the op
 * @LIG_PROBLEM_MEND_UNFORCE: no longer force the fusion that the name gives
 * @LIG_PROBLEM_MEND_UNFORBID: no longer forbid the fusion that the name gives
 * @LIG_PROBLEM_MEND_CONNECT: connect the extra input that the name's parameter feeds with the extra
 *   output of the op whose path is the value
 * @LIG_PROBLEM_MEND_DISCONNECT: remove the channel that the name gives from the op
 * @LIG_PROBLEM_MEND_RENAME: rename the channel that the op starts from the name to the value, with
 *   its readers
 * @LIG_PROBLEM_MEND_REMOVE_OP: remove the op, whose name is given
 * @LIG_PROBLEM_MEND_INSERT_OP: insert the op that the value describes as an expression before the
 * op
 */
typedef enum {
  LIG_PROBLEM_MEND_SET,
  LIG_PROBLEM_MEND_SET_INPUT,
  LIG_PROBLEM_MEND_SET_DTYPE,
  LIG_PROBLEM_MEND_REMOVE_FENCE,
  LIG_PROBLEM_MEND_UNFORCE,
  LIG_PROBLEM_MEND_UNFORBID,
  LIG_PROBLEM_MEND_CONNECT,
  LIG_PROBLEM_MEND_DISCONNECT,
  LIG_PROBLEM_MEND_RENAME,
  LIG_PROBLEM_MEND_REMOVE_OP,
  LIG_PROBLEM_MEND_INSERT_OP,
} LigProblemMendKind;

/**
 * LigProblemMend:
 * @path: (nullable): the path of the op that is edited; %NULL: the whole sequence
 * @name: (nullable): the name of a parameter, a fusion, a channel or an op
 * @value: (nullable): `768`, `[-1, 768]`, `2048x768:fp32`, a path or an expression
 *
 * An edit that removes a problem.
 */
typedef struct {
  LigProblemMendKind kind;
  char *path, *name, *value;
} LigProblemMend;

/**
 * lig_problem_mend_new: (skip)
 * @kind: a kind of mend
 * @path: (nullable): copied, as are the others
 * @name: (nullable): see #LigProblemMend
 * @value: (nullable): see #LigProblemMend
 *
 * Returns: (transfer full): a mend
 */
LIG_API LigProblemMend *lig_problem_mend_new (LigProblemMendKind kind,
                                              const char *path,
                                              const char *name,
                                              const char *value);

/**
 * lig_problem_mend_copy: (skip)
 * @self: a mend
 *
 * Returns: (transfer full): an equal mend
 */
LIG_API LigProblemMend *lig_problem_mend_copy (const LigProblemMend *self);

/**
 * lig_problem_mend_free: (skip)
 * @self: a mend
 *
 * Frees a mend.
 */
LIG_API void lig_problem_mend_free (LigProblemMend *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigProblemMend, lig_problem_mend_free)

/**
 * lig_problem_mend_kind_name:
 * @kind: a kind of mend
 *
 * Returns: (transfer none): the kind's name in JSON: `set` for %LIG_PROBLEM_MEND_SET
 */
LIG_API const char *lig_problem_mend_kind_name (LigProblemMendKind kind);

/**
 * lig_problem_mend_describe:
 * @self: a mend
 *
 * Returns: (transfer full): the edit as a translated phrase: `set out-features to 768 at 2`
 */
LIG_API char *lig_problem_mend_describe (const LigProblemMend *self);

/**
 * lig_problem_mend_apply:
 * @self: a mend
 * @sequence: the sequence that was checked, or a copy of it
 *
 * Makes the edit.
 *
 * Returns: %FALSE with an error set if the sequence cannot be edited like this
 */
LIG_API gboolean lig_problem_mend_apply (const LigProblemMend *self,
                                         LigSequence *sequence,
                                         GError **error);

G_END_DECLS
