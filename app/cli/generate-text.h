/* SPDX-License-Identifier: MIT */
/* A text that `lig generate` continues: its prompt, its tokens as text, and the texts that end
 * it. */
#pragma once

#include <ligature/generator.h>
#include <ligature/tokenizer.h>

G_BEGIN_DECLS

/* A generated token with the text that it completes. */
typedef struct {
  LigSampled sampled;
  char *text; /* may be empty: the token is the beginning of a character */
} LigCliToken;

typedef struct {
  guint64 id;     /* of the generator */
  char *name;     /* (nullable): of a request */
  char *prompt;   /* (nullable): null if the prompt was given as tokens */
  GArray *tokens; /* gint32: of the prompt */
  GStrv stops;    /* (nullable): texts that end it */
  GArray *generated;
  GString *text;            /* all that was generated, up to a stop */
  gsize shown;              /* how much of it cannot become a stop any more, and was shown */
  LigTokenDecoder *decoder; /* null without a tokenizer */
  const char *ended;        /* null: it continues; `stop`, `length` or `cancelled` */
} LigCliText;

/* Makes a text (transfer full). `prompt` (nullable) is encoded, else `tokens` (nullable) are taken.
 * Without a tokenizer only tokens are possible, and are shown as numbers. */
LigCliText *lig_cli_text_new (LigTokenizer *tokenizer,
                              const char *prompt,
                              GArray *tokens,
                              const char *const *stops,
                              GError **error);
void lig_cli_text_free (LigCliText *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigCliText, lig_cli_text_free)

/* Adds a token. Ends the text if it completes a stop, which is removed. Returns what can be shown
 * since the last call (transfer none until the next one). */
const char *lig_cli_text_add (LigCliText *self, const LigGenerated *generated);

/* Ends the text, and returns the rest that was held back. */
const char *lig_cli_text_end (LigCliText *self, const char *why);

/* Returns the text of one token (transfer full): its bytes if they are UTF-8, else `\xNN`. */
char *lig_cli_token_text (LigTokenizer *tokenizer, gint32 token);

G_END_DECLS
