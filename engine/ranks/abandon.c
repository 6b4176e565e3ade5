/* SPDX-License-Identifier: MIT */
/* The work that rank 0 abandons for all ranks. Its word travels on the connections of the watch, as
 * another rank may not come to a collective for minutes. */
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
