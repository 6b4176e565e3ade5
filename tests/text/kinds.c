/* SPDX-License-Identifier: MIT */
/* The kinds of tokenizers: bytes without a file, and the files of llm.c, which decode only. */
#include "tests/text/texts.h"

static void
test_bytes (void)
{
  g_autoptr (LigTokenizer) bytes = lig_tokenizer_new_bytes ();
  g_autofree char *facts = lig_tokenizer_describe (bytes);
  g_assert_cmpint (lig_tokenizer_get_size (bytes), ==, 256);
  g_assert_cmpstr (lig_tokenizer_get_name (bytes), ==, "bytes");
  g_assert_cmpstr (facts, ==, "256 tokens, which are bytes");
  check_tokens (bytes, "A é", TRUE, "65 32 195 169");
  check_tokens (bytes, "", TRUE, "");
  g_assert_cmpint (lig_tokenizer_find (bytes, "A"), ==, -1);
  check_round_trip (bytes, "a\0b", 3);
  g_autofree char *any = encode_text (bytes, "\xff\0\x80", 3, TRUE);
  g_assert_cmpstr (any, ==, "255 0 128");
  g_autoptr (GBytes) last = lig_tokenizer_get_bytes (bytes, 255);
  g_assert_cmpmem (g_bytes_get_data (last, NULL), g_bytes_get_size (last), "\xff", 1);
  g_assert_null (lig_tokenizer_get_bytes (bytes, 256));
  g_assert_null (lig_tokenizer_get_bytes (bytes, -1));
}

/* Returns a file of llm.c; each token is a text that a zero byte ends. */
static GByteArray *
make_llm_c (guint32 version, guint32 size, guint32 end, const char *tokens)
{
  GByteArray *file = g_byte_array_new ();
  guint32 header[256] = {20240328, version, size, end};
  for (guint i = 0; i < G_N_ELEMENTS (header); i++)
    header[i] = GUINT32_TO_LE (header[i]);
  g_byte_array_append (file, (const guint8 *) header, sizeof header);
  for (; *tokens; tokens += strlen (tokens) + 1) {
    g_byte_array_append (file, &(guint8){(guint8) strlen (tokens)}, 1);
    g_byte_array_append (file, (const guint8 *) tokens, (guint) strlen (tokens));
  }
  return file;
}

static void
test_llm_c (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GByteArray) file = make_llm_c (2, 4, 3, "Hello\0 \xf0\x9f\0\x98\x80\0<|endoftext|>\0");
  g_autoptr (LigTokenizer) tokenizer = open_content (file->data, file->len, &error);
  g_assert_no_error (error);
  g_autofree char *facts = lig_tokenizer_describe (tokenizer);
  g_assert_cmpstr (facts, ==, "a list of 4 tokens, which only decodes");
  g_assert_cmpint (lig_tokenizer_get_size (tokenizer), ==, 4);
  g_assert_cmpint (lig_tokenizer_find (tokenizer, "<|endoftext|>"), ==, 3);
  g_assert_cmpint (lig_tokenizer_find (tokenizer, "Hello"), ==, -1);
  static const gint32 tokens[] = {0, 1, 2, 3};
  g_autofree char *text = lig_tokenizer_decode (tokenizer, tokens, 4, FALSE, NULL);
  g_assert_cmpstr (text, ==, "Hello 😀");
  gsize n_tokens = 7;
  g_assert_null (lig_tokenizer_encode (tokenizer, "Hello", -1, TRUE, &n_tokens, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_ORDER);
  g_assert_true (
    g_str_has_suffix (error->message, "t.json: it has no merges; give the tokenizer.json"));
  g_assert_cmpuint (n_tokens, ==, 0);
}

/* Version 1 does not say which token ends a text. */
static void
test_first_version (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GByteArray) file = make_llm_c (1, 2, 0, "a\0b\0");
  g_autoptr (LigTokenizer) tokenizer = open_content (file->data, file->len, &error);
  g_assert_no_error (error);
  g_assert_false (lig_tokenizer_is_special (tokenizer, 0));
  g_assert_false (lig_tokenizer_is_special (tokenizer, 1));
}

static void
test_damaged_llm_c (void)
{
  static const struct {
    guint32 version, size, end;
    gsize cut;
    const char *words;
  } damaged[] = {
    {3, 2, 0, 0, ": its version is 3, expected 1 or 2"},
    {2, 0, 0, 0, ": its number of tokens is 0, expected 1 to 16777216"},
    {2, 4294967295u, 0, 0, ": its number of tokens is 4294967295, expected 1 to 16777216"},
    {2, 2, 2, 0, ": its end of text is token 2, expected 0 to 1"},
    {2, 3, 0, 0, ": it is cut off at byte 1029, in token 2 of 3; get the file again"},
    {2, 2, 0, 1, ": it is cut off at byte 1028, in token 1 of 2; get the file again"},
    {2, 2, 0, 2, ": it is cut off at byte 1027, in token 1 of 2; get the file again"},
    {2, 1, 0, 0, ": its tokens end at byte 1026, but it ends at byte 1029"},
    {2, 2, 0, 6, ": it is cut off at byte 1023 of 1024 of its header; get the file again"},
    {2, 2, 0, 1025, ": it is cut off at byte 4 of 1024 of its header; get the file again"},
    {2, 2, 0, 1026, ": it is neither a tokenizer.json nor a tokenizer of llm.c"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (damaged); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GByteArray) file =
      make_llm_c (damaged[i].version, damaged[i].size, damaged[i].end, "a\0bc\0");
    g_assert_null (open_content (file->data, file->len - damaged[i].cut, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
    if (!g_str_has_suffix (error->message, damaged[i].words))
      g_test_fail_printf ("'%s' does not end with '%s'", error->message, damaged[i].words);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kinds/bytes", test_bytes);
  g_test_add_func ("/kinds/llm-c", test_llm_c);
  g_test_add_func ("/kinds/first-version", test_first_version);
  g_test_add_func ("/kinds/damaged-llm-c", test_damaged_llm_c);
  return g_test_run ();
}
