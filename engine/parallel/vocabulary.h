/* SPDX-License-Identifier: MIT */
/* The ops whose vocabulary tensor parallelism shards. */
#pragma once

#include "engine/graph/graph.h"

struct _LigVocabulary {
  GHashTable *sharded;   /* of LigOp: those whose vocabulary is sharded */
  const char *unsharded; /* a sentence on the LM head, which is not; null: it is, or none is */
};

void lig_vocabulary_free (LigVocabulary *self);

/* Finds the ops with parallel=auto to shard: an embedding outside of blocks, and the linear before
 * the cross-entropy that ends the sequence. Their vocabulary must be a multiple of the number of
 * ranks, and of ops that share a weight all are sharded, or none. */
void lig_vocabulary_choose (LigGraph *graph);

/* Returns whether lig_vocabulary_choose() has chosen the op. */
gboolean lig_vocabulary_is_sharded (const LigGraph *graph, LigOp *op);
