/* SPDX-License-Identifier: MIT */
/* Byte-pair encoding of one piece of text: its bytes become tokens, and as long as two neighbours
 * can be merged, the pair of the lowest rank is, the leftmost of several. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint64 pair;  /* the left token in the upper half, the right one in the lower */
  guint32 rank;  /* LIG_NO_MERGE: the slot is free */
  gint32 merged; /* the token that replaces the pair */
} LigBytePair;

#define LIG_NO_MERGE G_MAXUINT32

typedef struct {
  gint32 bytes[256]; /* the token of each byte, or -1 */
  LigBytePair *slots;
  guint32 shift;  /* the upper bits of a hash select a slot */
  guint32 mask;   /* the number of slots - 1 */
  guint n_merges; /* the number of slots in use: the rank of the next merge */
} LigBytePairs;

/* Memory that is reused from piece to piece. */
typedef struct {
  GArray *symbols; /* of long pieces */
  GArray *heap;    /* guint64: the rank and the place of a pair */
} LigBytePairWork;

/* Prepares for up to `n_merges` merges. All bytes are missing. */
void lig_byte_pairs_init (LigBytePairs *self, guint n_merges);
void lig_byte_pairs_clear (LigBytePairs *self);

/* Adds the merge of the next rank. Returns false if that pair has one. */
gboolean lig_byte_pairs_add (LigBytePairs *self, gint32 left, gint32 right, gint32 merged);

void lig_byte_pair_work_init (LigBytePairWork *self);
void lig_byte_pair_work_clear (LigBytePairWork *self);

/* The longest piece. Memory for one is 20 bytes for each of its bytes, and up to 16 for the heap.
 */
#define LIG_LONGEST_PIECE (16 << 20)

/* Appends the tokens (gint32) of a piece of up to LIG_LONGEST_PIECE bytes, all of which must have a
 * token. A piece of n bytes takes O(n log n); one of up to a hundred bytes, like a word, O(n²) by
 * a loop over its pairs, which is faster than a heap for so few. */
void lig_byte_pairs_encode (const LigBytePairs *self,
                            LigBytePairWork *work,
                            const guint8 *piece,
                            gsize length,
                            GArray *tokens);

G_END_DECLS
