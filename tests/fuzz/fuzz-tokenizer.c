/* SPDX-License-Identifier: MIT */
/* Opens arbitrary bytes as a tokenizer: a tokenizer.json, or, by the first byte, a file of llm.c.
 * One that opens encodes texts and decodes any tokens. */
#include "tests/fuzz/fuzz.h"
#include <ligature/tokenizer.h>

/* Letters that the seed's vocabulary has, and characters at which it splits. */
static const char text[] = "ab abab\r\n\r\n  12345 'll <s>b </s> e\xcc\x81\0\xf0\x9f\x98\x80 a";

#define BYTE_LEVEL "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"use_regex\":true}"
static const char json[] =
  "0{\"version\":\"1.0\",\"added_tokens\":[{\"id\":7,\"content\":\"<s>\",\"single_word\":false,"
  "\"lstrip\":true,"
  "\"rstrip\":true,\"normalized\":false,\"special\":true},{\"id\":8,\"content\":\"b\","
  "\"normalized\":true}],"
  "\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{"
  "\"type\":\"Split\","
  "\"pattern\":{\"Regex\":\"(?i:'ll)|[^\\\\r\\\\n\\\\p{L}]?\\\\p{L}+|\\\\p{N}{1,3}|\\\\s+(?!\\\\S)"
  "\"},\"behavior\":\"Isolated\","
  "\"invert\":false}," BYTE_LEVEL
  "]},\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":"
  "{\"id\":\"<s>\",\"type_id\":0}},{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"special_tokens\":"
  "{\"<s>\":{\"id\":"
  "\"<s>\",\"ids\":[7],\"tokens\":[\"<s>\"]}}},\"decoder\":" BYTE_LEVEL
  ",\"model\":{\"type\":\"BPE\",\"dropout\":null,"
  "\"unk_token\":null,\"ignore_merges\":true,\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"abab\":3,"
  "\"\xc4\xa0\":4,\"\xc4\x8a\":5},"
  "\"merges\":[\"a b\",[\"ab\",\"ab\"]]}}";

static const char *const words[] = {
  "null",    "true",          "false",      "16777215",        "-1",         "\"Sequence\"",
  "\"NFC\"", "\"ByteLevel\"", "[]",         "\\\\s",           "\\\\p{N}+",  "(?=",
  "{1,3}",   "\"a\"",         "\"String\"", "\"normalizers\"", "\"merges\"", "\"\"",
  "(a|b)",   "\"lstrip\"",    "[^\\\\s]",   "\"processors\"",
};

/* Makes a file of llm.c with four tokens. */
static size_t
make_llm_c (uint8_t *data, size_t limit)
{
  static const char tokens[] = "\1a\2 b\2\xf0\x9f\15<|endoftext|>";
  guint32 header[256] = {20240328, 2, 4, 3};
  size_t size = 1 + sizeof header + sizeof tokens - 1;
  if (size > limit)
    return 0;
  *data = '1';
  memcpy (data + 1, header, sizeof header);
  memcpy (data + 1 + sizeof header, tokens, sizeof tokens - 1);
  return size;
}

size_t
LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t limit, unsigned int random)
{
  if (random % 64 == 0)
    size = make_llm_c (data, limit);
  else if (random % 4 == 0 && size > 4 && *data % 2 == 0)
    return fuzz_put_word (data, size, limit, random, words[random / 4 % G_N_ELEMENTS (words)]);
  return fuzz_mutate (data, size, limit, random, json, sizeof json - 1);
}

static void
encode (LigTokenizer *tokenizer, gboolean special)
{
  g_autoptr (GError) error = NULL;
  gsize n_tokens = 0, length = 0;
  g_autofree gint32 *tokens =
    lig_tokenizer_encode (tokenizer, text, sizeof text - 1, special, &n_tokens, &error);
  if (!tokens) {
    fuzz_check_error (error);
    return;
  }
  for (gsize i = 0; i < n_tokens; i++)
    g_assert_true (tokens[i] >= 0 && tokens[i] < lig_tokenizer_get_size (tokenizer));
  g_autofree char *decoded = lig_tokenizer_decode (tokenizer, tokens, n_tokens, special, &length);
  for (const char *at = decoded, *end = decoded + length; at < end; at += strlen (at) + 1)
    g_assert_true (g_utf8_validate (at, -1, NULL));
}

static void
decode (LigTokenizer *tokenizer)
{
  g_autoptr (LigTokenDecoder) decoder = lig_token_decoder_new (tokenizer, TRUE);
  for (gint32 token = -1; token <= MIN (lig_tokenizer_get_size (tokenizer), 300); token++) {
    g_autoptr (GBytes) bytes = lig_tokenizer_get_bytes (tokenizer, token);
    g_autofree char *part = lig_token_decoder_next (decoder, token, NULL);
    g_assert_true (g_utf8_validate (part, -1, NULL));
    g_assert_true (bytes || !*part);
  }
  g_autofree char *end = lig_token_decoder_finish (decoder, NULL);
  g_assert_true (g_utf8_validate (end, -1, NULL));
  g_autofree char *facts = lig_tokenizer_describe (tokenizer);
  g_assert_nonnull (facts);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char path[32];
  if (size == 0)
    return 0;
  g_autoptr (GByteArray) content = g_byte_array_new ();
  g_byte_array_append (content, data + 1, (guint) size - 1);
  guint32 magic = 20240328;
  if (*data % 2 == 1 && size > 4)
    memcpy (content->data, &magic, sizeof magic);
  int fd = fuzz_file (content->data, content->len, path);
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTokenizer) tokenizer = lig_tokenizer_open (path, &error);
  if (tokenizer) {
    encode (tokenizer, TRUE);
    encode (tokenizer, FALSE);
    decode (tokenizer);
  } else {
    fuzz_check_error (error);
  }
  close (fd);
  return 0;
}
