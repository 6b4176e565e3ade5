/* SPDX-License-Identifier: MIT */
/* The units that documents name, and texts that are not UTF-8. */
#include "engine/base/json-private.h"

#include <ligature/json-members.h>
#include <ligature/json.h>

#include <string.h>

/* Returns the document as text after its units were added. */
static char *
add_units (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) document = lig_json_from_text (text, &error);
  g_assert_no_error (error);
  GString *to = g_string_new (NULL);
  lig_json_add_units (document);
  lig_json_append (to, document);
  return g_string_free (to, FALSE);
}

static void
test_units (void)
{
  static const char *const cases[][2] = {
    {"{\"step_us\": 1}", "{\"step_us\": 1}"},
    {"{\"memory\": 1}", "{\"memory\": 1, \"units\": {\"memory\": \"B\"}}"},
    {"{\"a\": [{\"read\": 1.5}]}", "{\"a\": [{\"read\": 1.5}], \"units\": {\"read\": \"B\"}}"},
    {"{\"ts\": 1, \"copy\": null}",
     "{\"ts\": 1, \"copy\": null, \"units\": {\"copy\": \"B/s\", \"ts\": \"us\"}}"},
    {"{\"matmul\": {\"fp32\": 1}}",
     "{\"matmul\": {\"fp32\": 1}, \"units\": {\"matmul\": \"FLOP/s\"}}"},
    {"{\"l2\": 1, \"units\": {\"recorded\": \"s\"}}",
     "{\"l2\": 1, \"units\": {\"recorded\": \"s\", \"l2\": \"B\"}}"},
    {"[{\"memory\": 1}, {\"index\": 1}, 2]",
     "[{\"memory\": 1, \"units\": {\"memory\": \"B\"}}, {\"index\": 1}, 2]"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = add_units (cases[i][0]);
    g_assert_cmpstr (text, ==, cases[i][1]);
  }
}

/* A key with a unit may also have other values: texts, objects, parameters named by users. */
static void
test_others (void)
{
  static const char *const texts[] = {
    "{\"memory\": \"139 GiB\"}",
    "{\"memory\": {\"segments\": 1}}",
    "{\"matmul\": {}}",
    "{\"matmul\": 1}",
    "{\"params\": {\"offset\": 1}}",
    "{\"metrics\": {\"read\": 1}}",
    "{\"settings\": {\"memory\": 1}, \"sequence\": {\"copy\": 1}}",
    "[]",
    "7",
  };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree char *text = add_units (texts[i]);
    g_assert_cmpstr (text, ==, texts[i]);
  }
}

static void
test_bytes (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  lig_json_append_string (text, "\xff\xc3 \xc3\xa4 \xf0\x9f\x98\x80");
  g_assert_true (g_utf8_validate (text->str, -1, NULL));
  g_assert_cmpstr (text->str, ==, "\"\xef\xbf\xbd\xef\xbf\xbd \xc3\xa4 \xf0\x9f\x98\x80\"");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-units/units", test_units);
  g_test_add_func ("/json-units/others", test_others);
  g_test_add_func ("/json-units/bytes", test_bytes);
  return g_test_run ();
}
