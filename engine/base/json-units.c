/* SPDX-License-Identifier: MIT */
/* The units of numbers in JSON documents whose keys do not name them. */
#include <ligature/json-members.h>

#include <json-glib/json-glib.h>
#include <string.h>

/* The keys in alphabetical order; each has the same unit in every document. A key that ends with
 * its unit, such as step_us or saved_bytes, is not listed. */
static const struct {
  const char *key, *unit;
  gboolean members; /* whether the value is an object, all of whose numbers have this unit */
} units[] = {
  {"bandwidth", "B/s", FALSE}, {"copy", "B/s", FALSE},    {"costs", "s", TRUE},
  {"dur", "us", FALSE},        {"l2", "B", FALSE},        {"latency", "s", FALSE},
  {"launch", "s", FALSE},      {"live_peak", "B", FALSE}, {"matmul", "FLOP/s", TRUE},
  {"memory", "B", FALSE},      {"offset", "B", FALSE},    {"read", "B", FALSE},
  {"start", "s", FALSE},       {"ts", "us", FALSE},       {"upload", "B/s", FALSE},
  {"written", "B", FALSE},
};

/* Members whose keys users choose. */
static const char *const foreign[] = {"metrics", "params", "sequence", "settings", NULL};

typedef struct {
  gboolean used[G_N_ELEMENTS (units)];
} Found;

/* Returns whether the value is a number, or null instead of one. */
static gboolean
is_number (JsonNode *value)
{
  if (JSON_NODE_HOLDS_NULL (value))
    return TRUE;
  GType type = JSON_NODE_HOLDS_VALUE (value) ? json_node_get_value_type (value) : G_TYPE_INVALID;
  return type == G_TYPE_INT64 || type == G_TYPE_DOUBLE;
}

static gboolean
is_quantity (JsonNode *value, gboolean members)
{
  if (!members)
    return is_number (value);
  return JSON_NODE_HOLDS_OBJECT (value) && json_object_get_size (json_node_get_object (value)) > 0;
}

static void
find (JsonNode *node, Found *found)
{
  if (JSON_NODE_HOLDS_ARRAY (node)) {
    JsonArray *array = json_node_get_array (node);
    for (guint i = 0; i < json_array_get_length (array); i++)
      find (json_array_get_element (array, i), found);
  }
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return;
  JsonObjectIter iter;
  const char *key;
  JsonNode *value;
  json_object_iter_init (&iter, json_node_get_object (node));
  while (json_object_iter_next (&iter, &key, &value)) {
    if (g_strv_contains (foreign, key))
      continue;
    for (guint i = 0; i < G_N_ELEMENTS (units); i++)
      if (strcmp (units[i].key, key) == 0 && is_quantity (value, units[i].members))
        found->used[i] = TRUE;
    find (value, found);
  }
}

static void
add_to_object (JsonNode *document)
{
  Found found = {0};
  find (document, &found);
  JsonObject *object = json_node_get_object (document), *to = NULL;
  if (json_object_has_member (object, "units"))
    to = json_object_ref (json_object_get_object_member (object, "units"));
  for (guint i = 0; i < G_N_ELEMENTS (units); i++) {
    if (!found.used[i])
      continue;
    if (!to)
      to = json_object_new ();
    json_object_set_string_member (to, units[i].key, units[i].unit);
  }
  if (to)
    json_object_set_object_member (object, "units", to);
}

void
lig_json_add_units (JsonNode *document)
{
  g_return_if_fail (document);
  if (JSON_NODE_HOLDS_OBJECT (document))
    add_to_object (document);
  if (!JSON_NODE_HOLDS_ARRAY (document))
    return;
  JsonArray *array = json_node_get_array (document);
  for (guint i = 0; i < json_array_get_length (array); i++)
    if (JSON_NODE_HOLDS_OBJECT (json_array_get_element (array, i)))
      add_to_object (json_array_get_element (array, i));
}
