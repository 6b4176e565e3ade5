/* SPDX-License-Identifier: MIT */
/* Ties: paths of ops in parameters of other ops. In files they are texts; while a sequence is
 * edited, each op also has a reference to the op that it names, so that the text can be updated. */
#pragma once

#include <ligature/sequence.h>

/* The text of a tie begins with this if the op that it named was removed. */
#define LIG_TIE_REMOVED "removed:"

/* Returns whether a text can be the path of an op. */
gboolean lig_tie_is_path (const char *text);

/* Returns (transfer full) (nullable) the absolute path of the op that a tie of the op at the path
 * `from` names; null if it leads out of the outermost list. */
char *lig_tie_resolve (const char *text, const char *from);

/* Called before an edit of the sequence: finds the op of each tie, also of those of `added`
 * (nullable), which is not in the sequence yet: its paths count as before the edit. */
void lig_ties_find (LigSequence *edited, LigOp *added);

/* Called after the edit: updates the path of each tie, and marks ties whose op was removed. */
void lig_ties_renew (LigSequence *edited);

/* Called after an op was replaced: ties to it name the new op. */
void lig_ties_forget (LigSequence *edited, LigOp *old);

/* Returns (nullable) the op that has the parameter (null: any) of the part at the path `suffix` in
 * an op, which is empty or begins with a dot; sets `rest` to the path within the returned op. */
typedef LigOp *(*LigTieFind) (const char *suffix,
                              const char *parameter,
                              const char **rest,
                              gpointer data);

/* Called after an op was replaced by several: ties to it name the ops that `find` returns. */
void lig_ties_split (LigSequence *edited, LigOp *old, LigTieFind find, gpointer data);

/* Adds `by` to the positions that the ties of an op name in the outermost list, if they are in
 * [first, end); a tie to another position is marked as removed. */
void lig_ties_shift (LigOp *op, int first, int end, int by);
