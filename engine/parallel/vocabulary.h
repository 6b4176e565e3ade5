/* SPDX-License-Identifier: MIT */
/* The ops of which the ranks of a tensor group divide the vocabulary. */
#pragma once

#include "engine/graph/graph.h"

struct _LigVocabulary {
  GHashTable *divided; /* of LigOp: those whose vocabulary the ranks divide */
  const char *whole;   /* a sentence on the last matmul, which is not; null: it is, or none is */
};

void lig_vocabulary_free (LigVocabulary *self);

/* Finds the ops with parallel=auto that ranks divide: an embedding outside of blocks, and the
 * linear before the cross-entropy that ends the sequence. The number of ranks divides their
 * vocabulary, and ops that share a weight are all divided, or none. */
void lig_vocabulary_choose (LigGraph *graph);

/* Returns whether lig_vocabulary_choose() has chosen the op. */
gboolean lig_vocabulary_is_sharded (const LigGraph *graph, LigOp *op);
