/* SPDX-License-Identifier: MIT */
/* Devices of ranks: the processes with which collective kernels on a device exchange. */
#include "engine/device/backend.h"

#include <glib/gi18n-lib.h>

gboolean
lig_device_join (LigDevice *self, LigRanks *ranks, GError **error)
{
  if (lig_ranks_get_count (ranks) == 1)
    return TRUE;
  if (lig_device_has (self, LIG_DEVICE_ACCELERATOR)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 _ ("%s: ranks on %s cannot reduce gradients yet; train on cpu, or on one card"),
                 self->name, self->backend->info.title);
    return FALSE;
  }
  if (!self->communication) {
    LigStatus status = self->calls->stream_new (self->handle, &self->communication);
    if (!lig_device_check (self, status, _ ("joining ranks"), error))
      return FALSE;
  }
  self->ranks = ranks;
  self->rank = lig_ranks_get_rank (ranks);
  self->n_ranks = lig_ranks_get_count (ranks);
  return TRUE;
}

void
lig_device_assume_ranks (LigDevice *self, int rank, int count)
{
  self->rank = rank;
  self->n_ranks = count;
}

LigRanks *
lig_device_get_ranks (LigDevice *self)
{
  return self->ranks;
}

int
lig_device_get_rank (LigDevice *self)
{
  return self->rank;
}

int
lig_device_get_n_ranks (LigDevice *self)
{
  return MAX (self->n_ranks, 1);
}
