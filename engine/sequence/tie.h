/* SPDX-License-Identifier: MIT */
/* Ties: paths of ops in parameters of other ops. They are texts in files; while a sequence is
 * edited, each op also refers to the op that it names, so that the text can follow it. */
#pragma once

#include <ligature/sequence.h>

/* The text of a tie begins with this if the op that it named was removed. */
#define LIG_TIE_REMOVED "removed:"

/* Returns whether a text can be the path of an op. */
gboolean lig_tie_is_path (const char *text);

/* Returns (transfer full) (nullable) the path from the outermost list on of the op that a tie of
 * the op at the path `from` names; null if it leads out of the outermost list. */
char *lig_tie_resolve (const char *text, const char *from);

/* Called before an edit of the sequence: finds the op of each tie, also of those of `added`
 * (nullable), which is not in the sequence yet: its paths count as before the edit. */
void lig_ties_find (LigSequence *edited, LigOp *added);

/* Called after the edit: lets each tie name its op again, and marks those whose op was removed. */
void lig_ties_renew (LigSequence *edited);

/* Called after an op was replaced: ties to it name the op in its place. */
void lig_ties_forget (LigSequence *edited, LigOp *old);

/* Returns (nullable) the op that has the parameter (null: any) of a part of an op, of which
 * `suffix` is the path in the op, empty or with its point; `rest` is set to that within the op. */
typedef LigOp *(*LigTieFind) (const char *suffix,
                              const char *parameter,
                              const char **rest,
                              gpointer data);

/* Called after an op was replaced by several: ties to it name the ones that `find` returns. */
void lig_ties_shard (LigSequence *edited, LigOp *old, LigTieFind find, gpointer data);

/* Adds `by` to the positions from `first` up to but excluding `end` in the outermost list that the
 * ties of an op name; a tie to another position is marked as removed. */
void lig_ties_shift (LigOp *op, int first, int end, int by);
