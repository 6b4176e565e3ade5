/* SPDX-License-Identifier: MIT */
/* Columns of text: widths as a terminal shows them, elided middles, broken sentences. */
#include <ligature/columns.h>

#include <string.h>

static void
test_width (void)
{
  static const struct {
    const char *text;
    int width;
  } texts[] = {
    {"", 0},         {"gelu", 4},         {"≈ 14.4 µs", 9},
    {"線形", 4},     {"e\xcc\x81", 1}, /* e and an accent */
    {"a\u200bb", 2}, {"線e\xcc\x81…", 4},
  };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_assert_cmpint (lig_columns_width (texts[i].text), ==, texts[i].width);
}

static void
test_elide (void)
{
  static const struct {
    const char *text;
    int width;
    const char *elided;
  } texts[] = {
    {"basic-linear", 12, "basic-linear"},
    {"basic-linear", 11, "basic…inear"},
    {"basic-linear", 4, "ba…r"},
    {"basic-linear", 1, "…"},
    {"線形線形", 7, "線…形"},
    {"線形線形", 8, "線形線形"},
    /* An accent stays with its letter, and none begins the ending. */
    {"ae\xcc\x81iou", 3, "a…u"},
    {"aioue\xcc\x81", 3, "a…e\xcc\x81"},
    {"aioue\xcc\x81", 2, "a…"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree char *elided = lig_columns_elide (texts[i].text, texts[i].width);
    g_assert_cmpstr (elided, ==, texts[i].elided);
    g_assert_cmpint (lig_columns_width (elided), <=, texts[i].width);
  }
}

/* A column is filled exactly, for any text. */
static void
test_append (void)
{
  static const char *const texts[] = {"", "x", "線", "線形線形線形", "e\xcc\x81", "a-long-name"};
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    for (int width = 1; width < 16; width++)
      for (LigSide side = LIG_SIDE_LEFT; side <= LIG_SIDE_RIGHT; side++) {
        g_autoptr (GString) text = g_string_new (NULL);
        lig_columns_append (text, texts[i], width, side);
        g_assert_cmpint (lig_columns_width (text->str), ==, width);
      }
  g_autoptr (GString) right = g_string_new ("|");
  lig_columns_append (right, "7", 3, LIG_SIDE_RIGHT);
  lig_columns_append (right, "7", 3, LIG_SIDE_LEFT);
  g_assert_cmpstr (right->str, ==, "|  77  ");
}

static void
test_wrap (void)
{
  static const struct {
    const char *text;
    int width;
    const char *lines;
  } texts[] = {
    {"one two three", 20, "one two three\n"},
    {"one two three", 10, "one two\n  three\n"},
    /* A number stays with its unit, and the sign of a prediction with its number. */
    {"it needs 12.6 MB", 14, "it needs\n  12.6 MB\n"},
    {"it takes ≈ 12.6 µs", 15, "it takes\n  ≈ 12.6 µs\n"},
    /* An overlong word is broken. */
    {"abcdefghijklmnopqrst", 10, "abcdefghij\n  klmnopqr\n  st\n"},
    {"線形線形線形", 10, "線形線形線\n  形\n"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GString) text = g_string_new (NULL);
    lig_columns_wrap (text, texts[i].text, 0, 2, texts[i].width);
    g_assert_cmpstr (text->str, ==, texts[i].lines);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/columns/width", test_width);
  g_test_add_func ("/columns/elide", test_elide);
  g_test_add_func ("/columns/append", test_append);
  g_test_add_func ("/columns/wrap", test_wrap);
  return g_test_run ();
}
