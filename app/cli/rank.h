/* SPDX-License-Identifier: MIT */
/* A `lig` that is one of several ranks. Rank 0 prints and writes; the others are silent. */
#pragma once

#include <ligature/ranks.h>
#include <ligature/run.h>

G_BEGIN_DECLS

/* Called before anything is printed: takes the streams of the `lig` that started this rank; ranks
 * other than rank 0 print nothing from now on. */
void lig_cli_rank_begin (void);

/* Joins the other ranks and monitors them, if a launcher started several. Returns FALSE with an
 * error set. */
gboolean lig_cli_rank_join (GError **error);

/* Returns the ranks, or NULL if this is the only process. */
LigRanks *lig_cli_rank_get (void);

/* Returns whether this process is rank 0 or the only one. */
gboolean lig_cli_rank_is_first (void);

/* Broadcasts rank 0's standard input to all ranks. */
gboolean lig_cli_rank_share_input (GError **error);

/* The status that a run gets if another rank is lost. An interrupted run of a sweep continues with
 * the sweep. */
typedef enum { LIG_CLI_LOST_FAILED, LIG_CLI_LOST_INTERRUPTED } LigCliLost;

/* Makes the store record that the run failed if another rank fails, or how it ended if one is lost;
 * a null run ends this. Called by rank 0. */
void lig_cli_rank_record (LigRun *run, LigStore *store, LigCliLost lost);

/* Returns only if no other rank has ended: a process that ends because of another rank prints
 * nothing else. */
void lig_cli_rank_hold (void);

/* Like lig_cli_fail() if this is the only process. Otherwise all ranks end, and it does not
 * return. */
int lig_cli_rank_fail (GError *error);

/* Leaves the other ranks, if this process joined them, and passes the exit code to the `lig` that
 * started them. Returns this process's exit code: 0 if another process has the code, because mpirun
 * takes seconds to end if a rank fails. */
int lig_cli_rank_end (int code);

G_END_DECLS
