/* SPDX-License-Identifier: MIT */
/* Lets rank 0 abandon work on all ranks. Its message is sent on the connections of the watch,
 * because another rank may not reach a collective for minutes. */
#include "engine/ranks/messages.h"
#include "engine/ranks/ranks-private.h"

guint
lig_ranks_begin_work (LigRanks *self)
{
  return self ? ++self->work : 0;
}

void
lig_rank_note_abandoned (LigRanks *self, guint work)
{
  guint before = (guint) g_atomic_int_get (&self->abandoned);
  if (work > before)
    g_atomic_int_set (&self->abandoned, (int) work);
}

gboolean
lig_ranks_has_abandoned (LigRanks *self, guint work)
{
  return self && work > 0 && (guint) g_atomic_int_get (&self->abandoned) >= work;
}
