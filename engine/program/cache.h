/* SPDX-License-Identifier: MIT */
/* The parts of a cache. */
#pragma once

#include <ligature/cache.h>

G_BEGIN_DECLS

struct _LigCache {
  int count; /* of references, atomic */
  LigDevice *device;
  gint64 slots, length, bytes;
  gint64 ring, chunk; /* the fewest positions that an op keeps of a text, or 0; and of a run */
  gint64 source;      /* the positions of a source, or 0 */
  char *memory;
  gint64 *lengths;  /* of the text in each slot */
  gint64 *sources;  /* the length of its source */
  gint64 *greatest; /* the length that the text once had: later keys replaced its first ones */
};

/* Checks that a text can have the slot. */
gboolean lig_cache_check_slot (const LigCache *self, guint slot, GError **error);

/* Like lig_cache_extend() by a token each, int32 on the device, in the order of `steps`, whose own
 * tokens are ignored: the host need not know them. The program has run before. */
gboolean lig_cache_extend_there (LigCache *self,
                                 LigProgram *program,
                                 const LigCacheStep *steps,
                                 guint n,
                                 const void *tokens,
                                 GError **error);

G_END_DECLS
