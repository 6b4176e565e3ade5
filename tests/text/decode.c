/* SPDX-License-Identifier: MIT */
/* Decoding: bytes that are not UTF-8, characters over several tokens, and streams. */
#include "tests/text/texts.h"

#define BAD "\xef\xbf\xbd"

static const struct {
  const char *bytes, *text;
} cases[] = {
  {"", ""},
  {"plain", "plain"},
  {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "é€😀"},
  /* One replacement for each start that is not completed. */
  {"\xf0\x9f\x98", BAD},
  {"\xf0\x9f\x98z", BAD "z"},
  {"\xf0\x9f\xf0\x9f\x98\x80", BAD "😀"},
  {"\xc3", BAD},
  {"\xe2\x82\xe2\x82\xac", BAD "€"},
  /* One for each byte that begins nothing: continuations, overlong forms, surrogates, too large. */
  {"\x80\xbf", BAD BAD},
  {"\xc0\xaf", BAD BAD},
  {"\xe0\x80\xaf", BAD BAD BAD},
  {"\xe0\x9f\xbf", BAD BAD BAD},
  {"\xed\xa0\x80", BAD BAD BAD},
  {"\xf0\x8f\xbf\xbf", BAD BAD BAD BAD},
  {"\xf4\x90\x80\x80", BAD BAD BAD BAD},
  {"\xf5\x80\xff\xfe", BAD BAD BAD BAD},
  {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
  {"a\xe1\x80z\xf1\x80\x80", "a" BAD "z" BAD},
};

static void
test_replaced (void)
{
  g_autoptr (LigTokenizer) bytes = lig_tokenizer_new_bytes ();
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gint32 tokens[32];
    gsize length = strlen (cases[i].bytes), size = 0;
    for (gsize at = 0; at < length; at++)
      tokens[at] = (guint8) cases[i].bytes[at];
    g_autofree char *text = lig_tokenizer_decode (bytes, tokens, length, TRUE, &size);
    g_assert_cmpstr (text, ==, cases[i].text);
    g_assert_cmpuint (size, ==, strlen (text));
  }
}

/* Each byte of a 4-byte emoji is a token: the first three give no text. */
static void
test_emoji (void)
{
  g_autoptr (LigTokenizer) bytes = lig_tokenizer_new_bytes ();
  g_autoptr (LigTokenDecoder) decoder = lig_token_decoder_new (bytes, TRUE);
  static const char *const texts[] = {"a", "", "", "", "😀", "b"};
  static const gint32 tokens[] = {'a', 0xf0, 0x9f, 0x98, 0x80, 'b'};
  gsize length = 1;
  for (guint i = 0; i < G_N_ELEMENTS (tokens); i++) {
    g_autofree char *text = lig_token_decoder_next (decoder, tokens[i], &length);
    g_assert_cmpstr (text, ==, texts[i]);
    g_assert_cmpuint (length, ==, strlen (texts[i]));
  }
  g_autofree char *none = lig_token_decoder_finish (decoder, &length);
  g_assert_cmpstr (none, ==, "");
  g_assert_cmpuint (length, ==, 0);
  g_autofree char *start = lig_token_decoder_next (decoder, 0xf0, NULL);
  g_autofree char *cut = lig_token_decoder_finish (decoder, NULL);
  g_autofree char *next = lig_token_decoder_next (decoder, 'c', NULL);
  g_assert_cmpstr (start, ==, "");
  g_assert_cmpstr (cut, ==, BAD);
  g_assert_cmpstr (next, ==, "c");
}

/* The texts of a stream, joined, are the text of all tokens, for any bytes. */
static void
test_streams (void)
{
  g_autoptr (LigTokenizer) bytes = lig_tokenizer_new_bytes ();
  static const guint8 common[] = {0,    'a',  0x80, 0x9f, 0xa0, 0xbf, 0xc3,
                                  0xe0, 0xe2, 0xed, 0xf0, 0xf4, 0xff};
  for (int round = 0; round < 3000; round++) {
    gint32 tokens[24];
    gsize n = (gsize) g_test_rand_int_range (0, 24), length = 0, size = 0;
    g_autoptr (GString) joined = g_string_new (NULL);
    g_autoptr (LigTokenDecoder) decoder = lig_token_decoder_new (bytes, TRUE);
    for (gsize i = 0; i < n; i++) {
      tokens[i] = common[g_test_rand_int_range (0, sizeof common)];
      g_autofree char *text = lig_token_decoder_next (decoder, tokens[i], &length);
      g_assert_true (g_utf8_validate (text, -1, NULL));
      g_string_append_len (joined, text, (gssize) length);
    }
    g_autofree char *end = lig_token_decoder_finish (decoder, &length);
    g_string_append_len (joined, end, (gssize) length);
    g_autofree char *whole = lig_tokenizer_decode (bytes, tokens, n, TRUE, &size);
    g_assert_cmpmem (joined->str, joined->len, whole, size);
  }
}

/* Special tokens are omitted on request, unknown ones always. */
static void
test_special (void)
{
  g_autoptr (LigTokenizer) tokenizer = open_json (
    "", "", "",
    BYTE_LEVEL ", \"added_tokens\": [{\"id\": 0, \"content\": \"<end>\", \"special\": true}, "
               "{\"id\": 1, \"content\": \"<word>\", \"special\": false}]");
  static const gint32 tokens[] = {1000 + 'a', 0, 1, 5, -1, G_MAXINT32, G_MININT32, 1000 + 'b'};
  g_autofree char *all = lig_tokenizer_decode (tokenizer, tokens, 8, TRUE, NULL);
  g_autofree char *some = lig_tokenizer_decode (tokenizer, tokens, 8, FALSE, NULL);
  g_assert_cmpstr (all, ==, "a<end><word>b");
  g_assert_cmpstr (some, ==, "a<word>b");
  g_autoptr (LigTokenDecoder) decoder = lig_token_decoder_new (tokenizer, FALSE);
  g_autofree char *none = lig_token_decoder_next (decoder, 0, NULL);
  g_assert_cmpstr (none, ==, "");
  g_assert_true (lig_tokenizer_is_special (tokenizer, 0));
  g_assert_false (lig_tokenizer_is_special (tokenizer, 1));
  g_assert_false (lig_tokenizer_is_special (tokenizer, -7));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode/replaced", test_replaced);
  g_test_add_func ("/decode/emoji", test_emoji);
  g_test_add_func ("/decode/streams", test_streams);
  g_test_add_func ("/decode/special", test_special);
  return g_test_run ();
}
