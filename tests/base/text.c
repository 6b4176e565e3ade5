/* SPDX-License-Identifier: MIT */
/* Cells of CSV, words of command lines, figures with units, members of JSON documents. */
#include "engine/base/json-private.h"
#include <ligature/csv.h>
#include <ligature/json-members.h>

#include <json-glib/json-glib.h>
#include <ligature/json.h>
#include <ligature/shell.h>
#include <ligature/units.h>

#include <math.h>

static void
test_csv (void)
{
  static const char *const cells[][2] = {
    {"", ""},
    {"loss", "loss"},
    {"a,b", "\"a,b\""},
    {"say \"x\"", "\"say \"\"x\"\"\""},
    {"two\nlines", "\"two\nlines\""},
    {"=1+1", "'=1+1"},
    {"@SUM(A1,A2)", "\"'@SUM(A1,A2)\""},
    {"\tx", "'\tx"},
    {"-inf", "'-inf"},
    {"--5", "'--5"},
    {"-5", "-5"},
    {"+1.5e-3", "+1.5e-3"},
    {"-", "'-"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cells); i++) {
    g_autoptr (GString) text = g_string_new (NULL);
    lig_csv_append_text (text, cells[i][0]);
    g_assert_cmpstr (text->str, ==, cells[i][1]);
  }
  g_autoptr (GString) numbers = g_string_new (NULL);
  const double values[] = {0.1, 7, 1e-8, NAN, INFINITY, -INFINITY};
  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    g_string_append_c (numbers, ' ');
    lig_csv_append_number (numbers, values[i]);
  }
  g_assert_cmpstr (numbers->str, ==, " 0.1 7 1e-8 nan inf -inf");
}

static void
test_shell (void)
{
  g_autoptr (GString) line = g_string_new ("lig");
  const char *const words[] = {"fuse", "linear(8) ! gelu", "", "it's", "cuda:0", "a*"};
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    lig_shell_append (line, words[i]);
  lig_shell_append_option (line, "store", "my runs.db");
  lig_shell_append_option (line, "device", NULL);
  g_assert_cmpstr (line->str, ==,
                   "lig fuse 'linear(8) ! gelu' '' 'it'\\''s' cuda:0 'a*' --store 'my runs.db'");
  /* A shell reads the same words back. */
  g_auto (GStrv) read = NULL;
  g_assert_true (g_shell_parse_argv (line->str, NULL, &read, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    g_assert_cmpstr (read[i + 1], ==, words[i]);
}

static void
test_units (void)
{
  static const struct {
    double value;
    const char *bytes, *count, *time;
  } figures[] = {
    {0, "0 B", "0", "0 ns"},
    {1, "1 B", "1", "1.00 s"},
    {0.25, "0.250 B", "0.250", "250 ms"},
    {999, "999 B", "999", "999 s"},
    {999.6, "1.00 kB", "1.00 k", "1000 s"},
    {1234, "1.23 kB", "1.23 k", "1234 s"},
    {5.3e9, "5.30 GB", "5.30 G", "5.3e+09 s"},
    {-2048, "-2.05 kB", "-2.05 k", "-2048 s"},
    {1.6e18, "1600 PB", "1600 P", "1.6e+18 s"},
    {INFINITY, "∞", "∞", "∞"},
    {-INFINITY, "-∞", "-∞", "-∞"},
    {NAN, "-", "-", "-"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++) {
    g_autofree char *bytes = lig_units_bytes (figures[i].value);
    g_autofree char *count = lig_units_count (figures[i].value);
    g_autofree char *time = lig_units_time (figures[i].value);
    g_assert_cmpstr (bytes, ==, figures[i].bytes);
    g_assert_cmpstr (count, ==, figures[i].count);
    g_assert_cmpstr (time, ==, figures[i].time);
  }
}

static void
test_members (void)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "text", "Gr\xc3\xbc\xdf");
  lig_json_add_text (builder, "none", NULL);
  lig_json_add_integer (builder, "integer", G_MININT64);
  lig_json_add_unsigned (builder, "seed", G_MAXUINT64);
  lig_json_add_unsigned (builder, "small", 7);
  lig_json_add_number (builder, "number", 0.5);
  lig_json_add_number (builder, "nan", NAN);
  lig_json_add_truth (builder, "truth", TRUE);
  lig_json_add_moment (builder, "never", 0);
  lig_json_add_moment (builder, "beyond", G_MAXINT64);
  lig_json_add_moment (builder, "moment", 1);
  lig_json_add_document (builder, "document", "{\"a\": 1}");
  lig_json_add_document (builder, "words", "no JSON");
  lig_json_add_document (builder, "empty", "");
  lig_json_add_range (builder, "range", 3, 2);
  lig_json_begin_array (builder, "array");
  lig_json_add_number (builder, NULL, 2);
  json_builder_end_array (builder);
  lig_json_begin_object (builder, "object");
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autoptr (GString) text = g_string_new (NULL);
  lig_json_append (text, root);
  g_assert_cmpstr (text->str, ==,
                   "{\"text\": \"Grü\xef\xbf\xbd\", \"none\": null, "
                   "\"integer\": -9223372036854775808, \"seed\": \"18446744073709551615\", "
                   "\"small\": 7, \"number\": 0.5, \"nan\": null, \"truth\": true, "
                   "\"never\": null, \"beyond\": null, "
                   "\"moment\": \"1970-01-01T00:00:00.000001Z\", \"document\": {\"a\": 1}, "
                   "\"words\": \"no JSON\", \"empty\": null, \"range\": [3, 4], "
                   "\"array\": [2.0], \"object\": {}}");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text/csv", test_csv);
  g_test_add_func ("/text/shell", test_shell);
  g_test_add_func ("/text/units", test_units);
  g_test_add_func ("/text/json-members", test_members);
  return g_test_run ();
}
