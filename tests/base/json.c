/* SPDX-License-Identifier: MIT */
/* Untrusted JSON: text that is not JSON, too deep or too large gives an error, never a crash. */
#include <ligature/json.h>

#include <json-glib/json-glib.h>
#include <string.h>

static void
assert_refused (const char *text, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (lig_json_from_text (text, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, part));
}

static void
test_refused (void)
{
  assert_refused ("", "expected a value");
  assert_refused ("{\"a\":1,\"a\":2}", "twice");
  assert_refused ("{} {}", "the end");
  assert_refused ("[010]", "expected");
  assert_refused ("[1e999]", "64 bits");
  assert_refused ("\"\\ud800\"", "surrogate");
  assert_refused ("\"cut \xf0\x9f\"", "UTF-8");
}

/* json-glib alone would recurse until the stack overflows. */
static void
test_deep (void)
{
  g_autofree char *deep = g_strnfill (3000000, '[');
  assert_refused (deep, "deep");
}

static void
test_large (void)
{
  g_autofree char *large = g_strnfill ((64 << 20) + 1, ' ');
  assert_refused (large, "at most");
}

static void
test_changeable (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) root = lig_json_from_text (" {\"a\": [1, 2.5, \"x\"]} ", &error);
  g_assert_no_error (error);
  JsonObject *object = json_node_get_object (root);
  json_object_set_int_member (object, "b", 3);
  g_autoptr (GString) text = g_string_new (NULL);
  lig_json_append (text, root);
  g_assert_cmpstr (text->str, ==, "{\"a\": [1, 2.5, \"x\"], \"b\": 3}");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/refused", test_refused);
  g_test_add_func ("/json/deep", test_deep);
  g_test_add_func ("/json/large", test_large);
  g_test_add_func ("/json/changeable", test_changeable);
  return g_test_run ();
}
