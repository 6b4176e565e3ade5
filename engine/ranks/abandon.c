/* SPDX-License-Identifier: MIT */
/* Work that rank 0 abandons for all ranks. Its word travels on the connections of the watch, as
 * another rank may not come to an exchange for minutes. */
#include "engine/ranks/watch-private.h"

#include <stdlib.h>

guint
lig_ranks_begin_work (LigRanks *self)
{
  return self ? ++self->work : 0;
}

/* Works are numbered alike on all ranks, so that a late word is not about the next one. */
static void
note (LigRanks *self, guint work)
{
  guint before = (guint) g_atomic_int_get (&self->abandoned);
  if (work > before)
    g_atomic_int_set (&self->abandoned, (int) work);
}

void
lig_ranks_abandon (LigRanks *self, guint work)
{
  if (!self || self->rank > 0 || work == 0)
    return;
  note (self, work);
  if (self->watch)
    lig_rank_watch_send (self->watch, LIG_LINK_ABANDON, work);
}

gboolean
lig_ranks_has_abandoned (LigRanks *self, guint work)
{
  return self && work > 0 && (guint) g_atomic_int_get (&self->abandoned) >= work;
}

void
lig_rank_note_abandoned (LigRanks *self, const char *text)
{
  note (self, (guint) strtoul (text, NULL, 10));
}
