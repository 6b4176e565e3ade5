/* SPDX-License-Identifier: MIT */
/* Merging: the pair of the lowest rank first, the leftmost of several, in pieces of any length. The
 * right tokens are those of a loop that follows the definition, on random merges. */
#include "engine/text/byte-pair.h"

#include <string.h>

#define LETTERS 4

typedef struct {
  gint32 left, right, merged;
} Merge;

typedef struct {
  LigBytePairs pairs;
  GArray *merges; /* Merge, by rank */
  GPtrArray *texts;
} Model;

/* Makes a model whose tokens are `LETTERS` bytes and random merges of tokens; two merges may have
 * one result. */
static void
make (Model *self, guint n_merges)
{
  lig_byte_pairs_init (&self->pairs, n_merges);
  self->merges = g_array_new (FALSE, FALSE, sizeof (Merge));
  self->texts = g_ptr_array_new_with_free_func (g_free);
  for (gint32 i = 0; i < LETTERS; i++) {
    g_ptr_array_add (self->texts, g_strdup_printf ("%c", 'a' + i));
    self->pairs.bytes['a' + i] = i;
  }
  while (self->merges->len < n_merges) {
    Merge merge = {g_test_rand_int_range (0, (gint32) self->texts->len),
                   g_test_rand_int_range (0, (gint32) self->texts->len), 0};
    g_autofree char *text = g_strconcat (g_ptr_array_index (self->texts, merge.left),
                                         g_ptr_array_index (self->texts, merge.right), NULL);
    while ((guint) merge.merged < self->texts->len &&
           strcmp (g_ptr_array_index (self->texts, merge.merged), text) != 0)
      merge.merged++;
    if (!lig_byte_pairs_add (&self->pairs, merge.left, merge.right, merge.merged))
      continue;
    if ((guint) merge.merged == self->texts->len)
      g_ptr_array_add (self->texts, g_steal_pointer (&text));
    g_array_append_val (self->merges, merge);
  }
}

static void
clear (Model *self)
{
  lig_byte_pairs_clear (&self->pairs);
  g_array_unref (self->merges);
  g_ptr_array_unref (self->texts);
}

/* Follows the definition: the first merge that is possible anywhere, at its first place, again and
 * again. */
static GArray *
merge_slowly (Model *self, const char *piece, gsize length)
{
  GArray *tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
  for (gsize i = 0; i < length; i++)
    g_array_append_val (tokens, self->pairs.bytes[(guint8) piece[i]]);
  for (guint rank = 0; rank < self->merges->len;) {
    const Merge *merge = &g_array_index (self->merges, Merge, rank++);
    for (guint i = 0; i + 1 < tokens->len; i++)
      if (g_array_index (tokens, gint32, i) == merge->left &&
          g_array_index (tokens, gint32, i + 1) == merge->right) {
        g_array_index (tokens, gint32, i) = merge->merged;
        g_array_remove_index (tokens, i + 1);
        rank = 0;
        break;
      }
  }
  return tokens;
}

static void
test_random (void)
{
  LigBytePairWork work;
  lig_byte_pair_work_init (&work);
  for (int round = 0; round < 60; round++) {
    Model model;
    make (&model, (guint) g_test_rand_int_range (1, 60));
    for (int i = 0; i < 30; i++) {
      char piece[300];
      gsize length = (gsize) g_test_rand_int_range (1, i % 2 ? 300 : 12);
      for (gsize at = 0; at < length; at++)
        piece[at] = (char) ('a' + g_test_rand_int_range (0, 1 + i % LETTERS));
      g_autoptr (GArray) right = merge_slowly (&model, piece, length);
      g_autoptr (GArray) tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
      lig_byte_pairs_encode (&model.pairs, &work, (const guint8 *) piece, length, tokens);
      g_assert_cmpmem (tokens->data, tokens->len * sizeof (gint32), right->data,
                       right->len * sizeof (gint32));
    }
    clear (&model);
  }
  lig_byte_pair_work_clear (&work);
}

/* A word of a megabyte takes no longer than its letters in short words, up to a factor. */
static void
test_long (void)
{
  enum { LENGTH = 1 << 20 };
  LigBytePairs pairs;
  LigBytePairWork work;
  lig_byte_pairs_init (&pairs, 20);
  lig_byte_pair_work_init (&work);
  pairs.bytes['a'] = 0;
  for (gint32 i = 0; i < 20; i++)
    g_assert_true (lig_byte_pairs_add (&pairs, i, i, i + 1));
  g_assert_false (lig_byte_pairs_add (&pairs, 3, 3, 4));
  g_autofree guint8 *piece = g_malloc (LENGTH + 1);
  memset (piece, 'a', LENGTH + 1);
  g_autoptr (GArray) tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
  lig_byte_pairs_encode (&pairs, &work, piece, LENGTH + 1, tokens);
  g_assert_cmpuint (tokens->len, ==, 2);
  g_assert_cmpint (g_array_index (tokens, gint32, 0), ==, 20);
  g_assert_cmpint (g_array_index (tokens, gint32, 1), ==, 0);
  lig_byte_pair_work_clear (&work);
  lig_byte_pairs_clear (&pairs);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/byte-pair/random", test_random);
  g_test_add_func ("/byte-pair/long", test_long);
  return g_test_run ();
}
