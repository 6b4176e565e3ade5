/* SPDX-License-Identifier: MIT */
/* The parts of a tokenizer, which its readers fill in. */
#pragma once

#include "engine/text/added.h"
#include "engine/text/byte-pair.h"
#include "engine/text/token-table.h"
#include <ligature/tokenizer.h>

G_BEGIN_DECLS

typedef enum {
  LIG_TOKENIZER_BYTES,      /* each byte is a token */
  LIG_TOKENIZER_BYTE_PAIRS, /* splits text, then merges bytes */
  LIG_TOKENIZER_DECODES,    /* has no merges */
} LigTokenizerKind;

/* A step of splitting, in the order of the file. */
typedef struct {
  gboolean adds_space; /* before a piece that does not begin with one */
  GRegex *pattern;     /* null: the pieces stay whole */
} LigSplitStage;

/* The largest number of stages: they are nested function calls. */
#define LIG_MAX_STAGES 32

struct LigTokenizer {
  LigTokenizerKind kind;
  char *name;
  LigTokenTable table;
  LigBytePairs pairs;
  gboolean whole_first;    /* a piece that is in the vocabulary is not merged */
  gboolean composes;       /* normalizes to NFC */
  LigAddedTokens raw;      /* added tokens that are found before normalization */
  LigAddedTokens composed; /* and after it */
  GArray *stages;          /* LigSplitStage */
  GArray *before, *after;  /* gint32: the tokens that are put around a text */
};

/* Returns a tokenizer without tokens. */
LigTokenizer *lig_tokenizer_new (LigTokenizerKind kind, const char *name);

/* Fill in a tokenizer from the content of a file, or return false with LIG_ERROR_FORMAT; the
 * messages begin with its name. */
gboolean
lig_tokenizer_read_json (LigTokenizer *self, const char *text, gsize length, GError **error);
gboolean
lig_tokenizer_read_llm_c (LigTokenizer *self, const guint8 *content, gsize length, GError **error);

/* Returns whether a content begins as a tokenizer of llm.c. */
gboolean lig_tokenizer_is_llm_c (const guint8 *content, gsize length);

/* Normalizes UTF-8, which may have zero bytes, to NFC (transfer full). */
char *lig_tokenizer_compose (const char *text, gsize length, gsize *composed);

/* Returns the offset of the first byte that is not UTF-8, `length` if there is none; zero bytes are
 * valid. */
gsize lig_tokenizer_check_utf8 (const char *text, gsize length);

G_END_DECLS
