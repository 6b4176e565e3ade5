/* SPDX-License-Identifier: MIT */
/* The ranks for collective kernels on the CPU. Each piece is sent as a message, because MPI's own
 * collectives have int offsets, which large arrays exceed. */
#include "engine/ranks/ranks-private.h"

#include <string.h>

/* The tags of messages, so that those of two threads are not mixed up. */
enum { TAG_ALL, TAG_RING };

/* The requests of one call. */
typedef struct {
  LigRankPeers *peers;
  LigMpi *mpi;
  GArray *requests;
  int tag;
  gsize bytes; /* the total */
  int code;
} Batch;

/* Adds the messages of one piece; messages between two ranks arrive in order. */
static void
add (Batch *batch, gboolean sends, int peer, char *data, int64_t bytes)
{
  LigMpi *mpi = batch->mpi;
  void *comm = batch->peers->comm;
  batch->bytes += (gsize) bytes;
  while (bytes > 0 && !batch->code) {
    void *request = NULL;
    int piece = (int) MIN ((gsize) bytes, LIG_RANKS_PIECE);
    batch->code = sends ? mpi->isend (data, piece, mpi->byte, peer, batch->tag, comm, &request)
                        : mpi->irecv (data, piece, mpi->byte, peer, batch->tag, comm, &request);
    if (!batch->code)
      g_array_append_val (batch->requests, request);
    data += piece;
    bytes -= piece;
  }
}

static LigStatus
finish (Batch *batch, const char **where)
{
  LigMpi *mpi = batch->mpi;
  void **requests = (void **) (gpointer) batch->requests->data;
  int code = lig_mpi_wait (mpi, requests, (int) batch->requests->len, batch->bytes, LIG_RANKS_NAP,
                           batch->code);
  g_array_free (batch->requests, TRUE);
  if (!code)
    return LIG_OK;
  g_autofree char *reason = lig_mpi_describe (mpi, code);
  /* The reason must stay valid; there are few different ones. */
  *where = g_intern_string (reason);
  return LIG_FAILED;
}

static Batch
begin (const LigPeers *peers, int tag)
{
  LigRankPeers *group = peers->handle;
  return (Batch){.peers = group,
                 .mpi = group->ranks->mpi,
                 .tag = tag,
                 .requests = g_array_new (FALSE, FALSE, sizeof (void *))};
}

/* Returns the peer at a distance of `step`; starting with the next one spreads the load. */
static int
step_to (const LigPeers *peers, int step)
{
  return (peers->rank + step) % peers->count;
}

static LigStatus
collective (
  const LigPeers *peers, const void *from, const int64_t *bounds, void *to, const char **where)
{
  Batch batch = begin (peers, TAG_ALL);
  int64_t own = bounds[peers->rank + 1] - bounds[peers->rank];
  char *received = to, *sent = (char *) from;
  g_mutex_lock (&batch.mpi->lock);
  for (int step = 1; step < peers->count; step++) {
    int peer = step_to (peers, peers->count - step);
    add (&batch, FALSE, peer, received + peer * own, own);
  }
  for (int step = 1; step < peers->count; step++) {
    int peer = step_to (peers, step);
    add (&batch, TRUE, peer, sent + bounds[peer], bounds[peer + 1] - bounds[peer]);
  }
  g_mutex_unlock (&batch.mpi->lock);
  if (own > 0)
    memcpy (received + peers->rank * own, sent + bounds[peers->rank], (size_t) own);
  return finish (&batch, where);
}

static LigStatus
gather (const LigPeers *peers, void *data, const int64_t *bounds, const char **where)
{
  Batch batch = begin (peers, TAG_ALL);
  char *all = data;
  g_mutex_lock (&batch.mpi->lock);
  for (int step = 1; step < peers->count; step++) {
    int peer = step_to (peers, peers->count - step);
    add (&batch, FALSE, peer, all + bounds[peer], bounds[peer + 1] - bounds[peer]);
  }
  int64_t own = bounds[peers->rank + 1] - bounds[peers->rank];
  for (int step = 1; step < peers->count; step++)
    add (&batch, TRUE, step_to (peers, step), all + bounds[peers->rank], own);
  g_mutex_unlock (&batch.mpi->lock);
  return finish (&batch, where);
}

static LigStatus
shift (const LigPeers *peers,
       int distance,
       const void *from,
       void *to,
       int64_t bytes,
       const char **where)
{
  Batch batch = begin (peers, TAG_RING);
  g_mutex_lock (&batch.mpi->lock);
  add (&batch, FALSE, step_to (peers, peers->count - distance), to, bytes);
  add (&batch, TRUE, step_to (peers, distance), (char *) from, bytes);
  g_mutex_unlock (&batch.mpi->lock);
  return finish (&batch, where);
}

void
lig_rank_peers_init (LigRankPeers *self, LigRanks *ranks, void *comm, int rank, int count)
{
  *self = (LigRankPeers){.ranks = ranks,
                         .comm = comm,
                         .peers = {.rank = rank,
                                   .count = count,
                                   .handle = self,
                                   .collective = collective,
                                   .gather = gather,
                                   .shift = shift}};
}
