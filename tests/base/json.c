/* SPDX-License-Identifier: MIT */
/* Untrusted JSON: text that is not JSON, too deep or too large gives an error, never a crash.
 * Documents that are written a part at a time. */
#include "engine/base/json-private.h"
#include <ligature/json.h>

#include <json-glib/json-glib.h>
#include <string.h>

static void
assert_rejected (const char *text, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (lig_json_from_text (text, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, part));
}

static void
test_rejected (void)
{
  assert_rejected ("", "expected a value");
  assert_rejected ("{\"a\":1,\"a\":2}", "twice");
  assert_rejected ("{} {}", "the end");
  assert_rejected ("[010]", "expected");
  assert_rejected ("[1e999]", "64 bits");
  assert_rejected ("\"\\ud800\"", "surrogate");
  assert_rejected ("\"cut \xf0\x9f\"", "UTF-8");
}

/* json-glib by itself would recurse until the stack overflows. */
static void
test_deep (void)
{
  g_autofree char *deep = g_strnfill (3000000, '[');
  assert_rejected (deep, "deep");
}

static void
test_large (void)
{
  g_autofree char *large = g_strnfill ((64 << 20) + 1, ' ');
  assert_rejected (large, "at most");
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

static void
append_part (const char *text, gsize length, gpointer data)
{
  g_string_append_len (data, text, (gssize) length);
}

static JsonNode *
make_element (guint index, gpointer data)
{
  return json_node_copy (json_array_get_element (data, index));
}

/* A document with an array that is written one element at a time equals the text of the whole
 * document. */
static void
test_parts (void)
{
  static const guint counts[] = {0, 1, 3, 5000};
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GString) text = g_string_new ("{\"before\": {\"a\": [1, 2.5]}, \"rows\": [");
    for (guint k = 0; k < counts[i]; k++)
      g_string_append_printf (text,
                              "%s{\"number\": %u, \"text\": \"long enough for more than one line "
                              "of a document, \\u00b5 and \\\"\", \"empty\": {}, \"ops\": [1, 2]}",
                              k > 0 ? ", " : "", k);
    g_string_append (text, "], \"after\": [], \"end\": null}");
    g_autoptr (JsonNode) whole = json_from_string (text->str, &error);
    g_assert_no_error (error);
    g_autofree char *wanted = lig_json_to_text (whole);
    g_autoptr (JsonNode) rest = json_from_string (text->str, &error);
    g_autoptr (GString) got = g_string_new (NULL);
    const LigJsonElements rows = {
      "rows", counts[i], make_element,
      json_object_get_array_member (json_node_get_object (whole), "rows")};
    json_object_set_array_member (json_node_get_object (rest), "rows", json_array_new ());
    lig_json_write (rest, &rows, append_part, got);
    g_assert_cmpstr (got->str, ==, wanted);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/rejected", test_rejected);
  g_test_add_func ("/json/deep", test_deep);
  g_test_add_func ("/json/large", test_large);
  g_test_add_func ("/json/changeable", test_changeable);
  g_test_add_func ("/json/parts", test_parts);
  return g_test_run ();
}
