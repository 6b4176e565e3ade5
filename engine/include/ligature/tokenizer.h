/* SPDX-License-Identifier: MIT */
/* Tokenizers, which turn text into the tokens that a language model reads, and back:
 *
 * - `tokenizer.json` of Hugging Face's library `tokenizers`, if its model is byte-level BPE, like
 *   the models of GPT-2, Llama 3 and Qwen. The tokens are those of that library. Its members
 *   `truncation` and `padding` are ignored, because they are about batches.
 * - `gpt2_tokenizer.bin` of llm.c, which decodes only.
 * - bytes, without a file: token 65 is the byte 65.
 *
 * Threads: a #LigTokenizer never changes, and any number of threads may use it concurrently; one
 * thread at a time may use a #LigTokenDecoder. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

typedef struct LigTokenizer LigTokenizer;
typedef struct LigTokenDecoder LigTokenDecoder;

#define LIG_TYPE_TOKENIZER (lig_tokenizer_get_type ())
LIG_API GType lig_tokenizer_get_type (void);

/**
 * lig_tokenizer_open:
 * @path: (type filename): a tokenizer.json, a tokenizer of llm.c, or a folder with a
 *   `tokenizer.json`
 *
 * Reads a tokenizer; its kind is recognized by the content of the file, which may have 256 MiB.
 *
 * Returns: (transfer full): the tokenizer, or %NULL with %LIG_ERROR_FILE (cannot be read),
 *   %LIG_ERROR_FORMAT (damaged, or a kind of tokenizer that is not supported; the message names
 *   the member), %LIG_ERROR_VALUE (too large) or %LIG_ERROR_MEMORY set
 */
LIG_API LigTokenizer *lig_tokenizer_open (const char *path,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_tokenizer_new_bytes:
 *
 * Returns: (transfer full): the tokenizer whose 256 tokens are the bytes, which encodes and decodes
 *   without a file
 */
LIG_API LigTokenizer *lig_tokenizer_new_bytes (void) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_tokenizer_ref:
 * @self: a tokenizer
 *
 * Returns: (transfer full): the tokenizer, with one more reference
 */
LIG_API LigTokenizer *lig_tokenizer_ref (LigTokenizer *self);

/**
 * lig_tokenizer_unref:
 * @self: (transfer full): a tokenizer
 *
 * Releases a reference; the last one frees the tokenizer.
 */
LIG_API void lig_tokenizer_unref (LigTokenizer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigTokenizer, lig_tokenizer_unref)

/**
 * lig_tokenizer_encode:
 * @self: a tokenizer
 * @text: UTF-8, which may contain zero bytes; of the tokenizer of bytes, any bytes
 * @length: its length in bytes, -1 if a zero byte ends it; at most 256 MiB,
 *   and 16 MiB without a place to split
 * @special: whether the texts of special tokens, such as `<|endoftext|>`, become those tokens, and
 *   whether the tokens that the file puts around each text are added. Pass %FALSE for a text from
 *   an untrusted source, which must not contain special tokens.
 * @n_tokens: (out): the number of tokens
 *
 * Encodes a text. It takes about a second for 10 MB of English on one core; a word of n bytes takes
 * O(n log n).
 *
 * Returns: (transfer full) (array length=n_tokens): the tokens, which may be none; %NULL with
 *   %LIG_ERROR_VALUE (not UTF-8, too long, or a byte without a token), %LIG_ERROR_FORMAT (the
 *   pattern of the file cannot split this text) or %LIG_ERROR_ORDER (the tokenizer only decodes)
 *   set. Free it with g_free().
 */
LIG_API gint32 *lig_tokenizer_encode (LigTokenizer *self,
                                      const char *text,
                                      gssize length,
                                      gboolean special,
                                      gsize *n_tokens,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_tokenizer_decode:
 * @self: a tokenizer
 * @tokens: (array length=n_tokens): tokens; those that the tokenizer does not have are skipped
 * @n_tokens: their number
 * @special: whether the result contains the texts of special tokens
 * @length: (out) (optional): the length of the result in bytes, which may contain zero bytes
 *
 * Decodes tokens. Bytes that are not UTF-8 become U+FFFD, one for each start of a character that
 * is not completed, like in Hugging Face's library.
 *
 * Returns: (transfer full): the text, valid UTF-8 that a zero byte ends
 */
LIG_API char *lig_tokenizer_decode (LigTokenizer *self,
                                    const gint32 *tokens,
                                    gsize n_tokens,
                                    gboolean special,
                                    gsize *length) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_tokenizer_get_size:
 * @self: a tokenizer
 *
 * Returns: the largest token + 1: the rows that an embedding needs
 */
LIG_API gint32 lig_tokenizer_get_size (LigTokenizer *self);

/**
 * lig_tokenizer_find:
 * @self: a tokenizer
 * @text: the text of a token that the file adds to those of the vocabulary, `<|endoftext|>`
 *
 * Returns: that token, -1 if the file adds none of that text
 */
LIG_API gint32 lig_tokenizer_find (LigTokenizer *self, const char *text);

/**
 * lig_tokenizer_is_special:
 * @self: a tokenizer
 * @token: any number
 *
 * Returns: whether @token is a special token, which ends a text or separates its parts
 */
LIG_API gboolean lig_tokenizer_is_special (LigTokenizer *self, gint32 token);

/**
 * lig_tokenizer_get_bytes:
 * @self: a tokenizer
 * @token: any number
 *
 * Returns: (transfer full) (nullable): the bytes of the token, which may be a part of a character;
 *   %NULL if the tokenizer has no such token. They keep the tokenizer in memory.
 */
LIG_API GBytes *lig_tokenizer_get_bytes (LigTokenizer *self, gint32 token);

/**
 * lig_tokenizer_get_name:
 * @self: a tokenizer
 *
 * Returns: (transfer none): the path of the file in a form that can be displayed, or `bytes`
 */
LIG_API const char *lig_tokenizer_get_name (LigTokenizer *self);

/**
 * lig_tokenizer_describe:
 * @self: a tokenizer
 *
 * Returns: (transfer full): its kind and its numbers, translated: `byte-level BPE, 50,257 tokens,
 *   50,000 merges`
 */
LIG_API char *lig_tokenizer_describe (LigTokenizer *self);

#define LIG_TYPE_TOKEN_DECODER (lig_token_decoder_get_type ())
LIG_API GType lig_token_decoder_get_type (void);

/**
 * lig_token_decoder_new:
 * @tokenizer: a tokenizer, which the decoder references
 * @special: whether the text contains the texts of special tokens
 *
 * Makes a decoder for tokens that arrive one by one, such as those that a model generates. Its
 * texts joined are the text of lig_tokenizer_decode().
 *
 * Returns: (transfer full): the decoder
 */
LIG_API LigTokenDecoder *lig_token_decoder_new (LigTokenizer *tokenizer,
                                                gboolean special) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_token_decoder_free:
 * @self: a decoder
 *
 * Releases the caller's reference; the last one frees the memory.
 */
LIG_API void lig_token_decoder_free (LigTokenDecoder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigTokenDecoder, lig_token_decoder_free)

/**
 * lig_token_decoder_next:
 * @self: a decoder
 * @token: the next token
 * @length: (out) (optional): the length of the result in bytes
 *
 * Decodes a token. A character whose last bytes are missing, at most three bytes, is kept until
 * later tokens complete it.
 *
 * Returns: (transfer full): the text that the token completes, possibly empty
 */
LIG_API char *lig_token_decoder_next (LigTokenDecoder *self,
                                      gint32 token,
                                      gsize *length) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_token_decoder_finish:
 * @self: a decoder
 * @length: (out) (optional): the length of the result in bytes
 *
 * Ends the text; the next token begins another.
 *
 * Returns: (transfer full): U+FFFD if the text ends within a character, else an empty text
 */
LIG_API char *lig_token_decoder_finish (LigTokenDecoder *self,
                                        gsize *length) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
