/* SPDX-License-Identifier: MIT */
/* A `lig` that is one of several ranks. Rank 0 prints and writes; the others are silent. */
#pragma once

#include <ligature/ranks.h>
#include <ligature/run.h>

G_BEGIN_DECLS

/* Called before anything is printed: takes the streams of the `lig` that started this rank; other
 * ranks than the first print nothing from now on. */
void lig_cli_rank_begin (void);

/* Joins the other ranks and watches them, if a launcher started several. Returns FALSE with an
 * error set. */
gboolean lig_cli_rank_join (GError **error);

/* Returns the ranks, or NULL if this process is alone. */
LigRanks *lig_cli_rank_get (void);

/* Returns whether this process is rank 0, or alone. */
gboolean lig_cli_rank_is_first (void);

/* Gives all ranks what rank 0 reads from standard input. */
gboolean lig_cli_rank_share_input (GError **error);

/* The state of a run when another rank is lost. An interrupted run of a sweep is continued with the
 * sweep. */
typedef enum { LIG_CLI_LOST_FAILED, LIG_CLI_LOST_INTERRUPTED } LigCliLost;

/* Lets the store say that the run failed if another rank fails, or how it ended if one is lost; a
 * null run ends that. Rank 0 calls it. */
void lig_cli_rank_record (LigRun *run, LigStore *store, LigCliLost lost);

/* Returns only if no other rank has ended: a process that ends because of that says nothing else.
 */
void lig_cli_rank_hold (void);

/* Does as lig_cli_fail() if this process is alone. Else all ranks end, and it does not return. */
int lig_cli_rank_fail (GError *error);

/* Leaves the other ranks, if this process joined them, and passes the exit code to the `lig` that
 * started them. Returns the code of this process: mpirun takes seconds to end if one fails, so 0
 * where another process has the code. */
int lig_cli_rank_end (int code);

G_END_DECLS
