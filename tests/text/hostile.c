/* SPDX-License-Identifier: MIT */
/* Files that are damaged, hostile or of another kind: each is rejected with one sentence that names
 * the file and the member. */
#include "tests/text/texts.h"

#define SPLIT(pattern, behavior) \
  ", \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", " \
  "\"pattern\": " pattern ", \"behavior\": \"" behavior \
  "\"}, {\"type\": \"ByteLevel\", \"use_regex\": false}]}"
#define GIVE "; give a tokenizer with byte-level BPE, such as those of GPT-2, Llama 3 and Qwen"
#define ADDED(members) BYTE_LEVEL ", \"added_tokens\": [{" members "}]"
#define TEMPLATE(single) \
  BYTE_LEVEL ", \"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": [" single \
             "], \"special_tokens\": {\"<s>\": {\"ids\": [7]}, \"<t>\": {}}}"

/* Members of a file that is good without them, and the message. */
static const struct {
  const char *vocabulary, *merges, *model, *others, *message;
} cases[] = {
  {"\"ab\": 1", "\"a b\", \"a b\"", "", BYTE_LEVEL,
   "$.model.merges[1]: 'a' and 'b' are merged twice"},
  {"\"ab\": 1", "\"a c\"", "", BYTE_LEVEL, "$.model.merges[0]: 'ac' is not in the vocabulary"},
  {"\"ab\": 1", "\"a bb\"", "", BYTE_LEVEL, "$.model.merges[0]: 'bb' is not in the vocabulary"},
  {"\"\": 1", "\" a\"", "", BYTE_LEVEL,
   "$.model.merges[0]: expected two tokens, \"a b\" or [\"a\", \"b\"]"},
  {"\"\": 1", "[\"\", \"a\"]", "", BYTE_LEVEL,
   "$.model.merges[0]: expected two tokens, \"a b\" or [\"a\", \"b\"]"},
  {"", "\"a b c\"", "", BYTE_LEVEL,
   "$.model.merges[0]: expected two tokens, \"a b\" or [\"a\", \"b\"]"},
  {"", "[\"a\"]", "", BYTE_LEVEL,
   "$.model.merges[0]: expected two tokens, \"a b\" or [\"a\", \"b\"]"},
  {"", "[\"a\", 3]", "", BYTE_LEVEL,
   "$.model.merges[0]: expected two tokens, \"a b\" or [\"a\", \"b\"]"},
  {"", "17", "", BYTE_LEVEL, "$.model.merges[0]: expected two tokens, \"a b\" or [\"a\", \"b\"]"},
  {"\"ab\": 1065", "", "", BYTE_LEVEL, "$.model.vocab.A: the id 1065 is another token's, too"},
  {"\"ab\": -1", "", "", BYTE_LEVEL, "$.model.vocab.ab: the id is -1, expected 0 to 16777215"},
  {"\"ab\": 16777216", "", "", BYTE_LEVEL,
   "$.model.vocab.ab: the id is 16777216, expected 0 to 16777215"},
  {"\"ab\": 9223372036854775807", "", "", BYTE_LEVEL,
   "$.model.vocab.ab: the id is 9223372036854775807, expected 0 to 16777215"},
  {"\"ab\": 1.5", "", "", BYTE_LEVEL, "$.model.vocab.ab: expected a whole number"},
  {"\"ab\": []", "", "", BYTE_LEVEL, "$.model.vocab.ab: expected a whole number"},
  {"", "", ", \"byte_fallback\": true", BYTE_LEVEL,
   "$.model.byte_fallback: byte_fallback is not supported" GIVE},
  {"", "", ", \"dropout\": 0.1", BYTE_LEVEL,
   "$.model.dropout: it is 0.1, with which the same text has several encodings; set it to null"},
  {"", "", ", \"continuing_subword_prefix\": \"##\"", BYTE_LEVEL,
   "$.model.continuing_subword_prefix: continuing_subword_prefix is not supported" GIVE},
  {"", "", ", \"end_of_word_suffix\": \"</w>\"", BYTE_LEVEL,
   "$.model.end_of_word_suffix: end_of_word_suffix is not supported" GIVE},
  {"", "", "", "", "$.pre_tokenizer: it is missing" GIVE},
  {"", "", "", ", \"pre_tokenizer\": {\"type\": \"Metaspace\"}",
   "$.pre_tokenizer: Metaspace is not supported" GIVE},
  {"", "", "", ", \"pre_tokenizer\": {}", "$.pre_tokenizer: ? is not supported" GIVE},
  {"", "", "",
   ", \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Digits\"}]}",
   "$.pre_tokenizer.pretokenizers[0]: Digits is not supported" GIVE},
  {"", "", "", ", \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [3]}",
   "$.pre_tokenizer.pretokenizers[0]: ? is not supported" GIVE},
  {"", "", "", ", \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": []}",
   "$.pre_tokenizer: it has no ByteLevel" GIVE},
  {"", "", "",
   ", \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"ByteLevel\"}, "
   "{\"type\": \"ByteLevel\"}]}",
   "$.pre_tokenizer.pretokenizers[1]: it follows ByteLevel, which must be the last one"},
  {"", "", "", SPLIT ("{\"Regex\": \"a\"}", "Removed"),
   "$.pre_tokenizer.pretokenizers[0]: its behavior is 'Removed', only Isolated is supported" GIVE},
  {"", "", "", SPLIT ("{\"Regex\": \"a\"}", "Isolated\", \"invert\": true, \"x\": \""),
   "$.pre_tokenizer.pretokenizers[0]: its invert is true, which is not supported" GIVE},
  {"", "", "", SPLIT ("{\"Regex\": \"\\\\w\"}", "Isolated"),
   "$.pre_tokenizer.pretokenizers[0]: its pattern has '\\w', which is not supported" GIVE},
  {"", "", "", SPLIT ("{\"String\": \"\"}", "Isolated"),
   "$.pre_tokenizer.pretokenizers[0]: it has no pattern that is supported"},
  {"", "", "", SPLIT ("3", "Isolated"),
   "$.pre_tokenizer.pretokenizers[0]: it has no pattern that is supported"},
  {"", "", "", BYTE_LEVEL ", \"normalizer\": {\"type\": \"NFKC\"}",
   "$.normalizer: NFKC is not supported" GIVE},
  {"", "", "",
   BYTE_LEVEL
   ", \"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Lowercase\"}]}",
   "$.normalizer: Lowercase is not supported" GIVE},
  {"", "", "", BYTE_LEVEL ", \"normalizer\": 3", "$.normalizer: expected an object or null"},
  {"", "", "", BYTE_LEVEL ", \"post_processor\": {\"type\": \"BertProcessing\"}",
   "$.post_processor: BertProcessing is not supported" GIVE},
  {"", "", "", TEMPLATE (""), "$.post_processor: the number of texts in single is 0, expected 1"},
  {"", "", "", TEMPLATE ("{\"Sequence\": {\"id\": \"B\"}}"),
   "$.post_processor: single has a part other than a text A and tokens"},
  {"", "", "", TEMPLATE ("{\"SpecialToken\": {\"id\": \"<s>\"}}"),
   "$.post_processor: no token has the id 7 of '<s>'"},
  {"", "", "", TEMPLATE ("{\"SpecialToken\": {\"id\": \"<t>\"}}"),
   "$.post_processor: special_tokens has no ids of '<t>'"},
  {"", "", "", TEMPLATE ("{\"SpecialToken\": {}}"),
   "$.post_processor: special_tokens has no ids of ''"},
  {"", "", "", BYTE_LEVEL ", \"added_tokens\": 3", "$.added_tokens: expected an array"},
  {"", "", "", BYTE_LEVEL ", \"added_tokens\": [3]", "$.added_tokens[0]: expected an object"},
  {"", "", "", ADDED ("\"id\": 1"), "$.added_tokens[0]: it has no content"},
  {"", "", "", ADDED ("\"content\": \"x1\""),
   "$.added_tokens[0]: the id is -1, expected 0 to 16777215"},
  {"", "", "", ADDED ("\"id\": 1001, \"content\": \"x1\""),
   "$.added_tokens[0]: the id 1001 of 'x1' is another token's"},
  {"", "", "", ADDED ("\"id\": 1, \"content\": \"a\""),
   "$.added_tokens[0]: the id of 'a' is 1, but 1097 in the vocabulary"},
  {"", "", "", ADDED ("\"id\": 1, \"content\": \"x1\"}, {\"id\": 2, \"content\": \"x1\""),
   "$.added_tokens[1]: 'x1' is added twice"},
  {"", "", "", ADDED ("\"id\": 1, \"content\": \"x1\", \"single_word\": true"),
   "$.added_tokens[0]: single_word is true, which is not supported; set it to false"},
};

static void
check_message (const char *content, gsize length, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTokenizer) tokenizer = open_content (content, length, &error);
  g_assert_null (tokenizer);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  g_autofree char *end = g_strconcat ("/t.json: ", message, NULL);
  if (!g_str_has_suffix (error->message, end))
    g_test_fail_printf ("'%s' does not end with '%s'", error->message, end);
}

static void
test_members (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *json =
      make_json (cases[i].vocabulary, cases[i].merges, cases[i].model, cases[i].others);
    check_message (json, strlen (json), cases[i].message);
  }
}

/* Files that are another thing as a whole. */
static void
test_files (void)
{
  static const struct {
    const char *content, *message;
  } files[] = {
    {"", "it is neither a tokenizer.json nor a tokenizer of llm.c"},
    {"[]", "it is neither a tokenizer.json nor a tokenizer of llm.c"},
    {"{}", "$.model: it is missing" GIVE},
    {" \n{\"model\": 3}", "$.model: it is missing" GIVE},
    {"{\"model\": {\"type\": \"Unigram\"}}", "$.model.type: Unigram is not supported" GIVE},
    {"{\"model\": {\"type\": \"WordPiece\"}}", "$.model.type: WordPiece is not supported" GIVE},
    {"{\"model\": {\"type\": \"WordLevel\"}}", "$.model.type: WordLevel is not supported" GIVE},
    {"{\"model\": {}}", "$.model.type: ? is not supported" GIVE},
    {"{\"model\": {\"type\": \"BPE\"}}", "$.model.vocab: expected an object"},
    {"{\"model\": {\"type\": \"BPE\", \"vocab\": {}}}", "$.model.merges: expected an array"},
    {"{\"model\": {\"type\": \"BPE\", \"vocab\": {\"word\": 0}, \"merges\": []}}",
     "$.model.vocab: no byte has a token" GIVE},
    {"{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": [], \"unk_token\": "
     "\"a\"}}",
     "$.model.unk_token: unknown bytes would become a token, 255 have none, which is not "
     "supported" GIVE},
    {"{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": []}" BYTE_LEVEL
     ", \"decoder\": {\"type\": \"BPEDecoder\"}}",
     "$.decoder: BPEDecoder is not supported" GIVE},
    {"{\"a\xff\": 1}", "byte 3, 0xff, is not UTF-8"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    check_message (files[i].content, strlen (files[i].content), files[i].message);
  check_message ("{\"a\0\": 1}", 9, "byte 3, 0x00, is not UTF-8");
}

/* A byte without a token is an error of the text, not of the file. */
static void
test_missing_byte (void)
{
  static const char file[] = "{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": []}, \"decoder\": "
                             "{\"type\": \"ByteLevel\"}" BYTE_LEVEL "}";
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTokenizer) tokenizer = open_content (file, strlen (file), &error);
  g_assert_no_error (error);
  check_tokens (tokenizer, "aa", TRUE, "0 0");
  gsize n_tokens;
  g_assert_null (lig_tokenizer_encode (tokenizer, "a b", -1, TRUE, &n_tokens, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_true (g_str_has_suffix (
    error->message, "the text has byte 0x20, for which the vocabulary has no token"));
}

static void
test_text (void)
{
  g_autoptr (LigTokenizer) tokenizer = open_json ("", "", "", BYTE_LEVEL);
  g_autoptr (GError) error = NULL;
  gsize n_tokens;
  g_assert_null (lig_tokenizer_encode (tokenizer, "a\0\xc3(", 4, TRUE, &n_tokens, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_cmpstr (error->message, ==, "byte 2 of the text, 0xc3, is not UTF-8; convert the text");
  g_clear_error (&error);
  g_autofree char *word = g_malloc ((16 << 20) + 1);
  memset (word, 'a', (16 << 20) + 1);
  g_assert_null (lig_tokenizer_encode (tokenizer, word, (16 << 20) + 1, TRUE, &n_tokens, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_true (g_str_has_suffix (
    error->message,
    ": a word has 16777217 bytes, at most 16777216 are supported; divide the text"));
}

/* Deep nesting, many parts, and a token of the greatest id, which takes memory for those below. */
static void
test_large (void)
{
  g_autoptr (GString) deep = g_string_new ("{\"a\": ");
  for (guint i = 0; i < 100000; i++)
    g_string_append_c (deep, '[');
  g_autoptr (GError) error = NULL;
  g_assert_null (open_content (deep->str, deep->len, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, "nest 65 deep"));
  g_autoptr (GString) many =
    g_string_new (", \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [");
  for (guint i = 0; i < 33; i++)
    g_string_append (
      many,
      "{\"type\": \"Split\", \"pattern\": {\"String\": \"a\"}, \"behavior\": \"Isolated\"}, ");
  g_string_append (many, "{\"type\": \"ByteLevel\"}]}");
  g_autofree char *json = make_json ("", "", "", many->str);
  check_message (json, strlen (json),
                 "$.pre_tokenizer.pretokenizers[32]: there are 33 parts, at most 32 are supported");
  g_autoptr (LigTokenizer) sparse = open_json ("\"zz\": 16777215", "\"z z\"", "", BYTE_LEVEL);
  check_tokens (sparse, "zz", TRUE, "16777215");
  g_assert_cmpint (lig_tokenizer_get_size (sparse), ==, 16777216);
}

/* Too large a file is rejected before it is read, and a folder stands for its tokenizer.json. */
static void
test_paths (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("tokenizer-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "tokenizer.json", NULL);
  g_assert_null (lig_tokenizer_open (folder, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, "tokenizer.json"));
  g_clear_error (&error);
  g_assert_true (g_file_set_contents (path, "{", 1, NULL));
  g_assert_cmpint (truncate (path, (off_t) 1 << 30), ==, 0);
  g_assert_null (lig_tokenizer_open (folder, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_autofree char *message = g_strdup_printf (
    "%s: it has 1073741824 bytes, a tokenizer at most 268435456; give a tokenizer.json", path);
  g_assert_cmpstr (error->message, ==, message);
  g_autofree char *json = make_json ("", "", "", BYTE_LEVEL);
  g_assert_true (g_file_set_contents (path, json, -1, NULL));
  g_clear_error (&error);
  g_autoptr (LigTokenizer) tokenizer = lig_tokenizer_open (folder, &error);
  g_assert_no_error (error);
  check_tokens (tokenizer, "a", TRUE, "1097");
  g_assert_cmpint (g_remove (path), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/hostile/members", test_members);
  g_test_add_func ("/hostile/files", test_files);
  g_test_add_func ("/hostile/missing-byte", test_missing_byte);
  g_test_add_func ("/hostile/text", test_text);
  g_test_add_func ("/hostile/large", test_large);
  g_test_add_func ("/hostile/paths", test_paths);
  return g_test_run ();
}
