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
  self->layout = *lig_ranks_get_layout (ranks);
  return TRUE;
}

void
lig_device_assume_ranks (LigDevice *self, int rank, const LigLayout *layout)
{
  self->rank = rank;
  self->layout = *layout;
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
