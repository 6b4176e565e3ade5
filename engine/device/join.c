/* SPDX-License-Identifier: MIT */
/* Joins the devices of ranks: the processes with which a device's collective kernels communicate,
 * by MPI or by the backend's own connections. */
#include "engine/base/layout.h"
#include "engine/device/backend.h"
#include "engine/device/links.h"
#include "engine/ranks/messages.h"
#include <ligature/ranks.h>

#include <glib/gi18n-lib.h>

/* Broadcasts the key that the first rank of a group has made. */
static gboolean
share_key (const LigPeers *peers, char *key, GError **error)
{
  const char *where = NULL;
  g_autofree gint64 *bounds = g_new (gint64, (gsize) peers->count + 1);
  for (int i = 0; i <= peers->count; i++)
    bounds[i] = i == 0 ? 0 : LIG_CONNECTION_KEY;
  if (peers->gather (peers, key, bounds, &where) == LIG_OK)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_RANKS, _ ("ranks: MPI failed: %s; start the run again"),
               where);
  return FALSE;
}

/* Connects the devices of a group if the backend's kernels do not communicate by MPI. */
static gboolean
connect_group (LigDevice *self, LigRankGroup group, GError **error)
{
  const LigPeers *peers = lig_ranks_get_peers (self->ranks, group);
  char key[LIG_CONNECTION_KEY] = {0};
  void *connection = NULL;
  gboolean experts = group == LIG_GROUP_EXPERT || group == LIG_GROUP_EXPERT_REPLICAS;
  if (!peers || (group == LIG_GROUP_REPLICAS && lig_device_get_replicas (self) != group) ||
      (experts && lig_device_get_n_ranks (self, LIG_GROUP_EXPERT) == 1))
    return TRUE;
  if (peers->rank == 0 && !lig_device_check (self, self->calls->connection_key (self->handle, key),
                                             _ ("joining ranks"), error))
    return FALSE;
  if (!share_key (peers, key, error))
    return FALSE;
  LigStatus status =
    self->calls->connect (self->handle, key, peers->rank, peers->count, &connection);
  if (!lig_device_check (self, status, _ ("joining ranks"), error))
    return FALSE;
  self->peers[group] = (LigPeers){.rank = peers->rank, .count = peers->count, .handle = connection};
  return TRUE;
}

gboolean
lig_device_join (LigDevice *self, LigRanks *ranks, GError **error)
{
  if (lig_ranks_get_count (ranks) == 1)
    return TRUE;
  if (lig_device_has (self, LIG_DEVICE_ACCELERATOR) && !self->calls->connect) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 _ ("%s: ranks on %s cannot reduce gradients yet; train on cpu, or on one card"),
                 self->name, self->backend->info.title);
    return FALSE;
  }
  void **stream = &self->streams[LIG_LANE_COMMUNICATION];
  if (!*stream) {
    LigStatus status = self->calls->stream_new (self->handle, stream);
    if (!lig_device_check (self, status, _ ("joining ranks"), error))
      return FALSE;
  }
  lig_device_leave (self);
  self->ranks = ranks;
  self->rank = lig_ranks_get_rank (ranks);
  self->layout = *lig_ranks_get_layout (ranks);
  for (LigRankGroup group = 0; self->calls->connect && group < LIG_N_GROUPS; group++)
    if (!connect_group (self, group, error))
      return FALSE;
  LigFabric *fabric = &self->facts.fabric;
  return lig_links_measure (self, lig_device_get_peers (self, LIG_GROUP_ALL), fabric, error) &&
         lig_ranks_broadcast (ranks, fabric, sizeof *fabric, error);
}

const LigPeers *
lig_device_get_peers (LigDevice *self, LigRankGroup group)
{
  return self->peers[group].handle ? &self->peers[group] : lig_ranks_get_peers (self->ranks, group);
}

gboolean
lig_device_check_ranks (LigDevice *self, GError **error)
{
  for (LigRankGroup group = 0; group < LIG_N_GROUPS; group++) {
    void *connection = self->peers[group].handle;
    if (connection &&
        !lig_device_check (self, self->calls->connection_state (self->handle, connection),
                           _ ("communicating with other ranks"), error))
      return FALSE;
  }
  return TRUE;
}

static void
multiply (double *values, gsize count, double factor)
{
  for (gsize i = 0; i < count; i++)
    values[i] *= factor;
}

/* Makes everything that has been measured slower by a factor. */
static void
slow_down (LigDeviceFacts *facts, double factor)
{
  LigDeviceCosts *costs = &facts->costs;
  facts->copy /= factor;
  multiply (facts->matmul, G_N_ELEMENTS (facts->matmul), 1 / factor);
  multiply (costs->kernels, G_N_ELEMENTS (costs->kernels), factor);
  multiply (costs->matmuls, G_N_ELEMENTS (costs->matmuls), factor);
  multiply (costs->wide_matmuls, G_N_ELEMENTS (costs->wide_matmuls), factor);
  multiply (costs->attention, G_N_ELEMENTS (costs->attention), factor);
  multiply (costs->mixed, G_N_ELEMENTS (costs->mixed), factor);
}

/* Returns how many processes share the cores that this one would have on its own; ranks that have
 * joined were measured that way. */
static int
count_sharing (LigDevice *self)
{
  gboolean own = self->ranks || lig_device_has (self, LIG_DEVICE_ACCELERATOR) ||
                 lig_device_has (self, LIG_DEVICE_DESCRIBED);
  return own ? 1 : lig_device_get_n_ranks (self, LIG_GROUP_ALL);
}

void
lig_device_assume_ranks (LigDevice *self, int rank, const LigLayout *layout)
{
  g_return_if_fail (layout && lig_layout_check (layout, NULL) && rank >= 0 &&
                    rank < lig_layout_size (layout, LIG_GROUP_ALL));
  int before = count_sharing (self);
  self->rank = rank;
  self->layout = *layout;
  slow_down (&self->facts, (double) count_sharing (self) / before);
}

void
lig_device_share_rates (LigDevice *self, LigDeviceFacts *facts)
{
  slow_down (facts, count_sharing (self));
}

LigRanks *
lig_device_get_ranks (LigDevice *self)
{
  return self->ranks;
}

const LigLayout *
lig_device_get_layout (LigDevice *self)
{
  return self->layout.sizes[0] > 0 ? &self->layout : NULL;
}

int
lig_device_get_rank (LigDevice *self, LigRankGroup group)
{
  return self->layout.sizes[0] > 0 ? lig_layout_place (&self->layout, self->rank, group) : 0;
}

int
lig_device_get_n_ranks (LigDevice *self, LigRankGroup group)
{
  return self->layout.sizes[0] > 0 ? lig_layout_size (&self->layout, group) : 1;
}

LigRankGroup
lig_device_get_replicas (LigDevice *self)
{
  return lig_device_get_n_ranks (self, LIG_GROUP_CONTEXT) > 1 ? LIG_GROUP_REPLICAS : LIG_GROUP_DATA;
}
