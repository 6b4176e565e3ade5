/* SPDX-License-Identifier: MIT */
/* Fixes: edits of a sequence after which a rejected fusion applies.
 *
 * Threads: any thread may read a fix; lig_fix_apply() edits the sequence, so it must be called on
 * the thread that owns the sequence. */
#pragma once

#include <ligature/sequence.h>

G_BEGIN_DECLS

/**
 * LigFixKind:
 * @LIG_FIX_REMOVE_FENCE: remove the fence before the op at the path
 * @LIG_FIX_UNFORBID: allow the fusion, at the path and everywhere; no path if it is only forbidden
 *   everywhere
 * @LIG_FIX_FORCE: force the fusion at the path, instead of the groups that cover its ops; the
 * value, if any, is the forced fusion that it replaces, `FUSION@PATH`
 * @LIG_FIX_MAKE_PRIVATE: make the branch of the op at the path private: the caller no longer reads
 *   it, and ops that read its channel get their extra input from the caller
 * @LIG_FIX_SET_DTYPE: compute in the type that the value names
 * @LIG_FIX_INSERT_OP: insert the op that the value names before the op at the path
 * @LIG_FIX_REMOVE_OP: remove the op at the path, which has no effect on the result
 * @LIG_FIX_REPLACE_OP: replace the op at the path by the op that the value names
 * @LIG_FIX_UNFORCE: stop forcing the fusion that the value names at the path
 * @LIG_FIX_CHOOSE_POLICY: compile with the policy that the value names, which is a compile option
 *   and not part of the sequence
 * @LIG_FIX_SET: set the parameter of the op at the path that the value names, `PARAMETER=NUMBER`
 */
typedef enum {
  LIG_FIX_REMOVE_FENCE,
  LIG_FIX_UNFORBID,
  LIG_FIX_FORCE,
  LIG_FIX_MAKE_PRIVATE,
  LIG_FIX_SET_DTYPE,
  LIG_FIX_INSERT_OP,
  LIG_FIX_REMOVE_OP,
  LIG_FIX_REPLACE_OP,
  LIG_FIX_UNFORCE,
  LIG_FIX_CHOOSE_POLICY,
  LIG_FIX_SET,
} LigFixKind;

/**
 * LigFix:
 * @number: the number of the edit in its plan, from 1; fixes that make the same edit share it
 * @fusion: the name of the fusion that was rejected
 * @path: (nullable): the path of the edited op, within a block that of the first repetition; %NULL
 *   if the edit concerns the whole sequence
 * @value: (nullable): the name of an op, of an element type, of a fusion or of a policy, or a
 *   parameter and its number
 * @gain: the time in microseconds that the fusion then saves per step; negative if it costs time,
 *   NaN if unknown
 * @measured: whether the gain comes from measured times; otherwise it is predicted
 * @bytes: the reduction in bytes read and written per step; negative for an increase, NaN if
 *   unknown
 *
 * An edit that makes a rejected fusion possible. The strings belong to the plan.
 */
typedef struct {
  LigFixKind kind;
  guint number;
  const char *fusion, *path, *value;
  double gain;
  gboolean measured;
  double bytes;
} LigFix;

/**
 * lig_fix_kind_name:
 * @kind: a kind of fix
 *
 * Returns: (transfer none): the kind's name in JSON: `remove-fence` for %LIG_FIX_REMOVE_FENCE
 */
LIG_API const char *lig_fix_kind_name (LigFixKind kind);

/**
 * lig_fix_describe:
 * @self: a fix
 *
 * Returns: (transfer full): the edit as a translated phrase: `remove the fence before 3`
 */
LIG_API char *lig_fix_describe (const LigFix *self);

/**
 * lig_fix_is_edit:
 * @self: a fix
 *
 * Returns: whether lig_fix_apply() can make it; %FALSE if it changes a compile option
 */
LIG_API gboolean lig_fix_is_edit (const LigFix *self);

/**
 * lig_fix_apply:
 * @self: a fix
 * @sequence: the sequence that was compiled, or a copy of it
 *
 * Makes the edit. If the sequence is then compiled again for the same device with the same options,
 * the fusion is applied, or rejected for another reason.
 *
 * Returns: %FALSE with an error set if the sequence has no such op, or if the fix is not an edit;
 *   the sequence is then unchanged
 */
LIG_API gboolean lig_fix_apply (const LigFix *self, LigSequence *sequence, GError **error);

G_END_DECLS
