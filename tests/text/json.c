/* SPDX-License-Identifier: MIT */
/* Small tokenizer.json files, whose right tokens follow from the merges on paper. In all of them a
 * byte without a merge is token 1000 + byte. */
#include "engine/text/tokenizer-struct.h"
#include "tests/text/texts.h"

#define WORDS \
  "\"he\": 0, \"ll\": 1, \"hell\": 2, \"Ġw\": 3, \"or\": 4, \"hello\": 5, \"ld\": 6, \"abc\": 7"
#define MERGES "\"h e\", \"l l\", \"he ll\", \"hell o\", \"Ġ w\", \"o r\", \"l d\""

static void
test_merges (void)
{
  g_autoptr (LigTokenizer) tokenizer = open_json (WORDS, MERGES, "", BYTE_LEVEL);
  g_autofree char *facts = lig_tokenizer_describe (tokenizer);
  g_assert_cmpstr (facts, ==, "byte-level BPE, 264 tokens, 7 merges");
  g_assert_cmpint (lig_tokenizer_get_size (tokenizer), ==, 1256);
  g_assert_true (g_str_has_suffix (lig_tokenizer_get_name (tokenizer), "t.json"));
  check_tokens (tokenizer, "hello world", TRUE, "5 3 4 6");
  check_tokens (tokenizer, "hellold", TRUE, "5 6"); /* `l l` has a lower rank than `l d` */
  check_tokens (tokenizer, "lllld", TRUE, "1 1 1100");
  check_tokens (tokenizer, "hehe w", TRUE, "0 0 3");
  check_tokens (tokenizer, "hello\nabc", TRUE, "5 1010 1097 1098 1099");
  check_tokens (tokenizer, "é", TRUE, "1195 1169");
  check_tokens (tokenizer, "", TRUE, "");
  check_round_trip (tokenizer, "hello\0world \xf0\x9f\x98\x80\xc2\xad\x7f", 19);
  g_autoptr (GBytes) space = lig_tokenizer_get_bytes (tokenizer, 3);
  g_assert_cmpmem (g_bytes_get_data (space, NULL), g_bytes_get_size (space), " w", 2);
  g_assert_null (lig_tokenizer_get_bytes (tokenizer, 8));
}

/* Both spellings of merges, the first line of merges.txt, and a file without the member `type`. */
static void
test_spellings (void)
{
  g_autoptr (LigTokenizer) pairs =
    open_json (WORDS,
               "[\"h\", \"e\"], [\"l\", \"l\"], [\"he\", \"ll\"], [\"hell\", \"o\"], [\"Ġ\", "
               "\"w\"], [\"o\", \"r\"], [\"l\", \"d\"]",
               ", \"dropout\": null, \"unk_token\": null, \"continuing_subword_prefix\": \"\", "
               "\"fuse_unk\": false",
               BYTE_LEVEL);
  g_autoptr (LigTokenizer) lines = open_json (WORDS, "\"#version: 0.2\", " MERGES, "", BYTE_LEVEL);
  check_tokens (pairs, "hello world", TRUE, "5 3 4 6");
  check_tokens (lines, "hello world", TRUE, "5 3 4 6");
  g_autoptr (GError) error = NULL;
  g_autofree char *json = make_json (WORDS, MERGES, "", BYTE_LEVEL);
  g_autoptr (GString) text = g_string_new (json);
  g_string_replace (text, "\"type\": \"BPE\", ", "", 1);
  g_autoptr (LigTokenizer) untyped = open_content (text->str, text->len, &error);
  g_assert_no_error (error);
  check_tokens (untyped, "hello", TRUE, "5");
}

/* With ignore_merges, a piece that is a token is that token. */
static void
test_whole_first (void)
{
  g_autoptr (LigTokenizer) tokenizer =
    open_json (WORDS, MERGES, ", \"ignore_merges\": true", BYTE_LEVEL);
  check_tokens (tokenizer, "abc", TRUE, "7");
  check_tokens (tokenizer, "abcd", TRUE, "1097 1098 1099 1100");
  check_tokens (tokenizer, "hello", TRUE, "5");
  check_tokens (tokenizer, "world", TRUE, "1119 4 6");
}

/* Both files have the text of a byte, of which all 256 stay the same. */
static void
test_characters (void)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  for (guint byte = 0; byte < 256; byte++) {
    char text[8];
    lig_byte_level_write ((guint8) byte, text);
    g_assert_true (lig_byte_level_read (text, bytes));
    g_assert_cmpmem (bytes->data, bytes->len, &(guint8){(guint8) byte}, 1);
  }
  g_assert_true (lig_byte_level_read ("ĠĊAÃ©Ńġł", bytes));
  g_assert_cmpmem (bytes->data, bytes->len, " \nA\xc3\xa9\xad\x7f\xa0", 8);
  g_assert_false (lig_byte_level_read ("Ġń", bytes)); /* the character after the last one */
  g_assert_cmpmem (bytes->data, bytes->len, "Ġń", 4);
}

#define ADDED(id, content, others) \
  "{\"id\": " #id ", \"content\": \"" content \
  "\", \"special\": true, \"normalized\": false" others "}"

/* The leftmost and longest added token is found; without `special`, special ones are text. */
static void
test_added (void)
{
  g_autoptr (LigTokenizer) tokenizer = open_json (
    WORDS, MERGES, "",
    BYTE_LEVEL
    ", \"added_tokens\": [" ADDED (20, "<s>", "") ", " ADDED (21, "<s><s>", "") ", " ADDED (
      22, "<mask>",
      ", \"lstrip\": true") ", " ADDED (23, "<pad>",
                                        ", \"rstrip\": true") ", "
                                                              "{\"id\": 24, \"content\": \"lo\", "
                                                              "\"special\": false}, {\"id\": 5, "
                                                              "\"content\": \"hello\", "
                                                              "\"special\": true}]");
  check_tokens (tokenizer, "<s>he", TRUE, "20 0");
  check_tokens (tokenizer, "<s><s><s>", TRUE, "21 20");
  check_tokens (tokenizer, "he \n<mask> he", TRUE, "0 22 1032 0");
  check_tokens (tokenizer, "he <pad>\xc2\xa0 he", TRUE, "0 1032 23 0");
  check_tokens (tokenizer, "<pad>  <mask>", TRUE, "23 22");
  check_tokens (tokenizer, "<s", TRUE, "1060 1115");
  check_tokens (tokenizer, "helo", FALSE, "0 24");
  check_tokens (tokenizer, "<s>", FALSE, "1060 1115 1062");
  check_tokens (tokenizer, "hello", TRUE, "5");
  g_assert_cmpint (lig_tokenizer_find (tokenizer, "<mask>"), ==, 22);
  g_assert_cmpint (lig_tokenizer_find (tokenizer, "hello"), ==, 5);
  g_assert_cmpint (lig_tokenizer_find (tokenizer, "hell"), ==, -1);
  g_assert_true (lig_tokenizer_is_special (tokenizer, 5));
}

/* A composed and a decomposed é; tokens that are not normalized are found before. */
static void
test_composed (void)
{
  g_autoptr (LigTokenizer) tokenizer =
    open_json ("", "", "",
               BYTE_LEVEL ", \"normalizer\": {\"type\": \"NFC\"}, \"added_tokens\": ["
                          "{\"id\": 0, \"content\": \"ne\\u0301\", \"normalized\": true}, "
                          "{\"id\": 1, \"content\": \"xe\\u0301\", \"normalized\": false}]");
  check_tokens (tokenizer, "e\xcc\x81", TRUE, "1195 1169");
  check_tokens (tokenizer, "ne\xcc\x81 n\xc3\xa9", TRUE, "0 1032 0");
  check_tokens (tokenizer, "xe\xcc\x81x\xc3\xa9", TRUE, "1 1120 1195 1169");
  g_autofree char *zero = encode_text (tokenizer, "e\xcc\x81\0e\xcc\x81", 7, TRUE);
  g_assert_cmpstr (zero, ==, "1195 1169 1000 1195 1169");
}

/* A text is normalized in parts, with the same result; a megabyte takes no time to notice. */
static void
test_parts (void)
{
  static const gunichar characters[] = {'e',    0x301,  0x323,   0x344,  0xe9,  0x1112,
                                        0x1161, 0x11ab, 0xd558,  0x9c7,  0x9be, 0x1e0b,
                                        0x2126, 0x4e00, 0x1d15e, 0x16d67};
  for (int round = 0; round < 200; round++) {
    g_autoptr (GString) text = g_string_new (NULL);
    while (text->len < 2000)
      g_string_append_unichar (text, characters[g_test_rand_int_range (0, 16)]);
    gsize length = 0;
    g_autofree char *parts = lig_tokenizer_compose (text->str, text->len, &length);
    g_autofree char *whole = g_utf8_normalize (text->str, -1, G_NORMALIZE_NFC);
    g_assert_cmpstr (parts, ==, whole);
    g_assert_cmpuint (length, ==, strlen (whole));
  }
  g_autoptr (GString) text = g_string_new (NULL);
  while (text->len < 1 << 20)
    g_string_append (text, "e\xcc\x81");
  gsize length = 0;
  g_autofree char *composed = lig_tokenizer_compose (text->str, text->len, &length);
  g_assert_true (g_str_has_prefix (composed, "\xc3\xa9"));
  g_assert_cmpuint (length, ==, text->len / 3 * 2);
}

/* A space before each text, also before what follows an added token. */
static void
test_prefix_space (void)
{
  g_autoptr (LigTokenizer) tokenizer =
    open_json (WORDS, MERGES, "",
               ", \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true}, "
               "\"added_tokens\": [" ADDED (20, "<s>", "") "]");
  check_tokens (tokenizer, "w", TRUE, "3");
  check_tokens (tokenizer, " w", TRUE, "3");
  check_tokens (tokenizer, "<s>w<s>", TRUE, "20 3 20");
  check_tokens (tokenizer, "", TRUE, "");
}

/* Patterns one after the other, each of which splits the pieces of the one before. */
static void
test_stages (void)
{
  g_autoptr (LigTokenizer) tokenizer = open_json (
    "\"11\": 0, \"111\": 1, \"--\": 2, \"-1\": 3", "\"1 1\", \"11 1\", \"- -\", \"- 1\"", "",
    ", \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": ["
    "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"\\\\p{N}{1,3}\"}, \"behavior\": "
    "\"Isolated\", \"invert\": false}, "
    "{\"type\": \"Split\", \"pattern\": {\"String\": \".\"}, \"behavior\": \"Isolated\"}, "
    "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": false}]}");
  check_tokens (tokenizer, "11111", TRUE, "1 0");
  check_tokens (tokenizer, "-1", TRUE, "1045 1049");
  check_tokens (tokenizer, "---.--", TRUE, "2 1045 1046 2");
}

/* The tokens around a text, by one or several templates. */
static void
test_template (void)
{
#define TEMPLATE(parts) \
  "{\"type\": \"TemplateProcessing\", \"single\": [" parts "], \"pair\": [], \"special_tokens\": " \
  "{\"<s>\": {\"id\": \"<s>\", \"ids\": [20], \"tokens\": [\"<s>\"]}, \"<e>\": {\"ids\": [21, " \
  "20]}}}"
#define TEXT "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}"
#define TOKEN(name) "{\"SpecialToken\": {\"id\": \"" name "\", \"type_id\": 0}}"
  static const char added[] = BYTE_LEVEL
    ", \"added_tokens\": [" ADDED (20, "<s>", "") ", " ADDED (21, "<e>", "") "], "
                                                                             "\"post_processor\": ";
  g_autofree char *one =
    g_strconcat (added, TEMPLATE (TOKEN ("<s>") ", " TEXT ", " TOKEN ("<e>")), NULL);
  g_autofree char *two =
    g_strconcat (added,
                 "{\"type\": \"Sequence\", \"processors\": [{\"type\": \"ByteLevel\", "
                 "\"trim_offsets\": false}, ",
                 TEMPLATE (TOKEN ("<s>") ", " TEXT), ", ",
                 TEMPLATE (TOKEN ("<e>") ", " TEXT ", " TOKEN ("<s>")), "]}", NULL);
  g_autoptr (LigTokenizer) single = open_json (WORDS, MERGES, "", one);
  g_autoptr (LigTokenizer) both = open_json (WORDS, MERGES, "", two);
  check_tokens (single, "he", TRUE, "20 0 21 20");
  check_tokens (single, "", TRUE, "20 21 20");
  check_tokens (single, "he", FALSE, "0");
  check_tokens (both, "he", TRUE, "21 20 20 0 20");
}

/* Threads share a tokenizer. */
static gpointer
encode_often (gpointer tokenizer)
{
  for (guint i = 0; i < 200; i++)
    check_tokens (tokenizer, "hello world, hello", TRUE, "5 3 4 6 1044 1032 5");
  return NULL;
}

static void
test_threads (void)
{
  g_autoptr (LigTokenizer) tokenizer = open_json (WORDS, MERGES, "", BYTE_LEVEL);
  GThread *threads[4];
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new (NULL, encode_often, tokenizer);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/merges", test_merges);
  g_test_add_func ("/json/spellings", test_spellings);
  g_test_add_func ("/json/whole-first", test_whole_first);
  g_test_add_func ("/json/characters", test_characters);
  g_test_add_func ("/json/added", test_added);
  g_test_add_func ("/json/composed", test_composed);
  g_test_add_func ("/json/parts", test_parts);
  g_test_add_func ("/json/prefix-space", test_prefix_space);
  g_test_add_func ("/json/stages", test_stages);
  g_test_add_func ("/json/template", test_template);
  g_test_add_func ("/json/threads", test_threads);
  return g_test_run ();
}
