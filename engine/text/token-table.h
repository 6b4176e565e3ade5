/* SPDX-License-Identifier: MIT */
/* The tokens of a tokenizer with their bytes. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/* The largest token + 1. The largest vocabularies have a few hundred thousand tokens. */
#define LIG_MAX_TOKENS (1 << 24)

typedef struct {
  guint32 at, length; /* in LigTokenTable.bytes */
  guint8 known;       /* false: the number is not used */
  guint8 special;     /* omitted from decoded text on request */
} LigTokenEntry;

typedef struct {
  GArray *entries; /* LigTokenEntry, by token */
  guint n_known;
  GByteArray *bytes;    /* the bytes of all tokens */
  GHashTable *specials; /* from the text of an added token to token + 1 */
  gint32 *slots;        /* tokens by the hash of their bytes; null until they are indexed */
  guint32 mask;         /* the number of slots - 1 */
} LigTokenTable;

void lig_token_table_init (LigTokenTable *self);
void lig_token_table_clear (LigTokenTable *self);

/* Returns the largest token + 1. */
gint32 lig_token_table_get_size (const LigTokenTable *self);

/* Returns the entry of a token; null if the tokenizer has none. */
const LigTokenEntry *lig_token_table_get (const LigTokenTable *self, gint64 token);

/* Adds a token from 0 up to LIG_MAX_TOKENS that is not known yet. */
void lig_token_table_add (LigTokenTable *self, gint32 token, const guint8 *bytes, gsize length);

/* Makes a known token special or not, and findable by its text. Returns false if another added
 * token has that text. */
gboolean
lig_token_table_name (LigTokenTable *self, gint32 token, const char *text, gboolean special);

/* Indexes all tokens that are known by now. */
void lig_token_table_index (LigTokenTable *self);

/* Returns the indexed token with these bytes, the first if there are several, or -1. */
gint32 lig_token_table_find (const LigTokenTable *self, const guint8 *bytes, gsize length);

G_END_DECLS
