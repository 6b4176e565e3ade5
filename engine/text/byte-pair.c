/* SPDX-License-Identifier: MIT */
/* Byte-pair encoding of one piece of text. */
#include "engine/text/byte-pair.h"

#include <string.h>

/* Pieces up to this length are encoded by a loop over all pairs. */
#define SHORT 100

void
lig_byte_pairs_init (LigBytePairs *self, guint n_merges)
{
  guint bits = 6;
  while (((guint64) 1 << bits) / 2 < n_merges)
    bits++;
  self->shift = 64 - bits;
  self->mask = ((guint32) 1 << bits) - 1;
  self->slots = g_new (LigBytePair, (gsize) 1 << bits);
  for (gsize i = 0; i <= self->mask; i++)
    self->slots[i] = (LigBytePair){.rank = LIG_NO_MERGE};
  self->n_merges = 0;
  memset (self->bytes, 0xff, sizeof self->bytes);
}

void
lig_byte_pairs_clear (LigBytePairs *self)
{
  g_clear_pointer (&self->slots, g_free);
}

/* Returns the slot of a pair, or the free slot where it would be. At least half are free. */
static LigBytePair *
find (const LigBytePairs *self, gint32 left, gint32 right)
{
  guint64 pair = (guint64) (guint32) left << 32 | (guint32) right;
  guint64 at = pair * 0x9e3779b97f4a7c15u >> self->shift;
  while (self->slots[at].rank != LIG_NO_MERGE && self->slots[at].pair != pair)
    at = (at + 1) & self->mask;
  return &self->slots[at];
}

gboolean
lig_byte_pairs_add (LigBytePairs *self, gint32 left, gint32 right, gint32 merged)
{
  LigBytePair *slot = find (self, left, right);
  if (slot->rank != LIG_NO_MERGE)
    return FALSE;
  *slot = (LigBytePair){
    .pair = (guint64) (guint32) left << 32 | (guint32) right,
    .rank = self->n_merges++,
    .merged = merged,
  };
  return TRUE;
}

/* --- Short pieces --------------------------------------------------------------------------- */

static void
encode_short (const LigBytePairs *self, const guint8 *piece, guint n, GArray *out)
{
  gint32 tokens[SHORT], merged[SHORT];
  guint32 ranks[SHORT + 1];
  for (guint i = 0; i < n; i++)
    tokens[i] = self->bytes[piece[i]];
  for (guint i = 0; i + 1 < n; i++) {
    const LigBytePair *slot = find (self, tokens[i], tokens[i + 1]);
    ranks[i] = slot->rank;
    merged[i] = slot->merged;
  }
  while (n > 1) {
    guint best = 0;
    for (guint i = 1; i + 1 < n; i++)
      best = ranks[i] < ranks[best] ? i : best;
    if (ranks[best] == LIG_NO_MERGE)
      break;
    tokens[best] = merged[best];
    guint after = n - best - 2;
    memmove (tokens + best + 1, tokens + best + 2, after * sizeof *tokens);
    memmove (ranks + best, ranks + best + 1, after * sizeof *ranks);
    memmove (merged + best, merged + best + 1, after * sizeof *merged);
    n--;
    for (guint i = best - (best > 0); i <= best && i + 1 < n; i++) {
      const LigBytePair *slot = find (self, tokens[i], tokens[i + 1]);
      ranks[i] = slot->rank;
      merged[i] = slot->merged;
    }
  }
  g_array_append_vals (out, tokens, n);
}

/* --- Long pieces ---------------------------------------------------------------------------- */

/* A token of the piece, and its pair with the next one. */
typedef struct {
  gint32 token, merged;
  guint32 rank; /* LIG_NO_MERGE also for a token that was merged into the one before */
  gint32 previous, next;
} Symbol;

static void
sift_down (guint64 *heap, guint n, guint at)
{
  guint64 value = heap[at];
  for (guint child; (child = 2 * at + 1) < n; at = child) {
    child += child + 1 < n && heap[child + 1] < heap[child];
    if (value <= heap[child])
      break;
    heap[at] = heap[child];
  }
  heap[at] = value;
}

static void
push (GArray *heap, guint64 value)
{
  g_array_append_val (heap, value);
  guint64 *values = (guint64 *) (gpointer) heap->data;
  guint at = heap->len - 1;
  for (; at > 0 && values[(at - 1) / 2] > value; at = (at - 1) / 2)
    values[at] = values[(at - 1) / 2];
  values[at] = value;
}

static guint64
pop (GArray *heap)
{
  guint64 *values = (guint64 *) (gpointer) heap->data, first = values[0];
  values[0] = values[heap->len - 1];
  g_array_set_size (heap, heap->len - 1);
  if (heap->len > 0)
    sift_down (values, heap->len, 0);
  return first;
}

/* Looks up the pair of a symbol and its next one. */
static void
pair_up (const LigBytePairs *self, Symbol *symbols, gint32 at)
{
  Symbol *symbol = &symbols[at];
  symbol->rank = LIG_NO_MERGE;
  if (symbol->next < 0)
    return;
  const LigBytePair *slot = find (self, symbol->token, symbols[symbol->next].token);
  symbol->rank = slot->rank;
  symbol->merged = slot->merged;
}

static void
fill (const LigBytePairs *self, LigBytePairWork *work, const guint8 *piece, gint32 n)
{
  g_array_set_size (work->symbols, (guint) n);
  g_array_set_size (work->heap, 0);
  Symbol *symbols = (Symbol *) (gpointer) work->symbols->data;
  for (gint32 i = 0; i < n; i++)
    symbols[i] = (Symbol){
      .token = self->bytes[piece[i]],
      .previous = i - 1,
      .next = i + 1 < n ? i + 1 : -1,
    };
  for (gint32 i = 0; i < n; i++) {
    pair_up (self, symbols, i);
    guint64 value = (guint64) symbols[i].rank << 32 | (guint32) i;
    if (symbols[i].rank != LIG_NO_MERGE)
      g_array_append_val (work->heap, value);
  }
  for (guint i = work->heap->len / 2; i-- > 0;)
    sift_down ((guint64 *) (gpointer) work->heap->data, work->heap->len, i);
}

/* The heap also has pairs whose tokens were merged since; their ranks differ from the symbol's. */
static void
encode_long (
  const LigBytePairs *self, LigBytePairWork *work, const guint8 *piece, gint32 n, GArray *out)
{
  fill (self, work, piece, n);
  Symbol *symbols = (Symbol *) (gpointer) work->symbols->data;
  while (work->heap->len > 0) {
    guint64 value = pop (work->heap);
    gint32 at = (gint32) (guint32) value;
    Symbol *symbol = &symbols[at];
    if (symbol->rank != value >> 32)
      continue;
    Symbol *second = &symbols[symbol->next];
    symbol->token = symbol->merged;
    symbol->next = second->next;
    second->rank = LIG_NO_MERGE;
    if (symbol->next >= 0)
      symbols[symbol->next].previous = at;
    gint32 changed[] = {symbol->previous, at};
    for (guint i = 0; i < G_N_ELEMENTS (changed); i++)
      if (changed[i] >= 0) {
        pair_up (self, symbols, changed[i]);
        if (symbols[changed[i]].rank != LIG_NO_MERGE)
          push (work->heap, (guint64) symbols[changed[i]].rank << 32 | (guint32) changed[i]);
      }
  }
  for (gint32 at = 0; at >= 0; at = symbols[at].next)
    g_array_append_val (out, symbols[at].token);
}

/* --- Both ----------------------------------------------------------------------------------- */

void
lig_byte_pair_work_init (LigBytePairWork *self)
{
  self->symbols = g_array_new (FALSE, FALSE, sizeof (Symbol));
  self->heap = g_array_new (FALSE, FALSE, sizeof (guint64));
}

void
lig_byte_pair_work_clear (LigBytePairWork *self)
{
  g_clear_pointer (&self->symbols, g_array_unref);
  g_clear_pointer (&self->heap, g_array_unref);
}

void
lig_byte_pairs_encode (const LigBytePairs *self,
                       LigBytePairWork *work,
                       const guint8 *piece,
                       gsize length,
                       GArray *tokens)
{
  if (length <= SHORT)
    encode_short (self, piece, (guint) length, tokens);
  else
    encode_long (self, work, piece, (gint32) length, tokens);
}
