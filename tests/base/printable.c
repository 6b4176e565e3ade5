/* SPDX-License-Identifier: MIT */
/* Text is escaped so that it cannot control a terminal. */
#include <ligature/printable.h>

static void
test_escapes (void)
{
  static const struct {
    const char *text, *line;
  } cases[] = {
    {"", ""},
    {"plain, Größe 3 µm \xe2\x94\x82 \xf0\x9f\x98\x80 \\n", "plain, Größe 3 µm │ 😀 \\n"},
    {"a\nb\tc\rd", "a\\nb\\tc\\x0dd"},
    {"\033[2J\033]0;owned\a\x7f", "\\x1b[2J\\x1b]0;owned\\x07\\x7f"},
    {"\xc2\x9b 31m", "\\x9b 31m"},
    {"\xe2\x80\xae txt \xe2\x81\xa6", "\\u202e txt \\u2066"},
    {"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"},
    {"cut \xf0\x9f", "cut \\xf0\\x9f"},
    {"\xff\xc0\x80", "\\xff\\xc0\\x80"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *line = lig_printable (cases[i].text);
    g_assert_cmpstr (line, ==, cases[i].line);
    g_autofree char *again = lig_printable (line);
    g_assert_cmpstr (again, ==, line);
  }
}

/* Any bytes become one line of valid text. */
static void
test_any (void)
{
  for (int round = 0; round < 2000; round++) {
    char text[40];
    int length = g_test_rand_int_range (0, sizeof text);
    for (int i = 0; i < length; i++)
      text[i] = (char) g_test_rand_int_range (1, 256);
    text[length] = '\0';
    g_autofree char *line = lig_printable (text);
    g_assert_true (g_utf8_validate (line, -1, NULL));
    for (const char *at = line; *at; at = g_utf8_next_char (at))
      g_assert_false (g_unichar_iscntrl (g_utf8_get_char (at)));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/printable/escapes", test_escapes);
  g_test_add_func ("/printable/any", test_any);
  return g_test_run ();
}
