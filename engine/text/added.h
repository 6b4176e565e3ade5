/* SPDX-License-Identifier: MIT */
/* The tokens that a file adds to its vocabulary: their texts are found before anything is split. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/* The longest text of an added token, in bytes. */
#define LIG_LONGEST_ADDED 4096

typedef struct {
  char *text; /* UTF-8, not empty */
  gsize length;
  gint32 token;
  gboolean special;                   /* found on request only */
  gboolean strips_left, strips_right; /* takes the white space before or after it along */
} LigAddedToken;

typedef struct {
  GArray *tokens;   /* LigAddedToken; sorted by lig_added_tokens_sort() */
  guint first[257]; /* the tokens that begin with byte b: from first[b] up to first[b + 1] */
} LigAddedTokens;

void lig_added_tokens_init (LigAddedTokens *self);
void lig_added_tokens_clear (LigAddedTokens *self);

/* Adds a token whose text is taken over. */
void lig_added_tokens_add (LigAddedTokens *self, const LigAddedToken *token);

/* Prepares for searches, once all tokens are added. */
void lig_added_tokens_sort (LigAddedTokens *self);

/* Receives a part of the text: that of a token, or, if it is null, the text between two tokens. */
typedef gboolean (*LigAddedPart) (
  const LigAddedToken *token, const char *text, gsize length, gpointer data, GError **error);

/* Finds the leftmost and longest tokens; without `special`, special ones are text. */
gboolean lig_added_tokens_split (const LigAddedTokens *self,
                                 const char *text,
                                 gsize length,
                                 gboolean special,
                                 LigAddedPart part,
                                 gpointer data,
                                 GError **error);

G_END_DECLS
