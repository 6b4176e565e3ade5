/* SPDX-License-Identifier: MIT */
/* Places for extents of memory that live for a while, so that none overlaps another in both. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  gint64 bytes;    /* a multiple of the alignment */
  int first, last; /* steps, both included */
  gint64 offset;   /* written */
} LigExtent;

/* Gives every extent the lowest offset that is free all its life, larger extents first. Steps are
 * numbered from 0 to `steps`; a life may begin before and end behind. Returns the end of the
 * highest, or -1 where that is beyond 2^61 bytes. */
gint64 lig_place (LigExtent *extents, guint count, int steps);

G_END_DECLS
