/* SPDX-License-Identifier: MIT */
/* Functions of the tests of tokenizers: files in a folder of their own, and tokens as text. */
#pragma once

#include "engine/text/byte-level.h"
#include <ligature/tokenizer.h>

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Writes a file with this content and opens it as a tokenizer. */
static inline LigTokenizer *
open_content (const void *content, gsize length, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("tokenizer-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "t.json", NULL);
  g_assert_true (g_file_set_contents (path, content, (gssize) length, NULL));
  LigTokenizer *tokenizer = lig_tokenizer_open (path, error);
  g_assert_true ((tokenizer != NULL) == (*error == NULL));
  if (*error)
    g_assert_true (g_utf8_validate ((*error)->message, -1, NULL));
  g_assert_cmpint (g_remove (path), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  return tokenizer;
}

/* Returns the text of a tokenizer.json. Its vocabulary is `vocabulary` without braces, then all
 * bytes as they are from 1000 on; `merges` is without brackets, `others` are further members. */
static inline char *
make_json (const char *vocabulary, const char *merges, const char *model, const char *others)
{
  g_autoptr (GString) bytes = g_string_new (vocabulary);
  for (guint byte = 0; byte < 256; byte++) {
    char text[8];
    lig_byte_level_write ((guint8) byte, text);
    g_string_append_printf (bytes, "%s\"%s%s\": %u", bytes->len > 0 ? ", " : "",
                            strchr ("\"\\", *text) ? "\\" : "", text, 1000 + byte);
  }
  return g_strdup_printf ("{\"model\": {\"type\": \"BPE\", \"vocab\": {%s}, \"merges\": [%s]%s}, "
                          "\"decoder\": {\"type\": \"ByteLevel\"}%s}",
                          bytes->str, merges, model, others);
}

#define BYTE_LEVEL \
  ", \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": " \
  "true}"

/* Returns the tokenizer of such a file, which must be good. */
static inline LigTokenizer *
open_json (const char *vocabulary, const char *merges, const char *model, const char *others)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *json = make_json (vocabulary, merges, model, others);
  LigTokenizer *tokenizer = open_content (json, strlen (json), &error);
  g_assert_no_error (error);
  return tokenizer;
}

/* Returns the tokens of a text, `1 2 3`. */
static inline char *
encode_text (LigTokenizer *tokenizer, const char *text, gssize length, gboolean special)
{
  g_autoptr (GError) error = NULL;
  gsize n_tokens = 0;
  g_autofree gint32 *tokens =
    lig_tokenizer_encode (tokenizer, text, length, special, &n_tokens, &error);
  g_assert_no_error (error);
  g_assert_nonnull (tokens);
  g_autoptr (GString) line = g_string_new (NULL);
  for (gsize i = 0; i < n_tokens; i++)
    g_string_append_printf (line, "%s%d", i > 0 ? " " : "", tokens[i]);
  return g_strdup (line->str);
}

static inline void
check_tokens (LigTokenizer *tokenizer, const char *text, gboolean special, const char *tokens)
{
  g_autofree char *got = encode_text (tokenizer, text, -1, special);
  if (!g_str_equal (got, tokens))
    g_test_fail_printf ("'%s' is %s, not %s", text, got, tokens);
}

/* A text of any bytes becomes tokens that decode to it. */
static inline void
check_round_trip (LigTokenizer *tokenizer, const char *text, gsize length)
{
  g_autoptr (GError) error = NULL;
  gsize n_tokens = 0, size = 0;
  g_autofree gint32 *tokens =
    lig_tokenizer_encode (tokenizer, text, (gssize) length, TRUE, &n_tokens, &error);
  g_assert_no_error (error);
  g_autofree char *decoded = lig_tokenizer_decode (tokenizer, tokens, n_tokens, TRUE, &size);
  g_assert_cmpmem (decoded, size, text, length);
}
