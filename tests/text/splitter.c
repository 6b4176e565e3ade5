/* SPDX-License-Identifier: MIT */
/* Splitting by the patterns of GPT-2, Llama 3 and Qwen 2, and the patterns that are rejected
 * because PCRE2 would understand them differently. */
#include "engine/text/splitter.h"

#include <string.h>

#define LLAMA3 \
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| " \
  "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" \
  "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define QWEN2 \
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| " \
  "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" \
  "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static gboolean
append (const char *piece, gsize length, gpointer data, GError **error)
{
  GString *joined = data;
  g_string_append (joined, joined->len > 0 ? "|" : "");
  g_string_append_len (joined, piece, (gssize) length);
  return TRUE;
}

/* The pieces, joined by a bar. */
static const struct {
  const char *pattern, *text, *pieces;
} cases[] = {
  {LIG_SPLIT_GPT2, "Hello world", "Hello| world"},
  {LIG_SPLIT_GPT2, "I'll don't IT'S", "I|'ll| don|'t| IT|'|S"},
  {LIG_SPLIT_GPT2, "a  b   ", "a| | b|   "},
  {LIG_SPLIT_GPT2, "x = 1234.5;\n\n  y", "x| =| 1234|.|5|;|\n\n | y"},
  {LIG_SPLIT_GPT2, "é漢字²½ ?!", "é漢字|²½| ?!"},
  {LIG_SPLIT_GPT2, "", ""},
  {LLAMA3, "I'LL 12345 (foo)\n\n  y", "I|'LL| |123|45| (|foo|)\n\n| | y"},
  {LLAMA3, "don't", "don|'t"},
  {LLAMA3, "a \n \n b", "a| \n \n| b"},
  {QWEN2, "12 3", "1|2| |3"},
  /* U+180E is not white space, U+0085 and U+00A0 are. */
  {"\\s",
   "a\xe1\xa0\x8e"
   "b\xc2\x85"
   "c\xc2\xa0",
   "a\xe1\xa0\x8e"
   "b|\xc2\x85|c|\xc2\xa0"},
  {"[\\s-x]+", "a -x b", "a| -x |b"},
  {"\\S+", "ab\xe1\xa0\x8e c", "ab\xe1\xa0\x8e| |c"},
  /* A dot is any character but the end of a line; an empty match splits. */
  {".+",
   "a\r\xe2\x80\xa8"
   "b\nc",
   "a\r\xe2\x80\xa8"
   "b|\n|c"},
  {"x*", "axxb", "a|xx|b"},
  {"(?=b)", "abab", "a|ba|b"},
  {"[\\[\\]{}|]", "a[b]", "a|[|b|]"},
  {"a{2}|b++|c{1,2}", "aaabbbcccc", "aa|a|bbb|cc|cc"},
  {"(?<=a)b|(c)", "abbc", "a|b|b|c"},
};

static void
test_pieces (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *problem = NULL;
    g_autoptr (GRegex) pattern = lig_split_compile (cases[i].pattern, &problem);
    g_autoptr (GString) joined = g_string_new (NULL);
    g_assert_cmpstr (problem, ==, NULL);
    g_assert_true (
      lig_split_text (pattern, cases[i].text, strlen (cases[i].text), append, joined, &error));
    g_assert_no_error (error);
    g_assert_cmpstr (joined->str, ==, cases[i].pieces);
  }
}

static void
test_rejected (void)
{
  static const struct {
    const char *pattern, *words;
  } rejected[] = {
    {"\\w+", "its pattern has '\\w', which is not supported"},
    {"a\\b", "its pattern has '\\b', which is not supported"},
    {"[\\S]", "its pattern has '\\S', which is not supported"},
    {"\\h", "its pattern has '\\h', which is not supported"},
    {"\\é", "its pattern has '\\é', which is not supported"},
    {"a\\", "its pattern has '\\', which is not supported"},
    {"\\p{Han}+", "its pattern has '\\p{Han}+', which is not supported"},
    {"\\pL", "its pattern has '\\pL', which is not supported"},
    {"^a", "its pattern has '^', which is not supported"},
    {"a$", "its pattern has '$', which is not supported"},
    {"a{1,3}+", "its pattern has '}+', which is not supported"},
    {"a{1,3}?", "its pattern has '}?', which is not supported"},
    {"a{,3}", "its pattern has '{,', which is not supported"},
    {"(?i)a", "its pattern has '(?i)', which is not supported"},
    {"(?<name>a)", "its pattern has '(?<n', which is not supported"},
    {"(*FAIL)", "its pattern has '(*FA', which is not supported"},
    {"[]a]", "its pattern has '[]', which is not supported"},
    {"[a[b]]", "its pattern has a class in a class, which is not supported"},
    {"[a&&b]", "its pattern has an intersection of classes, which is not supported"},
    {"[a", "its pattern has a class without an end, which is not supported"},
    {"(a", "its pattern cannot be compiled: missing terminating )"},
    {"a**", NULL},
    {"[b-a]", "its pattern cannot be compiled: range out of order in character class"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (rejected); i++) {
    g_autofree char *problem = NULL;
    g_autoptr (GRegex) pattern = lig_split_compile (rejected[i].pattern, &problem);
    g_assert_null (pattern);
    if (rejected[i].words)
      g_assert_cmpstr (problem, ==, rejected[i].words);
    else
      g_assert_nonnull (problem);
  }
}

/* Zero bytes are characters, and a text of a megabyte is split piece by piece. */
static void
test_long (void)
{
  g_autofree char *problem = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GRegex) pattern = lig_split_compile (LIG_SPLIT_GPT2, &problem);
  g_autoptr (GString) text = g_string_new (NULL), joined = g_string_new (NULL);
  g_assert_true (lig_split_text (pattern, "a\0b", 3, append, joined, &error));
  g_assert_cmpmem (joined->str, joined->len, "a|\0|b", 5);
  for (guint i = 0; i < 200000; i++)
    g_string_append (text, " word");
  g_string_truncate (joined, 0);
  g_assert_true (lig_split_text (pattern, text->str, text->len, append, joined, &error));
  g_assert_cmpuint (joined->len, ==, text->len + 199999);
}

/* A pattern that tries everything ends with an error. */
static void
test_limit (void)
{
  g_autofree char *problem = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GRegex) pattern = lig_split_compile ("(a|a|a)+b", &problem);
  g_autoptr (GString) joined = g_string_new (NULL);
  g_assert_nonnull (pattern);
  g_assert_false (
    lig_split_text (pattern, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaac b", 32, append, joined, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  g_assert_cmpstr (error->message, ==,
                   "byte 0 of 32: the pattern of the tokenizer cannot split the text: "
                   "backtracking limit reached; divide the text");
}

static void
test_space (void)
{
  static const gunichar spaces[] = {9,      10,     13,     32,     0x85,   0xa0,   0x1680,
                                    0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000};
  static const gunichar others[] = {0,    8,      14,     0x1c,   0x1f,  'a',
                                    0x84, 0x180e, 0x200b, 0x2060, 0xfeff};
  for (guint i = 0; i < G_N_ELEMENTS (spaces); i++)
    g_assert_true (lig_split_is_space (spaces[i]));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    g_assert_false (lig_split_is_space (others[i]));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/splitter/pieces", test_pieces);
  g_test_add_func ("/splitter/rejected", test_rejected);
  g_test_add_func ("/splitter/long", test_long);
  g_test_add_func ("/splitter/limit", test_limit);
  g_test_add_func ("/splitter/space", test_space);
  return g_test_run ();
}
