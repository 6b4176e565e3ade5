/* SPDX-License-Identifier: MIT */
/* The parts of the reader of tokenizer.json. Each function sets an error that names the file and
 * the member, and returns false, if it rejects something. */
#pragma once

#include "engine/base/json-private.h"
#include "engine/text/tokenizer-struct.h"

G_BEGIN_DECLS

/* A vocabulary of another kind is rejected with this remedy. */
#define LIG_TOKENIZER_REMEDY \
  N_ ("give a tokenizer with byte-level BPE, such as those of GPT-2, Llama 3 and Qwen")

typedef struct {
  LigTokenizer *tokenizer; /* which is filled in */
  JsonObject *vocabulary;  /* `model.vocab`, once it is read */
  GError **error;
} LigTokenizerReader;

/* Rejects the value at a JSON path. */
gboolean lig_tokenizer_reject (LigTokenizerReader *self, const char *path, const char *format, ...)
  G_GNUC_PRINTF (3, 4);

/* Rejects a type that is not supported. */
gboolean lig_tokenizer_reject_type (LigTokenizerReader *self, const char *path, const char *type);

/* Returns the member if it is an object; null also if it is missing or null. Any other value is
 * null, too, so check lig_tokenizer_is_null() first where null has a meaning. */
JsonObject *lig_tokenizer_get_object (JsonObject *object, const char *name);
gboolean lig_tokenizer_is_null (JsonObject *object, const char *name);
gboolean lig_tokenizer_get_truth (JsonObject *object, const char *name, gboolean fallback);

/* Reads the member `type`, "" if it is missing. */
const char *lig_tokenizer_get_kind (JsonObject *object);

gboolean lig_tokenizer_read_model (LigTokenizerReader *self, JsonObject *model);
gboolean lig_tokenizer_read_added (LigTokenizerReader *self, JsonArray *tokens);
gboolean lig_tokenizer_read_normalizer (LigTokenizerReader *self, JsonObject *normalizer);
gboolean lig_tokenizer_read_splitting (LigTokenizerReader *self, JsonObject *splitting);
gboolean lig_tokenizer_read_template (LigTokenizerReader *self, JsonObject *around);
gboolean lig_tokenizer_read_decoder (LigTokenizerReader *self, JsonObject *decoder);

G_END_DECLS
