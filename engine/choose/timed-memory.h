/* SPDX-License-Identifier: MIT */
/* The memory of lists of steps that are timed (measure.c): the offsets of their values in one set
 * of buffers, which all lists share. */
#pragma once

#include "engine/choose/price.h"

G_BEGIN_DECLS

typedef struct {
  LigGraph *graph;
  GHashTable *common; /* value + 1 -> offset / 256: values with their own memory */
  GPtrArray *own;     /* of the same GHashTable, by list: values that live for some of its steps */
  gsize bytes;        /* of a set */
  gsize min;          /* bytes of the values of the smallest list */
  gsize
    scratch_at[2]; /* offsets of scratch memory, for the steps and for those that overlap them */
} LigTimedMemory;

/* Assigns offsets to the values of lists (GArray of LigGraphStep). If `whole`, values share memory
 * if their lifetimes allow it, as in a plan: without sharing, the values of a whole step may need
 * several times the memory of the plan. */
void lig_timed_memory_init (
  LigTimedMemory *self, LigGraph *graph, GArray *const *lists, guint count, gboolean whole);

void lig_timed_memory_clear (LigTimedMemory *self);

/* Returns the offset of a value of a list in a set. */
gsize lig_timed_memory_offset (const LigTimedMemory *self, guint list, int value);

/* Fills a set with random numbers, except for values that steps write before they read them. */
gboolean
lig_timed_memory_fill (const LigTimedMemory *self, LigDevice *device, char *set, GError **error);

G_END_DECLS
