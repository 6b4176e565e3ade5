/* SPDX-License-Identifier: MIT */
/* The tokens of a tokenizer with their bytes, and an index by their bytes. */
#include "engine/text/token-table.h"

#include <string.h>

void
lig_token_table_init (LigTokenTable *self)
{
  self->entries = g_array_new (FALSE, TRUE, sizeof (LigTokenEntry));
  self->bytes = g_byte_array_new ();
  self->specials = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

void
lig_token_table_clear (LigTokenTable *self)
{
  g_clear_pointer (&self->entries, g_array_unref);
  g_clear_pointer (&self->bytes, g_byte_array_unref);
  g_clear_pointer (&self->specials, g_hash_table_unref);
  g_clear_pointer (&self->slots, g_free);
}

gint32
lig_token_table_get_size (const LigTokenTable *self)
{
  return (gint32) self->entries->len;
}

const LigTokenEntry *
lig_token_table_get (const LigTokenTable *self, gint64 token)
{
  if (token < 0 || token >= self->entries->len)
    return NULL;
  const LigTokenEntry *entry = &g_array_index (self->entries, LigTokenEntry, token);
  return entry->known ? entry : NULL;
}

void
lig_token_table_add (LigTokenTable *self, gint32 token, const guint8 *bytes, gsize length)
{
  if ((guint) token >= self->entries->len)
    g_array_set_size (self->entries, (guint) token + 1);
  g_array_index (self->entries, LigTokenEntry, token) = (LigTokenEntry){
    .at = self->bytes->len,
    .length = (guint32) length,
    .known = TRUE,
  };
  self->n_known++;
  g_byte_array_append (self->bytes, bytes, (guint) length);
}

gboolean
lig_token_table_name (LigTokenTable *self, gint32 token, const char *text, gboolean special)
{
  if (g_hash_table_contains (self->specials, text))
    return FALSE;
  g_hash_table_insert (self->specials, g_strdup (text), GINT_TO_POINTER (token + 1));
  g_array_index (self->entries, LigTokenEntry, token).special = special != FALSE;
  return TRUE;
}

/* Computes FNV-1a; its callers mix the bits further by the mask of a table that is at most half
 * full. */
static guint32
hash_bytes (const guint8 *bytes, gsize length)
{
  guint64 hash = 0xcbf29ce484222325u;
  for (gsize i = 0; i < length; i++)
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return (guint32) (hash ^ hash >> 32);
}

/* Returns the slot of the token with these bytes, or the free slot where it would be. */
static guint32
find_slot (const LigTokenTable *self, const guint8 *bytes, gsize length)
{
  guint32 at = hash_bytes (bytes, length) & self->mask;
  for (; self->slots[at] >= 0; at = (at + 1) & self->mask) {
    const LigTokenEntry *entry = &g_array_index (self->entries, LigTokenEntry, self->slots[at]);
    if (entry->length == length &&
        (length == 0 || memcmp (self->bytes->data + entry->at, bytes, length) == 0))
      break;
  }
  return at;
}

void
lig_token_table_index (LigTokenTable *self)
{
  guint32 n_slots = 64;
  while (n_slots / 2 < self->entries->len)
    n_slots *= 2;
  self->mask = n_slots - 1;
  self->slots = g_new (gint32, n_slots);
  memset (self->slots, 0xff, n_slots * sizeof *self->slots);
  for (gint32 token = 0; token < lig_token_table_get_size (self); token++) {
    const LigTokenEntry *entry = lig_token_table_get (self, token);
    guint32 at = entry ? find_slot (self, self->bytes->data + entry->at, entry->length) : 0;
    if (entry && self->slots[at] < 0)
      self->slots[at] = token;
  }
}

gint32
lig_token_table_find (const LigTokenTable *self, const guint8 *bytes, gsize length)
{
  return self->slots[find_slot (self, bytes, length)];
}
