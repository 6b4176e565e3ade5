/* SPDX-License-Identifier: MIT */
/* Fixes of problems: edits of a sequence that remove a reason why it does not compile.
 *
 * Threads: any thread may read a fix; lig_problem_fix_apply() edits the sequence, so it must be
 * called on the thread that owns the sequence. */
#pragma once

#include <ligature/sequence.h>

G_BEGIN_DECLS

/**
 * LigProblemFixKind:
 * @LIG_PROBLEM_FIX_SET: set the parameter that the name gives to the value, or unset it
 * @LIG_PROBLEM_FIX_SET_INPUT: set the sequence's input to the value
 * @LIG_PROBLEM_FIX_SET_DTYPE: compute in the type that the value names
 * @LIG_PROBLEM_FIX_REMOVE_FENCE: remove the fence before the op
 * @LIG_PROBLEM_FIX_UNFORCE: stop forcing the fusion that the name gives
 * @LIG_PROBLEM_FIX_UNFORBID: stop forbidding the fusion that the name gives
 * @LIG_PROBLEM_FIX_CONNECT: connect the extra input of the parameter that the name gives to the
 *   extra output of the op whose path is the value
 * @LIG_PROBLEM_FIX_DISCONNECT: remove the channel that the name gives from the op
 * @LIG_PROBLEM_FIX_RENAME: rename the channel that the op writes from the name to the value, in its
 *   readers too
 * @LIG_PROBLEM_FIX_REMOVE_OP: remove the op, whose name is given
 * @LIG_PROBLEM_FIX_INSERT_OP: insert the op that the value, an expression, describes before the op
 */
typedef enum {
  LIG_PROBLEM_FIX_SET,
  LIG_PROBLEM_FIX_SET_INPUT,
  LIG_PROBLEM_FIX_SET_DTYPE,
  LIG_PROBLEM_FIX_REMOVE_FENCE,
  LIG_PROBLEM_FIX_UNFORCE,
  LIG_PROBLEM_FIX_UNFORBID,
  LIG_PROBLEM_FIX_CONNECT,
  LIG_PROBLEM_FIX_DISCONNECT,
  LIG_PROBLEM_FIX_RENAME,
  LIG_PROBLEM_FIX_REMOVE_OP,
  LIG_PROBLEM_FIX_INSERT_OP,
} LigProblemFixKind;

/**
 * LigProblemFix:
 * @path: (nullable): the path of the edited op; %NULL: the whole sequence
 * @name: (nullable): the name of a parameter, a fusion, a channel or an op
 * @value: (nullable): `768`, `[-1, 768]`, `2048x768:fp32`, a path or an expression
 *
 * An edit that removes a problem.
 */
typedef struct {
  LigProblemFixKind kind;
  char *path, *name, *value;
} LigProblemFix;

/**
 * lig_problem_fix_new: (skip)
 * @kind: a kind of fix
 * @path: (nullable): copied, as are the others
 * @name: (nullable): see #LigProblemFix
 * @value: (nullable): see #LigProblemFix
 *
 * Returns: (transfer full): a fix
 */
LIG_API LigProblemFix *
lig_problem_fix_new (LigProblemFixKind kind, const char *path, const char *name, const char *value);

/**
 * lig_problem_fix_copy: (skip)
 * @self: a fix
 *
 * Returns: (transfer full): an equal fix
 */
LIG_API LigProblemFix *lig_problem_fix_copy (const LigProblemFix *self);

/**
 * lig_problem_fix_free: (skip)
 * @self: a fix
 *
 * Frees a fix.
 */
LIG_API void lig_problem_fix_free (LigProblemFix *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigProblemFix, lig_problem_fix_free)

/**
 * lig_problem_fix_kind_name:
 * @kind: a kind of fix
 *
 * Returns: (transfer none): the kind's name in JSON: `set` for %LIG_PROBLEM_FIX_SET
 */
LIG_API const char *lig_problem_fix_kind_name (LigProblemFixKind kind);

/**
 * lig_problem_fix_describe:
 * @self: a fix
 *
 * Returns: (transfer full): the edit as a translated phrase: `set out-features to 768 at 2`
 */
LIG_API char *lig_problem_fix_describe (const LigProblemFix *self);

/**
 * lig_problem_fix_apply:
 * @self: a fix
 * @sequence: the sequence that was checked, or a copy of it
 *
 * Makes the edit.
 *
 * Returns: %FALSE with an error set if the sequence cannot be edited like this
 */
LIG_API gboolean lig_problem_fix_apply (const LigProblemFix *self,
                                        LigSequence *sequence,
                                        GError **error);

G_END_DECLS
