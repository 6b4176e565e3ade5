/* SPDX-License-Identifier: MIT */
/* Assigns offsets to memory extents with limited lifetimes so that no two overlap in both memory
 * and time. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  gint64 bytes;    /* a multiple of the alignment */
  int first, last; /* steps, inclusive */
  gint64 offset;   /* written by lig_place () */
} LigExtent;

/* Assigns every extent the lowest offset that is free during its whole lifetime, larger extents
 * first. Steps are numbered from 0 to `steps`; a lifetime may begin before and end after them.
 * Returns the end of the highest extent, or -1 if it exceeds 2^61 bytes. */
gint64 lig_place (LigExtent *extents, guint count, int steps);

G_END_DECLS
