/* SPDX-License-Identifier: MIT */
/* Joins and leaves the ranks. */
#include "engine/base/layout.h"
#include "engine/ranks/messages.h"
#include "engine/ranks/ranks-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

/* The ranks that this process belongs to. */
static LigRanks *joined;

/* --- The launcher -------------------------------------------------------------------------- */

/* Returns the number in the environment variable, or -1. */
static int
read_number (const char *name)
{
  guint64 number;
  const char *text = g_getenv (name);
  gboolean valid = text && g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT, &number, NULL);
  return valid ? (int) number : -1;
}

int
lig_ranks_launched (void)
{
  static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    if (read_number (counts[i]) > 0)
      return read_number (counts[i]);
  /* SLURM sets a job's count also in a script outside of any step, a step's count only in a step. A
   * launcher that communicates with MPI sets PMIX_RANK. */
  return g_getenv ("PMIX_RANK") ? MAX (read_number ("SLURM_STEP_NUM_TASKS"), 0) : 0;
}

/* Returns the local rank: the launcher's, because containers may share a host name, else a counted
 * one. */
static int
find_local_rank (LigRanks *self)
{
  static const char *const numbers[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                        "SLURM_LOCALID"};
  int before = 0;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (read_number (numbers[i]) >= 0)
      return read_number (numbers[i]);
  for (int rank = 0; rank < self->rank; rank++)
    before += strcmp (self->places[rank].host, self->places[self->rank].host) == 0;
  return before;
}

/* --- Joining ------------------------------------------------------------------------------- */

/* Initializes MPI and makes the communicator for messages. */
static gboolean
begin (LigRanks *self, GError **error)
{
  enum { SERIALIZED = 2, MULTIPLE = 3 };
  LigMpi *mpi = self->mpi;
  int provided = 0, code = mpi->init_thread (NULL, NULL, MULTIPLE, &provided);
  if (!code && provided < SERIALIZED) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 _ ("ranks: MPI's thread level is %d, expected %d; use an MPI with thread support"),
                 provided, SERIALIZED);
    return FALSE;
  }
  code = code ? code : mpi->comm_set_errhandler (mpi->world, mpi->errors_return);
  code = code ? code : mpi->comm_rank (mpi->world, &self->rank);
  code = code ? code : mpi->comm_size (mpi->world, &self->count);
  code = code ? code : mpi->comm_dup (mpi->world, &self->comm);
  return lig_mpi_check (self->mpi, code, error);
}

static gboolean
find_places (LigRanks *self, GError **error)
{
  LigRankPlace own = {.pid = getpid ()};
  g_strlcpy (own.host, g_get_host_name (), sizeof own.host);
  self->places = g_new0 (LigRankPlace, (gsize) self->count);
  return lig_ranks_collect (self, &own, sizeof own, self->places, error);
}

/* A shell that a launcher started passes the launcher's environment on to commands that are not
 * ranks. */
static gboolean
check_launcher (LigRanks *self, GError **error)
{
  int launched = lig_ranks_launched ();
  if (launched < 2 || launched == self->count)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
               _ ("ranks: the environment says that a launcher started %d, but MPI has %d; unset "
                  "OMPI_COMM_WORLD_SIZE, PMI_SIZE and PMIX_RANK, or start all of them by mpirun"),
               launched, self->count);
  return FALSE;
}

LigRanks *
lig_ranks_join (GError **error)
{
  static LigRanks ranks;
  if (joined)
    return joined;
  ranks.mpi = lig_mpi_open (error);
  if (!ranks.mpi || !begin (&ranks, error) || !check_launcher (&ranks, error) ||
      !find_places (&ranks, error))
    return NULL;
  ranks.local_rank = find_local_rank (&ranks);
  lig_layout_init (&ranks.layout, ranks.count);
  if (!lig_ranks_shard (&ranks, &ranks.layout, error))
    return NULL;
  joined = &ranks;
  return joined;
}

/* Makes the communicator of the processes that differ from this one only in their index in the
 * group. */
static int
split (LigRanks *self, LigRankGroup group, void **comm)
{
  int number = lig_layout_place (&self->layout, self->rank, group);
  int color =
    group == LIG_GROUP_ALL ? 0 : self->rank - number * lig_layout_stride (&self->layout, group);
  g_mutex_lock (&self->mpi->lock);
  int code = self->mpi->comm_split (self->comm, color, number, comm);
  code = code ? code : self->mpi->comm_set_errhandler (*comm, self->mpi->errors_return);
  g_mutex_unlock (&self->mpi->lock);
  return code;
}

gboolean
lig_ranks_shard (LigRanks *self, const LigLayout *layout, GError **error)
{
  gboolean same = self->groups[0].ranks && memcmp (layout, &self->layout, sizeof *layout) == 0;
  if (same)
    return TRUE;
  self->layout = *layout;
  for (LigRankGroup group = 0; group < LIG_N_GROUPS; group++) {
    void *comm = NULL;
    if (!lig_mpi_check (self->mpi, split (self, group, &comm), error))
      return FALSE;
    lig_rank_peers_init (&self->groups[group], self, comm,
                         lig_layout_place (layout, self->rank, group),
                         lig_layout_size (layout, group));
  }
  return TRUE;
}

/* MPI_Finalize() polls without a pause until the last rank arrives, so a barrier comes first. */
void
lig_ranks_leave (void)
{
  LigRanks *self = joined;
  void *request = NULL;
  if (!self)
    return;
  g_mutex_lock (&self->mpi->lock);
  int code = self->mpi->ibarrier (self->comm, &request);
  g_mutex_unlock (&self->mpi->lock);
  code = lig_mpi_wait (self->mpi, &request, 1, 0, LIG_RANKS_LONG_NAP, code);
  lig_rank_watch_leave (self->watch);
  if (!code)
    self->mpi->finalize ();
  lig_rank_watch_end (self->watch);
  joined = NULL;
}

/* --- Properties ---------------------------------------------------------------------------- */

int
lig_ranks_get_rank (LigRanks *self)
{
  return self ? self->rank : 0;
}

int
lig_ranks_get_count (LigRanks *self)
{
  return self ? self->count : 1;
}

int
lig_ranks_get_local_rank (LigRanks *self)
{
  return self ? self->local_rank : 0;
}

const char *
lig_ranks_get_host (LigRanks *self, int rank)
{
  g_return_val_if_fail (self && rank >= 0 && rank < self->count, NULL);
  return self->places[rank].host;
}

const LigLayout *
lig_ranks_get_layout (LigRanks *self)
{
  return &self->layout;
}

const LigPeers *
lig_ranks_get_peers (LigRanks *self, LigRankGroup group)
{
  return self && self->groups[group].peers.count > 1 ? &self->groups[group].peers : NULL;
}
