/* SPDX-License-Identifier: MIT */
/* Finds the texts of added tokens. They are sorted, so that the tokens which agree with the text in
 * their first bytes are a range, and each further byte narrows it by a binary search. */
#include "engine/text/added.h"

#include "engine/text/splitter.h"

#include <string.h>

static void
clear_token (gpointer token)
{
  g_free (((LigAddedToken *) token)->text);
}

void
lig_added_tokens_init (LigAddedTokens *self)
{
  *self = (LigAddedTokens){.tokens = g_array_new (FALSE, FALSE, sizeof (LigAddedToken))};
  g_array_set_clear_func (self->tokens, clear_token);
}

void
lig_added_tokens_clear (LigAddedTokens *self)
{
  g_clear_pointer (&self->tokens, g_array_unref);
}

void
lig_added_tokens_add (LigAddedTokens *self, const LigAddedToken *token)
{
  g_array_append_vals (self->tokens, token, 1);
}

/* Orders by bytes; a text comes before those that it begins. */
static int
compare (gconstpointer a, gconstpointer b)
{
  return strcmp (((const LigAddedToken *) a)->text, ((const LigAddedToken *) b)->text);
}

void
lig_added_tokens_sort (LigAddedTokens *self)
{
  g_array_sort (self->tokens, compare);
  guint n = 0;
  for (guint byte = 0; byte < 256; byte++) {
    self->first[byte] = n;
    while (n < self->tokens->len &&
           (guint8) *g_array_index (self->tokens, LigAddedToken, n).text == byte)
      n++;
  }
  self->first[256] = n;
}

/* Returns the first of the tokens `low` up to `high` whose byte at `depth` is at least `byte`, or
 * `high`. The zero after a text counts as its last byte. */
static guint
find_bound (const LigAddedToken *tokens, guint low, guint high, gsize depth, guint byte)
{
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if ((guint8) tokens[middle].text[depth] < byte)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns the longest token whose text is at the start of this text, or null. */
static const LigAddedToken *
find_longest (const LigAddedTokens *self, const char *text, gsize left)
{
  const LigAddedToken *tokens = (const LigAddedToken *) (gpointer) self->tokens->data;
  const LigAddedToken *longest = NULL;
  guint low = self->first[(guint8) *text], high = self->first[(guint8) *text + 1];
  for (gsize depth = 1; low < high; depth++) {
    if (tokens[low].length == depth)
      longest = &tokens[low];
    if (depth == left || text[depth] == '\0')
      break;
    guint byte = (guint8) text[depth];
    low = find_bound (tokens, low, high, depth, byte);
    high = find_bound (tokens, low, high, depth, byte + 1);
  }
  return longest;
}

/* Returns where the white space begins that ends at `at`, but not before `start`. */
static gsize
strip_left (const char *text, gsize start, gsize at)
{
  while (at > start) {
    const char *before = g_utf8_prev_char (text + at);
    if (!lig_split_is_space (g_utf8_get_char (before)))
      break;
    at = (gsize) (before - text);
  }
  return at;
}

static gsize
strip_right (const char *text, gsize at, gsize length)
{
  while (at < length && lig_split_is_space (g_utf8_get_char (text + at)))
    at = (gsize) (g_utf8_next_char (text + at) - text);
  return at;
}

gboolean
lig_added_tokens_split (const LigAddedTokens *self,
                        const char *text,
                        gsize length,
                        gboolean special,
                        LigAddedPart part,
                        gpointer data,
                        GError **error)
{
  gsize done = 0;
  for (gsize at = 0; at < length && self->tokens->len > 0;) {
    guint8 byte = (guint8) text[at];
    const LigAddedToken *token = self->first[byte] < self->first[byte + 1]
                                   ? find_longest (self, text + at, length - at)
                                   : NULL;
    gsize start = at, end = at + (token ? token->length : 1);
    at = end;
    if (!token || (token->special && !special))
      continue;
    if (token->strips_left)
      start = MIN (MAX (strip_left (text, MIN (done, start), start), done), end);
    if (token->strips_right)
      end = strip_right (text, end, length);
    if (done < start && !part (NULL, text + done, start - done, data, error))
      return FALSE;
    if (!part (token, text + start, end - start, data, error))
      return FALSE;
    /* A token that is white space may be within that which the token before took along. Hugging
     * Face's library continues from there, too. */
    done = end;
  }
  return done == length || part (NULL, text + done, length - done, data, error);
}
